/* glm4.c - GLM-4: half of each head rotates, by neighbours, and gate and up are one matrix. GLM-4-0414 ("glm4") also
 * has norms behind each block. */
#include "model/families/families.h"

static const mx_model_config glm_defaults = {
    .model_type = "glm",
    .n_layers = 40,
    .n_heads = 32,
    .n_kv_heads = 2,
    .head_dim = 128,
    .n_ctx = 131072,
    .d_model = 4096,
    .d_ff = 13696,
    .n_vocab = 151552,
    .norm_eps = 1.5625e-7,
    .act = MX_ACT_SILU,
    .has_qkv_bias = true,
    .is_rope_interleaved = true,
    .ropes = {{.theta = 1e4, .partial_factor = 0.5, .beta_fast = 32, .beta_slow = 1, .truncate = true}},
    .eos_ids = {151329, 151336, 151338},
    .n_eos_ids = 3,
};

static const mx_model_config glm4_defaults = {
    .model_type = "glm4",
    .n_layers = 40,
    .n_heads = 32,
    .n_kv_heads = 2,
    .head_dim = 128,
    .n_ctx = 131072,
    .d_model = 4096,
    .d_ff = 13696,
    .n_vocab = 151552,
    .norm_eps = 1.5625e-7,
    .act = MX_ACT_SILU,
    .has_qkv_bias = true,
    .is_rope_interleaved = true,
    .ropes = {{.theta = 1e4, .partial_factor = 0.5, .beta_fast = 32, .beta_slow = 1, .truncate = true}},
    .eos_ids = {151329, 151336, 151338},
    .n_eos_ids = 3,
};

static const mx_field glm_fields[] = {
    MX_FIELD(mx_model_config, BOOL, has_qkv_bias, "attention_bias", 0, 0),
    MX_FIELD_END,
};

static const mx_fusion glm_fusions[] = {
    {"mlp.gate_proj", "mlp.gate_up_proj", MX_PART_FIRST_HALF},
    {"mlp.up_proj", "mlp.gate_up_proj", MX_PART_SECOND_HALF},
    {NULL, NULL, MX_PART_FIRST_HALF},
};

static void glm4_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_value x = mx_stream(b);
    const mx_value a = mx_self_attention(b, c, i_layer, mx_norm(b, x, "input_layernorm"));
    const mx_value y = mx_add(b, x, mx_norm(b, a, "post_self_attn_layernorm"));
    const mx_value m = mx_layer_mlp(b, c, i_layer, mx_norm(b, y, "post_attention_layernorm"));
    mx_set_stream(b, mx_add(b, y, mx_norm(b, m, "post_mlp_layernorm")));
}

const mx_family mx_family_glm = {
    .model_types = {"glm"},
    .title = "GLM-4",
    .source = "transformers, models/glm/modeling_glm.py",
    .defaults = &glm_defaults,
    .fusions = glm_fusions,
    .fields = glm_fields,
    .layer = mx_prenorm_layer,
};

const mx_family mx_family_glm4 = {
    .model_types = {"glm4"},
    .title = "GLM-4-0414",
    .source = "transformers, models/glm4/modeling_glm4.py",
    .defaults = &glm4_defaults,
    .fusions = glm_fusions,
    .fields = glm_fields,
    .layer = glm4_layer,
};
