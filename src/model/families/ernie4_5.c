/* ernie4_5.c - ERNIE 4.5 without experts: Llama's layer, whose neighbours rotate. */
#include "model/families/families.h"

static const mx_model_config ernie4_5_defaults = {
    .model_type = "ernie4_5",
    .n_layers = 18,
    .n_heads = 16,
    .n_kv_heads = 2,
    .head_dim = 128,
    .n_ctx = 131072,
    .d_model = 1024,
    .d_ff = 3072,
    .n_vocab = 103424,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .is_tied = true,
    .is_rope_interleaved = true,
    .ropes = {MX_ROPE_PLAIN(5e5)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static const mx_field ernie4_5_fields[] = {
    MX_FIELD(mx_model_config, BOOL, has_qkv_bias, "use_bias", 0, 0),
    MX_FIELD(mx_model_config, BOOL, has_o_bias, "use_bias", 0, 0),
    MX_FIELD(mx_model_config, BOOL, has_mlp_bias, "use_bias", 0, 0),
    MX_FIELD_END,
};

const mx_family mx_family_ernie4_5 = {
    .model_types = {"ernie4_5"},
    .title = "ERNIE 4.5",
    .source = "transformers, models/ernie4_5/modeling_ernie4_5.py",
    .defaults = &ernie4_5_defaults,
    .fields = ernie4_5_fields,
    .layer = mx_prenorm_layer,
};
