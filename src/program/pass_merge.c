/* pass_merge.c - products of one x into one operation, at the place of the first. */
#include "program/passes.h"
#include "program/rewrite.h"

static bool is_mergeable(const mx_op *op)
{
    return op->kind == MX_OP_LINEAR && mx_rewrite_is_plain_linear(op);
}

/* Moves the only product of `from` to the end of `to`. */
static void append_product(mx_op *to, const mx_op *from)
{
    mx_linear_params *lin = &to->u.linear;
    lin->weights[lin->n_weights] = from->u.linear.weights[0];
    lin->biases[lin->n_weights] = from->u.linear.biases[0];
    to->out[lin->n_weights] = from->out[0];
    lin->n_weights++;
}

void mx_pass_merge_linears(mx_program *p)
{
    for (int32_t i = 0; i < p->n_ops; i++) {
        if (!is_mergeable(&p->ops[i])) {
            continue;
        }
        for (int32_t j = i + 1; j < p->n_ops && p->ops[i].u.linear.n_weights < MX_OP_MAX_OUT; j++) {
            if (is_mergeable(&p->ops[j]) && p->ops[j].in[0] == p->ops[i].in[0]) {
                append_product(&p->ops[i], &p->ops[j]);
                mx_rewrite_remove(p, j);
                j--;
            }
        }
    }
}
