/* qwen3.c - Qwen 3, dense and with experts: norms on the heads of queries and keys. */
#include "model/families/families.h"

static const mx_model_config qwen3_defaults = {
    .model_type = "qwen3",
    .n_layers = 32,
    .n_heads = 32,
    .n_kv_heads = 32,
    .head_dim = 128,
    .n_ctx = 32768,
    .d_model = 4096,
    .d_ff = 22016,
    .n_vocab = 151936,
    .norm_eps = 1e-6,
    .act = MX_ACT_SILU,
    .window = 4096,
    .ropes = {MX_ROPE_PLAIN(1e4), MX_ROPE_PLAIN(1e4)},
};

static const mx_model_config qwen3_moe_defaults = {
    .model_type = "qwen3_moe",
    .n_layers = 24,
    .n_heads = 32,
    .n_kv_heads = 4,
    .n_ctx = 32768,
    .d_model = 2048,
    .d_ff = 6144,
    .n_vocab = 151936,
    .norm_eps = 1e-6,
    .act = MX_ACT_SILU,
    .window = 4096,
    .n_experts = 128,
    .d_ff_expert = 768,
    .top_k = 8,
    .ropes = {MX_ROPE_PLAIN(1e4), MX_ROPE_PLAIN(1e4)},
};

static void qwen3_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_value x = mx_stream(b);
    const mx_value h = mx_rmsnorm(b, x, "input_layernorm");
    mx_qkv t = mx_linear_qkv(b, h, "self_attn", c->has_qkv_bias);
    t.q = mx_rmsnorm_heads(b, t.q, "self_attn.q_norm");
    t.k = mx_rmsnorm_heads(b, t.k, "self_attn.k_norm");
    const mx_value a = mx_layer_attention(b, c, i_layer, t);
    const mx_value y = mx_add(b, x, mx_linear(b, a, "self_attn.o_proj", c->d_model, c->has_o_bias));
    const mx_value z = mx_rmsnorm(b, y, "post_attention_layernorm");
    const mx_moe_settings moe = {
        .n_experts = c->n_experts, .d_ff = c->d_ff_expert, .top_k = c->top_k, .normalize = c->normalize_top_k};
    mx_set_stream(b, mx_add(b, y,
                            c->layers[i_layer].is_moe
                                ? mx_moe_mlp(b, z, "mlp", &moe)
                                : mx_glu_mlp(b, z, "mlp", c->layers[i_layer].d_ff, c->has_mlp_bias)));
}

/* All layers, if "use_sliding_window". */
static mx_status qwen3_moe_sliding(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    bool is_used = false;
    MX_TRY(mx_json_get_bool(obj, "use_sliding_window", &is_used, err));
    return is_used ? mx_sliding_all(obj, c, layers, err) : MX_OK;
}

/* Every "decoder_sparse_step"-th layer has experts, but those of "mlp_only_layers". */
static mx_status qwen3_sparse(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    int64_t step = 1;
    yyjson_val *dense = NULL;
    MX_TRY(mx_json_get_i64(obj, "decoder_sparse_step", 1, INT32_MAX, &step, err));
    MX_TRY(mx_json_get_arr(obj, "mlp_only_layers", &dense, err));
    for (int32_t i = 0; i < c->n_layers; i++) {
        layers[i].is_moe = (i + 1) % step == 0;
    }
    yyjson_arr_iter it = yyjson_arr_iter_with(dense);
    for (yyjson_val *val = yyjson_arr_iter_next(&it); val; val = yyjson_arr_iter_next(&it)) {
        const int64_t i_layer = yyjson_is_int(val) ? yyjson_get_sint(val) : -1;
        if (i_layer < 0 || i_layer >= c->n_layers) {
            return mx_fail(err, MX_FORMAT, "\"mlp_only_layers\" must list layers from 0 to %d", c->n_layers - 1);
        }
        layers[i_layer].is_moe = false;
    }
    return MX_OK;
}

/* MLX stacks the experts of a layer; the original checkpoints have one tensor each. */
static const mx_rename qwen3_moe_renames[] = {
    {"mlp.switch_mlp.gate_proj", "mlp.experts.*.gate_proj"},
    {"mlp.switch_mlp.up_proj", "mlp.experts.*.up_proj"},
    {"mlp.switch_mlp.down_proj", "mlp.experts.*.down_proj"},
    {NULL, NULL},
};

const mx_family mx_family_qwen3 = {
    .model_types = {"qwen3"},
    .source = "transformers, models/qwen3/modeling_qwen3.py",
    .defaults = &qwen3_defaults,
    .sliding = mx_sliding_after_full,
    .layer = qwen3_layer,
};

const mx_family mx_family_qwen3_moe = {
    .model_types = {"qwen3_moe"},
    .source = "transformers, models/qwen3_moe/modeling_qwen3_moe.py",
    .defaults = &qwen3_moe_defaults,
    .sliding = qwen3_moe_sliding,
    .sparse = qwen3_sparse,
    .renames = qwen3_moe_renames,
    .layer = qwen3_layer,
};
