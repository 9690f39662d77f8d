/* pass_glu.c - GLU(x * gate, x * up) and ACTIVATION(x * up) into one operation. */
#include "program/passes.h"
#include "program/rewrite.h"

/* The plain product that makes v for one reader, or MX_NO_OP. */
static int32_t find_product(const mx_program *p, mx_value v)
{
    const int32_t maker = mx_rewrite_find_maker(p, v);
    const bool fits =
        maker != MX_NO_OP && mx_rewrite_is_plain_linear(&p->ops[maker]) && mx_rewrite_count_reads(p, v) == 1;
    return fits ? maker : MX_NO_OP;
}

static bool fold(mx_program *p, int32_t i_op)
{
    mx_op *op = &p->ops[i_op];
    const int32_t i_gate = op->kind == MX_OP_GLU ? find_product(p, op->in[0]) : MX_NO_OP;
    const int32_t i_up = op->kind == MX_OP_GLU ? find_product(p, op->in[1]) : MX_NO_OP;
    if (i_gate == MX_NO_OP || i_up == MX_NO_OP) {
        return false;
    }
    const mx_op *gate = &p->ops[i_gate];
    const mx_op *up = &p->ops[i_up];
    if (gate->kind != up->kind || gate->in[0] != up->in[0] || gate->in[1] != up->in[1]) {
        return false;
    }
    const mx_activation act = op->u.glu.act;
    op->kind = gate->kind;
    op->in[0] = gate->in[0];
    op->in[1] = gate->in[1];
    op->u.linear = (mx_linear_params){
        .n_weights = 2,
        .weights = {gate->u.linear.weights[0], up->u.linear.weights[0]},
        .biases = {gate->u.linear.biases[0], up->u.linear.biases[0]},
        .has_glu = true,
        .act = act,
    };
    mx_rewrite_remove(p, MX_MAX(i_gate, i_up));
    mx_rewrite_remove(p, MX_MIN(i_gate, i_up));
    return true;
}

/* The product keeps its place: what reads the activation comes later. */
static bool fold_activation(mx_program *p, int32_t i_op)
{
    const mx_op *op = &p->ops[i_op];
    const int32_t i_product = op->kind == MX_OP_ACTIVATION ? find_product(p, op->in[0]) : MX_NO_OP;
    if (i_product == MX_NO_OP) {
        return false;
    }
    p->ops[i_product].u.linear.has_act = true;
    p->ops[i_product].u.linear.act = op->u.glu.act;
    p->ops[i_product].out[0] = op->out[0];
    mx_rewrite_remove(p, i_op);
    return true;
}

void mx_pass_fold_glu(mx_program *p)
{
    for (int32_t i = 0; i < p->n_ops; i++) {
        i -= fold(p, i) ? 2 : fold_activation(p, i) ? 1 : 0;
    }
}
