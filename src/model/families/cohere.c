/* cohere.c - Command R and its kin: one layer norm, without a bias, before attention and MLP side by side; neighbours
 * rotate; logits are scaled. Cohere 2 slides in three layers of four, and the fourth knows no positions. */
#include "model/families/families.h"

static const mx_model_config cohere_defaults = {
    .model_type = "cohere",
    .n_layers = 40,
    .n_heads = 64,
    .n_ctx = 8192,
    .d_model = 8192,
    .d_ff = 22528,
    .n_vocab = 256000,
    .norm_eps = 1e-5,
    .norm = MX_NORM_LAYER,
    .act = MX_ACT_SILU,
    .is_tied = true,
    .logit_scale = 0.0625,
    .is_rope_interleaved = true,
    .ropes = {MX_ROPE_PLAIN(5e5)},
    .eos_ids = {255001},
    .n_eos_ids = 1,
};

static const mx_model_config cohere2_defaults = {
    .model_type = "cohere2",
    .n_layers = 40,
    .n_heads = 64,
    .n_ctx = 8192,
    .d_model = 8192,
    .d_ff = 22528,
    .n_vocab = 256000,
    .norm_eps = 1e-5,
    .norm = MX_NORM_LAYER,
    .act = MX_ACT_SILU,
    .is_tied = true,
    .window = 4096,
    .sliding_pattern = 4,
    .logit_scale = 0.0625,
    .is_rope_interleaved = true,
    .ropes = {MX_ROPE_PLAIN(1e4)},
    .eos_ids = {255001},
    .n_eos_ids = 1,
};

static const mx_field cohere_fields[] = {
    MX_FIELD(mx_model_config, F64, logit_scale, "logit_scale", 0, 1000000),
    MX_FIELD_END,
};

static mx_status cohere_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    bool has_qk_norm = false;
    (void)arena;
    MX_TRY(mx_json_get_bool(obj, "use_qk_norm", &has_qk_norm, err));
    c->qk_norm = has_qk_norm ? MX_QK_NORM_LAYER_EACH : MX_QK_NORM_NONE;
    return MX_OK;
}

const mx_family mx_family_cohere = {
    .model_types = {"cohere"},
    .title = "Command R",
    .source = "transformers, models/cohere/modeling_cohere.py",
    .defaults = &cohere_defaults,
    .fields = cohere_fields,
    .read = cohere_read,
    .layer = mx_parallel_layer,
};

const mx_family mx_family_cohere2 = {
    .model_types = {"cohere2"},
    .title = "Command R7B, Command A",
    .source = "transformers, models/cohere2/modeling_cohere2.py",
    .defaults = &cohere2_defaults,
    .fields = cohere_fields,
    .sliding = mx_sliding_pattern,
    .layers = mx_rope_where_sliding,
    .layer = mx_parallel_layer,
};
