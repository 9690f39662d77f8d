/* rewrite.c - looking through a program. */
#include "program/rewrite.h"

#include <string.h>

#include "base/mem.h"

#define REWRITE_MAX_ARENA ((size_t)1 << 30)

/* A list in the arena with room behind it, or NULL. */
static void *copy_list(mx_arena *arena, const void *items, int32_t n, int32_t n_more, size_t item_size)
{
    void *copy = mx_arena_calloc(arena, (size_t)n + (size_t)n_more + 1, item_size);
    if (copy && n > 0) {
        memcpy(copy, items, (size_t)n * item_size);
    }
    return copy;
}

/* Names and tables that the lists point to. */
static bool copy_contents(mx_program *p)
{
    for (int32_t i = 0; i < p->n_values; i++) {
        if (p->values[i].name) {
            p->values[i].name = mx_arena_copy_str(&p->arena, mx_str_from(p->values[i].name)).ptr;
            if (!p->values[i].name) {
                return false;
            }
        }
    }
    for (int32_t i = 0; i < p->n_weights; i++) {
        mx_weight *w = &p->weights[i];
        if (w->experts) { /* of the checkpoint's, or of a program before this */
            w->experts = copy_list(&p->arena, w->experts, (int32_t)w->n_experts, 0, sizeof *w->experts);
            if (!w->experts) {
                return false;
            }
        }
    }
    for (int32_t i = 0; i < p->n_ropes; i++) {
        p->ropes[i].inv_freq =
            copy_list(&p->arena, p->ropes[i].inv_freq, p->ropes[i].rot_dim / 2, 0, sizeof *p->ropes[i].inv_freq);
        if (!p->ropes[i].inv_freq) {
            return false;
        }
    }
    return true;
}

mx_status mx_rewrite_copy(const mx_program *program, mx_rewrite_room room, mx_program *out, mx_error *err)
{
    mx_program p = *program;
    mx_arena_init(&p.arena, REWRITE_MAX_ARENA);
    p.values = copy_list(&p.arena, p.values, p.n_values, room.n_values, sizeof *p.values);
    p.ops = copy_list(&p.arena, p.ops, p.n_ops, room.n_ops, sizeof *p.ops);
    p.weights = copy_list(&p.arena, p.weights, p.n_weights, room.n_weights, sizeof *p.weights);
    p.caches = copy_list(&p.arena, p.caches, p.n_caches, 0, sizeof *p.caches);
    p.ropes = copy_list(&p.arena, p.ropes, p.n_ropes, 0, sizeof *p.ropes);
    p.states = copy_list(&p.arena, p.states, p.n_states, 0, sizeof *p.states);
    if (!p.values || !p.ops || !p.weights || !p.caches || !p.ropes || !p.states || !copy_contents(&p)) {
        const size_t n_bytes = p.arena.n_bytes;
        mx_arena_deinit(&p.arena);
        return mx_fail_no_memory(err, n_bytes, "a copy of a program");
    }
    *out = p;
    return MX_OK;
}

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
