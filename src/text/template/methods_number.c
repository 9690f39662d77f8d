/* methods_number.c - methods and properties of ints and floats. */
#include <math.h>
#include <stdio.h>

#include "text/template/methods.h"

#define METHOD(name) \
    static mx_status name(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)

METHOD(int_itself)
{
    (void)args;
    return mx_tpl_unary(run, MX_TPL_OP_ADD, self, out);
}

METHOD(int_imag)
{
    (void)run;
    (void)self;
    (void)args;
    *out = mx_tpl_int(0);
    return MX_OK;
}

METHOD(int_denominator)
{
    (void)run;
    (void)self;
    (void)args;
    *out = mx_tpl_int(1);
    return MX_OK;
}

/* Binary digits of |self|, counted: all of them or the ones. */
static mx_status count_bits(mx_tpl_run *run, mx_tpl_value self, bool only_ones, mx_tpl_value *out)
{
    int64_t n = 0;
    if (mx_tpl_number_order(self, mx_tpl_int(0)) < 0) {
        MX_TRY(mx_tpl_unary(run, MX_TPL_OP_SUB, self, &self));
    }
    while (mx_tpl_number_order(self, mx_tpl_int(0)) > 0) {
        mx_tpl_value bit;
        MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_MOD, self, mx_tpl_int(2), &bit));
        MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_FLOORDIV, self, mx_tpl_int(2), &self));
        n += only_ones ? bit.as.i : 1;
    }
    *out = mx_tpl_int(n);
    return MX_OK;
}

METHOD(int_bit_length)
{
    (void)args;
    return count_bits(run, self, false, out);
}

METHOD(int_bit_count)
{
    (void)args;
    return count_bits(run, self, true, out);
}

static mx_status new_ratio(mx_tpl_run *run, mx_tpl_value numerator, mx_tpl_value denominator, mx_tpl_value *out)
{
    mx_tpl_value *pair = NULL;
    MX_TRY(mx_tpl_new_tuple(run, 2, &pair, out));
    pair[0] = numerator;
    pair[1] = denominator;
    return MX_OK;
}

METHOD(int_as_integer_ratio)
{
    (void)args;
    MX_TRY(mx_tpl_unary(run, MX_TPL_OP_ADD, self, &self));
    return new_ratio(run, self, mx_tpl_int(1), out);
}

METHOD(float_itself)
{
    (void)run;
    (void)args;
    *out = self;
    return MX_OK;
}

METHOD(float_imag)
{
    (void)run;
    (void)self;
    (void)args;
    *out = mx_tpl_float(0);
    return MX_OK;
}

METHOD(float_is_integer)
{
    (void)run;
    (void)args;
    *out = mx_tpl_bool(isfinite(self.as.f) && self.as.f == floor(self.as.f));
    return MX_OK;
}

METHOD(float_as_integer_ratio)
{
    (void)args;
    int exponent = 0;
    mx_tpl_value power;
    mx_tpl_value numerator;
    double d = frexp(self.as.f, &exponent);
    if (!isfinite(d)) {
        return mx_tpl_fail_type(run, "cannot convert Infinity or NaN to integer ratio");
    }
    for (int i = 0; i < 300 && d != floor(d); i++) {
        d *= 2;
        exponent--;
    }
    numerator = mx_tpl_int((int64_t)d);
    MX_TRY(
        mx_tpl_arithmetic(run, MX_TPL_OP_POW, mx_tpl_int(2), mx_tpl_int(exponent < 0 ? -exponent : exponent), &power));
    if (exponent < 0) {
        return new_ratio(run, numerator, power, out);
    }
    MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_MUL, numerator, power, &numerator));
    return new_ratio(run, numerator, mx_tpl_int(1), out);
}

/* 0x1.8000000000000p+1 */
METHOD(float_hex)
{
    (void)args;
    int exponent = 0;
    const double d = fabs(self.as.f);
    char text[48];
    int n = 0;
    if (!isfinite(d)) {
        const size_t mark = mx_tpl_mark(run);
        MX_TRY(mx_tpl_put_float(run, self.as.f));
        return mx_tpl_take(run, mark, 0, out);
    }
    const char *sign = signbit(self.as.f) ? "-" : "";
    if (d == 0) {
        n = snprintf(text, sizeof text, "%s0x0.0p+0", sign);
    } else {
        const double fraction = frexp(d, &exponent) * 2;
        const int shift = exponent - 1 < -1022 ? -1022 - (exponent - 1) : 0;
        const double scaled = ldexp(fraction, -shift);
        const uint64_t digits = (uint64_t)((scaled - floor(scaled)) * 4503599627370496.0);
        n = snprintf(text, sizeof text, "%s0x%d.%013llxp%+d", sign, (int)scaled, (unsigned long long)digits,
                     exponent - 1 + shift);
    }
    return mx_tpl_new_str(run, (mx_str){text, (size_t)n}, 0, out);
}

static const mx_tpl_filter int_rows[] = {
    {"real", int_itself, NULL, MX_TPL_PROPERTY, NULL},
    {"imag", int_imag, NULL, MX_TPL_PROPERTY, NULL},
    {"numerator", int_itself, NULL, MX_TPL_PROPERTY, NULL},
    {"denominator", int_denominator, NULL, MX_TPL_PROPERTY, NULL},
    {"conjugate", int_itself, NULL, 0, NULL},
    {"bit_length", int_bit_length, NULL, 0, NULL},
    {"bit_count", int_bit_count, NULL, 0, NULL},
    {"as_integer_ratio", int_as_integer_ratio, NULL, 0, NULL},
};
const mx_tpl_table mx_tpl_int_methods = {int_rows, MX_COUNTOF(int_rows)};

static const mx_tpl_filter float_rows[] = {
    {"real", float_itself, NULL, MX_TPL_PROPERTY, NULL},
    {"imag", float_imag, NULL, MX_TPL_PROPERTY, NULL},
    {"conjugate", float_itself, NULL, 0, NULL},
    {"is_integer", float_is_integer, NULL, 0, NULL},
    {"as_integer_ratio", float_as_integer_ratio, NULL, 0, NULL},
    {"hex", float_hex, NULL, 0, NULL},
};
const mx_tpl_table mx_tpl_float_methods = {float_rows, MX_COUNTOF(float_rows)};
