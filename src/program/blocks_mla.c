/* blocks_mla.c - attention over a compressed cache (multi-head latent attention).
 *
 * A key head is W_k c beside a rotated part that all heads share, a value head is W_v c, and c is the latent of a
 * token. Only [rotated part | c] is cached, as one key head whose end is also the value; W_k is applied to the queries
 * and W_v to the weighted sum of latents instead, which gives the same numbers: q . (W_k c) = (W_k^T q) . c. Prefill
 * and decode are the same operations.
 *
 * Source: DeepSeek-AI, "DeepSeek-V2", arXiv 2405.04434, section 2.1.
 */
#include "program/builder_core.h"

static mx_value finish_op(mx_builder *b, mx_op *op, int64_t n_cols, const char *name)
{
    const mx_value_info info = {.rows = MX_ROWS_TOKENS, .row_factor = 1, .n_cols = n_cols};
    op->out[0] = mx_builder_add_value(b, &info, name);
    mx_builder_add_op(b, op);
    return op->out[0];
}

/* Columns of each head of x, and where second is not MX_NO_VALUE all columns of its heads behind them. */
static mx_value columns(mx_builder *b, mx_value x, int32_t n_heads, int32_t first, int32_t n_first, mx_value second,
                        const char *name)
{
    mx_op op = mx_builder_op(b, MX_OP_HEAD_COLUMNS);
    op.in[0] = x;
    op.in[1] = second;
    const int64_t n_second = second == MX_NO_VALUE ? 0 : mx_builder_view_value(b, second)->n_cols / n_heads;
    op.u.columns =
        (mx_columns_params){.n_heads = n_heads, .first = first, .n_first = n_first, .n_second = (int32_t)n_second};
    return finish_op(b, &op, n_heads * (n_first + n_second), name);
}

static mx_value head_linear(mx_builder *b, mx_value x, const char *path, int64_t n_heads, int64_t n_rows)
{
    mx_op op = mx_builder_op(b, MX_OP_HEAD_LINEAR);
    op.in[0] = x;
    op.u.linear.n_weights = 1;
    op.u.linear.weights[0] =
        mx_builder_weight(b, path, "", n_heads, n_rows, mx_builder_view_value(b, x)->n_cols / n_heads);
    op.u.linear.biases[0] = MX_NO_WEIGHT;
    return finish_op(b, &op, n_heads * n_rows, path);
}

static mx_value norm(mx_builder *b, mx_value x, const char *path, const mx_mla_settings *s)
{
    const float eps = b->shape.norm_eps;
    b->shape.norm_eps = s->norm_eps;
    const mx_value y = mx_rmsnorm(b, x, path);
    b->shape.norm_eps = eps;
    return y;
}

static mx_value queries(mx_builder *b, mx_value x, const char *path, const mx_mla_settings *s)
{
    char buffer[BLOCK_MAX_PATH];
    const int64_t n_out = (int64_t)b->shape.n_heads * (s->nope_dim + s->rope_dim);
    if (s->q_rank == 0) {
        return mx_linear(b, x, part(buffer, path, "q_proj"), n_out, false);
    }
    const mx_value a = mx_linear(b, x, part(buffer, path, "q_a_proj"), s->q_rank, s->has_bias);
    const mx_value h = norm(b, a, part(buffer, path, "q_a_layernorm"), s);
    return mx_linear(b, h, part(buffer, path, "q_b_proj"), n_out, false);
}

mx_value mx_mla(mx_builder *b, mx_value x, const char *path, const mx_mla_settings *s)
{
    char buffer[BLOCK_MAX_PATH];
    const int32_t n_heads = b->shape.n_heads;
    const mx_builder_shape shape = b->shape;
    const mx_value q = queries(b, x, path, s);
    const mx_value kv =
        mx_linear(b, x, part(buffer, path, "kv_a_proj_with_mqa"), s->kv_rank + s->rope_dim, s->has_bias);

    const mx_value nope = columns(b, q, n_heads, 0, s->nope_dim, MX_NO_VALUE, part(buffer, path, "q_nope"));
    const mx_value absorbed = head_linear(b, nope, part(buffer, path, "embed_q"), n_heads, s->kv_rank);
    const mx_value raw = columns(b, kv, 1, 0, s->kv_rank, MX_NO_VALUE, part(buffer, path, "raw_latent"));
    const mx_value latent = norm(b, raw, part(buffer, path, "kv_a_layernorm"), s);

    mx_qkv t = {.v = MX_NO_VALUE};
    t.q = columns(b, q, n_heads, s->nope_dim, s->rope_dim, absorbed, part(buffer, path, "q"));
    t.k = columns(b, kv, 1, s->kv_rank, s->rope_dim, latent, part(buffer, path, "k"));
    mx_builder_set_heads(b, n_heads, 1, s->rope_dim + s->kv_rank);
    const mx_attention_settings attention = {.scale = s->scale, .latent_dim = s->kv_rank};
    const mx_value y = mx_attention(b, s->rope == MX_NO_ROPE ? t : mx_rope(b, t, s->rope), &attention);
    mx_builder_set_heads(b, shape.n_heads, shape.n_kv_heads, shape.head_dim);
    return head_linear(b, y, part(buffer, path, "unembed_out"), n_heads, s->v_dim);
}
