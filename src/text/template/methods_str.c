/* methods_str.c - methods of strings that make text of text. Those of markup give markup, and escape what they put in.
 */
#include "base/utf8.h"
#include "text/template/chars.h"
#include "text/template/format.h"
#include "text/template/methods.h"
#include "text/template/strings.h"

#define METHOD(name) \
    static mx_status name(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)

static mx_status want_str(mx_tpl_run *run, mx_tpl_value v)
{
    return mx_tpl_is_str(v) ? MX_OK : mx_tpl_fail_type(run, "expected str, got %s", mx_tpl_type_name(v));
}

/* An argument that goes into self: escaped where self is markup. */
static mx_status joined_arg(mx_tpl_run *run, mx_tpl_value self, mx_tpl_value *arg)
{
    if (!mx_tpl_is_markup(self)) {
        return want_str(run, *arg);
    }
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_put_escaped_value(run, *arg));
    return mx_tpl_take(run, mark, 0, arg);
}

#define CASE_METHOD(name, style)                         \
    METHOD(name)                                         \
    {                                                    \
        (void)args;                                      \
        return mx_tpl_str_case(run, self, (style), out); \
    }
CASE_METHOD(str_upper, MX_TPL_CASE_UPPER)
CASE_METHOD(str_lower, MX_TPL_CASE_LOWER)
CASE_METHOD(str_title, MX_TPL_CASE_TITLE)
CASE_METHOD(str_capitalize, MX_TPL_CASE_CAPITALIZE)
CASE_METHOD(str_swapcase, MX_TPL_CASE_SWAP)
CASE_METHOD(str_casefold, MX_TPL_CASE_FOLD)

METHOD(str_strip)
{
    return mx_tpl_str_strip(run, self, args[0], true, true, out);
}

METHOD(str_lstrip)
{
    return mx_tpl_str_strip(run, self, args[0], true, false, out);
}

METHOD(str_rstrip)
{
    return mx_tpl_str_strip(run, self, args[0], false, true, out);
}

METHOD(str_replace)
{
    int64_t count = -1;
    mx_tpl_value new_text = args[1];
    MX_TRY(want_str(run, args[0]));
    MX_TRY(joined_arg(run, self, &new_text));
    if (mx_tpl_is_given(args[2])) {
        MX_TRY(mx_tpl_to_index(run, args[2], &count));
    }
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_put_replaced(run, mx_tpl_view(self), mx_tpl_view(args[0]), mx_tpl_view(new_text), count));
    return mx_tpl_take(run, mark, self.flags & MX_TPL_MARKUP, out);
}

static mx_status pad(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, bool left, bool right,
                     mx_tpl_value *out)
{
    int64_t width = 0;
    int64_t n_fill = 1;
    mx_tpl_value fill = MX_TPL_LITERAL(" ");
    MX_TRY(mx_tpl_to_index(run, args[0], &width));
    if (mx_tpl_is_given(args[1])) {
        fill = args[1];
        MX_TRY(joined_arg(run, self, &fill));
        MX_TRY(mx_tpl_length(run, fill, &n_fill));
    }
    if (n_fill != 1) {
        return mx_tpl_fail_type(run, "the fill character must be exactly one character long");
    }
    return mx_tpl_str_pad(run, self, width, mx_tpl_view(fill), left, right, out);
}

METHOD(str_center)
{
    return pad(run, self, args, true, true, out);
}

METHOD(str_ljust)
{
    return pad(run, self, args, false, true, out);
}

METHOD(str_rjust)
{
    return pad(run, self, args, true, false, out);
}

METHOD(str_zfill)
{
    int64_t width = 0;
    int64_t n = 0;
    MX_TRY(mx_tpl_to_index(run, args[0], &width));
    MX_TRY(mx_tpl_length(run, self, &n));
    const mx_str s = mx_tpl_view(self);
    const size_t sign = s.len && (s.ptr[0] == '-' || s.ptr[0] == '+');
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_put(run, mx_str_slice(s, 0, sign)));
    MX_TRY(mx_tpl_put_fill(run, MX_STR("0"), width > n ? (size_t)(width - n) : 0));
    MX_TRY(mx_tpl_put(run, mx_str_slice(s, sign, s.len)));
    return mx_tpl_take(run, mark, self.flags & MX_TPL_MARKUP, out);
}

METHOD(str_expandtabs)
{
    int64_t size = 8;
    int64_t column = 0;
    if (mx_tpl_is_given(args[0])) {
        MX_TRY(mx_tpl_to_index(run, args[0], &size));
    }
    const mx_str s = mx_tpl_view(self);
    const size_t mark = mx_tpl_mark(run);
    for (size_t at = 0; at < s.len;) {
        const size_t from = at;
        const int32_t c = mx_tpl_char_at(s, &at);
        if (c == '\t') {
            const int64_t n = size > 0 ? size - column % size : 0;
            MX_TRY(mx_tpl_put_fill(run, MX_STR(" "), (size_t)n));
            column += n;
            continue;
        }
        MX_TRY(mx_tpl_put(run, mx_str_slice(s, from, at)));
        column = c == '\n' || c == '\r' ? 0 : column + 1;
    }
    return mx_tpl_take(run, mark, self.flags & MX_TPL_MARKUP, out);
}

METHOD(str_removeprefix)
{
    MX_TRY(want_str(run, args[0]));
    const bool has = mx_str_starts_with(mx_tpl_view(self), mx_tpl_view(args[0]));
    *out = has ? mx_tpl_part(self, args[0].len, self.len) : self;
    return MX_OK;
}

METHOD(str_removesuffix)
{
    MX_TRY(want_str(run, args[0]));
    const bool has = mx_str_ends_with(mx_tpl_view(self), mx_tpl_view(args[0]));
    *out = has ? mx_tpl_part(self, 0, self.len - args[0].len) : self;
    return MX_OK;
}

static mx_status split(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, bool from_right, mx_tpl_value *out)
{
    int64_t max_split = -1;
    if (mx_tpl_is_given(args[1])) {
        MX_TRY(mx_tpl_to_index(run, args[1], &max_split));
    }
    return mx_tpl_str_split(run, self, args[0], max_split, from_right, out);
}

METHOD(str_split)
{
    return split(run, self, args, false, out);
}

METHOD(str_rsplit)
{
    return split(run, self, args, true, out);
}

METHOD(str_splitlines)
{
    mx_tpl_vec lines = {0};
    MX_TRY(mx_tpl_str_splitlines(run, self, mx_tpl_truth(run, args[0]), &lines));
    return mx_tpl_vec_to(run, &lines, MX_TPL_LIST, out);
}

METHOD(str_join)
{
    mx_tpl_cursor cursor;
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_cursor_open(run, args[0], &cursor));
    for (size_t i = 0;; i++) {
        mx_tpl_value item;
        bool has_item = false;
        MX_TRY(mx_tpl_cursor_next(run, &cursor, &item, &has_item));
        if (!has_item) {
            return mx_tpl_take(run, mark, self.flags & MX_TPL_MARKUP, out);
        }
        MX_TRY(i ? mx_tpl_put(run, mx_tpl_view(self)) : MX_OK);
        if (mx_tpl_is_markup(self)) {
            MX_TRY(mx_tpl_put_escaped_value(run, item));
        } else if (mx_tpl_is_str(item)) {
            MX_TRY(mx_tpl_put(run, mx_tpl_view(item)));
        } else {
            return mx_tpl_fail_type(run, "sequence item %zu: expected str instance, %s found", i,
                                    mx_tpl_type_name(item));
        }
    }
}

static mx_status partition(mx_tpl_run *run, mx_tpl_value self, mx_tpl_value sep, bool from_right, mx_tpl_value *out)
{
    mx_tpl_value *parts = NULL;
    MX_TRY(want_str(run, sep));
    if (sep.len == 0) {
        return mx_tpl_fail_type(run, "empty separator");
    }
    const mx_str s = mx_tpl_view(self);
    MX_TRY(mx_tpl_bytes_walked(run, s.len));
    const size_t at = from_right ? mx_str_find_last(s, mx_tpl_view(sep)) : mx_str_find(s, mx_tpl_view(sep), 0);
    MX_TRY(mx_tpl_new_tuple(run, 3, &parts, out));
    const bool found = at != MX_STR_NPOS;
    const size_t split_at = found ? at : from_right ? 0 : s.len;
    const size_t rest_at = found ? at + sep.len : split_at;
    parts[0] = mx_tpl_part(self, 0, split_at);
    parts[1] = mx_tpl_part(self, split_at, rest_at);
    parts[2] = mx_tpl_part(self, rest_at, s.len);
    return MX_OK;
}

METHOD(str_partition)
{
    return partition(run, self, args[0], false, out);
}

METHOD(str_rpartition)
{
    return partition(run, self, args[0], true, out);
}

static mx_status str_format(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_args *args, mx_tpl_value *out)
{
    return mx_tpl_format_braces(run, self, args, (mx_tpl_value){.kind = MX_TPL_MISSING}, out);
}

METHOD(str_format_map)
{
    static const mx_tpl_args none = {0};
    return mx_tpl_format_braces(run, self, &none, args[0], out);
}

/* Each character becomes what a table says: a number, a string or nothing. */
METHOD(str_translate)
{
    const mx_str s = mx_tpl_view(self);
    const size_t mark = mx_tpl_mark(run);
    for (size_t at = 0; at < s.len;) {
        mx_tpl_value to;
        bool found = false;
        const size_t from = at;
        const int32_t c = mx_tpl_char_at(s, &at);
        if (args[0].kind == MX_TPL_DICT) {
            MX_TRY(mx_tpl_dict_find(run, args[0].as.dict, mx_tpl_int(c), &to, &found));
        } else if (args[0].kind == MX_TPL_LIST || mx_tpl_is_str(args[0]) || args[0].kind == MX_TPL_TUPLE) {
            MX_TRY(mx_tpl_getitem(run, args[0], mx_tpl_int(c), &to));
            found = to.kind != MX_TPL_UNDEFINED;
        } else {
            return mx_tpl_fail_type(run, "'%s' object is not subscriptable", mx_tpl_type_name(args[0]));
        }
        if (!found) {
            MX_TRY(mx_tpl_put(run, mx_str_slice(s, from, at)));
        } else if (to.kind == MX_TPL_INT && to.as.i >= 0 && to.as.i <= 0x10FFFF) {
            MX_TRY(mx_tpl_put_code(run, (int32_t)to.as.i));
        } else if (mx_tpl_is_str(to)) {
            MX_TRY(mx_tpl_put(run, mx_tpl_view(to)));
        } else if (to.kind != MX_TPL_NONE) {
            return mx_tpl_fail_type(run, "character mapping must return integer, None or str");
        }
    }
    return mx_tpl_take(run, mark, self.flags & MX_TPL_MARKUP, out);
}

METHOD(str_encode)
{
    static const char *const utf8[] = {"utf-8", "utf8", "UTF-8", "UTF8", "utf_8"};
    bool is_known = !mx_tpl_is_given(args[0]);
    for (size_t i = 0; i < MX_COUNTOF(utf8) && mx_tpl_is_str(args[0]); i++) {
        is_known = is_known || mx_str_eq_cstr(mx_tpl_view(args[0]), utf8[i]);
    }
    const bool is_ascii = mx_tpl_is_str(args[0]) && mx_str_eq_cstr(mx_tpl_view(args[0]), "ascii");
    if (!is_known && !(is_ascii && (self.flags & MX_TPL_ASCII))) {
        return mx_tpl_fail_type(run, "encode() supports UTF-8, and ASCII of text that is");
    }
    *out = self;
    out->kind = MX_TPL_BYTES;
    out->flags = 0;
    return MX_OK;
}

/* What only markup has: escape(other), unescape(), striptags(). */
static mx_status only_markup(mx_tpl_run *run, mx_tpl_value self, const char *name, const mx_tpl_args *args,
                             mx_tpl_value *out)
{
    const mx_tpl_filter *filter = mx_tpl_find_filter(mx_str_from(name));
    static const mx_tpl_args none = {0};
    (void)args;
    return mx_tpl_call_filter(run, filter, self, &none, out);
}

static mx_status markup_striptags(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_args *args, mx_tpl_value *out)
{
    return only_markup(run, self, "striptags", args, out);
}

static mx_status markup_escape(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_args *args, mx_tpl_value *out)
{
    (void)self;
    return args->n_pos == 1 ? only_markup(run, args->pos[0], "escape", args, out)
                            : mx_tpl_fail_type(run, "escape() takes one argument");
}

METHOD(markup_unescape)
{
    (void)args;
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_put_unescaped(run, mx_tpl_view(self)));
    return mx_tpl_take(run, mark, 0, out);
}

static const mx_tpl_filter rows[] = {
    {"upper", str_upper, NULL, 0, NULL},
    {"lower", str_lower, NULL, 0, NULL},
    {"title", str_title, NULL, 0, NULL},
    {"capitalize", str_capitalize, NULL, 0, NULL},
    {"swapcase", str_swapcase, NULL, 0, NULL},
    {"casefold", str_casefold, NULL, 0, NULL},
    {"strip", str_strip, "_", 0, NULL},
    {"lstrip", str_lstrip, "_", 0, NULL},
    {"rstrip", str_rstrip, "_", 0, NULL},
    {"replace", str_replace, "_ _ _", 2, NULL},
    {"center", str_center, "_ _", 1, NULL},
    {"ljust", str_ljust, "_ _", 1, NULL},
    {"rjust", str_rjust, "_ _", 1, NULL},
    {"zfill", str_zfill, "_", 1, NULL},
    {"expandtabs", str_expandtabs, "tabsize", 0, NULL},
    {"removeprefix", str_removeprefix, "_", 1, NULL},
    {"removesuffix", str_removesuffix, "_", 1, NULL},
    {"split", str_split, "sep maxsplit", 0, NULL},
    {"rsplit", str_rsplit, "sep maxsplit", 0, NULL},
    {"splitlines", str_splitlines, "keepends", 0, NULL},
    {"join", str_join, "_", 1, NULL},
    {"partition", str_partition, "_", 1, NULL},
    {"rpartition", str_rpartition, "_", 1, NULL},
    {"format", NULL, NULL, 0, str_format},
    {"format_map", str_format_map, "_", 1, NULL},
    {"translate", str_translate, "_", 1, NULL},
    {"encode", str_encode, "encoding errors", 0, NULL},
    {"striptags", NULL, NULL, 0, markup_striptags},
    {"escape", NULL, NULL, 0, markup_escape},
    {"unescape", markup_unescape, NULL, 0, NULL},
};
const mx_tpl_table mx_tpl_str_text_methods = {rows, MX_COUNTOF(rows)};
