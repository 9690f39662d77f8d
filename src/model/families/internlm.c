/* internlm.c - InternLM 2 and 3: Llama's layer; InternLM 2 has names of its own, and queries, key and value of each key
 * head after one another in one matrix. */
#include "model/families/families.h"

static const mx_model_config internlm2_defaults = {
    .model_type = "internlm2",
    .n_layers = 32,
    .n_heads = 32,
    .n_ctx = 2048,
    .d_model = 4096,
    .d_ff = 11008,
    .n_vocab = 103168,
    .norm_eps = 1e-6,
    .act = MX_ACT_SILU,
    .has_qkv_bias = true,
    .has_o_bias = true,
    .ropes = {MX_ROPE_PLAIN(1e4)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static const mx_model_config internlm3_defaults = {
    .model_type = "internlm3",
    .n_layers = 48,
    .n_heads = 32,
    .n_kv_heads = 2,
    .head_dim = 128,
    .n_ctx = 32768,
    .d_model = 4096,
    .d_ff = 10240,
    .n_vocab = 128512,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .ropes = {MX_ROPE_PLAIN(1e4)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static const mx_field internlm2_fields[] = {
    MX_FIELD(mx_model_config, BOOL, has_qkv_bias, "bias", 0, 0),
    MX_FIELD_END,
};

static mx_status internlm2_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    (void)obj;
    (void)arena;
    (void)err;
    c->has_o_bias = c->has_qkv_bias;
    return MX_OK;
}

/* "qkv_bias" is of queries, keys and values, "bias" of what follows them. */
static mx_status internlm3_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    (void)arena;
    MX_TRY(mx_json_get_bool(obj, "qkv_bias", &c->has_qkv_bias, err));
    MX_TRY(mx_json_get_bool(obj, "bias", &c->has_mlp_bias, err));
    c->has_o_bias = c->has_mlp_bias;
    return MX_OK;
}

static const mx_rename internlm2_renames[] = {
    {"embed_tokens", "tok_embeddings"},
    {"input_layernorm", "attention_norm"},
    {"self_attn.o_proj", "attention.wo"},
    {"post_attention_layernorm", "ffn_norm"},
    {"mlp.gate_proj", "feed_forward.w1"},
    {"mlp.up_proj", "feed_forward.w3"},
    {"mlp.down_proj", "feed_forward.w2"},
    {"lm_head", "output"},
    {NULL, NULL},
};

static const mx_fusion internlm2_fusions[] = {
    {"self_attn.q_proj", "attention.wqkv", MX_PART_GROUP_Q},
    {"self_attn.k_proj", "attention.wqkv", MX_PART_GROUP_K},
    {"self_attn.v_proj", "attention.wqkv", MX_PART_GROUP_V},
    {NULL, NULL, MX_PART_Q},
};

const mx_family mx_family_internlm2 = {
    .model_types = {"internlm2"},
    .title = "InternLM 2",
    .source = "internlm/internlm2-7b, modeling_internlm2.py",
    .defaults = &internlm2_defaults,
    .renames = internlm2_renames,
    .fusions = internlm2_fusions,
    .fields = internlm2_fields,
    .read = internlm2_read,
    .layer = mx_prenorm_layer,
};

const mx_family mx_family_internlm3 = {
    .model_types = {"internlm3"},
    .title = "InternLM 3",
    .source = "transformers, models/internlm3/modeling_internlm3.py",
    .defaults = &internlm3_defaults,
    .read = internlm3_read,
    .layer = mx_prenorm_layer,
};
