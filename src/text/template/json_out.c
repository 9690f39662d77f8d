/* json_out.c - values as JSON, as Python's json.dumps writes it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "text/template/chars.h"
#include "text/template/filters.h"

typedef struct json_style {
    bool ensure_ascii;
    bool sort_keys;
    bool has_indent;
    mx_str indent; /* of one level */
    mx_str item_separator;
    mx_str key_separator;
} json_style;

static mx_status put_value(mx_tpl_run *run, const json_style *style, mx_tpl_value v, int depth);

static const char *simple_escape(int32_t c)
{
    switch (c) {
    case '"': return "\\\"";
    case '\\': return "\\\\";
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    case '\b': return "\\b";
    case '\f': return "\\f";
    default: return NULL;
    }
}

static mx_status put_escape(mx_tpl_run *run, int32_t c)
{
    char text[16];
    int n = 0;
    if (c < 0x10000) {
        n = snprintf(text, sizeof text, "\\u%04" PRIx32, (uint32_t)c);
    } else {
        const uint32_t rest = (uint32_t)c - 0x10000;
        n = snprintf(text, sizeof text, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xD800 + (rest >> 10),
                     0xDC00 + (rest & 0x3FF));
    }
    return mx_tpl_put(run, (mx_str){text, (size_t)n});
}

static mx_status put_string(mx_tpl_run *run, const json_style *style, mx_str s)
{
    size_t from = 0;
    MX_TRY(mx_tpl_put_char(run, '"'));
    for (size_t at = 0; at < s.len;) {
        const size_t before = at;
        const int32_t c = mx_tpl_char_at(s, &at);
        const char *escape = simple_escape(c);
        if (!escape && c >= 32 && !(style->ensure_ascii && c > 126)) {
            continue;
        }
        MX_TRY(mx_tpl_put(run, mx_str_slice(s, from, before)));
        MX_TRY(escape ? mx_tpl_put(run, mx_str_from(escape)) : put_escape(run, c));
        from = at;
    }
    MX_TRY(mx_tpl_put(run, mx_str_slice(s, from, s.len)));
    return mx_tpl_put_char(run, '"');
}

static mx_status put_number(mx_tpl_run *run, mx_tpl_value v)
{
    if (v.kind == MX_TPL_BOOL) {
        return mx_tpl_put(run, v.as.b ? MX_STR("true") : MX_STR("false"));
    }
    if (v.kind != MX_TPL_FLOAT) {
        return mx_tpl_put_int(run, v);
    }
    if (isnan(v.as.f)) {
        return mx_tpl_put(run, MX_STR("NaN"));
    }
    if (isinf(v.as.f)) {
        return mx_tpl_put(run, v.as.f > 0 ? MX_STR("Infinity") : MX_STR("-Infinity"));
    }
    return mx_tpl_put_float(run, v.as.f);
}

static mx_status put_key(mx_tpl_run *run, const json_style *style, mx_tpl_value key)
{
    if (mx_tpl_is_str(key)) {
        return put_string(run, style, mx_tpl_view(key));
    }
    if (key.kind != MX_TPL_NONE && !mx_tpl_is_number(key)) {
        return mx_tpl_fail_type(run, "keys must be str, int, float, bool or None, not %s", mx_tpl_type_name(key));
    }
    MX_TRY(mx_tpl_put_char(run, '"'));
    MX_TRY(key.kind == MX_TPL_NONE ? mx_tpl_put(run, MX_STR("null")) : put_number(run, key));
    return mx_tpl_put_char(run, '"');
}

static mx_status put_newline(mx_tpl_run *run, const json_style *style, int depth)
{
    if (!style->has_indent) {
        return MX_OK;
    }
    MX_TRY(mx_tpl_put_char(run, '\n'));
    return mx_tpl_put_fill(run, style->indent, (size_t)depth);
}

static mx_status put_list(mx_tpl_run *run, const json_style *style, const mx_tpl_list *list, int depth)
{
    if (list->n == 0) {
        return mx_tpl_put(run, MX_STR("[]"));
    }
    MX_TRY(mx_tpl_put_char(run, '['));
    for (size_t i = 0; i < list->n; i++) {
        if (i) {
            MX_TRY(mx_tpl_put(run, style->item_separator));
        }
        MX_TRY(put_newline(run, style, depth + 1));
        MX_TRY(put_value(run, style, list->items[i], depth + 1));
    }
    MX_TRY(put_newline(run, style, depth));
    return mx_tpl_put_char(run, ']');
}

/* The entries in the order in which they are written. */
static mx_status sorted_entries(mx_tpl_run *run, const mx_tpl_dict *dict, const mx_tpl_entry **out)
{
    mx_tpl_value *keys = NULL;
    mx_tpl_value *places = NULL;
    mx_tpl_entry *entries = NULL;
    MX_TRY(mx_tpl_alloc(run, dict->n, sizeof *keys, &keys));
    MX_TRY(mx_tpl_alloc(run, dict->n, sizeof *places, &places));
    MX_TRY(mx_tpl_alloc(run, dict->n, sizeof *entries, &entries));
    for (size_t i = 0; i < dict->n; i++) {
        keys[i] = dict->entries[i].key;
        places[i] = mx_tpl_int((int64_t)i);
    }
    MX_TRY(mx_tpl_sort(run, places, keys, dict->n, false));
    for (size_t i = 0; i < dict->n; i++) {
        entries[i] = dict->entries[places[i].as.i];
    }
    *out = entries;
    return MX_OK;
}

static mx_status put_dict(mx_tpl_run *run, const json_style *style, const mx_tpl_dict *dict, int depth)
{
    const mx_tpl_entry *entries = dict->entries;
    if (dict->n == 0) {
        return mx_tpl_put(run, MX_STR("{}"));
    }
    if (style->sort_keys) {
        MX_TRY(sorted_entries(run, dict, &entries));
    }
    MX_TRY(mx_tpl_put_char(run, '{'));
    for (size_t i = 0; i < dict->n; i++) {
        if (i) {
            MX_TRY(mx_tpl_put(run, style->item_separator));
        }
        MX_TRY(put_newline(run, style, depth + 1));
        MX_TRY(put_key(run, style, entries[i].key));
        MX_TRY(mx_tpl_put(run, style->key_separator));
        MX_TRY(put_value(run, style, entries[i].value, depth + 1));
    }
    MX_TRY(put_newline(run, style, depth));
    return mx_tpl_put_char(run, '}');
}

static mx_status put_value(mx_tpl_run *run, const json_style *style, mx_tpl_value v, int depth)
{
    MX_TRY(mx_tpl_steps(run, 1));
    if (depth > MX_TPL_MAX_VALUE_DEPTH) {
        return mx_tpl_fail(run, MX_TEMPLATE_LIMIT, "a value nested more than %d deep is written as JSON",
                           MX_TPL_MAX_VALUE_DEPTH);
    }
    switch ((mx_tpl_kind)v.kind) {
    case MX_TPL_NONE: return mx_tpl_put(run, MX_STR("null"));
    case MX_TPL_BOOL:
    case MX_TPL_INT:
    case MX_TPL_BIG:
    case MX_TPL_FLOAT: return put_number(run, v);
    case MX_TPL_STR: return put_string(run, style, mx_tpl_view(v));
    case MX_TPL_LIST:
    case MX_TPL_TUPLE: return put_list(run, style, v.as.list, depth);
    case MX_TPL_DICT: return put_dict(run, style, v.as.dict, depth);
    default: return mx_tpl_fail_type(run, "Object of type %s is not JSON serializable", mx_tpl_type_name(v));
    }
}

static mx_status separators_from(mx_tpl_run *run, mx_tpl_value separators, json_style *style)
{
    mx_tpl_value pair[2];
    if (mx_tpl_is_absent(separators)) {
        return MX_OK;
    }
    MX_TRY(mx_tpl_unpack(run, separators, 2, pair));
    if (!mx_tpl_is_str(pair[0]) || !mx_tpl_is_str(pair[1])) {
        return mx_tpl_fail_type(run, "separators must be two strings");
    }
    style->item_separator = mx_tpl_view(pair[0]);
    style->key_separator = mx_tpl_view(pair[1]);
    return MX_OK;
}

mx_status mx_tpl_put_json(mx_tpl_run *run, mx_tpl_value v, bool ensure_ascii, mx_tpl_value indent,
                          mx_tpl_value separators, bool sort_keys)
{
    json_style style = {.ensure_ascii = ensure_ascii, .sort_keys = sort_keys, .has_indent = !mx_tpl_is_absent(indent)};
    style.item_separator = style.has_indent ? MX_STR(",") : MX_STR(", ");
    style.key_separator = MX_STR(": ");
    if (style.has_indent && !mx_tpl_is_str(indent)) {
        MX_TRY(mx_tpl_repeat(run, MX_TPL_LITERAL(" "), indent, &indent));
    }
    if (style.has_indent) {
        style.indent = mx_tpl_view(indent);
    }
    MX_TRY(separators_from(run, separators, &style));
    return put_value(run, &style, v, 0);
}
