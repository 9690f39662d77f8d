/* number.c - Python's arithmetic. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "text/template/bigint.h"
#include "text/template/format.h"
#include "text/template/run.h"

double mx_tpl_as_double(mx_tpl_value number)
{
    switch ((mx_tpl_kind)number.kind) {
    case MX_TPL_FLOAT: return number.as.f;
    case MX_TPL_BIG: return mx_tpl_big_to_double(number.as.big);
    case MX_TPL_BOOL: return number.as.b;
    default: return (double)number.as.i;
    }
}

static int64_t small(mx_tpl_value v)
{
    return v.kind == MX_TPL_BOOL ? v.as.b : v.as.i;
}

/* An integer and a float, compared exactly: the integer may have more digits than a float holds. */
static int order_with_float(mx_tpl_value integer, double f)
{
    if (isnan(f)) {
        return 2;
    }
    const double d = mx_tpl_as_double(integer);
    if (d != f || isinf(d) || integer.kind == MX_TPL_BOOL) {
        return d < f ? -1 : d > f;
    }
    if (integer.kind == MX_TPL_INT && f >= -9.2e18 && f <= 9.2e18) {
        const int64_t other = (int64_t)f;
        return integer.as.i < other ? -1 : integer.as.i > other;
    }
    return 0;
}

int mx_tpl_number_order(mx_tpl_value a, mx_tpl_value b)
{
    if (a.kind == MX_TPL_FLOAT && b.kind == MX_TPL_FLOAT) {
        return a.as.f < b.as.f ? -1 : a.as.f > b.as.f ? 1 : a.as.f == b.as.f ? 0 : 2;
    }
    if (b.kind == MX_TPL_FLOAT) {
        return order_with_float(a, b.as.f);
    }
    if (a.kind == MX_TPL_FLOAT) {
        const int order = order_with_float(b, a.as.f);
        return order == 2 ? 2 : -order;
    }
    if (a.kind == MX_TPL_BIG || b.kind == MX_TPL_BIG) {
        return mx_tpl_big_order(a, b);
    }
    return small(a) < small(b) ? -1 : small(a) > small(b);
}

static bool add_fits(int64_t a, int64_t b, int64_t *out)
{
    if ((b > 0 && a > INT64_MAX - b) || (b < 0 && a < INT64_MIN - b)) {
        return false;
    }
    *out = a + b;
    return true;
}

static bool multiply_fits(int64_t a, int64_t b, int64_t *out)
{
    const uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
    const uint64_t y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    if (x && y > (uint64_t)INT64_MAX / x) {
        return false;
    }
    *out = a * b;
    return true;
}

static mx_status fail_zero(mx_tpl_run *run)
{
    return mx_tpl_fail_type(run, "division by zero");
}

/* Quotients go down, and the rest has the divisor's sign. */
static int64_t floor_divide(int64_t a, int64_t b)
{
    const int64_t q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

static int64_t floor_rest(int64_t a, int64_t b)
{
    const int64_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static double float_rest(double a, double b)
{
    double r = fmod(a, b);
    if (r != 0) {
        return (r < 0) != (b < 0) ? r + b : r;
    }
    return copysign(0.0, b);
}

static double float_floor_divide(double a, double b)
{
    const double r = float_rest(a, b);
    const double q = (a - r) / b;
    if (q == 0) {
        return copysign(0.0, a / b);
    }
    const double whole = floor(q);
    return q - whole > 0.5 ? whole + 1 : whole;
}

static mx_status float_power(mx_tpl_run *run, double a, double b, mx_tpl_value *out)
{
    if (a == 0 && b < 0) {
        return mx_tpl_fail_type(run, "0.0 cannot be raised to a negative power");
    }
    if (a < 0 && isfinite(a) && isfinite(b) && b != floor(b)) {
        return mx_tpl_fail_type(run, "a negative number to a fractional power is complex, which is not supported");
    }
    /* In the longer format where there is one: not every C library is exact to the last digit of a double. */
    const double d = (double)powl((long double)a, (long double)b);
    if (isinf(d) && isfinite(a) && isfinite(b)) {
        return mx_tpl_fail_type(run, "(34, 'Numerical result out of range')");
    }
    *out = mx_tpl_float(d);
    return MX_OK;
}

static mx_status float_arithmetic(mx_tpl_run *run, mx_tpl_op op, double a, double b, mx_tpl_value *out)
{
    double d = 0;
    switch (op) {
    case MX_TPL_OP_ADD: d = a + b; break;
    case MX_TPL_OP_SUB: d = a - b; break;
    case MX_TPL_OP_MUL: d = a * b; break;
    case MX_TPL_OP_POW: return float_power(run, a, b, out);
    default:
        if (b == 0) {
            return fail_zero(run);
        }
        d = op == MX_TPL_OP_DIV ? a / b : op == MX_TPL_OP_MOD ? float_rest(a, b) : float_floor_divide(a, b);
        break;
    }
    *out = mx_tpl_float(d);
    return MX_OK;
}

static mx_status int_power(mx_tpl_run *run, mx_tpl_value a, mx_tpl_value b, mx_tpl_value *out)
{
    if (mx_tpl_number_order(b, mx_tpl_int(0)) < 0) {
        return float_power(run, mx_tpl_as_double(a), mx_tpl_as_double(b), out);
    }
    const bool is_trivial = a.kind != MX_TPL_BIG && small(a) >= -1 && small(a) <= 1;
    if (b.kind == MX_TPL_BIG || (!is_trivial && small(b) > 64 * MX_TPL_BIG_MAX_DIGITS)) {
        return mx_tpl_fail_type(run, "an integer has more than %d digits", MX_TPL_BIG_MAX_DIGITS);
    }
    mx_tpl_value result = mx_tpl_int(1);
    for (uint64_t n = (uint64_t)small(b); n; n >>= 1) {
        if (n & 1) {
            MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_MUL, result, a, &result));
        }
        if (n > 1) {
            MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_MUL, a, a, &a));
        }
    }
    *out = result;
    return MX_OK;
}

/* True division rounds the exact quotient once. Operands beyond 53 bits would be rounded before: their quotient is
 * taken to forty digits, and one more that tells whether something is left. */
static mx_status exact_quotient(mx_tpl_run *run, mx_tpl_value a, mx_tpl_value b, double estimate, mx_tpl_value *out)
{
    mx_tpl_value power;
    mx_tpl_value quotient;
    mx_tpl_value rest;
    char text[80];
    const double magnitude = fabs(estimate) > 0 ? floor(log10(fabs(estimate))) : 0;
    const int64_t shift = 40 - (int64_t)magnitude;
    MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_POW, mx_tpl_int(10), mx_tpl_int(shift < 0 ? -shift : shift), &power));
    MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_MUL, shift < 0 ? b : a, power, shift < 0 ? &b : &a));
    MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_FLOORDIV, a, b, &quotient));
    MX_TRY(mx_tpl_arithmetic(run, MX_TPL_OP_MOD, a, b, &rest));
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_put_int(run, quotient));
    const size_t n = MX_MIN(run->text.len - mark, (size_t)60);
    memcpy(text, run->text.data + mark, n);
    run->text.len = mark;
    snprintf(text + n, sizeof text - n, "%de%lld", mx_tpl_truth(run, rest), (long long)(-shift - 1));
    *out = mx_tpl_float(strtod(text, NULL));
    return MX_OK;
}

static mx_status int_divide(mx_tpl_run *run, mx_tpl_value a, mx_tpl_value b, mx_tpl_value *out)
{
    const double x = mx_tpl_as_double(a);
    const double y = mx_tpl_as_double(b);
    if (y == 0) {
        return fail_zero(run);
    }
    if (isinf(x) || isinf(y)) {
        return mx_tpl_fail_type(run, "integer division result too large for a float");
    }
    if (fabs(x) <= 9007199254740992.0 && fabs(y) <= 9007199254740992.0) {
        *out = mx_tpl_float(x / y);
        return MX_OK;
    }
    return exact_quotient(run, a, b, x / y, out);
}

static mx_status int_arithmetic(mx_tpl_run *run, mx_tpl_op op, mx_tpl_value a, mx_tpl_value b, mx_tpl_value *out)
{
    if (op == MX_TPL_OP_POW) {
        return int_power(run, a, b, out);
    }
    if (op == MX_TPL_OP_DIV) {
        return int_divide(run, a, b, out);
    }
    const bool divides = op == MX_TPL_OP_FLOORDIV || op == MX_TPL_OP_MOD;
    if (divides && b.kind != MX_TPL_BIG && small(b) == 0) {
        return fail_zero(run);
    }
    if (a.kind != MX_TPL_BIG && b.kind != MX_TPL_BIG) {
        const int64_t x = small(a);
        const int64_t y = small(b);
        int64_t i = 0;
        bool fits = false;
        if (op == MX_TPL_OP_ADD) {
            fits = add_fits(x, y, &i);
        } else if (op == MX_TPL_OP_SUB) {
            fits = y != INT64_MIN && add_fits(x, -y, &i);
        } else if (op == MX_TPL_OP_MUL) {
            fits = multiply_fits(x, y, &i);
        } else if (y != -1) {
            fits = true;
            i = op == MX_TPL_OP_MOD ? floor_rest(x, y) : floor_divide(x, y);
        }
        if (fits) {
            *out = mx_tpl_int(i);
            return MX_OK;
        }
    }
    return mx_tpl_big_arithmetic(run, op, a, b, out);
}

mx_status mx_tpl_arithmetic(mx_tpl_run *run, mx_tpl_op op, mx_tpl_value a, mx_tpl_value b, mx_tpl_value *out)
{
    if (a.kind != MX_TPL_FLOAT && b.kind != MX_TPL_FLOAT) {
        return int_arithmetic(run, op, a, b, out);
    }
    const double x = mx_tpl_as_double(a);
    const double y = mx_tpl_as_double(b);
    if ((a.kind == MX_TPL_BIG && isinf(x)) || (b.kind == MX_TPL_BIG && isinf(y))) {
        return mx_tpl_fail_type(run, "int too large to convert to float");
    }
    return float_arithmetic(run, op, x, y, out);
}

bool mx_tpl_float_to_int(double d, mx_tpl_run *run, mx_tpl_value *out, mx_status *st)
{
    if (!isfinite(d)) {
        return false;
    }
    *st = MX_OK;
    if (d > -9.2e18 && d < 9.2e18) {
        *out = mx_tpl_int((int64_t)d);
    } else {
        *st = mx_tpl_scale_float(run, trunc(d), 0, out);
        if (*st == MX_OK && d < 0) {
            *st = mx_tpl_unary(run, MX_TPL_OP_SUB, *out, out);
        }
    }
    return true;
}

mx_status mx_tpl_to_index(mx_tpl_run *run, mx_tpl_value v, int64_t *out)
{
    if (v.kind == MX_TPL_UNDEFINED) {
        return mx_tpl_fail_undefined(run, v);
    }
    if (!mx_tpl_is_integral(v)) {
        return mx_tpl_fail_type(run, "'%s' object cannot be interpreted as an integer", mx_tpl_type_name(v));
    }
    if (v.kind == MX_TPL_BIG) {
        *out = v.as.big->is_negative ? INT64_MIN : INT64_MAX;
        return MX_OK;
    }
    *out = small(v);
    return MX_OK;
}
