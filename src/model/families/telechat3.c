/* telechat3.c - TeleChat 3: Llama's layer. */
#include "model/families/families.h"

static const mx_model_config telechat3_defaults = {
    .model_type = "telechat3",
    .n_layers = 64,
    .n_heads = 48,
    .n_ctx = 32768,
    .d_model = 6144,
    .d_ff = 24576,
    .n_vocab = 131072,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .ropes = {MX_ROPE_PLAIN(1e6)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

const mx_family mx_family_telechat3 = {
    .model_types = {"telechat3"},
    .title = "TeleChat 3",
    .source = "mlx-lm, models/telechat3.py",
    .defaults = &telechat3_defaults,
    .layer = mx_prenorm_layer,
};
