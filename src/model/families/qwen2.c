/* qwen2.c - Qwen 2 and 2.5, and MiMo 7B without its layers for drafting: Llama's layer with biases on queries, keys and
 * values. */
#include "model/families/families.h"

/* Of both official configuration classes: MiMo's is derived from the other. */
#define QWEN2_NUMBERS                                                                                \
    .n_layers = 32, .n_heads = 32, .n_kv_heads = 32, .n_ctx = 32768, .d_model = 4096, .d_ff = 22016, \
    .n_vocab = 151936, .norm_eps = 1e-6, .act = MX_ACT_SILU, .has_qkv_bias = true, .window = 4096,   \
    .ropes = {MX_ROPE_PLAIN(1e4), MX_ROPE_PLAIN(1e4)}

static const mx_model_config qwen2_defaults = {.model_type = "qwen2", QWEN2_NUMBERS};
static const mx_model_config mimo_defaults = {.model_type = "mimo", QWEN2_NUMBERS};

const mx_family mx_family_qwen2 = {
    .model_types = {"qwen2"},
    .title = "Qwen 2",
    .source = "transformers, models/qwen2/modeling_qwen2.py",
    .defaults = &qwen2_defaults,
    .sliding = mx_sliding_after_full,
    .layer = mx_prenorm_layer,
};

const mx_family mx_family_mimo = {
    .model_types = {"mimo"},
    .title = "MiMo",
    .limits = "does not draft with its extra layers",
    .source = "mlx-lm, models/mimo.py",
    .defaults = &mimo_defaults,
    .sliding = mx_sliding_after_full,
    .layer = mx_prenorm_layer,
};
