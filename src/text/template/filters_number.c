/* filters_number.c - filters that make numbers, or text of numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "text/template/filters.h"
#include "text/template/format.h"

static mx_status filter_abs(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    if (!mx_tpl_is_number(self)) {
        return mx_tpl_fail_type(run, "bad operand type for abs(): '%s'", mx_tpl_type_name(self));
    }
    if (self.kind == MX_TPL_FLOAT) {
        *out = mx_tpl_float(fabs(self.as.f));
        return MX_OK;
    }
    const bool is_negative = mx_tpl_number_order(self, mx_tpl_int(0)) < 0;
    return mx_tpl_unary(run, is_negative ? MX_TPL_OP_SUB : MX_TPL_OP_ADD, self, out);
}

/* int(v) of a number. *ok false for what int() refuses with a ValueError or TypeError. */
static mx_status number_to_int(mx_tpl_run *run, mx_tpl_value v, mx_tpl_value *out, bool *ok)
{
    *ok = true;
    if (mx_tpl_is_integral(v)) {
        return mx_tpl_unary(run, MX_TPL_OP_ADD, v, out);
    }
    mx_status st = MX_OK;
    *ok = v.kind == MX_TPL_FLOAT && mx_tpl_float_to_int(v.as.f, run, out, &st);
    return st;
}

static mx_status filter_int(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    bool ok = false;
    int64_t base = 10;
    double d = 0;
    const mx_tpl_value otherwise = mx_tpl_is_given(args[0]) ? args[0] : mx_tpl_int(0);
    if (self.kind == MX_TPL_UNDEFINED) {
        return mx_tpl_fail_undefined(run, self);
    }
    if (!mx_tpl_is_str(self)) {
        if (self.kind == MX_TPL_FLOAT && isinf(self.as.f)) {
            return mx_tpl_fail_type(run, "cannot convert float infinity to integer");
        }
        MX_TRY(number_to_int(run, self, out, &ok));
        *out = ok ? *out : otherwise;
        return MX_OK;
    }
    if (mx_tpl_is_given(args[1]) && mx_tpl_is_integral(args[1])) {
        MX_TRY(mx_tpl_to_index(run, args[1], &base));
    }
    MX_TRY(mx_tpl_parse_int(run, mx_tpl_view(self), base, out, &ok));
    if (!ok && mx_tpl_parse_float(mx_tpl_view(self), &d)) {
        MX_TRY(number_to_int(run, mx_tpl_float(d), out, &ok));
    }
    *out = ok ? *out : otherwise;
    return MX_OK;
}

/* float(v). *ok false for what float() refuses. */
static mx_status to_float(mx_tpl_run *run, mx_tpl_value v, double *d, bool *ok)
{
    if (v.kind == MX_TPL_UNDEFINED) {
        return mx_tpl_fail_undefined(run, v);
    }
    *ok = true;
    if (mx_tpl_is_number(v)) {
        *d = mx_tpl_as_double(v);
        return v.kind == MX_TPL_BIG && isinf(*d) ? mx_tpl_fail_type(run, "int too large to convert to float") : MX_OK;
    }
    *ok = mx_tpl_is_str(v) && mx_tpl_parse_float(mx_tpl_view(v), d);
    return mx_tpl_is_str(v) ? mx_tpl_bytes_walked(run, v.len) : MX_OK;
}

static mx_status filter_float(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    bool ok = false;
    double d = 0;
    MX_TRY(to_float(run, self, &d, &ok));
    *out = ok ? mx_tpl_float(d) : mx_tpl_is_given(args[0]) ? args[0] : mx_tpl_float(0);
    return MX_OK;
}

/* round(d, precision): the decimal number nearest to the exact value of d, ties to even. */
static mx_status round_to(mx_tpl_run *run, double d, int64_t precision, double *out)
{
    *out = d;
    if (!isfinite(d) || precision > 323) {
        return MX_OK;
    }
    mx_tpl_value scaled;
    mx_tpl_value text;
    char exponent[24];
    const size_t mark = mx_tpl_mark(run);
    precision = MX_MAX(precision, -400);
    MX_TRY(mx_tpl_scale_float(run, d, precision, &scaled));
    MX_TRY(mx_tpl_put_int(run, scaled));
    const int n = snprintf(exponent, sizeof exponent, "e%d", (int)-precision);
    MX_TRY(mx_tpl_put(run, (mx_str){exponent, (size_t)n}));
    MX_TRY(mx_tpl_take(run, mark, 0, &text));
    *out = copysign(strtod(text.as.s, NULL), d);
    return MX_OK;
}

/* round() of an integer to tens, hundreds, ...: ties go to the even multiple. */
static mx_status round_int(mx_tpl_run *run, mx_tpl_value v, int64_t precision, mx_tpl_value *out)
{
    MX_TRY(mx_tpl_unary(run, MX_TPL_OP_ADD, v, &v));
    *out = v;
    if (precision >= 0) {
        return MX_OK;
    }
    mx_tpl_value unit;
    mx_tpl_value rest;
    mx_tpl_value twice;
    mx_tpl_value half;
    MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_POW, mx_tpl_int(10), mx_tpl_int(MX_MIN(-precision, 5000)), &unit));
    MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_MOD, v, unit, &rest));
    MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_MUL, rest, mx_tpl_int(2), &twice));
    MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_SUB, v, rest, out));
    MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_FLOORDIV, *out, unit, &half));
    MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_MOD, half, mx_tpl_int(2), &half));
    const int order = mx_tpl_number_order(twice, unit);
    const bool is_odd = half.kind == MX_TPL_INT && half.as.i != 0;
    return order > 0 || (order == 0 && is_odd) ? mx_tpl_arithmetic(run, MX_TPL_OP_ADD, *out, unit, out) : MX_OK;
}

/* ceil(v * 10**p) / 10**p and the same with floor */
static mx_status round_towards(mx_tpl_run *run, mx_tpl_value v, mx_tpl_value precision, bool is_up, mx_tpl_value *out)
{
    mx_tpl_value scale;
    bool ok = false;
    MX_TRY(mx_tpl_binary(run, MX_TPL_OP_POW, mx_tpl_int(10), precision, &scale));
    MX_TRY(mx_tpl_binary(run, MX_TPL_OP_MUL, v, scale, &v));
    if (v.kind == MX_TPL_FLOAT) {
        v.as.f = is_up ? ceil(v.as.f) : floor(v.as.f);
    }
    MX_TRY(number_to_int(run, v, &v, &ok));
    if (!ok) {
        return mx_tpl_fail_type(run, "cannot convert float infinity or NaN to integer");
    }
    return mx_tpl_binary(run, MX_TPL_OP_DIV, v, scale, out);
}

static mx_status filter_round(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    int64_t precision = 0;
    const mx_tpl_value method = mx_tpl_is_given(args[1]) ? args[1] : MX_TPL_LITERAL("common");
    const bool is_up = mx_tpl_is_str(method) && mx_str_eq_cstr(mx_tpl_view(method), "ceil");
    const bool is_down = mx_tpl_is_str(method) && mx_str_eq_cstr(mx_tpl_view(method), "floor");
    if (!is_up && !is_down && !(mx_tpl_is_str(method) && mx_str_eq_cstr(mx_tpl_view(method), "common"))) {
        return mx_tpl_fail_type(run, "method must be common, ceil or floor");
    }
    if (self.kind == MX_TPL_UNDEFINED) {
        return mx_tpl_fail_undefined(run, self);
    }
    if (!mx_tpl_is_number(self)) {
        return mx_tpl_fail_type(run, "type %s doesn't define __round__ method", mx_tpl_type_name(self));
    }
    if (is_up || is_down) {
        return round_towards(run, self, mx_tpl_is_given(args[0]) ? args[0] : mx_tpl_int(0), is_up, out);
    }
    if (mx_tpl_is_given(args[0]) && args[0].kind == MX_TPL_NONE) { /* round(x, None) gives an integer */
        bool ok = false;
        if (self.kind == MX_TPL_FLOAT) {
            self.as.f = nearbyint(self.as.f);
        }
        MX_TRY(number_to_int(run, self, out, &ok));
        return ok ? MX_OK : mx_tpl_fail_type(run, "cannot convert float infinity or NaN to integer");
    }
    if (mx_tpl_is_given(args[0])) {
        MX_TRY(mx_tpl_to_index(run, args[0], &precision));
    }
    if (self.kind != MX_TPL_FLOAT) {
        return round_int(run, self, precision, out);
    }
    double rounded = 0;
    MX_TRY(round_to(run, self.as.f, precision, &rounded));
    *out = mx_tpl_float(rounded);
    return isinf(out->as.f) && isfinite(self.as.f) ? mx_tpl_fail_type(run, "rounded value too large to represent")
                                                   : MX_OK;
}

static mx_status filter_filesizeformat(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    static const char *const decimal[] = {"kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"};
    static const char *const binary[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"};
    const bool is_binary = mx_tpl_truth(run, args[0]);
    const double base = is_binary ? 1024 : 1000;
    double bytes = 0;
    bool ok = false;
    char text[400];
    MX_TRY(to_float(run, self, &bytes, &ok));
    if (!ok) {
        return mx_tpl_fail_type(run, "filesizeformat expects a number, not '%s'", mx_tpl_type_name(self));
    }
    if (isnan(bytes) || (isinf(bytes) && bytes < 0)) {
        return mx_tpl_fail_type(run, "cannot convert float infinity or NaN to integer");
    }
    int n = 0;
    if (bytes == 1) {
        n = snprintf(text, sizeof text, "1 Byte");
    } else if (bytes < base) {
        n = snprintf(text, sizeof text, "%.0f Bytes", trunc(bytes) == 0 ? 0.0 : trunc(bytes));
    } else {
        double unit = base * base;
        size_t i = 0;
        while (i + 1 < MX_COUNTOF(decimal) && bytes >= unit) {
            unit *= base;
            i++;
        }
        const size_t mark = mx_tpl_mark(run);
        MX_TRY(mx_tpl_put_float_as(run, base * bytes / unit, 'f', 1, false));
        MX_TRY(mx_tpl_put_char(run, ' '));
        MX_TRY(mx_tpl_put(run, mx_str_from(is_binary ? binary[i] : decimal[i])));
        return mx_tpl_take(run, mark, 0, out);
    }
    return mx_tpl_new_str(run, (mx_str){text, (size_t)n}, 0, out);
}

static const mx_tpl_filter rows[] = {
    {"abs", filter_abs, NULL, 0, NULL},
    {"int", filter_int, "default base", 0, NULL},
    {"float", filter_float, "default", 0, NULL},
    {"round", filter_round, "precision method", 0, NULL},
    {"filesizeformat", filter_filesizeformat, "binary", 0, NULL},
};
const mx_tpl_table mx_tpl_number_filters = {rows, MX_COUNTOF(rows)};
