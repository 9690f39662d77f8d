/* bigint.c - integers beyond 64 bits: schoolbook arithmetic on limbs of nine decimal digits. */
#include "text/template/bigint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define BASE MX_TPL_BIG_BASE

/* A number taken apart, so that small and long ones are one thing. */
typedef struct number {
    bool is_negative;
    int32_t n;
    const uint32_t *limbs;
    uint32_t own[3];
} number;

static void take_u64(number *x, uint64_t u)
{
    for (x->n = 0; u; u /= BASE) {
        x->own[x->n++] = (uint32_t)(u % BASE);
    }
    x->limbs = x->own;
}

static void take_apart(mx_tpl_value v, number *x)
{
    if (v.kind == MX_TPL_BIG) {
        *x = (number){.is_negative = v.as.big->is_negative, .n = v.as.big->n, .limbs = v.as.big->limbs};
        return;
    }
    const int64_t i = v.kind == MX_TPL_BOOL ? v.as.b : v.as.i;
    *x = (number){.is_negative = i < 0};
    take_u64(x, i < 0 ? 0 - (uint64_t)i : (uint64_t)i);
}

static mx_status new_big(mx_tpl_run *run, int32_t n, mx_tpl_big **out)
{
    if (n > 2 * MX_TPL_BIG_MAX_LIMBS) {
        return mx_tpl_fail_type(run, "an integer has more than %d digits", MX_TPL_BIG_MAX_DIGITS);
    }
    MX_TRY(mx_tpl_alloc(run, 1, sizeof(mx_tpl_big) + (size_t)n * sizeof(uint32_t), out));
    (*out)->n = n;
    return MX_OK;
}

/* Drops leading zeros and makes a plain INT of what fits one. */
static mx_status normalise(mx_tpl_run *run, mx_tpl_big *big, mx_tpl_value *out)
{
    while (big->n && big->limbs[big->n - 1] == 0) {
        big->n--;
    }
    if (big->n > MX_TPL_BIG_MAX_LIMBS) {
        return mx_tpl_fail_type(run, "an integer has more than %d digits", MX_TPL_BIG_MAX_DIGITS);
    }
    *out = (mx_tpl_value){.kind = MX_TPL_BIG, .as.big = big};
    if (big->n > 3 || (big->n == 3 && big->limbs[2] > 9)) {
        return MX_OK;
    }
    uint64_t u = 0;
    for (int32_t i = big->n; i-- > 0;) {
        u = u * BASE + big->limbs[i];
    }
    if (!big->is_negative && u <= INT64_MAX) {
        *out = mx_tpl_int((int64_t)u);
    } else if (big->is_negative && u <= (uint64_t)INT64_MAX + 1) {
        *out = mx_tpl_int((int64_t)(0 - u));
    }
    return MX_OK;
}

mx_status mx_tpl_big_from_u64(mx_tpl_run *run, uint64_t u, mx_tpl_value *out)
{
    mx_tpl_big *big = NULL;
    MX_TRY(new_big(run, 3, &big));
    for (int32_t i = 0; i < 3; i++, u /= BASE) {
        big->limbs[i] = (uint32_t)(u % BASE);
    }
    return normalise(run, big, out);
}

mx_status mx_tpl_big_from_digits(mx_tpl_run *run, mx_str digits, mx_tpl_value *out)
{
    const bool is_negative = digits.len && digits.ptr[0] == '-';
    digits = mx_str_slice(digits, is_negative, digits.len);
    mx_tpl_big *big = NULL;
    MX_TRY(new_big(run, (int32_t)MX_MIN(digits.len / 9 + 1, 4 * MX_TPL_BIG_MAX_LIMBS), &big));
    big->is_negative = is_negative;
    for (size_t i = 0; i < digits.len; i++) {
        const size_t place = digits.len - 1 - i; /* power of ten of this digit */
        uint32_t *limb = &big->limbs[place / 9];
        *limb = *limb * 10 + (uint32_t)(digits.ptr[i] - '0');
    }
    return normalise(run, big, out);
}

mx_status mx_tpl_put_big(mx_tpl_run *run, const mx_tpl_big *big)
{
    char digits[16];
    if (big->is_negative) {
        MX_TRY(mx_tpl_put_char(run, '-'));
    }
    for (int32_t i = big->n; i-- > 0;) {
        const int n = snprintf(digits, sizeof digits, i == big->n - 1 ? "%" PRIu32 : "%09" PRIu32, big->limbs[i]);
        MX_TRY(mx_tpl_put(run, (mx_str){digits, (size_t)n}));
    }
    return MX_OK;
}

double mx_tpl_big_to_double(const mx_tpl_big *big)
{
    char digits[9 * MX_TPL_BIG_MAX_LIMBS + 16];
    size_t n = 0;
    for (int32_t i = big->n; i-- > 0;) {
        n += (size_t)snprintf(digits + n, sizeof digits - n, "%09" PRIu32, big->limbs[i]);
    }
    const double d = strtod(digits, NULL);
    return big->is_negative ? -d : d;
}

static int order_magnitude(const number *a, const number *b)
{
    if (a->n != b->n) {
        return a->n < b->n ? -1 : 1;
    }
    for (int32_t i = a->n; i-- > 0;) {
        if (a->limbs[i] != b->limbs[i]) {
            return a->limbs[i] < b->limbs[i] ? -1 : 1;
        }
    }
    return 0;
}

int mx_tpl_big_order(mx_tpl_value a, mx_tpl_value b)
{
    number x;
    number y;
    take_apart(a, &x);
    take_apart(b, &y);
    if (x.is_negative != y.is_negative) {
        return x.is_negative ? -1 : 1;
    }
    const int order = order_magnitude(&x, &y);
    return x.is_negative ? -order : order;
}

/* |a| + |b| */
static void add_magnitude(const number *a, const number *b, mx_tpl_big *out)
{
    uint32_t carry = 0;
    for (int32_t i = 0; i < out->n; i++) {
        const uint32_t sum = carry + (i < a->n ? a->limbs[i] : 0) + (i < b->n ? b->limbs[i] : 0);
        out->limbs[i] = sum % BASE;
        carry = sum / BASE;
    }
}

/* |a| - |b| where |a| >= |b| */
static void subtract_magnitude(const number *a, const number *b, mx_tpl_big *out)
{
    uint32_t borrow = 0;
    for (int32_t i = 0; i < out->n; i++) {
        const uint32_t take = borrow + (i < b->n ? b->limbs[i] : 0);
        const uint32_t have = i < a->n ? a->limbs[i] : 0;
        borrow = have < take;
        out->limbs[i] = have + (borrow ? BASE : 0) - take;
    }
}

static mx_status add(mx_tpl_run *run, const number *a, const number *b, mx_tpl_value *out)
{
    mx_tpl_big *big = NULL;
    MX_TRY(new_big(run, MX_MAX(a->n, b->n) + 1, &big));
    if (a->is_negative == b->is_negative) {
        big->is_negative = a->is_negative;
        add_magnitude(a, b, big);
    } else if (order_magnitude(a, b) >= 0) {
        big->is_negative = a->is_negative;
        subtract_magnitude(a, b, big);
    } else {
        big->is_negative = b->is_negative;
        subtract_magnitude(b, a, big);
    }
    return normalise(run, big, out);
}

static mx_status multiply(mx_tpl_run *run, const number *a, const number *b, mx_tpl_value *out)
{
    mx_tpl_big *big = NULL;
    MX_TRY(new_big(run, a->n + b->n, &big));
    MX_TRY(mx_tpl_steps(run, (int64_t)a->n * b->n / 8));
    big->is_negative = a->is_negative != b->is_negative;
    for (int32_t i = 0; i < a->n; i++) {
        uint64_t carry = 0;
        for (int32_t j = 0; j < b->n || carry; j++) {
            const uint64_t sum = big->limbs[i + j] + carry + (j < b->n ? (uint64_t)a->limbs[i] * b->limbs[j] : 0);
            big->limbs[i + j] = (uint32_t)(sum % BASE);
            carry = sum / BASE;
        }
    }
    return normalise(run, big, out);
}

/* rest -= q * b from limb `at` on; false (and rest as it was) where that would be negative. */
static bool subtract_times(uint32_t *rest, int32_t at, const number *b, uint32_t q, bool commit)
{
    int64_t carry = 0;
    for (int32_t j = 0; j <= b->n; j++) {
        int64_t left = (int64_t)rest[at + j] + carry - (j < b->n ? (int64_t)q * b->limbs[j] : 0);
        carry = left < 0 ? -((-left + (int64_t)BASE - 1) / (int64_t)BASE) : 0;
        left -= carry * (int64_t)BASE;
        if (commit) {
            rest[at + j] = (uint32_t)left;
        }
    }
    return carry == 0;
}

/* Quotient and rest of the magnitudes. Each quotient limb is found by halving, which is slow and plain; the numbers are
 * short. rest has a->n + 1 limbs and begins as |a|. */
static mx_status divide_magnitude(mx_tpl_run *run, const number *b, mx_tpl_big *quotient, mx_tpl_big *rest)
{
    for (int32_t at = rest->n - b->n - 1; at >= 0; at--) {
        MX_TRY(mx_tpl_steps(run, b->n));
        uint32_t low = 0;
        uint32_t high = BASE - 1;
        while (low < high) {
            const uint32_t middle = low + (high - low + 1) / 2;
            if (subtract_times(rest->limbs, at, b, middle, false)) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        (void)subtract_times(rest->limbs, at, b, low, true);
        quotient->limbs[at] = low;
    }
    return MX_OK;
}

/* Python rounds quotients down, and the rest has the divisor's sign. */
static mx_status divide(mx_tpl_run *run, mx_tpl_op op, const number *a, const number *b, mx_tpl_value *out)
{
    mx_tpl_big *quotient = NULL;
    mx_tpl_big *rest = NULL;
    MX_TRY(new_big(run, MX_MAX(a->n, b->n) + 1, &quotient));
    MX_TRY(new_big(run, MX_MAX(a->n, b->n) + 1, &rest));
    if (a->n) {
        memcpy(rest->limbs, a->limbs, (size_t)a->n * sizeof *a->limbs);
    }
    MX_TRY(divide_magnitude(run, b, quotient, rest));
    quotient->is_negative = a->is_negative != b->is_negative;
    rest->is_negative = a->is_negative;
    mx_tpl_value q;
    mx_tpl_value r;
    MX_TRY(normalise(run, quotient, &q));
    MX_TRY(normalise(run, rest, &r));
    const bool is_exact = r.kind == MX_TPL_INT && r.as.i == 0;
    if (is_exact || a->is_negative == b->is_negative) {
        *out = op == MX_TPL_OP_MOD ? r : q;
        return MX_OK;
    }
    if (op == MX_TPL_OP_FLOORDIV) {
        return mx_tpl_big_arithmetic(run, MX_TPL_OP_SUB, q, mx_tpl_int(1), out);
    }
    number x;
    take_apart(r, &x);
    return add(run, &x, b, out);
}

mx_status mx_tpl_big_arithmetic(mx_tpl_run *run, mx_tpl_op op, mx_tpl_value a, mx_tpl_value b, mx_tpl_value *out)
{
    number x;
    number y;
    take_apart(a, &x);
    take_apart(b, &y);
    switch (op) {
    case MX_TPL_OP_ADD: return add(run, &x, &y, out);
    case MX_TPL_OP_SUB: y.is_negative = !y.is_negative; return add(run, &x, &y, out);
    case MX_TPL_OP_MUL: return multiply(run, &x, &y, out);
    default: return divide(run, op, &x, &y, out);
    }
}
