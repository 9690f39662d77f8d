/* blocks.c - the blocks that families are written in; each appends operations in their plain form. */
#include "program/builder_core.h"

mx_value mx_stream(const mx_builder *b)
{
    return b->stream;
}

void mx_set_stream(mx_builder *b, mx_value x)
{
    b->stream = x;
}

mx_value mx_side(const mx_builder *b)
{
    return b->side;
}

void mx_set_side(mx_builder *b, mx_value x)
{
    b->side = x;
}

/* Appends `op` with one new output and returns it. */
static mx_value emit(mx_builder *b, mx_op op, mx_value_info info, const char *name)
{
    op.out[0] = mx_builder_add_value(b, &info, name);
    mx_builder_add_op(b, &op);
    return op.out[0];
}

static mx_op op_of(const mx_builder *b, mx_op_kind kind, mx_value x)
{
    mx_op op = mx_builder_op(b, kind);
    op.in[0] = x;
    return op;
}

/* The description of a value like x with other columns. */
static mx_value_info like(const mx_builder *b, mx_value x, int64_t n_cols)
{
    mx_value_info info = *mx_builder_view_value(b, x);
    info.n_cols = n_cols;
    return info;
}

static mx_value_info same(const mx_builder *b, mx_value x)
{
    return *mx_builder_view_value(b, x);
}

mx_value mx_embed(mx_builder *b, const char *path, float scale)
{
    return mx_embed_table(b, path, b->shape.n_vocab, b->shape.d_model, scale);
}

mx_value mx_embed_table(mx_builder *b, const char *path, int64_t n_rows, int64_t n_cols, float scale)
{
    mx_op op = op_of(b, MX_OP_EMBED, b->tokens);
    op.u.embed = (mx_embed_params){.weight = mx_builder_weight(b, path, "", 1, n_rows, n_cols), .scale = scale};
    return emit(b, op, (mx_value_info){.rows = MX_ROWS_TOKENS, .row_factor = 1, .n_cols = n_cols}, path);
}

mx_value mx_add_positions(mx_builder *b, mx_value x, const char *path, int64_t n_positions)
{
    mx_op op = op_of(b, MX_OP_ADD_POSITIONS, x);
    op.u.position.weight = mx_builder_weight(b, path, "", 1, n_positions, mx_builder_view_value(b, x)->n_cols);
    return emit(b, op, same(b, x), path);
}

mx_value mx_gather_samples(mx_builder *b, mx_value x)
{
    mx_value_info info = same(b, x);
    info.rows = MX_ROWS_SAMPLES;
    return emit(b, op_of(b, MX_OP_GATHER_ROWS, x), info, "samples");
}

static mx_value norm_groups(mx_builder *b, mx_value x, const char *path, int64_t n_group_cols)
{
    mx_op op = op_of(b, MX_OP_RMSNORM, x);
    op.u.norm = (mx_norm_params){
        .weight = path ? mx_builder_weight(b, path, "", 1, 1, n_group_cols) : MX_NO_WEIGHT,
        .eps = b->shape.norm_eps,
        .weight_offset = b->shape.norm_weight_offset,
        .n_group_cols = n_group_cols,
        .bias = MX_NO_WEIGHT,
    };
    return emit(b, op, same(b, x), path ? path : "norm");
}

/* Without a weight yet. */
static mx_op layernorm_op(const mx_builder *b, mx_value x, int64_t n_group_cols)
{
    mx_op op = op_of(b, MX_OP_LAYERNORM, x);
    op.u.norm = (mx_norm_params){
        .weight = MX_NO_WEIGHT,
        .eps = b->shape.norm_eps,
        .weight_offset = b->shape.norm_weight_offset,
        .n_group_cols = n_group_cols,
        .is_centered = true,
        .bias = MX_NO_WEIGHT,
    };
    return op;
}

static mx_value layernorm(mx_builder *b, mx_value x, const char *path)
{
    const int64_t n_cols = mx_builder_view_value(b, x)->n_cols;
    mx_op op = layernorm_op(b, x, n_cols);
    if (b->shape.norm != MX_NORM_LAYER_BARE) {
        op.u.norm.weight = mx_builder_weight(b, path, "", 1, 1, n_cols);
    }
    if (b->shape.norm == MX_NORM_LAYER_BIAS) {
        op.u.norm.bias = mx_builder_weight(b, path, ".bias", 1, 1, n_cols);
    }
    return emit(b, op, same(b, x), path);
}

mx_value mx_layernorm_heads(mx_builder *b, mx_value x, const char *path, bool is_shared)
{
    const int64_t head_dim = b->shape.head_dim;
    mx_op op = layernorm_op(b, x, head_dim);
    if (is_shared) {
        op.u.norm.weight = mx_builder_weight(b, path, "", 1, 1, head_dim);
        op.u.norm.bias = mx_builder_weight(b, path, ".bias", 1, 1, head_dim);
    } else {
        const int64_t n_heads = mx_builder_view_value(b, x)->n_cols / head_dim;
        mx_weight w = {0}; /* tensors of their own (StableLM), or rows of one (Command R+) */
        const bool is_one_tensor = mx_builder_probe(b, path, &w) && w.n_experts == 1;
        op.u.norm.weight =
            mx_builder_weight(b, path, "", is_one_tensor ? 1 : n_heads, is_one_tensor ? n_heads : 1, head_dim);
    }
    return emit(b, op, same(b, x), path);
}

mx_value mx_norm(mx_builder *b, mx_value x, const char *path)
{
    return b->shape.norm == MX_NORM_RMS ? mx_rmsnorm(b, x, path) : layernorm(b, x, path);
}

mx_value mx_rmsnorm(mx_builder *b, mx_value x, const char *path)
{
    return norm_groups(b, x, path, mx_builder_view_value(b, x)->n_cols);
}

mx_value mx_rmsnorm_heads(mx_builder *b, mx_value x, const char *path)
{
    return norm_groups(b, x, path, b->shape.head_dim);
}

static mx_value linear_named(mx_builder *b, mx_value x, const char *path, int64_t n_out, bool has_bias,
                             const char *name)
{
    const int64_t n_in = mx_builder_view_value(b, x)->n_cols;
    mx_op op = op_of(b, MX_OP_LINEAR, x);
    op.u.linear.n_weights = 1;
    op.u.linear.weights[0] = mx_builder_weight(b, path, "", 1, n_out, n_in);
    const int32_t bias = has_bias ? mx_builder_weight(b, path, ".bias", 1, 1, n_out) : MX_NO_WEIGHT;
    mx_adaptation adaptation = {0};
    const bool is_adapted = mx_builder_find_adaptation(b, path, n_in, n_out, &adaptation);
    op.u.linear.biases[0] = is_adapted ? MX_NO_WEIGHT : bias; /* which factors do not change */
    const mx_value y = emit(b, op, like(b, x, n_out), is_adapted ? path : name);
    return is_adapted ? mx_builder_adapt(b, x, y, &adaptation, bias, path, name) : y;
}

mx_value mx_linear(mx_builder *b, mx_value x, const char *path, int64_t n_out, bool has_bias)
{
    return linear_named(b, x, path, n_out, has_bias, path);
}

mx_value mx_logits(mx_builder *b, mx_value x, const char *path, bool has_bias)
{
    return linear_named(b, x, path, b->shape.n_vocab, has_bias, "logits");
}

mx_qkv mx_linear_qkv(mx_builder *b, mx_value x, const char *path, bool has_bias)
{
    char buffer[BLOCK_MAX_PATH];
    const int64_t n_q = (int64_t)b->shape.n_heads * b->shape.head_dim;
    const int64_t n_kv = (int64_t)b->shape.n_kv_heads * b->shape.head_dim;
    mx_qkv t;
    t.q = mx_linear(b, x, part(buffer, path, "q_proj"), n_q, has_bias);
    t.k = mx_linear(b, x, part(buffer, path, "k_proj"), n_kv, has_bias);
    t.v = mx_linear(b, x, part(buffer, path, "v_proj"), n_kv, has_bias);
    return t;
}

static mx_value rotate(mx_builder *b, mx_value x, int32_t rope, int32_t n_heads, const char *name)
{
    if (x == MX_NO_VALUE) {
        return x;
    }
    mx_op op = op_of(b, MX_OP_ROPE, x);
    op.u.rope = (mx_rope_params){.rope = rope, .n_heads = n_heads, .head_dim = b->shape.head_dim};
    return emit(b, op, same(b, x), name);
}

mx_qkv mx_rope(mx_builder *b, mx_qkv t, int32_t rope)
{
    return (mx_qkv){
        .q = rotate(b, t.q, rope, b->shape.n_heads, "rope.q"),
        .k = rotate(b, t.k, rope, b->shape.n_kv_heads, "rope.k"),
        .v = t.v,
    };
}

static mx_value attend(mx_builder *b, mx_value q, int32_t i_cache, int32_t v_dim, const mx_attention_settings *settings)
{
    mx_op op = op_of(b, MX_OP_ATTENTION, q);
    op.u.attention = (mx_attention_params){
        .i_cache = i_cache,
        .n_heads = b->shape.n_heads,
        .scale = settings->scale,
        .sharpening = settings->sharpening,
        .window = settings->window,
        .chunk = settings->chunk,
        .softcap = settings->softcap,
        .sinks = settings->sinks ? mx_builder_weight(b, settings->sinks, "", 1, 1, b->shape.n_heads) : MX_NO_WEIGHT,
        .rope = MX_NO_ROPE,
    };
    return emit(b, op, like(b, q, (int64_t)b->shape.n_heads * v_dim), "attention");
}

mx_value mx_attention(mx_builder *b, mx_qkv t, const mx_attention_settings *settings)
{
    const mx_cache_spec cache = {.n_kv_heads = b->shape.n_kv_heads,
                                 .k_dim = b->shape.head_dim,
                                 .v_dim = settings->latent_dim ? settings->latent_dim : b->shape.head_dim,
                                 .window = settings->chunk ? settings->chunk : settings->window,
                                 .i_layer = b->i_layer,
                                 .is_latent = settings->latent_dim > 0};
    const int32_t i_cache = mx_builder_add(b, &b->caches, &cache, sizeof cache);
    mx_op append = op_of(b, MX_OP_KV_APPEND, t.k);
    append.in[1] = t.v;
    append.u.kv_append.i_cache = i_cache;
    mx_builder_add_op(b, &append);
    return attend(b, t.q, i_cache, cache.v_dim, settings);
}

mx_value mx_attention_shared(mx_builder *b, mx_value q, int32_t i_layer, const mx_attention_settings *settings)
{
    const mx_cache_spec *caches = b->caches.items;
    for (int32_t i = (int32_t)b->caches.n - 1; i >= 0; i--) {
        if (caches[i].i_layer == i_layer) {
            return attend(b, q, i, caches[i].v_dim, settings);
        }
    }
    mx_error err = {0};
    mx_builder_fail(b, mx_fail(&err, MX_FORMAT, "layer %d has no keys to attend to", i_layer), &err);
    return MX_NO_VALUE;
}

mx_value mx_builder_glu(mx_builder *b, mx_value gate, mx_value up, const char *name)
{
    mx_op op = op_of(b, MX_OP_GLU, gate);
    op.in[1] = up;
    op.u.glu.act = b->shape.act;
    return emit(b, op, same(b, gate), name);
}

mx_value mx_glu(mx_builder *b, mx_value x, const char *path, int64_t d_ff, bool has_bias)
{
    char buffer[BLOCK_MAX_PATH];
    const mx_value gate = mx_linear(b, x, part(buffer, path, "gate_proj"), d_ff, has_bias);
    const mx_value up = mx_linear(b, x, part(buffer, path, "up_proj"), d_ff, has_bias);
    return mx_builder_glu(b, gate, up, part(buffer, path, "glu"));
}

mx_value mx_glu_mlp(mx_builder *b, mx_value x, const char *path, int64_t d_ff, bool has_bias)
{
    char buffer[BLOCK_MAX_PATH];
    const int64_t n_out = mx_builder_view_value(b, x)->n_cols;
    return mx_linear(b, mx_glu(b, x, path, d_ff, has_bias), part(buffer, path, "down_proj"), n_out, has_bias);
}

mx_value mx_plain_mlp(mx_builder *b, mx_value x, const char *path, int64_t d_ff, bool has_bias)
{
    char buffer[BLOCK_MAX_PATH];
    const int64_t n_out = mx_builder_view_value(b, x)->n_cols;
    const mx_value up = mx_linear(b, x, part(buffer, path, "up_proj"), d_ff, has_bias);
    mx_op op = op_of(b, MX_OP_ACTIVATION, up);
    op.u.glu.act = b->shape.act;
    const mx_value h = emit(b, op, same(b, up), part(buffer, path, "act"));
    return mx_linear(b, h, part(buffer, path, "down_proj"), n_out, has_bias);
}

mx_value mx_add(mx_builder *b, mx_value x, mx_value y)
{
    mx_op op = op_of(b, MX_OP_ADD, x);
    op.in[1] = y;
    return emit(b, op, same(b, x), "add");
}

mx_value mx_scale(mx_builder *b, mx_value x, float factor)
{
    mx_op op = op_of(b, MX_OP_SCALE, x);
    op.u.scale.factor = factor;
    return emit(b, op, same(b, x), "scale");
}

mx_value mx_softcap(mx_builder *b, mx_value x, float factor)
{
    mx_op op = op_of(b, MX_OP_SOFTCAP, x);
    op.u.scale.factor = factor;
    return emit(b, op, same(b, x), "softcap");
}

mx_value mx_clip(mx_builder *b, mx_value x, float factor)
{
    mx_op op = op_of(b, MX_OP_CLIP, x);
    op.u.scale.factor = factor;
    return emit(b, op, same(b, x), "clip");
}

mx_value mx_multiply(mx_builder *b, mx_value x, const char *path, int64_t n)
{
    mx_op op = op_of(b, MX_OP_MULTIPLY, x);
    op.u.vector.weight = mx_builder_numbers(b, path, "", 1, n);
    return emit(b, op, same(b, x), path);
}

mx_value mx_xielu_mlp(mx_builder *b, mx_value x, const char *path, int64_t d_ff)
{
    char buffer[BLOCK_MAX_PATH];
    const int64_t n_out = mx_builder_view_value(b, x)->n_cols;
    const mx_value up = mx_linear(b, x, part(buffer, path, "up_proj"), d_ff, false);
    mx_op op = op_of(b, MX_OP_XIELU, up);
    part(buffer, path, "act_fn");
    op.u.xielu = (mx_xielu_params){
        .alpha_p = mx_builder_numbers(b, buffer, ".alpha_p", 1, 1),
        .alpha_n = mx_builder_numbers(b, buffer, ".alpha_n", 1, 1),
        .beta = mx_builder_numbers(b, buffer, ".beta", 1, 1),
        .eps = mx_builder_numbers(b, buffer, ".eps", 1, 1),
    };
    const mx_value h = emit(b, op, same(b, up), buffer);
    return mx_linear(b, h, part(buffer, path, "down_proj"), n_out, false);
}
