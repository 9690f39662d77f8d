/* pass_norm.c - RMSNORM or LAYERNORM over whole rows into the one LINEAR that reads it. */
#include "program/passes.h"
#include "program/rewrite.h"

static bool fold(mx_program *p, int32_t i_op)
{
    mx_op *op = &p->ops[i_op];
    if (op->kind != MX_OP_LINEAR || op->u.linear.has_norm) {
        return false;
    }
    int32_t i_norm = mx_rewrite_find_sole(p, op->in[0], MX_OP_RMSNORM);
    i_norm = i_norm == MX_NO_OP ? mx_rewrite_find_sole(p, op->in[0], MX_OP_LAYERNORM) : i_norm;
    if (i_norm == MX_NO_OP || p->ops[i_norm].u.norm.n_group_cols != p->values[op->in[0]].n_cols) {
        return false;
    }
    op->u.linear.has_norm = true;
    op->u.linear.norm = p->ops[i_norm].u.norm;
    op->in[0] = p->ops[i_norm].in[0];
    mx_rewrite_remove(p, i_norm);
    return true;
}

void mx_pass_fold_norm(mx_program *p)
{
    for (int32_t i = 0; i < p->n_ops; i++) {
        i -= fold(p, i);
    }
}
