/* format_number.c - numbers in the forms of printf's letters, whole and with Python's own ideas. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
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

mx_status mx_tpl_put_float_as(mx_tpl_run *run, double d, char type, int precision, bool alternate)
{
    char fmt[16];
    const bool upper = type >= 'A' && type <= 'Z';
    if (isnan(d)) {
        return mx_tpl_put(run, upper ? MX_STR("NAN") : MX_STR("nan"));
    }
    if (isinf(d)) {
        return mx_tpl_put(run, upper ? MX_STR("INF") : MX_STR("inf"));
    }
    if (precision > 10000) {
        return mx_tpl_fail(run, MX_TEMPLATE_LIMIT, "a precision of %d digits is too much", precision);
    }
    snprintf(fmt, sizeof fmt, "%%%s.*%c", alternate ? "#" : "", type);
    char small[400];
    const int n = snprintf(small, sizeof small, fmt, precision, fabs(d));
    if (n < (int)sizeof small) {
        return mx_tpl_put(run, (mx_str){small, (size_t)n});
    }
    char *text = NULL;
    MX_TRY(mx_tpl_alloc(run, (size_t)n + 1, 1, &text));
    snprintf(text, (size_t)n + 1, fmt, precision, fabs(d));
    return mx_tpl_put(run, (mx_str){text, (size_t)n});
}
