/* pass_dead.c - operations whose results nobody reads; from the end, so that what they read dies with them. */
#include "program/passes.h"
#include "program/rewrite.h"

/* An append changes the cache, which the next step reads; what one stage sends another must take. */
static bool has_effect(const mx_op *op)
{
    return op->kind == MX_OP_KV_APPEND || op->kind == MX_OP_SEND || op->kind == MX_OP_RECV ||
           (op->kind == MX_OP_ATTENTION && op->u.attention.has_append);
}

static bool is_read(const mx_program *p, const mx_op *op)
{
    for (int32_t i = 0; i < MX_OP_MAX_OUT; i++) {
        if (op->out[i] != MX_NO_VALUE && mx_rewrite_count_reads(p, op->out[i]) > 0) {
            return true;
        }
    }
    return false;
}

void mx_pass_remove_dead(mx_program *p)
{
    for (int32_t i = p->n_ops - 1; i >= 0; i--) {
        if (!has_effect(&p->ops[i]) && !is_read(p, &p->ops[i])) {
            mx_rewrite_remove(p, i);
        }
    }
}
