/* nemotron.c - Nemotron and Minitron: Llama's layer with layer norms whose weights are stored as w - 1, and a plain MLP
 * of squared ReLUs. */
#include "model/families/families.h"

static const mx_model_config nemotron_defaults = {
    .model_type = "nemotron",
    .n_layers = 32,
    .n_heads = 48,
    .n_ctx = 4096,
    .d_model = 6144,
    .d_ff = 24576,
    .n_vocab = 256000,
    .norm_eps = 1e-5,
    .norm = MX_NORM_LAYER_BIAS,
    .norm_weight_offset = 1,
    .act = MX_ACT_RELU2,
    .has_plain_mlp = true,
    .ropes = {MX_ROPE_PARTIAL(1e4, 0.5)},
    .eos_ids = {3},
    .n_eos_ids = 1,
};

const mx_family mx_family_nemotron = {
    .model_types = {"nemotron"},
    .title = "Nemotron, Minitron",
    .source = "transformers, models/nemotron/modeling_nemotron.py",
    .defaults = &nemotron_defaults,
    .layer = mx_prenorm_layer,
};
