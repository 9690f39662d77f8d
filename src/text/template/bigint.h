/* bigint.h - integers beyond 64 bits. */
#ifndef MX_TEXT_TEMPLATE_BIGINT_H
#define MX_TEXT_TEMPLATE_BIGINT_H

#include "text/template/run.h"

/* Limbs of nine decimal digits, least first: templates print and read these numbers and hardly calculate with them. */
#define MX_TPL_BIG_BASE 1000000000u
/* Most digits that Python's str() and int() take, and so the most here. */
#define MX_TPL_BIG_MAX_DIGITS 4300
#define MX_TPL_BIG_MAX_LIMBS  (MX_TPL_BIG_MAX_DIGITS / 9 + 1)

struct mx_tpl_big {
    bool is_negative;
    int32_t n;
    uint32_t limbs[]; /* the last is not 0; n is 0 for zero */
};

/* The value as INT where it fits, else as BIG. */
mx_status mx_tpl_big_from_u64(mx_tpl_run *run, uint64_t u, mx_tpl_value *out) MX_NODISCARD;

/* Decimal digits with an optional '-' before; no more than MX_TPL_BIG_MAX_DIGITS. */
mx_status mx_tpl_big_from_digits(mx_tpl_run *run, mx_str digits, mx_tpl_value *out) MX_NODISCARD;

mx_status mx_tpl_put_big(mx_tpl_run *run, const mx_tpl_big *big) MX_NODISCARD;

/* ADD, SUB, MUL, FLOORDIV, MOD of INT or BIG values (b not 0 for the last two). */
mx_status mx_tpl_big_arithmetic(mx_tpl_run *run, mx_tpl_op op, mx_tpl_value a, mx_tpl_value b,
                                mx_tpl_value *out) MX_NODISCARD;

/* -1, 0 or 1. */
int mx_tpl_big_order(mx_tpl_value a, mx_tpl_value b);

/* The nearest double; infinity beyond its range. */
double mx_tpl_big_to_double(const mx_tpl_big *big);

#endif
