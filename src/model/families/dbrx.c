/* dbrx.c - DBRX: layer norms without biases, clipped queries, keys and values in one matrix, experts in one stack. */
#include "model/moe.h"

static const mx_model_config dbrx_defaults = {
    .model_type = "dbrx",
    .n_layers = 24,
    .n_heads = 16,
    .n_kv_heads = 1,
    .n_ctx = 2048,
    .d_model = 2048,
    .d_ff = 3584,
    .n_vocab = 32000,
    .norm_eps = 1e-5,
    .norm = MX_NORM_LAYER,
    .act = MX_ACT_SILU,
    .n_experts = 4,
    .d_ff_expert = 3584,
    .top_k = 1,
    .normalize_top_k = true,
    .ropes = {MX_ROPE_PLAIN(1e4)},
};

static const mx_field dbrx_fields[] = {
    MX_FIELD(mx_model_config, I32, n_ctx, "max_seq_len", 1, MX_MAX_CTX),
    MX_FIELD_END,
};

static const mx_field attn_fields[] = {
    MX_FIELD(mx_model_config, I32, n_kv_heads, "kv_n_heads", 1, 4096),
    MX_FIELD(mx_model_config, F64_OR_NULL, qkv_clip, "clip_qkv", 0, 1000000),
    MX_FIELD(mx_model_config, F64, ropes[0].theta, "rope_theta", 1, INT64_C(1000000000000)),
    MX_FIELD_END,
};

static const mx_field ffn_fields[] = {
    MX_FIELD(mx_model_config, I64, n_experts, "moe_num_experts", 1, 4096),
    MX_FIELD(mx_model_config, I32, top_k, "moe_top_k", 1, 4096),
    MX_FIELD(mx_model_config, I64, d_ff_expert, "ffn_hidden_size", 1, 1 << 24),
    MX_FIELD_END,
};

/* "attn_config" and "ffn_config" are objects of their own. The weights of the chosen experts are divided by their norm
 * of the order "moe_normalize_expert_weights": only their sum is known to be in use. */
static mx_status dbrx_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    yyjson_val *attn = NULL;
    yyjson_val *ffn = NULL;
    double order = 1;
    (void)arena;
    MX_TRY(mx_json_get_obj(obj, "attn_config", &attn, err));
    MX_TRY(mx_json_get_obj(obj, "ffn_config", &ffn, err));
    MX_TRY(mx_fields_read(attn, attn_fields, c, err));
    MX_TRY(mx_fields_read(ffn, ffn_fields, c, err));
    MX_TRY(mx_json_get_f64(ffn, "moe_normalize_expert_weights", &order, err));
    if (order != 1) {
        return mx_fail(err, MX_UNSUPPORTED, "\"moe_normalize_expert_weights\" is %g: only 1 and null are supported",
                       order);
    }
    c->normalize_top_k = !yyjson_is_null(yyjson_obj_get(ffn, "moe_normalize_expert_weights"));
    return MX_OK;
}

static void dbrx_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_moe_settings moe = mx_moe_settings_of(c);
    mx_moe_layer(b, c, i_layer, &moe);
}

static const mx_stem dbrx_stems[] = {
    {"transformer.", "blocks.", "", false},
    {NULL, NULL, NULL, false},
};

static const mx_rename dbrx_renames[] = {
    {"embed_tokens", "wte"},
    {"input_layernorm", "norm_attn_norm.norm_1"},
    {"post_attention_layernorm", "norm_attn_norm.norm_2"},
    {"self_attn.o_proj", "norm_attn_norm.attn.out_proj"},
    {"mlp.gate", "ffn.router.layer"},
    {"mlp.switch_mlp.gate_proj", "ffn.experts.*.w1"},
    {"mlp.switch_mlp.up_proj", "ffn.experts.*.v1"},
    {"mlp.switch_mlp.down_proj", "ffn.experts.*.w2"},
    {"norm", "norm_f"},
    {NULL, NULL},
};

static const mx_fusion dbrx_fusions[] = {
    {"self_attn.q_proj", "norm_attn_norm.attn.Wqkv", MX_PART_Q},
    {"self_attn.k_proj", "norm_attn_norm.attn.Wqkv", MX_PART_K},
    {"self_attn.v_proj", "norm_attn_norm.attn.Wqkv", MX_PART_V},
    {"mlp.switch_mlp.gate_proj", "ffn.experts.mlp.w1", MX_PART_STACKED},
    {"mlp.switch_mlp.up_proj", "ffn.experts.mlp.v1", MX_PART_STACKED},
    {"mlp.switch_mlp.down_proj", "ffn.experts.mlp.w2", MX_PART_STACKED_TURNED},
    {NULL, NULL, MX_PART_Q},
};

const mx_family mx_family_dbrx = {
    .model_types = {"dbrx"},
    .title = "DBRX",
    .source = "transformers, models/dbrx/modeling_dbrx.py",
    .defaults = &dbrx_defaults,
    .stems = dbrx_stems,
    .renames = dbrx_renames,
    .fusions = dbrx_fusions,
    .fields = dbrx_fields,
    .read = dbrx_read,
    .sparse = mx_sparse_all,
    .layer = dbrx_layer,
};
