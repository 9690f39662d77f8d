/* pass_residual.c - ADD(a, x * w) into the product, where a is made before it; where ranks sum their products, into
 * that sum, since each rank would add the residual once. */
#include "program/passes.h"
#include "program/rewrite.h"

static bool takes_residual(const mx_op *op)
{
    return op->in[1] == MX_NO_VALUE && (op->kind == MX_OP_ALLREDUCE || op->u.linear.n_weights == 1);
}

/* Folds the sum of operation i_op into the product or ALLREDUCE that makes its input `side`. */
static bool fold_side(mx_program *p, int32_t i_op, int32_t side)
{
    const mx_op *add = &p->ops[i_op];
    const mx_value other = add->in[1 - side];
    const int32_t i_linear = mx_rewrite_find_sole(p, add->in[side], MX_OP_LINEAR);
    const int32_t i_maker = i_linear != MX_NO_OP ? i_linear : mx_rewrite_find_sole(p, add->in[side], MX_OP_ALLREDUCE);
    if (i_maker == MX_NO_OP || mx_rewrite_find_maker(p, other) > i_maker || !takes_residual(&p->ops[i_maker])) {
        return false;
    }
    p->ops[i_maker].in[1] = other;
    p->ops[i_maker].out[0] = add->out[0];
    mx_rewrite_remove(p, i_op);
    return true;
}

void mx_pass_fold_residual(mx_program *p)
{
    for (int32_t i = 0; i < p->n_ops; i++) {
        if (p->ops[i].kind == MX_OP_ADD && (fold_side(p, i, 1) || fold_side(p, i, 0))) {
            i--;
        }
    }
}
