/* rewrite.c - looking through a program. */
#include "program/rewrite.h"

#include <string.h>

int32_t mx_rewrite_find_maker(const mx_program *p, mx_value v)
{
    for (int32_t i = 0; i < p->n_ops; i++) {
        for (int32_t j = 0; j < MX_OP_MAX_OUT; j++) {
            if (v != MX_NO_VALUE && p->ops[i].out[j] == v) {
                return i;
            }
        }
    }
    return MX_NO_OP;
}

int32_t mx_rewrite_count_reads(const mx_program *p, mx_value v)
{
    int32_t n = v != MX_NO_VALUE && v == p->logits;
    for (int32_t i = 0; i < p->n_ops; i++) {
        for (int32_t j = 0; j < MX_OP_MAX_IN; j++) {
            n += p->ops[i].in[j] == v;
        }
    }
    return n;
}

int32_t mx_rewrite_find_sole(const mx_program *p, mx_value v, mx_op_kind kind)
{
    const int32_t maker = mx_rewrite_find_maker(p, v);
    const bool fits = maker != MX_NO_OP && p->ops[maker].kind == kind && mx_rewrite_count_reads(p, v) == 1;
    return fits ? maker : MX_NO_OP;
}

void mx_rewrite_remove(mx_program *p, int32_t i_op)
{
    memmove(&p->ops[i_op], &p->ops[i_op + 1], (size_t)(p->n_ops - i_op - 1) * sizeof *p->ops);
    p->n_ops--;
}

bool mx_rewrite_is_plain_linear(const mx_op *op)
{
    const bool has_residual = op->kind == MX_OP_LINEAR && op->in[1] != MX_NO_VALUE;
    return (op->kind == MX_OP_LINEAR || op->kind == MX_OP_EXPERT_LINEAR) && !has_residual &&
           op->u.linear.n_weights == 1 && !op->u.linear.has_glu && !op->u.linear.has_act && !op->u.linear.has_norm;
}
