/* qwen2.c - Qwen 2 and 2.5, and MiMo 7B without its layers for drafting: Llama's layer with biases on queries, keys and
 * values. */
#include "model/families/families.h"

static const mx_model_config qwen2_defaults = {
    .model_type = "qwen2",
    .n_layers = 32,
    .n_heads = 32,
    .n_kv_heads = 32,
    .n_ctx = 32768,
    .d_model = 4096,
    .d_ff = 22016,
    .n_vocab = 151936,
    .norm_eps = 1e-6,
    .act = MX_ACT_SILU,
    .has_qkv_bias = true,
    .window = 4096,
    .ropes = {MX_ROPE_PLAIN(1e4), MX_ROPE_PLAIN(1e4)},
};

const mx_family mx_family_qwen2 = {
    .model_types = {"qwen2", "mimo"},
    .source = "transformers, models/qwen2/modeling_qwen2.py",
    .defaults = &qwen2_defaults,
    .sliding = mx_sliding_after_full,
    .layer = mx_prenorm_layer,
};
