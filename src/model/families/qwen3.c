/* qwen3.c - Qwen 3, dense and with experts: norms on the heads of queries and keys. */
#include "model/families/families.h"
#include "model/moe.h"

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
    .qk_norm = MX_QK_NORM_HEADS,
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
    .qk_norm = MX_QK_NORM_HEADS,
    .window = 4096,
    .n_experts = 128,
    .d_ff_expert = 768,
    .top_k = 8,
    .ropes = {MX_ROPE_PLAIN(1e4), MX_ROPE_PLAIN(1e4)},
};

static void qwen3_moe_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_moe_settings moe = mx_moe_settings_of(c);
    mx_moe_layer(b, c, i_layer, &moe);
}

/* All layers, if "use_sliding_window". */
static mx_status qwen3_moe_sliding(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    bool is_used = false;
    MX_TRY(mx_json_get_bool(obj, "use_sliding_window", &is_used, err));
    return is_used ? mx_sliding_all(obj, c, layers, err) : MX_OK;
}

const mx_family mx_family_qwen3 = {
    .model_types = {"qwen3"},
    .title = "Qwen 3",
    .source = "transformers, models/qwen3/modeling_qwen3.py",
    .defaults = &qwen3_defaults,
    .sliding = mx_sliding_after_full,
    .layer = mx_prenorm_layer,
};

const mx_family mx_family_qwen3_moe = {
    .model_types = {"qwen3_moe"},
    .title = "Qwen 3 with experts",
    .source = "transformers, models/qwen3_moe/modeling_qwen3_moe.py",
    .defaults = &qwen3_moe_defaults,
    .sliding = qwen3_moe_sliding,
    .sparse = mx_sparse_by_step,
    .renames = mx_moe_renames,
    .layer = qwen3_moe_layer,
};
