/* stablelm.c - StableLM 2 and StableLM 3B: Llama's layer with layer norms and heads that turn in part. The 12B has
 * attention and MLP beside each other, and norms on heads with a weight for each head. */
#include "model/families/families.h"

static const mx_model_config stablelm_defaults = {
    .model_type = "stablelm",
    .n_layers = 32,
    .n_heads = 32,
    .n_kv_heads = 32,
    .n_ctx = 4096,
    .d_model = 2560,
    .d_ff = 6912,
    .n_vocab = 50304,
    .norm_eps = 1e-5,
    .norm = MX_NORM_LAYER_BIAS,
    .act = MX_ACT_SILU,
    .ropes = {MX_ROPE_PARTIAL(1e4, 0.25)},
    .eos_ids = {0},
    .n_eos_ids = 1,
};

static const mx_field stablelm_fields[] = {
    MX_FIELD(mx_model_config, BOOL, has_qkv_bias, "use_qkv_bias", 0, 0),
    MX_FIELD(mx_model_config, BOOL, is_parallel, "use_parallel_residual", 0, 0),
    MX_FIELD_END,
};

static mx_status stablelm_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    bool has_qk_norm = false;
    (void)arena;
    c->has_o_bias = false;
    MX_TRY(mx_json_get_bool(obj, "qk_layernorm", &has_qk_norm, err));
    c->qk_norm = has_qk_norm ? MX_QK_NORM_LAYER_EACH : MX_QK_NORM_NONE;
    return MX_OK;
}

static void stablelm_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    (c->is_parallel ? mx_parallel_layer : mx_prenorm_layer)(b, c, i_layer);
}

static const mx_rename stablelm_renames[] = {
    {"self_attn.q_norm", "self_attn.q_layernorm.norms.*"},
    {"self_attn.k_norm", "self_attn.k_layernorm.norms.*"},
    {NULL, NULL},
};

const mx_family mx_family_stablelm = {
    .model_types = {"stablelm"},
    .title = "StableLM",
    .source = "transformers, models/stablelm/modeling_stablelm.py",
    .defaults = &stablelm_defaults,
    .renames = stablelm_renames,
    .fields = stablelm_fields,
    .read = stablelm_read,
    .layer = stablelm_layer,
};
