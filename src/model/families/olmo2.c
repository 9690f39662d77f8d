/* olmo2.c - OLMo 2 and 3: norms behind each block and on whole queries and keys. OLMo 3 slides in three layers of four,
 * and does not scale the rotary embedding of those. */
#include "model/families/families.h"

static const mx_model_config olmo2_defaults = {
    .model_type = "olmo2",
    .n_layers = 32,
    .n_heads = 32,
    .n_ctx = 2048,
    .d_model = 4096,
    .d_ff = 11008,
    .n_vocab = 50304,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .qk_norm = MX_QK_NORM_ROWS,
    .ropes = {MX_ROPE_PLAIN(1e4)},
    .eos_ids = {50279},
    .n_eos_ids = 1,
};

static const mx_model_config olmo3_defaults = {
    .model_type = "olmo3",
    .n_layers = 32,
    .n_heads = 32,
    .n_ctx = 2048,
    .d_model = 4096,
    .d_ff = 11008,
    .n_vocab = 50304,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .qk_norm = MX_QK_NORM_ROWS,
    .window = 4096,
    .sliding_pattern = 4,
    .ropes = {MX_ROPE_PLAIN(5e5), MX_ROPE_PLAIN(0)}, /* 0: the same base */
    .has_local_rope = true,
    .eos_ids = {50279},
    .n_eos_ids = 1,
};

const mx_family mx_family_olmo2 = {
    .model_types = {"olmo2"},
    .title = "OLMo 2",
    .source = "transformers, models/olmo2/modeling_olmo2.py",
    .defaults = &olmo2_defaults,
    .layer = mx_postnorm_layer,
};

const mx_family mx_family_olmo3 = {
    .model_types = {"olmo3"},
    .title = "OLMo 3",
    .source = "transformers, models/olmo3/modeling_olmo3.py",
    .defaults = &olmo3_defaults,
    .sliding = mx_sliding_pattern,
    .layer = mx_postnorm_layer,
};
