/* llama.c - Llama 1 to 3.3 and what was made in its image (SmolLM2, Yi, ...). */
#include "model/families/families.h"

static const mx_model_config llama_defaults = {
    .model_type = "llama",
    .n_layers = 32,
    .n_heads = 32,
    .n_ctx = 2048,
    .d_model = 4096,
    .d_ff = 11008,
    .n_vocab = 32000,
    .norm_eps = 1e-6,
    .act = MX_ACT_SILU,
    .ropes = {MX_ROPE_PLAIN(1e4), MX_ROPE_PLAIN(1e4)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

const mx_family mx_family_llama = {
    .model_types = {"llama"},
    .title = "Llama",
    .source = "transformers, models/llama/modeling_llama.py",
    .defaults = &llama_defaults,
    .layer = mx_prenorm_layer,
};
