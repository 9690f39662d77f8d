/* filters_text.c - filters that make text of text. */
#include "text/template/chars.h"
#include "text/template/filters.h"
#include "text/template/format.h"
#include "text/template/strings.h"

static mx_status cased(mx_tpl_run *run, mx_tpl_value self, mx_tpl_case_style style, mx_tpl_value *out)
{
    MX_TRY(mx_tpl_to_soft_str(run, self, &self));
    return mx_tpl_str_case(run, self, style, out);
}

static mx_status filter_upper(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    return cased(run, self, MX_TPL_CASE_UPPER, out);
}

static mx_status filter_lower(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    return cased(run, self, MX_TPL_CASE_LOWER, out);
}

static mx_status filter_capitalize(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    return cased(run, self, MX_TPL_CASE_CAPITALIZE, out);
}

static bool begins_word(int32_t c)
{
    return c == '-' || c == '(' || c == '{' || c == '[' || c == '<' || mx_tpl_is_space(c);
}

/* Words begin after white space and opening brackets: "it's" is one word, unlike in str.title. */
static mx_status filter_title(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    MX_TRY(mx_tpl_to_soft_str(run, self, &self));
    const mx_str s = mx_tpl_view(self);
    const size_t mark = mx_tpl_mark(run);
    for (size_t at = 0; at < s.len;) {
        const size_t from = at;
        const bool is_gap = begins_word(mx_tpl_char_at(s, &at));
        const size_t second = at;
        while (at < s.len) {
            size_t next = at;
            if (begins_word(mx_tpl_char_at(s, &next)) != is_gap) {
                break;
            }
            at = next;
        }
        MX_TRY(mx_tpl_put_case(run, mx_str_slice(s, from, second), MX_TPL_CASE_UPPER));
        MX_TRY(mx_tpl_put_case(run, mx_str_slice(s, second, at), MX_TPL_CASE_LOWER));
    }
    return mx_tpl_take(run, mark, 0, out);
}

static mx_status filter_trim(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    MX_TRY(mx_tpl_to_soft_str(run, self, &self));
    return mx_tpl_str_strip(run, self, args[0], true, true, out);
}

static mx_status filter_center(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    int64_t width = 80;
    MX_TRY(mx_tpl_to_soft_str(run, self, &self));
    if (mx_tpl_is_given(args[0])) {
        MX_TRY(mx_tpl_to_index(run, args[0], &width));
    }
    return mx_tpl_str_pad(run, self, width, MX_STR(" "), true, true, out);
}

/* In autoescape mode markup on one side makes the other side be escaped. */
static mx_status escape_if(mx_tpl_run *run, bool is_wanted, mx_tpl_value *v)
{
    if (!is_wanted) {
        return mx_tpl_to_soft_str(run, *v, v);
    }
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_put_escaped_value(run, *v));
    return mx_tpl_take(run, mark, MX_TPL_MARKUP, v);
}

static mx_status filter_replace(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    mx_tpl_value old = args[0];
    mx_tpl_value new_text = args[1];
    int64_t count = -1;
    if (!mx_tpl_is_absent(args[2])) {
        MX_TRY(mx_tpl_to_index(run, args[2], &count));
    }
    if (run->autoescape) {
        const bool has_markup = mx_tpl_is_markup(old) || (mx_tpl_is_markup(new_text) && !mx_tpl_is_markup(self));
        MX_TRY(escape_if(run, has_markup, &self));
        MX_TRY(mx_tpl_to_soft_str(run, old, &old));
        MX_TRY(escape_if(run, mx_tpl_is_markup(self), &new_text));
    } else {
        MX_TRY(mx_tpl_to_str(run, self, &self));
        MX_TRY(mx_tpl_to_str(run, old, &old));
        MX_TRY(mx_tpl_to_str(run, new_text, &new_text));
    }
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_put_replaced(run, mx_tpl_view(self), mx_tpl_view(old), mx_tpl_view(new_text), count));
    return mx_tpl_take(run, mark, self.flags & MX_TPL_MARKUP, out);
}

static mx_status put_indented(mx_tpl_run *run, const mx_tpl_vec *lines, mx_tpl_value indention, bool first, bool blank)
{
    for (size_t i = 0; i < lines->n; i++) {
        if (i) {
            MX_TRY(mx_tpl_put_char(run, '\n'));
        }
        if (i == 0 ? first : blank || lines->items[i].len) {
            MX_TRY(mx_tpl_put(run, mx_tpl_view(indention)));
        }
        MX_TRY(mx_tpl_put(run, mx_tpl_view(lines->items[i])));
    }
    return MX_OK;
}

static mx_status filter_indent(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    mx_tpl_value indention = MX_TPL_LITERAL("    ");
    mx_tpl_vec lines = {0};
    if (mx_tpl_is_given(args[0]) && !mx_tpl_is_str(args[0])) {
        MX_TRY(mx_tpl_repeat(run, MX_TPL_LITERAL(" "), args[0], &indention));
    } else if (mx_tpl_is_given(args[0])) {
        indention = args[0];
    }
    MX_TRY(mx_tpl_binary(run, MX_TPL_OP_ADD, self, MX_TPL_LITERAL("\n"), &self));
    MX_TRY(mx_tpl_str_splitlines(run, self, false, &lines));
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(put_indented(run, &lines, indention, mx_tpl_truth(run, args[1]), mx_tpl_truth(run, args[2])));
    return mx_tpl_take(run, mark, self.flags & MX_TPL_MARKUP, out);
}

/* Cuts at the last blank before the limit, so that the end fits. */
static mx_status filter_truncate(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    int64_t length = 255;
    int64_t leeway = 5;
    int64_t n_end = 0;
    int64_t n = 0;
    const mx_tpl_value end = mx_tpl_is_given(args[2]) ? args[2] : MX_TPL_LITERAL("...");
    if (mx_tpl_is_given(args[0])) {
        MX_TRY(mx_tpl_to_index(run, args[0], &length));
    }
    if (!mx_tpl_is_absent(args[3])) {
        MX_TRY(mx_tpl_to_index(run, args[3], &leeway));
    }
    MX_TRY(mx_tpl_length(run, end, &n_end));
    if (length < n_end || leeway < 0) {
        return mx_tpl_fail_type(run, "truncate expects a length of at least %lld and leeway of at least 0",
                                (long long)n_end);
    }
    MX_TRY(mx_tpl_length(run, self, &n));
    if (leeway >= INT64_MAX - length || n <= length + leeway) {
        *out = self;
        return MX_OK;
    }
    if (!mx_tpl_is_str(self)) {
        return mx_tpl_fail_type(run, "truncate expects a string, not '%s'", mx_tpl_type_name(self));
    }
    mx_tpl_value cut = mx_tpl_first_chars(self, length - n_end);
    for (size_t i = cut.len; !mx_tpl_truth(run, args[1]) && i-- > 0;) {
        if (cut.as.s[i] == ' ') {
            cut = mx_tpl_part(cut, 0, i);
            break;
        }
    }
    return mx_tpl_binary(run, MX_TPL_OP_ADD, cut, end, out);
}

static mx_status filter_wordcount(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    int64_t n = 0;
    bool in_word = false;
    MX_TRY(mx_tpl_to_soft_str(run, self, &self));
    const mx_str s = mx_tpl_view(self);
    MX_TRY(mx_tpl_bytes_walked(run, s.len));
    for (size_t at = 0; at < s.len;) {
        const int32_t c = mx_tpl_char_at(s, &at);
        const bool is_word = c == '_' || mx_tpl_is_alnum(c);
        n += is_word && !in_word;
        in_word = is_word;
    }
    *out = mx_tpl_int(n);
    return MX_OK;
}

static mx_status filter_wordwrap(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    int64_t width = 79;
    mx_tpl_vec lines = {0};
    const bool break_long = !mx_tpl_is_given(args[1]) || mx_tpl_truth(run, args[1]);
    const bool break_hyphens = !mx_tpl_is_given(args[3]) || mx_tpl_truth(run, args[3]);
    const mx_tpl_value joint = mx_tpl_is_absent(args[2]) ? MX_TPL_LITERAL("\n") : args[2];
    if (mx_tpl_is_given(args[0])) {
        MX_TRY(mx_tpl_to_index(run, args[0], &width));
    }
    if (!mx_tpl_is_str(self) || !mx_tpl_is_str(joint)) {
        return mx_tpl_fail_type(run, "wordwrap expects strings, not '%s'",
                                mx_tpl_type_name(mx_tpl_is_str(self) ? joint : self));
    }
    MX_TRY(mx_tpl_str_splitlines(run, self, false, &lines));
    const size_t mark = mx_tpl_mark(run);
    for (size_t i = 0; i < lines.n; i++) {
        mx_tpl_vec parts = {0};
        MX_TRY(mx_tpl_wrap_line(run, lines.items[i], width, break_long, break_hyphens, &parts));
        for (size_t k = 0; k < parts.n; k++) {
            if (k) {
                MX_TRY(mx_tpl_put(run, mx_tpl_view(joint)));
            }
            MX_TRY(mx_tpl_put(run, mx_tpl_view(parts.items[k])));
        }
        if (i + 1 < lines.n) {
            MX_TRY(mx_tpl_put(run, mx_tpl_view(joint)));
        }
    }
    return mx_tpl_take(run, mark, joint.flags & MX_TPL_MARKUP, out);
}

static mx_status filter_format(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_args *args, mx_tpl_value *out)
{
    mx_tpl_value values;
    mx_tpl_value *items = NULL;
    if (args->n_pos && args->n_named) {
        return mx_tpl_fail_type(run, "format can't handle positional and keyword arguments at the same time");
    }
    MX_TRY(mx_tpl_to_soft_str(run, self, &self));
    if (args->n_named) {
        MX_TRY(mx_tpl_new_dict(run, args->n_named, &values));
        for (size_t i = 0; i < args->n_named; i++) {
            MX_TRY(mx_tpl_dict_set(run, values.as.dict, mx_tpl_str(args->names[i]), args->named[i]));
        }
    } else {
        MX_TRY(mx_tpl_new_tuple(run, args->n_pos, &items, &values));
        for (size_t i = 0; i < args->n_pos; i++) {
            items[i] = args->pos[i];
        }
    }
    return mx_tpl_format_percent(run, self, values, out);
}

static mx_status filter_string(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    return mx_tpl_to_soft_str(run, self, out);
}

static const mx_tpl_filter rows[] = {
    {"upper", filter_upper, NULL, 0, NULL},
    {"lower", filter_lower, NULL, 0, NULL},
    {"capitalize", filter_capitalize, NULL, 0, NULL},
    {"title", filter_title, NULL, 0, NULL},
    {"trim", filter_trim, "chars", 0, NULL},
    {"center", filter_center, "width", 0, NULL},
    {"replace", filter_replace, "old new count", 2, NULL},
    {"indent", filter_indent, "width first blank", 0, NULL},
    {"truncate", filter_truncate, "length killwords end leeway", 0, NULL},
    {"wordcount", filter_wordcount, NULL, 0, NULL},
    {"wordwrap", filter_wordwrap, "width break_long_words wrapstring break_on_hyphens", 0, NULL},
    {"format", NULL, NULL, 0, filter_format},
    {"string", filter_string, NULL, 0, NULL},
};
const mx_tpl_table mx_tpl_text_filters = {rows, MX_COUNTOF(rows)};
