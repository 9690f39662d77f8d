/* qwen2_moe.c - Qwen 1.5 and 2 with experts: a shared expert beside them, let through by a gate. */
#include "model/families/families.h"
#include "model/moe.h"

typedef struct own_config {
    int64_t d_ff_shared;
} own_config;

static const own_config qwen2_moe_own = {.d_ff_shared = 5632};

static const mx_field qwen2_moe_own_fields[] = {
    MX_FIELD(own_config, I64, d_ff_shared, "shared_expert_intermediate_size", 1, 1 << 24),
    MX_FIELD_END,
};

static const mx_field qwen2_moe_fields[] = {
    MX_FIELD(mx_model_config, BOOL, has_qkv_bias, "qkv_bias", 0, 0),
    MX_FIELD_END,
};

static const mx_model_config qwen2_moe_defaults = {
    .model_type = "qwen2_moe",
    .n_layers = 24,
    .n_heads = 16,
    .n_kv_heads = 16,
    .n_ctx = 32768,
    .d_model = 2048,
    .d_ff = 5632,
    .n_vocab = 151936,
    .norm_eps = 1e-6,
    .act = MX_ACT_SILU,
    .has_qkv_bias = true,
    .window = 4096,
    .n_experts = 60,
    .d_ff_expert = 1408,
    .top_k = 4,
    .ropes = {MX_ROPE_PLAIN(1e4), MX_ROPE_PLAIN(1e4)},
};

/* If "use_sliding_window": of the layers before "max_window_layers", the first, the third, and so on. */
static mx_status qwen2_moe_sliding(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    bool is_used = false;
    bool found = false;
    int64_t n_window = 28; /* the official class's default */
    MX_TRY(mx_json_get_bool(obj, "use_sliding_window", &is_used, err));
    MX_TRY(mx_json_get_i64(obj, "max_window_layers", 0, INT32_MAX, &n_window, err));
    if (!is_used) {
        return MX_OK;
    }
    MX_TRY(mx_sliding_by_types(obj, c, layers, &found, err));
    for (int32_t i = 0; i < c->n_layers && !found; i++) {
        layers[i].is_sliding = i % 2 == 0 && i < n_window;
    }
    return MX_OK;
}

static void qwen2_moe_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const own_config *own = (const own_config *)c->own;
    const mx_moe_settings moe = mx_moe_settings_of(c);
    const mx_value x = mx_stream(b);
    const mx_value y = mx_add(b, x, mx_self_attention(b, c, i_layer, mx_rmsnorm(b, x, "input_layernorm")));
    const mx_value z = mx_rmsnorm(b, y, "post_attention_layernorm");
    mx_value m;
    if (c->layers[i_layer].is_moe) {
        m = mx_moe_mlp(b, z, "mlp", &moe);
        m = mx_add(b, m, mx_gated_mlp(b, z, "mlp.shared_expert", "mlp.shared_expert_gate", own->d_ff_shared));
    } else {
        m = mx_layer_mlp(b, c, i_layer, z);
    }
    mx_set_stream(b, mx_add(b, y, m));
}

const mx_family mx_family_qwen2_moe = {
    .model_types = {"qwen2_moe"},
    .title = "Qwen 2 with experts",
    .source = "transformers, models/qwen2_moe/modeling_qwen2_moe.py",
    .defaults = &qwen2_moe_defaults,
    .renames = mx_moe_renames,
    .fields = qwen2_moe_fields,
    .own = {sizeof(own_config), &qwen2_moe_own, qwen2_moe_own_fields},
    .sliding = qwen2_moe_sliding,
    .sparse = mx_sparse_by_step,
    .layer = qwen2_moe_layer,
};
