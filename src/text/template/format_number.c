/* format_number.c - numbers in the forms of printf's letters, whole and with Python's own ideas. */
#include <math.h>
#include <stdio.h>

#include "text/template/format.h"

mx_status mx_tpl_put_int_base(mx_tpl_run *run, mx_tpl_value v, int base, bool upper)
{
    const char *letters = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    mx_tpl_value zero = mx_tpl_int(0);
    if (mx_tpl_number_order(v, zero) < 0) {
        MX_TRY(mx_tpl_unary(run, MX_TPL_OP_SUB, v, &v));
    }
    if (base == 10) {
        return mx_tpl_put_int(run, v);
    }
    const size_t mark = mx_tpl_mark(run);
    do {
        mx_tpl_value digit;
        MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_MOD, v, mx_tpl_int(base), &digit));
        MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_FLOORDIV, v, mx_tpl_int(base), &v));
        MX_TRY(mx_tpl_put_char(run, letters[digit.as.i]));
    } while (mx_tpl_number_order(v, zero) > 0);
    char *first = run->text.data + mark;
    for (char *last = run->text.data + run->text.len - 1; first < last; first++, last--) {
        const char swapped = *first;
        *first = *last;
        *last = swapped;
    }
    return MX_OK;
}

/* ---- floats: exact, as the C libraries do not agree on ties ---- */

/* Decimals after which every double has ended. */
#define MAX_DECIMALS 1100

static mx_status power_of(mx_tpl_run *run, int64_t base, int64_t exponent, mx_tpl_value *out)
{
    return mx_tpl_arithmetic(run, MX_TPL_OP_POW, mx_tpl_int(base), mx_tpl_int(exponent), out);
}

mx_status mx_tpl_scale_float(mx_tpl_run *run, double d, int64_t scale, mx_tpl_value *out)
{
    int exponent = 0;
    const double fraction = frexp(fabs(d), &exponent);
    mx_tpl_value numerator = mx_tpl_int((int64_t)ldexp(fraction, 53));
    mx_tpl_value denominator = mx_tpl_int(1);
    mx_tpl_value power;
    mx_tpl_value rest;
    exponent -= 53;
    MX_TRY(power_of(run, 2, exponent < 0 ? -exponent : exponent, &power));
    mx_tpl_value *side = exponent < 0 ? &denominator : &numerator;
    MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_MUL, *side, power, side));
    MX_TRY(power_of(run, 10, scale < 0 ? -scale : scale, &power));
    side = scale < 0 ? &denominator : &numerator;
    MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_MUL, *side, power, side));
    MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_FLOORDIV, numerator, denominator, out));
    MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_MOD, numerator, denominator, &rest));
    MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_MUL, rest, mx_tpl_int(2), &rest));
    mx_tpl_value odd;
    MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_MOD, *out, mx_tpl_int(2), &odd));
    const int order = mx_tpl_number_order(rest, denominator);
    const bool goes_up = order > 0 || (order == 0 && odd.as.i != 0);
    return goes_up ? mx_tpl_arithmetic(run, MX_TPL_OP_ADD, *out, mx_tpl_int(1), out) : MX_OK;
}

static mx_status digits_of(mx_tpl_run *run, double d, int64_t scale, mx_tpl_value *out)
{
    mx_tpl_value scaled;
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_scale_float(run, d, scale, &scaled));
    MX_TRY(mx_tpl_put_int(run, scaled));
    return mx_tpl_take(run, mark, 0, out);
}

static mx_status put_fixed(mx_tpl_run *run, double d, int64_t precision, bool alternate)
{
    mx_tpl_value digits;
    const int64_t n_decimals = MX_MIN(precision, MAX_DECIMALS);
    MX_TRY(digits_of(run, d, n_decimals, &digits));
    const mx_str s = mx_tpl_view(digits);
    const size_t n_whole = s.len > (size_t)n_decimals ? s.len - (size_t)n_decimals : 0;
    MX_TRY(n_whole ? mx_tpl_put(run, mx_str_slice(s, 0, n_whole)) : mx_tpl_put_char(run, '0'));
    if (precision > 0 || alternate) {
        MX_TRY(mx_tpl_put_char(run, '.'));
    }
    MX_TRY(mx_tpl_put_fill(run, MX_STR("0"), (size_t)n_decimals - (s.len - n_whole)));
    MX_TRY(mx_tpl_put(run, mx_str_slice(s, n_whole, s.len)));
    return mx_tpl_put_fill(run, MX_STR("0"), (size_t)(precision - n_decimals));
}

/* n_digits digits of d and the power of ten of the first. */
static mx_status scientific(mx_tpl_run *run, double d, int64_t n_digits, mx_tpl_value *digits, int64_t *exponent)
{
    *exponent = d != 0 ? (int64_t)floor(log10(fabs(d))) : 0;
    for (int i = 0; i < 3; i++) { /* the logarithm, and rounding up to the next power, may be off by one */
        MX_TRY(digits_of(run, d, n_digits - 1 - *exponent, digits));
        if (d == 0 || (int64_t)digits->len == n_digits) {
            break;
        }
        *exponent += (int64_t)digits->len > n_digits ? 1 : -1;
    }
    return MX_OK;
}

static mx_status put_scientific(mx_tpl_run *run, double d, int64_t precision, bool upper, bool alternate, bool trims)
{
    mx_tpl_value digits;
    int64_t exponent = 0;
    const int64_t n_digits = MX_MIN(precision, MAX_DECIMALS) + 1;
    MX_TRY(scientific(run, d, n_digits, &digits, &exponent));
    mx_str s = mx_tpl_view(digits);
    size_t n_zeros = d == 0 ? (size_t)precision : (size_t)(precision + 1) - s.len;
    if (trims) {
        n_zeros = 0;
        while (s.len > 1 && s.ptr[s.len - 1] == '0') {
            s.len--;
        }
    }
    MX_TRY(mx_tpl_put(run, mx_str_slice(s, 0, 1)));
    if (alternate || s.len > 1 || n_zeros) {
        MX_TRY(mx_tpl_put_char(run, '.'));
    }
    MX_TRY(mx_tpl_put(run, mx_str_slice(s, 1, s.len)));
    MX_TRY(mx_tpl_put_fill(run, MX_STR("0"), n_zeros));
    char text[16];
    const int n = snprintf(text, sizeof text, "%c%+03d", upper ? 'E' : 'e', (int)exponent);
    return mx_tpl_put(run, (mx_str){text, (size_t)n});
}

/* Drops zeros at the end of the decimals that were put behind mark, and a point that then ends the number. */
static void trim_zeros(mx_tpl_run *run, size_t mark)
{
    if (mx_str_find(mx_str_slice(mx_buf_view(&run->text), mark, run->text.len), MX_STR("."), 0) == MX_STR_NPOS) {
        return;
    }
    while (run->text.data[run->text.len - 1] == '0') {
        run->text.len--;
    }
    run->text.len -= run->text.data[run->text.len - 1] == '.';
}

static mx_status put_general(mx_tpl_run *run, double d, int64_t precision, bool upper, bool alternate)
{
    mx_tpl_value digits;
    int64_t exponent = 0;
    const int64_t n_digits = MX_MAX(precision, 1);
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(scientific(run, d, MX_MIN(n_digits, MAX_DECIMALS), &digits, &exponent));
    if (exponent < -4 || exponent >= n_digits) {
        return put_scientific(run, d, n_digits - 1, upper, alternate, !alternate);
    }
    MX_TRY(put_fixed(run, d, n_digits - 1 - exponent, alternate));
    if (!alternate) {
        trim_zeros(run, mark);
    }
    return MX_OK;
}

mx_status mx_tpl_put_float_as(mx_tpl_run *run, double d, char type, int precision, bool alternate)
{
    const bool upper = type >= 'A' && type <= 'Z';
    if (isnan(d)) {
        return mx_tpl_put(run, upper ? MX_STR("NAN") : MX_STR("nan"));
    }
    if (isinf(d)) {
        return mx_tpl_put(run, upper ? MX_STR("INF") : MX_STR("inf"));
    }
    switch (type) {
    case 'e':
    case 'E': return put_scientific(run, d, precision, upper, alternate, false);
    case 'f':
    case 'F': return put_fixed(run, d, precision, alternate);
    default: return put_general(run, d, precision, upper, alternate);
    }
}
