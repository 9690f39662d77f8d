/* gpt_oss.c - GPT-OSS: biases everywhere, a sink in each head's softmax, every second layer with a window, and gated
 * units of the experts that are clamped. */
#include "model/moe.h"

#define SWIGLU_ALPHA 1.702
#define SWIGLU_LIMIT 7.0

static const mx_model_config gpt_oss_defaults = {
    .model_type = "gpt_oss",
    .n_layers = 36,
    .n_heads = 64,
    .n_kv_heads = 8,
    .head_dim = 64,
    .n_ctx = 131072,
    .d_model = 2880,
    .d_ff = 2880,
    .n_vocab = 201088,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .has_qkv_bias = true,
    .has_o_bias = true,
    .window = 128,
    .sinks = "self_attn.sinks",
    .n_experts = 128,
    .top_k = 4,
    .normalize_top_k = true, /* by a softmax over the chosen: the same as one over all, normalised */
    .ropes = {{.kind = MX_ROPE_YARN,
               .theta = 150000,
               .partial_factor = 1,
               .factor = 32,
               .original_n_ctx = 4096,
               .beta_fast = 32,
               .beta_slow = 1},
              MX_ROPE_PLAIN(150000)},
};

/* The activation that the file names is silu, which is a part of what is computed. */
static mx_status gpt_oss_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    double alpha = SWIGLU_ALPHA;
    double limit = SWIGLU_LIMIT;
    MX_TRY(mx_json_get_f64(obj, "swiglu_alpha", &alpha, err));
    MX_TRY(mx_json_get_f64(obj, "swiglu_limit", &limit, err));
    if (alpha != SWIGLU_ALPHA || limit != SWIGLU_LIMIT) {
        return mx_fail(err, MX_UNSUPPORTED, "\"swiglu_alpha\" %g and \"swiglu_limit\" %g: only %g and %g are supported",
                       alpha, limit, SWIGLU_ALPHA, SWIGLU_LIMIT);
    }
    c->act = MX_ACT_SWIGLU_OAI;
    return mx_moe_experts_are_mlps(obj, arena, c, err);
}

static void gpt_oss_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    mx_moe_settings moe = mx_moe_settings_of(c);
    moe.has_router_bias = true;
    moe.has_expert_bias = true;
    mx_moe_layer(b, c, i_layer, &moe);
}

static const mx_rename gpt_oss_renames[] = {
    {"mlp.gate", "mlp.router"},
    {"mlp.switch_mlp.gate_proj", "mlp.experts.gate_proj"},
    {"mlp.switch_mlp.up_proj", "mlp.experts.up_proj"},
    {NULL, NULL},
};

/* The original files: gate and up take turns; matrices in mxfp4, or in bf16 the other way round. */
static const mx_fusion gpt_oss_fusions[] = {
    {"mlp.switch_mlp.gate_proj.bias", "mlp.experts.gate_up_proj_bias", MX_PART_TURNED_EVEN},
    {"mlp.switch_mlp.up_proj.bias", "mlp.experts.gate_up_proj_bias", MX_PART_TURNED_ODD},
    {"mlp.switch_mlp.down_proj.bias", "mlp.experts.down_proj_bias", MX_PART_TURNED},
    {"mlp.switch_mlp.gate_proj", "mlp.experts.gate_up_proj", MX_PART_TURNED_EVEN},
    {"mlp.switch_mlp.up_proj", "mlp.experts.gate_up_proj", MX_PART_TURNED_ODD},
    {"mlp.switch_mlp.down_proj", "mlp.experts.down_proj", MX_PART_TURNED},
    {NULL, NULL, MX_PART_TURNED},
};

const mx_family mx_family_gpt_oss = {
    .model_types = {"gpt_oss"},
    .title = "gpt-oss",
    .source = "transformers, models/gpt_oss/modeling_gpt_oss.py",
    .defaults = &gpt_oss_defaults,
    .renames = gpt_oss_renames,
    .fusions = gpt_oss_fusions,
    .read = gpt_oss_read,
    .sliding = mx_sliding_alternate,
    .sparse = mx_sparse_all,
    .layer = gpt_oss_layer,
};
