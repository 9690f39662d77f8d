/* glm4_moe.c - GLM-4.5 and 4.6: GLM-4's attention, whose halves rotate, and DeepSeek V3's experts. */
#include "model/moe.h"

static const mx_moe_config glm4_moe_moe = {
    .n_shared = 1, .n_groups = 1, .top_groups = 1, .scale = 1, .n_dense_first = 1};

static const mx_model_config glm4_moe_defaults = {
    .model_type = "glm4_moe",
    .n_layers = 46,
    .n_heads = 96,
    .n_kv_heads = 8,
    .n_ctx = 131072,
    .d_model = 4096,
    .d_ff = 10944,
    .n_vocab = 151552,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .n_experts = 128,
    .d_ff_expert = 1408,
    .top_k = 8,
    .normalize_top_k = true,
    .ropes = {MX_ROPE_PARTIAL(1e4, 0.5)},
};

static const mx_field glm4_moe_fields[] = {MX_MTP_FIELD, MX_FIELD_END};

/* Biases are on queries, keys and values alone. */
static mx_status glm4_moe_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    bool has_qk_norm = false;
    (void)arena;
    MX_TRY(mx_json_get_bool(obj, "use_qk_norm", &has_qk_norm, err));
    c->qk_norm = has_qk_norm ? MX_QK_NORM_HEADS : MX_QK_NORM_NONE;
    c->has_o_bias = false;
    return MX_OK;
}

static void glm4_moe_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_moe_settings moe = mx_moe_settings_of_v3(c);
    mx_moe_layer(b, c, i_layer, &moe);
}

const mx_family mx_family_glm4_moe = {
    .model_types = {"glm4_moe"},
    .title = "GLM-4.5 with experts",
    .source = "transformers, models/glm4_moe/modeling_glm4_moe.py",
    .defaults = &glm4_moe_defaults,
    .renames = mx_moe_renames,
    .fields = glm4_moe_fields,
    .own = {sizeof(mx_moe_config), &glm4_moe_moe, mx_moe_fields},
    .read = glm4_moe_read,
    .sparse = mx_sparse_after_dense,
    .layer = glm4_moe_layer,
};
