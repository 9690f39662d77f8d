/* seed_oss.c - Seed-OSS: Llama's layer with biases on queries, keys and values. */
#include "model/families/families.h"

static const mx_model_config seed_oss_defaults = {
    .model_type = "seed_oss",
    .n_layers = 64,
    .n_heads = 80,
    .n_kv_heads = 8,
    .head_dim = 128,
    .n_ctx = 524288,
    .d_model = 4096,
    .d_ff = 27648,
    .n_vocab = 155136,
    .norm_eps = 1e-6,
    .act = MX_ACT_SILU,
    .has_qkv_bias = true,
    .ropes = {MX_ROPE_PLAIN(1e4)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static const mx_field seed_oss_fields[] = {
    MX_FIELD(mx_model_config, BOOL, has_qkv_bias, "attention_bias", 0, 0),
    MX_FIELD(mx_model_config, BOOL, has_o_bias, "attention_out_bias", 0, 0),
    MX_FIELD_END,
};

const mx_family mx_family_seed_oss = {
    .model_types = {"seed_oss"},
    .title = "Seed-OSS",
    .source = "transformers, models/seed_oss/modeling_seed_oss.py",
    .defaults = &seed_oss_defaults,
    .fields = seed_oss_fields,
    .layer = mx_prenorm_layer,
};
