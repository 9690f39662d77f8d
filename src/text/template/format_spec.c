/* format_spec.c - format(value, spec): [[fill]align][sign][z][#][0][width][grouping][.precision][type] */
#include <math.h>

#include "text/template/chars.h"
#include "text/template/format.h"

typedef struct spec {
    mx_str fill; /* one character */
    char align;  /* < > = ^, or 0 */
    char sign;   /* + - blank, or 0 */
    bool alternate;
    bool no_negative_zero;
    int64_t width;     /* -1: none */
    char grouping;     /* , _ or 0 */
    int64_t precision; /* -1: none */
    char type;         /* 0: none */
} spec;

static bool is_align(char c)
{
    return c == '<' || c == '>' || c == '=' || c == '^';
}

static mx_status take_digits(mx_tpl_run *run, mx_str text, size_t *at, int64_t *out)
{
    if (*at >= text.len || text.ptr[*at] < '0' || text.ptr[*at] > '9') {
        return MX_OK;
    }
    *out = 0;
    for (; *at < text.len && text.ptr[*at] >= '0' && text.ptr[*at] <= '9'; (*at)++) {
        *out = *out * 10 + (text.ptr[*at] - '0');
        if (*out > INT32_MAX) {
            return mx_tpl_fail_type(run, "too many decimal digits in format string");
        }
    }
    return MX_OK;
}

static mx_status parse_spec(mx_tpl_run *run, mx_str text, spec *s)
{
    *s = (spec){.fill = MX_STR(" "), .width = -1, .precision = -1};
    size_t at = 0;
    size_t second = 0;
    if (text.len) {
        (void)mx_tpl_char_at(text, &second);
    }
    bool has_fill = false;
    if (second < text.len && is_align(text.ptr[second])) {
        s->fill = mx_str_slice(text, 0, second);
        s->align = text.ptr[second];
        at = second + 1;
        has_fill = true;
    } else if (text.len && is_align(text.ptr[0])) {
        s->align = text.ptr[at++];
    }
    if (at < text.len && strchr("+- ", text.ptr[at])) {
        s->sign = text.ptr[at++];
    }
    if (at < text.len && text.ptr[at] == 'z') {
        s->no_negative_zero = true;
        at++;
    }
    if (at < text.len && text.ptr[at] == '#') {
        s->alternate = true;
        at++;
    }
    if (at < text.len && text.ptr[at] == '0') {
        if (!has_fill) {
            s->fill = MX_STR("0");
            s->align = s->align ? s->align : '0'; /* '=' for numbers, nothing for strings */
        }
        at++;
    }
    MX_TRY(take_digits(run, text, &at, &s->width));
    while (at < text.len && (text.ptr[at] == ',' || text.ptr[at] == '_')) {
        if (s->grouping) {
            return mx_tpl_fail_type(run, "cannot specify both or twice ',' and '_'");
        }
        s->grouping = text.ptr[at++];
    }
    if (at < text.len && text.ptr[at] == '.') {
        at++;
        MX_TRY(take_digits(run, text, &at, &s->precision));
        if (s->precision < 0) {
            return mx_tpl_fail_type(run, "format specifier missing precision");
        }
    }
    if (at + 1 < text.len) {
        return mx_tpl_fail_type(run, "invalid format specifier '%.*s'", MX_STR_ARG(text));
    }
    s->type = at < text.len ? text.ptr[at] : '\0';
    return MX_OK;
}

static mx_status fail_code(mx_tpl_run *run, const spec *s, mx_tpl_value v)
{
    return mx_tpl_fail_type(run, "unknown format code '%c' for object of type '%s'", s->type, mx_tpl_type_name(v));
}

/* Puts text of n characters between its fill; default_align for a spec that has none. */
static mx_status put_aligned(mx_tpl_run *run, const spec *s, mx_str text, int64_t n, char default_align)
{
    const char align = s->align && s->align != '0' ? s->align : default_align;
    const int64_t n_fill = s->width > n ? s->width - n : 0;
    const int64_t n_left = align == '>' ? n_fill : align == '^' ? n_fill / 2 : 0;
    MX_TRY(mx_tpl_put_fill(run, s->fill, (size_t)n_left));
    MX_TRY(mx_tpl_put(run, text));
    return mx_tpl_put_fill(run, s->fill, (size_t)(n_fill - n_left));
}

static mx_status format_str(mx_tpl_run *run, const spec *s, mx_tpl_value v)
{
    if (s->type && s->type != 's') {
        return fail_code(run, s, v);
    }
    if (s->sign || s->align == '=' || s->grouping || s->alternate || s->no_negative_zero) {
        return mx_tpl_fail_type(run, "sign, '=' , grouping and '#' are not allowed in a string format specifier");
    }
    int64_t n = 0;
    mx_str text = mx_tpl_view(v);
    MX_TRY(mx_tpl_length(run, v, &n));
    if (s->precision >= 0 && s->precision < n) {
        text = mx_str_slice(text, 0, mx_tpl_char_offset(text, (size_t)s->precision));
        n = s->precision;
    }
    return put_aligned(run, s, text, n, '<');
}

/* Puts the leading digits of a number in groups, with zeros before them up to n_min characters. */
static mx_status put_grouped(mx_tpl_run *run, mx_str digits, char separator, size_t size, int64_t n_min)
{
    size_t n = digits.len;
    if (n_min > 0) { /* the fewest digits that, with their separators, fill n_min */
        const size_t wanted = (size_t)n_min;
        size_t need = wanted - wanted / (size + 1);
        need += wanted % (size + 1) == 0 ? 1 : 0;
        n = MX_MAX(n, need);
    }
    for (size_t i = 0; i < n; i++) {
        const size_t left = n - i; /* digits from here on */
        MX_TRY(mx_tpl_put_char(run, left > digits.len ? '0' : digits.ptr[digits.len - left]));
        if (left > 1 && (left - 1) % size == 0) {
            MX_TRY(mx_tpl_put_char(run, separator));
        }
    }
    return MX_OK;
}

/* Sign, prefix and the number's text; n_lead of it are the digits before the point. */
static mx_status put_number(mx_tpl_run *run, const spec *s, bool is_negative, mx_str prefix, mx_str text, size_t n_lead,
                            size_t group_size)
{
    const mx_str sign = is_negative      ? MX_STR("-")
                        : s->sign == '+' ? MX_STR("+")
                        : s->sign == ' ' ? MX_STR(" ")
                                         : MX_STR("");
    const bool is_inside = s->align == '=' || s->align == '0';
    const bool pads_zeros = is_inside && mx_str_eq(s->fill, MX_STR("0"));
    const size_t n_rest = text.len - n_lead;
    mx_tpl_value lead = mx_tpl_str(mx_str_slice(text, 0, n_lead));
    if (s->grouping && n_lead) {
        const size_t mark = mx_tpl_mark(run);
        const int64_t n_min = pads_zeros ? s->width - (int64_t)(sign.len + prefix.len + n_rest) : 0;
        MX_TRY(put_grouped(run, mx_tpl_view(lead), s->grouping, group_size, n_min));
        MX_TRY(mx_tpl_take(run, mark, 0, &lead));
    }
    const int64_t n = (int64_t)(sign.len + prefix.len + lead.len + n_rest);
    const size_t n_fill = s->width > n ? (size_t)(s->width - n) : 0;
    if (is_inside) {
        MX_TRY(mx_tpl_put(run, sign));
        MX_TRY(mx_tpl_put(run, prefix));
        MX_TRY(mx_tpl_put_fill(run, s->fill, n_fill));
        MX_TRY(mx_tpl_put(run, mx_tpl_view(lead)));
        return mx_tpl_put(run, mx_str_slice(text, n_lead, text.len));
    }
    const size_t n_left = s->align == '<' ? 0 : s->align == '^' ? n_fill / 2 : n_fill;
    MX_TRY(mx_tpl_put_fill(run, s->fill, n_left));
    MX_TRY(mx_tpl_put(run, sign));
    MX_TRY(mx_tpl_put(run, prefix));
    MX_TRY(mx_tpl_put(run, mx_tpl_view(lead)));
    MX_TRY(mx_tpl_put(run, mx_str_slice(text, n_lead, text.len)));
    return mx_tpl_put_fill(run, s->fill, n_fill - n_left);
}

static mx_status format_int(mx_tpl_run *run, const spec *s, mx_tpl_value v)
{
    const char type = s->type ? s->type : 'd';
    mx_tpl_value text;
    if (s->precision >= 0) {
        return mx_tpl_fail_type(run, "precision not allowed in integer format specifier");
    }
    if (s->no_negative_zero || (s->grouping == ',' && type != 'd') || (s->grouping && type == 'n')) {
        return mx_tpl_fail_type(run, "cannot specify '%c' with '%c'", s->grouping ? s->grouping : 'z', type);
    }
    const size_t mark = mx_tpl_mark(run);
    if (type == 'c') {
        int64_t code = 0;
        MX_TRY(mx_tpl_to_index(run, v, &code));
        if (s->sign || s->alternate || code < 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
            return mx_tpl_fail_type(run, "%%c arg not in range(0x110000), or with a sign");
        }
        MX_TRY(mx_tpl_put_code(run, (int32_t)code));
        MX_TRY(mx_tpl_take(run, mark, 0, &text));
        return put_number(run, s, false, MX_STR(""), mx_tpl_view(text), 0, 3);
    }
    const int base = type == 'b' ? 2 : type == 'o' ? 8 : type == 'x' || type == 'X' ? 16 : 10;
    MX_TRY(mx_tpl_put_int_base(run, v, base, type == 'X'));
    MX_TRY(mx_tpl_take(run, mark, 0, &text));
    const char prefix[2] = {'0', type};
    return put_number(run, s, mx_tpl_number_order(v, mx_tpl_int(0)) < 0,
                      s->alternate && base != 10 ? (mx_str){prefix, 2} : MX_STR(""), mx_tpl_view(text), text.len,
                      base == 10 ? 3 : 4);
}

/* Puts |d| for a spec without a type but with a precision: as g, but never without a point. */
static mx_status put_general(mx_tpl_run *run, double d, int64_t precision)
{
    const size_t mark = mx_tpl_mark(run);
    const int64_t p = MX_MAX(precision, 1);
    MX_TRY(mx_tpl_put_float_as(run, d, 'e', (int)MX_MIN(p - 1, 10000), false));
    mx_tpl_value text;
    MX_TRY(mx_tpl_take(run, mark, 0, &text));
    const mx_str s = mx_tpl_view(text);
    const size_t e = mx_str_find(s, MX_STR("e"), 0);
    if (e == MX_STR_NPOS) {
        return mx_tpl_put(run, s);
    }
    int64_t exponent = 0;
    for (size_t i = e + 2; i < s.len; i++) {
        exponent = exponent * 10 + (s.ptr[i] - '0');
    }
    exponent = s.ptr[e + 1] == '-' ? -exponent : exponent;
    if (exponent >= -4 && exponent + 1 <= p - 1) {
        MX_TRY(mx_tpl_put_float_as(run, d, 'f', (int)(p - 1 - exponent), false));
        MX_TRY(mx_tpl_take(run, mark, 0, &text));
        size_t n = text.len;
        while (mx_str_find(mx_tpl_view(text), MX_STR("."), 0) != MX_STR_NPOS && n > 2 && text.as.s[n - 1] == '0' &&
               text.as.s[n - 2] != '.') {
            n--;
        }
        MX_TRY(mx_tpl_put(run, mx_str_slice(mx_tpl_view(text), 0, n)));
        return mx_str_find(mx_tpl_view(text), MX_STR("."), 0) == MX_STR_NPOS ? mx_tpl_put(run, MX_STR(".0")) : MX_OK;
    }
    size_t n = e;
    while (n > 1 && s.ptr[n - 1] == '0') {
        n--;
    }
    n -= n > 1 && s.ptr[n - 1] == '.';
    MX_TRY(mx_tpl_put(run, mx_str_slice(s, 0, n)));
    return mx_tpl_put(run, mx_str_slice(s, e, s.len));
}

static mx_status put_float_digits(mx_tpl_run *run, const spec *s, double d)
{
    char text[40];
    const int64_t precision = s->precision < 0 ? 6 : MX_MIN(s->precision, 1000000);
    if (s->type == '\0' && s->precision < 0) {
        return mx_tpl_put(run, (mx_str){text, mx_tpl_print_float(fabs(d), text)});
    }
    if (s->type == '\0') {
        return put_general(run, fabs(d), precision);
    }
    if (s->type == '%') {
        MX_TRY(mx_tpl_put_float_as(run, d * 100, 'f', (int)precision, s->alternate));
        return mx_tpl_put_char(run, '%');
    }
    return mx_tpl_put_float_as(run, d, s->type == 'n' ? 'g' : s->type, (int)precision, s->alternate);
}

static mx_status format_float(mx_tpl_run *run, const spec *s, double d)
{
    mx_tpl_value text;
    if (s->grouping && s->type == 'n') {
        return mx_tpl_fail_type(run, "cannot specify '%c' with 'n'", s->grouping);
    }
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(put_float_digits(run, s, d));
    MX_TRY(mx_tpl_take(run, mark, 0, &text));
    size_t n_lead = 0;
    while (n_lead < text.len && text.as.s[n_lead] >= '0' && text.as.s[n_lead] <= '9') {
        n_lead++;
    }
    bool is_zero = true;
    for (uint32_t i = 0; i < text.len && text.as.s[i] != 'e'; i++) {
        is_zero = is_zero && (text.as.s[i] < '1' || text.as.s[i] > '9');
    }
    const bool is_negative = signbit(d) && !isnan(d) && !(s->no_negative_zero && is_zero);
    return put_number(run, s, is_negative, MX_STR(""), mx_tpl_view(text), n_lead, 3);
}

mx_status mx_tpl_put_formatted(mx_tpl_run *run, mx_tpl_value value, mx_str text)
{
    spec s;
    if (text.len == 0) {
        return mx_tpl_put_str(run, value);
    }
    if (!mx_tpl_is_str(value) && !mx_tpl_is_number(value)) {
        return mx_tpl_fail_type(run, "unsupported format string passed to %s.__format__", mx_tpl_type_name(value));
    }
    MX_TRY(parse_spec(run, text, &s));
    if (mx_tpl_is_str(value)) {
        return format_str(run, &s, value);
    }
    const char *types = value.kind == MX_TPL_FLOAT ? "eEfFgGn%" : "bcdoxXneEfFgG%";
    if (s.type && !strchr(types, s.type)) {
        return fail_code(run, &s, value);
    }
    const bool as_float = value.kind == MX_TPL_FLOAT || (s.type && strchr("eEfFgG%", s.type));
    return as_float ? format_float(run, &s, mx_tpl_as_double(value)) : format_int(run, &s, value);
}
