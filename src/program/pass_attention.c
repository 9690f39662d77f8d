/* pass_attention.c - norms on heads, rope and KV_APPEND into the first ATTENTION that reads the cache. */
#include "program/passes.h"
#include "program/rewrite.h"

/* What stands between a projection and the cache or the scores. */
typedef struct chain {
    mx_value source; /* before norm and rope */
    const mx_norm_params *norm;
    int32_t rope; /* MX_NO_ROPE where there is none */
} chain;

/* Walks back from v over a ROPE and an RMSNORM on heads of head_dim columns; each must have no other reader. */
static chain walk_back(const mx_program *p, mx_value v, int32_t head_dim)
{
    chain c = {.source = v, .rope = MX_NO_ROPE};
    int32_t maker = mx_rewrite_find_sole(p, v, MX_OP_ROPE);
    if (maker != MX_NO_OP && p->ops[maker].u.rope.head_dim == head_dim) {
        c.rope = p->ops[maker].u.rope.rope;
        c.source = p->ops[maker].in[0];
    }
    maker = mx_rewrite_find_sole(p, c.source, MX_OP_RMSNORM);
    if (maker != MX_NO_OP && p->ops[maker].u.norm.n_group_cols == head_dim && !p->ops[maker].u.norm.is_wide) {
        c.norm = &p->ops[maker].u.norm;
        c.source = p->ops[maker].in[0];
    }
    return c;
}

/* The KV_APPEND to this cache before operation i_op, or MX_NO_OP. */
static int32_t find_append(const mx_program *p, int32_t i_cache, int32_t i_op)
{
    for (int32_t i = i_op - 1; i >= 0; i--) {
        if (p->ops[i].kind == MX_OP_KV_APPEND && p->ops[i].u.kv_append.i_cache == i_cache) {
            return i;
        }
    }
    return MX_NO_OP;
}

static bool fold(mx_program *p, int32_t i_op)
{
    mx_op *op = &p->ops[i_op];
    mx_attention_params *a = &op->u.attention;
    if (op->kind != MX_OP_ATTENTION || a->has_append) {
        return false;
    }
    const int32_t i_append = find_append(p, a->i_cache, i_op);
    if (i_append == MX_NO_OP) {
        return false;
    }
    chain q = walk_back(p, op->in[0], p->caches[a->i_cache].k_dim);
    chain k = walk_back(p, p->ops[i_append].in[0], p->caches[a->i_cache].k_dim);
    if (q.rope != k.rope || !q.norm != !k.norm) { /* not the same steps: only the append is folded */
        q = (chain){.source = op->in[0], .rope = MX_NO_ROPE};
        k = (chain){.source = p->ops[i_append].in[0], .rope = MX_NO_ROPE};
    }
    op->in[0] = q.source;
    op->in[1] = k.source;
    op->in[2] = p->ops[i_append].in[1];
    a->has_append = true;
    a->has_qk_norm = q.norm != NULL;
    if (a->has_qk_norm) {
        a->q_norm = *q.norm;
        a->k_norm = *k.norm;
    }
    a->rope = q.rope;
    mx_rewrite_remove(p, i_append); /* the norms and ropes are dead now, which is remove-dead's business */
    return true;
}

void mx_pass_fold_attention(mx_program *p)
{
    for (int32_t i = 0; i < p->n_ops; i++) {
        i -= fold(p, i);
    }
    mx_pass_remove_dead(p);
}
