/* pprint.c - values as Python's pprint.pformat prints them: in 80 columns, dicts sorted, one item a line where they do
 * not fit. */
#include "text/template/chars.h"
#include "text/template/filters.h"

#define WIDTH 80

static mx_status put_pretty(mx_tpl_run *run, mx_tpl_value v, int64_t indent, int64_t allowance, int depth);

/* repr with dicts sorted, as pprint measures and prints what fits. */
static mx_status put_flat(mx_tpl_run *run, mx_tpl_value v, int depth);

static mx_status put_flat_list(mx_tpl_run *run, mx_tpl_value v, int depth)
{
    const bool is_list = v.kind == MX_TPL_LIST;
    MX_TRY(mx_tpl_put_char(run, is_list ? '[' : '('));
    for (size_t i = 0; i < v.as.list->n; i++) {
        MX_TRY(i ? mx_tpl_put(run, MX_STR(", ")) : MX_OK);
        MX_TRY(put_flat(run, v.as.list->items[i], depth));
    }
    MX_TRY(!is_list && v.as.list->n == 1 ? mx_tpl_put_char(run, ',') : MX_OK);
    return mx_tpl_put_char(run, is_list ? ']' : ')');
}

static mx_status sorted_entries(mx_tpl_run *run, const mx_tpl_dict *dict, mx_tpl_entry **out)
{
    mx_tpl_value *keys = NULL;
    mx_tpl_value *places = NULL;
    MX_TRY(mx_tpl_alloc(run, dict->n, sizeof **out, out));
    MX_TRY(mx_tpl_alloc(run, dict->n, sizeof *keys, &keys));
    MX_TRY(mx_tpl_alloc(run, dict->n, sizeof *places, &places));
    bool all_strings = true;
    bool all_numbers = true;
    for (size_t i = 0; i < dict->n; i++) {
        keys[i] = dict->entries[i].key;
        places[i] = mx_tpl_int((int64_t)i);
        all_strings = all_strings && mx_tpl_is_str(keys[i]);
        all_numbers = all_numbers && mx_tpl_is_number(keys[i]);
    }
    if (!all_strings && !all_numbers) { /* pprint orders what cannot be compared by the names of the types */
        for (size_t i = 0; i < dict->n; i++) {
            mx_tpl_value *pair = NULL;
            const size_t mark = mx_tpl_mark(run);
            MX_TRY(mx_tpl_put(run, mx_str_from(mx_tpl_type_name(dict->entries[i].key))));
            MX_TRY(mx_tpl_new_tuple(run, 1, &pair, &keys[i]));
            MX_TRY(mx_tpl_take(run, mark, 0, &pair[0]));
        }
    }
    MX_TRY(mx_tpl_sort(run, places, keys, dict->n, false));
    for (size_t i = 0; i < dict->n; i++) {
        (*out)[i] = dict->entries[places[i].as.i];
    }
    return MX_OK;
}

static mx_status put_flat(mx_tpl_run *run, mx_tpl_value v, int depth)
{
    if (depth > MX_TPL_MAX_VALUE_DEPTH) {
        return mx_tpl_fail(run, MX_TEMPLATE_LIMIT, "a value nested more than %d deep is printed",
                           MX_TPL_MAX_VALUE_DEPTH);
    }
    if (mx_tpl_is_list(v)) {
        return put_flat_list(run, v, depth + 1);
    }
    if (v.kind != MX_TPL_DICT) {
        return mx_tpl_put_repr(run, v);
    }
    mx_tpl_entry *entries = NULL;
    MX_TRY(sorted_entries(run, v.as.dict, &entries));
    MX_TRY(mx_tpl_put_char(run, '{'));
    for (size_t i = 0; i < v.as.dict->n; i++) {
        MX_TRY(i ? mx_tpl_put(run, MX_STR(", ")) : MX_OK);
        MX_TRY(put_flat(run, entries[i].key, depth + 1));
        MX_TRY(mx_tpl_put(run, MX_STR(": ")));
        MX_TRY(put_flat(run, entries[i].value, depth + 1));
    }
    return mx_tpl_put_char(run, '}');
}

static mx_status put_break(mx_tpl_run *run, int64_t indent)
{
    MX_TRY(mx_tpl_put(run, MX_STR(",\n")));
    return mx_tpl_put_fill(run, MX_STR(" "), (size_t)indent);
}

static mx_status put_items(mx_tpl_run *run, mx_tpl_value v, int64_t indent, int64_t allowance, int depth)
{
    const mx_tpl_list *list = v.as.list;
    const bool is_list = v.kind == MX_TPL_LIST;
    const char *end = is_list ? "]" : list->n == 1 ? ",)" : ")";
    MX_TRY(mx_tpl_put_char(run, is_list ? '[' : '('));
    for (size_t i = 0; i < list->n; i++) {
        const bool is_last = i + 1 == list->n;
        MX_TRY(put_pretty(run, list->items[i], indent + 1, is_last ? allowance + (int64_t)strlen(end) : 1, depth));
        MX_TRY(is_last ? MX_OK : put_break(run, indent + 1));
    }
    return mx_tpl_put(run, mx_str_from(end));
}

static mx_status put_dict(mx_tpl_run *run, const mx_tpl_dict *dict, int64_t indent, int64_t allowance, int depth)
{
    mx_tpl_entry *entries = NULL;
    MX_TRY(sorted_entries(run, dict, &entries));
    MX_TRY(mx_tpl_put_char(run, '{'));
    for (size_t i = 0; i < dict->n; i++) {
        const bool is_last = i + 1 == dict->n;
        const size_t mark = mx_tpl_mark(run);
        mx_tpl_value key;
        int64_t n_key = 0;
        MX_TRY(put_flat(run, entries[i].key, depth));
        MX_TRY(mx_tpl_take(run, mark, 0, &key));
        MX_TRY(mx_tpl_length(run, key, &n_key));
        MX_TRY(mx_tpl_put(run, mx_tpl_view(key)));
        MX_TRY(mx_tpl_put(run, MX_STR(": ")));
        MX_TRY(put_pretty(run, entries[i].value, indent + n_key + 3, is_last ? allowance + 1 : 1, depth));
        MX_TRY(is_last ? MX_OK : put_break(run, indent + 1));
    }
    return mx_tpl_put_char(run, '}');
}

/* The words of a line with the white space behind them: what re.findall(r'\S*\s*') gives. */
static size_t word_end(mx_str s, size_t at)
{
    for (int part = 0; part < 2; part++) {
        while (at < s.len) {
            size_t next = at;
            if (mx_tpl_is_space(mx_tpl_char_at(s, &next)) != (part == 1)) {
                break;
            }
            at = next;
        }
    }
    return at;
}

static mx_status repr_of(mx_tpl_run *run, mx_str s, mx_tpl_value *out, int64_t *n_chars)
{
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_put_str_repr(run, s));
    MX_TRY(mx_tpl_take(run, mark, 0, out));
    return mx_tpl_length(run, *out, n_chars);
}

/* A line of text broken at its words into reprs that fit. */
static mx_status break_line(mx_tpl_run *run, mx_str line, int64_t width, int64_t last_width, mx_tpl_vec *out)
{
    mx_tpl_value repr;
    int64_t n = 0;
    size_t from = 0;
    size_t to = 0;
    while (to < line.len) {
        const size_t end = word_end(line, to);
        MX_TRY(repr_of(run, mx_str_slice(line, from, end), &repr, &n));
        if (n > (end == line.len ? last_width : width) && to > from) {
            MX_TRY(repr_of(run, mx_str_slice(line, from, to), &repr, &n));
            MX_TRY(mx_tpl_vec_push(run, out, repr));
            from = to;
        }
        to = end;
    }
    if (to == from) {
        return MX_OK;
    }
    MX_TRY(repr_of(run, mx_str_slice(line, from, to), &repr, &n));
    return mx_tpl_vec_push(run, out, repr);
}

static size_t line_end(mx_str s, size_t at)
{
    while (at < s.len) {
        const int32_t c = mx_tpl_char_at(s, &at);
        if (c == '\r' && at < s.len && s.ptr[at] == '\n') {
            return at + 1;
        }
        if ((c >= 10 && c <= 13) || (c >= 28 && c <= 30) || c == 0x85 || c == 0x2028 || c == 0x2029) {
            return at;
        }
    }
    return at;
}

/* A long string: its lines, and words of lines that are too long, one below the other; in brackets at the top level. */
static mx_status put_long_str(mx_tpl_run *run, mx_tpl_value v, int64_t indent, int64_t allowance, int depth)
{
    const mx_str s = mx_tpl_view(v);
    mx_tpl_vec parts = {0};
    const bool in_brackets = depth == 1;
    indent += in_brackets;
    allowance += in_brackets;
    for (size_t at = 0; at < s.len;) {
        const size_t end = line_end(s, at);
        const mx_str line = mx_str_slice(s, at, end);
        const int64_t room = WIDTH - indent;
        const int64_t last_room = end == s.len ? room - allowance : room;
        mx_tpl_value repr;
        int64_t n = 0;
        MX_TRY(repr_of(run, line, &repr, &n));
        MX_TRY(n <= last_room ? mx_tpl_vec_push(run, &parts, repr) : break_line(run, line, room, last_room, &parts));
        at = end;
    }
    if (parts.n == 1) {
        return mx_tpl_put(run, mx_tpl_view(parts.items[0]));
    }
    MX_TRY(in_brackets ? mx_tpl_put_char(run, '(') : MX_OK);
    for (size_t i = 0; i < parts.n; i++) {
        if (i) {
            MX_TRY(mx_tpl_put_char(run, '\n'));
            MX_TRY(mx_tpl_put_fill(run, MX_STR(" "), (size_t)indent));
        }
        MX_TRY(mx_tpl_put(run, mx_tpl_view(parts.items[i])));
    }
    return in_brackets ? mx_tpl_put_char(run, ')') : MX_OK;
}

static mx_status put_pretty(mx_tpl_run *run, mx_tpl_value v, int64_t indent, int64_t allowance, int depth)
{
    mx_tpl_value flat;
    int64_t n = 0;
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(put_flat(run, v, depth));
    MX_TRY(mx_tpl_take(run, mark, 0, &flat));
    MX_TRY(mx_tpl_length(run, flat, &n));
    if (n > WIDTH - indent - allowance) {
        if (mx_tpl_is_list(v) && v.as.list->n && !(v.flags & MX_TPL_GROUP)) {
            return put_items(run, v, indent, allowance, depth + 1);
        }
        if (v.kind == MX_TPL_DICT && v.as.dict->n) {
            return put_dict(run, v.as.dict, indent, allowance, depth + 1);
        }
        if (mx_tpl_is_str(v) && v.len && !mx_tpl_is_markup(v)) {
            return put_long_str(run, v, indent, allowance, depth + 1);
        }
    }
    return mx_tpl_put(run, mx_tpl_view(flat));
}

mx_status mx_tpl_put_pretty(mx_tpl_run *run, mx_tpl_value v)
{
    return put_pretty(run, v, 0, 0, 0);
}
