/* format_percent.c - 'text %s' % values. */
#include <math.h>

#include "text/template/chars.h"
#include "text/template/format.h"

/* One conversion: %(key)#05.2f */
typedef struct conversion {
    bool left; /* - */
    bool plus; /* + */
    bool blank;
    bool alternate; /* # */
    bool zero;      /* 0 */
    int64_t width;
    int64_t precision; /* -1: none */
    char type;
} conversion;

typedef struct percent_state {
    mx_tpl_run *run;
    mx_str format;
    size_t at;
    mx_tpl_value values;
    size_t i_value;  /* next of a tuple; of a single value 0 or 1 */
    bool is_mapping; /* values has [] and is no tuple and no string */
    bool used_mapping;
    bool escapes; /* the format is markup */
} percent_state;

static mx_status next_value(percent_state *s, mx_tpl_value *out)
{
    const bool is_tuple = s->values.kind == MX_TPL_TUPLE;
    const size_t n = is_tuple ? s->values.as.list->n : 1;
    if (s->i_value >= n || s->used_mapping) {
        return mx_tpl_fail_type(s->run, "not enough arguments for format string");
    }
    *out = is_tuple ? s->values.as.list->items[s->i_value] : s->values;
    s->i_value++;
    return MX_OK;
}

/* (key), which may hold brackets in pairs */
static mx_status take_key(percent_state *s, mx_tpl_value *value, bool *has_key)
{
    *has_key = s->at < s->format.len && s->format.ptr[s->at] == '(';
    if (!*has_key) {
        return MX_OK;
    }
    if (!s->is_mapping) {
        return mx_tpl_fail_type(s->run, "format requires a mapping");
    }
    const size_t from = ++s->at;
    for (int depth = 1; s->at < s->format.len; s->at++) {
        depth += s->format.ptr[s->at] == '(' ? 1 : s->format.ptr[s->at] == ')' ? -1 : 0;
        if (depth == 0) {
            break;
        }
    }
    if (s->at >= s->format.len) {
        return mx_tpl_fail_type(s->run, "incomplete format key");
    }
    const mx_tpl_value key = mx_tpl_str(mx_str_slice(s->format, from, s->at++));
    bool found = false;
    if (s->values.kind == MX_TPL_DICT) {
        MX_TRY(mx_tpl_dict_find(s->run, s->values.as.dict, key, value, &found));
    }
    s->used_mapping = true;
    return found ? MX_OK : mx_tpl_fail_type(s->run, "format key '%.*s' is not there", MX_STR_ARG(mx_tpl_view(key)));
}

static mx_status take_number(percent_state *s, int64_t *out)
{
    if (s->at < s->format.len && s->format.ptr[s->at] == '*') {
        mx_tpl_value v;
        s->at++;
        MX_TRY(next_value(s, &v));
        if (!mx_tpl_is_integral(v) || s->escapes) {
            return mx_tpl_fail_type(s->run, "* wants int");
        }
        return mx_tpl_to_index(s->run, v, out);
    }
    *out = 0;
    for (; s->at < s->format.len && s->format.ptr[s->at] >= '0' && s->format.ptr[s->at] <= '9'; s->at++) {
        *out = *out * 10 + (s->format.ptr[s->at] - '0');
        if (*out > INT32_MAX) {
            return mx_tpl_fail_type(s->run, "width or precision too big");
        }
    }
    return MX_OK;
}

static mx_status take_conversion(percent_state *s, conversion *c)
{
    *c = (conversion){.precision = -1};
    for (; s->at < s->format.len; s->at++) {
        const char flag = s->format.ptr[s->at];
        bool *const to = flag == '-'   ? &c->left
                         : flag == '+' ? &c->plus
                         : flag == ' ' ? &c->blank
                         : flag == '#' ? &c->alternate
                         : flag == '0' ? &c->zero
                                       : NULL;
        if (!to) {
            break;
        }
        *to = true;
    }
    MX_TRY(take_number(s, &c->width));
    if (c->width < 0) {
        c->left = true;
        c->width = -MX_MAX(c->width, -INT32_MAX);
    }
    if (s->at < s->format.len && s->format.ptr[s->at] == '.') {
        s->at++;
        MX_TRY(take_number(s, &c->precision));
        c->precision = MX_MAX(c->precision, 0);
    }
    if (s->at < s->format.len && strchr("hlL", s->format.ptr[s->at])) {
        s->at++;
    }
    if (s->at >= s->format.len) {
        return mx_tpl_fail_type(s->run, "incomplete format");
    }
    c->type = s->format.ptr[s->at++];
    return MX_OK;
}

/* Puts sign, prefix and digits (what is after `mark`, taken from there) padded to the width. */
static mx_status pad_number(percent_state *s, const conversion *c, size_t mark, bool is_negative, mx_str prefix)
{
    mx_tpl_value digits;
    mx_tpl_run *run = s->run;
    MX_TRY(mx_tpl_take(run, mark, 0, &digits));
    const mx_str sign = is_negative ? MX_STR("-") : c->plus ? MX_STR("+") : c->blank ? MX_STR(" ") : MX_STR("");
    const size_t n = sign.len + prefix.len + digits.len;
    const size_t n_fill = (size_t)c->width > n ? (size_t)c->width - n : 0;
    if (!c->left && !c->zero) {
        MX_TRY(mx_tpl_put_fill(run, MX_STR(" "), n_fill));
    }
    MX_TRY(mx_tpl_put(run, sign));
    MX_TRY(mx_tpl_put(run, prefix));
    if (!c->left && c->zero) {
        MX_TRY(mx_tpl_put_fill(run, MX_STR("0"), n_fill));
    }
    MX_TRY(mx_tpl_put(run, mx_tpl_view(digits)));
    return c->left ? mx_tpl_put_fill(run, MX_STR(" "), n_fill) : MX_OK;
}

static mx_status put_integer(percent_state *s, const conversion *c, mx_tpl_value v)
{
    mx_tpl_run *run = s->run;
    const char type = c->type == 'i' || c->type == 'u' ? 'd' : c->type;
    mx_status st = MX_OK;
    if (v.kind == MX_TPL_UNDEFINED) {
        return mx_tpl_fail_undefined(run, v);
    }
    if (type == 'd' && v.kind == MX_TPL_FLOAT) {
        if (!mx_tpl_float_to_int(v.as.f, run, &v, &st)) {
            return mx_tpl_fail_type(run, "cannot convert float infinity or NaN to integer");
        }
        MX_TRY(st);
    }
    if (!mx_tpl_is_integral(v)) {
        return mx_tpl_fail_type(run, "%%%c format: a%s is required, not %s", c->type,
                                type == 'd' ? " real number" : "n integer", mx_tpl_type_name(v));
    }
    const bool is_negative = mx_tpl_number_order(v, mx_tpl_int(0)) < 0;
    const int base = type == 'd' ? 10 : type == 'o' ? 8 : 16;
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_put_int_base(run, v, base, type == 'X'));
    const size_t n = mx_tpl_mark(run) - mark;
    if (c->precision > (int64_t)n) {
        mx_tpl_value digits;
        MX_TRY(mx_tpl_take(run, mark, 0, &digits));
        MX_TRY(mx_tpl_put_fill(run, MX_STR("0"), (size_t)c->precision - n));
        MX_TRY(mx_tpl_put(run, mx_tpl_view(digits)));
    }
    const char *prefix = !c->alternate || base == 10 ? "" : base == 8 ? "0o" : type == 'X' ? "0X" : "0x";
    return pad_number(s, c, mark, is_negative, mx_str_from(prefix));
}

static mx_status put_float(percent_state *s, const conversion *c, mx_tpl_value v)
{
    if (v.kind == MX_TPL_UNDEFINED) {
        return mx_tpl_fail_undefined(s->run, v);
    }
    if (!mx_tpl_is_number(v)) {
        return mx_tpl_fail_type(s->run, "must be real number, not %s", mx_tpl_type_name(v));
    }
    const double d = mx_tpl_as_double(v);
    const size_t mark = mx_tpl_mark(s->run);
    const int64_t precision = c->precision < 0 ? 6 : MX_MIN(c->precision, 1000000);
    MX_TRY(mx_tpl_put_float_as(s->run, d, c->type, (int)precision, c->alternate));
    return pad_number(s, c, mark, signbit(d) && !isnan(d), MX_STR(""));
}

static mx_status put_ascii(mx_tpl_run *run, mx_tpl_value v, mx_tpl_value *out)
{
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_put_repr(run, v));
    MX_TRY(mx_tpl_take(run, mark, 0, out));
    if (out->flags & MX_TPL_ASCII) {
        return MX_OK;
    }
    MX_TRY(mx_tpl_put_ascii(run, mx_tpl_view(*out)));
    return mx_tpl_take(run, mark, 0, out);
}

/* The text for %s, %r, %a or %c. */
static mx_status text_of(percent_state *s, const conversion *c, mx_tpl_value v, mx_tpl_value *out)
{
    mx_tpl_run *run = s->run;
    const size_t mark = mx_tpl_mark(run);
    switch (c->type) {
    case 's': return s->escapes ? (*out = v, MX_OK) : mx_tpl_to_str(run, v, out);
    case 'r': MX_TRY(mx_tpl_put_repr(run, v)); return mx_tpl_take(run, mark, 0, out);
    case 'a': return put_ascii(run, v, out);
    default: break;
    }
    int64_t n = 0;
    if (mx_tpl_is_str(v)) {
        MX_TRY(mx_tpl_length(run, v, &n));
        *out = v;
        return n == 1 ? MX_OK : mx_tpl_fail_type(run, "%%c requires int or char");
    }
    if (!mx_tpl_is_integral(v)) {
        return mx_tpl_fail_type(run, "%%c requires int or char");
    }
    MX_TRY(mx_tpl_to_index(run, v, &n));
    if (n < 0 || n > 0x10FFFF || (n >= 0xD800 && n <= 0xDFFF)) {
        return mx_tpl_fail_type(run, "%%c arg not in range(0x110000), or a surrogate");
    }
    MX_TRY(mx_tpl_put_code(run, (int32_t)n));
    return mx_tpl_take(run, mark, 0, out);
}

static mx_status put_text(percent_state *s, const conversion *c, mx_tpl_value v)
{
    mx_tpl_value text;
    mx_tpl_run *run = s->run;
    MX_TRY(text_of(s, c, v, &text));
    if (s->escapes) {
        const size_t mark = mx_tpl_mark(run);
        MX_TRY(mx_tpl_put_escaped_value(run, text));
        MX_TRY(mx_tpl_take(run, mark, 0, &text));
    }
    int64_t n = 0;
    MX_TRY(mx_tpl_length(run, text, &n));
    mx_str shown = mx_tpl_view(text);
    if (c->precision >= 0 && c->precision < n && c->type != 'c') {
        shown = mx_str_slice(shown, 0, mx_tpl_char_offset(shown, (size_t)c->precision));
        n = c->precision;
    }
    const size_t n_fill = c->width > n ? (size_t)(c->width - n) : 0;
    MX_TRY(c->left ? MX_OK : mx_tpl_put_fill(run, MX_STR(" "), n_fill));
    MX_TRY(mx_tpl_put(run, shown));
    return c->left ? mx_tpl_put_fill(run, MX_STR(" "), n_fill) : MX_OK;
}

/* The conversion whose % is behind s->at. */
static mx_status convert(percent_state *s)
{
    conversion c;
    mx_tpl_value v;
    bool has_key = false;
    if (s->at < s->format.len && s->format.ptr[s->at] == '%') {
        s->at++;
        return mx_tpl_put_char(s->run, '%');
    }
    MX_TRY(take_key(s, &v, &has_key));
    MX_TRY(take_conversion(s, &c));
    /* Markup passes on its values wrapped, and the wrapping is no integer and no character. */
    if (!strchr("diuoxXeEfFgGcrsa", c.type) || (s->escapes && strchr("oxXc", c.type))) {
        return mx_tpl_fail_type(s->run, "unsupported format character '%c'", c.type);
    }
    if (!has_key) {
        MX_TRY(next_value(s, &v));
    }
    if (strchr("diuoxX", c.type)) {
        return put_integer(s, &c, v);
    }
    return strchr("eEfFgG", c.type) ? put_float(s, &c, v) : put_text(s, &c, v);
}

static bool has_subscript(mx_tpl_value v)
{
    return v.kind == MX_TPL_DICT || v.kind == MX_TPL_LIST || v.kind == MX_TPL_RANGE || v.kind == MX_TPL_BYTES ||
           v.kind == MX_TPL_UNDEFINED;
}

mx_status mx_tpl_format_percent(mx_tpl_run *run, mx_tpl_value format, mx_tpl_value values, mx_tpl_value *out)
{
    percent_state s = {.run = run, .format = mx_tpl_view(format), .values = values};
    s.is_mapping = has_subscript(values);
    s.escapes = mx_tpl_is_markup(format);
    const size_t mark = mx_tpl_mark(run);
    while (s.at < s.format.len) {
        const size_t percent = mx_str_find(s.format, MX_STR("%"), s.at);
        const size_t to = percent == MX_STR_NPOS ? s.format.len : percent;
        MX_TRY(mx_tpl_put(run, mx_str_slice(s.format, s.at, to)));
        s.at = to;
        if (percent != MX_STR_NPOS) {
            s.at++;
            MX_TRY(convert(&s));
        }
    }
    const size_t n_values = values.kind == MX_TPL_TUPLE ? values.as.list->n : 1;
    if (!s.is_mapping && s.i_value < n_values) {
        return mx_tpl_fail_type(run, "not all arguments converted during string formatting");
    }
    return mx_tpl_take(run, mark, format.flags & MX_TPL_MARKUP, out);
}
