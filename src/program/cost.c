/* cost.c - bytes and flops of operations, by kind. */
#include "program/cost.h"

#include "base/compiler.h"

#define BYTES_PER_VALUE 4

static int64_t n_rows(const mx_value_info *v, const mx_cost_step *step)
{
    return (v->rows == MX_ROWS_TOKENS ? step->n_tokens : step->n_samples) * v->row_factor;
}

static int64_t bytes_of_value(const mx_program *p, mx_value v, const mx_cost_step *step)
{
    return v == MX_NO_VALUE ? 0 : n_rows(&p->values[v], step) * p->values[v].n_cols * BYTES_PER_VALUE;
}

/* A row of a table for each token. */
static void add_table_rows(const mx_program *p, const mx_op *op, const mx_cost_step *step, mx_cost *cost)
{
    const mx_weight *w = &p->weights[op->kind == MX_OP_EMBED ? op->u.embed.weight : op->u.position.weight];
    cost->weight_bytes += mx_weight_bytes(w) / w->n_rows * step->n_tokens;
}

static void add_linear(const mx_program *p, const mx_op *op, const mx_cost_step *step, mx_cost *cost)
{
    const bool has_experts = op->kind == MX_OP_EXPERT_LINEAR;
    const bool has_heads = op->kind == MX_OP_HEAD_LINEAR;
    const int64_t n_products = n_rows(&p->values[op->out[0]], step); /* rows of results */
    for (int32_t i = 0; i < op->u.linear.n_weights; i++) {
        const mx_weight *w = &p->weights[op->u.linear.weights[i]];
        const int64_t n_used = has_experts ? MX_MIN(w->n_experts, n_products) : has_heads ? w->n_experts : 1;
        cost->weight_bytes += mx_weight_bytes(w) / w->n_experts * n_used;
        cost->flops += 2 * n_products * w->n_rows * w->n_cols * (has_heads ? w->n_experts : 1);
    }
}

static void add_append(const mx_program *p, int32_t i_cache, const mx_cost_step *step, mx_cost *cost)
{
    const mx_cache_spec *cache = &p->caches[i_cache];
    cost->cache_bytes += step->n_tokens * cache->n_kv_heads * mx_cache_cols(cache) * step->kv_bytes;
}

static void add_attention(const mx_program *p, const mx_op *op, const mx_cost_step *step, mx_cost *cost)
{
    const mx_attention_params *a = &op->u.attention;
    const mx_cache_spec *cache = &p->caches[a->i_cache];
    const int64_t window = a->chunk ? a->chunk : a->window;
    const int64_t tokens_per_seq = step->n_seqs ? step->n_tokens / step->n_seqs : 0;
    const int64_t n_seen = window ? MX_MIN(step->n_kv, window + tokens_per_seq - 1) : step->n_kv;
    const int64_t n_each = window ? MX_MIN(step->n_kv, window) : step->n_kv;
    const int64_t head_cols = cache->k_dim + cache->v_dim;
    cost->cache_bytes += step->n_seqs * n_seen * cache->n_kv_heads * mx_cache_cols(cache) * step->kv_bytes;
    cost->flops += 2 * step->n_tokens * n_each * a->n_heads * head_cols;
    if (a->has_append) {
        add_append(p, a->i_cache, step, cost);
    }
}

/* A state is read and written once by each sequence; n_flops a token and a number of the state. */
static void add_state(const mx_program *p, int32_t i_state, int64_t n_flops, const mx_cost_step *step, mx_cost *cost)
{
    const int64_t n = (int64_t)p->states[i_state].n_rows * p->states[i_state].n_cols;
    cost->cache_bytes += 2 * step->n_seqs * n * (int64_t)sizeof(float);
    cost->flops += step->n_tokens * n * n_flops;
}

mx_cost mx_cost_of(const mx_program *p, const mx_op *op, const mx_cost_step *step)
{
    mx_cost cost = {0};
    for (int32_t i = 0; i < MX_OP_MAX_IN; i++) {
        cost.value_bytes += bytes_of_value(p, op->in[i], step);
    }
    for (int32_t i = 0; i < MX_OP_MAX_OUT; i++) {
        cost.value_bytes += bytes_of_value(p, op->out[i], step);
    }
    if (op->kind == MX_OP_EMBED || op->kind == MX_OP_ADD_POSITIONS) {
        add_table_rows(p, op, step, &cost);
    } else if (mx_op_is_linear(op->kind)) {
        add_linear(p, op, step, &cost);
    } else if (op->kind == MX_OP_KV_APPEND) {
        add_append(p, op->u.kv_append.i_cache, step, &cost);
    } else if (op->kind == MX_OP_ATTENTION) {
        add_attention(p, op, step, &cost);
    } else if (op->kind == MX_OP_CAUSAL_CONV) {
        add_state(p, op->u.conv.i_state, 2, step, &cost);
    } else if (op->kind == MX_OP_SSM_SCAN) {
        add_state(p, op->u.ssm.i_state, 5, step, &cost); /* decay, outer product, read-out */
    } else if (op->kind == MX_OP_DELTA_RULE) {
        add_state(p, op->u.delta.i_state, 7, step, &cost); /* decay, prediction, outer product, read-out */
    } else if (op->kind == MX_OP_RG_LRU) {
        add_state(p, op->u.lru.i_state, 4 * op->u.lru.width, step, &cost); /* two products by head */
        cost.weight_bytes += mx_weight_bytes(&p->weights[op->u.lru.input_weight]);
        cost.weight_bytes += mx_weight_bytes(&p->weights[op->u.lru.recurrent_weight]);
    }
    return cost;
}
