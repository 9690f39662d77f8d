/* mistral.c - Mistral 7B and its kin: Llama's layer, every one with a sliding window unless the file says null. */
#include "model/families/families.h"

static const mx_model_config mistral_defaults = {
    .model_type = "mistral",
    .n_layers = 32,
    .n_heads = 32,
    .n_kv_heads = 8,
    .n_ctx = 131072,
    .d_model = 4096,
    .d_ff = 14336,
    .n_vocab = 32000,
    .norm_eps = 1e-6,
    .act = MX_ACT_SILU,
    .window = 4096,
    .ropes = {MX_ROPE_PLAIN(1e4), MX_ROPE_PLAIN(1e4)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

const mx_family mx_family_mistral = {
    .model_types = {"mistral"},
    .source = "transformers, models/mistral/modeling_mistral.py",
    .defaults = &mistral_defaults,
    .sliding = mx_sliding_all,
    .layer = mx_llama_layer,
};
