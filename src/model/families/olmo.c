/* olmo.c - OLMo 1, as transformers has it: Llama's layer with norms without weights, and queries, keys and values
 * clipped. Checkpoints of the first release, under names of their own ("model.transformer.blocks"), are not of this
 * form. */
#include "model/families/families.h"

static const mx_model_config olmo_defaults = {
    .model_type = "olmo",
    .n_layers = 32,
    .n_heads = 32,
    .n_ctx = 2048,
    .d_model = 4096,
    .d_ff = 11008,
    .n_vocab = 50304,
    .norm_eps = 1e-5,
    .norm = MX_NORM_LAYER_BARE,
    .act = MX_ACT_SILU,
    .ropes = {MX_ROPE_PLAIN(1e4)},
    .eos_ids = {50279},
    .n_eos_ids = 1,
};

static const mx_field olmo_fields[] = {
    MX_FIELD(mx_model_config, F64_OR_NULL, qkv_clip, "clip_qkv", 0, 1000000),
    MX_FIELD_END,
};

const mx_family mx_family_olmo = {
    .model_types = {"olmo"},
    .title = "OLMo 1",
    .limits = "checkpoints named -hf",
    .source = "transformers, models/olmo/modeling_olmo.py",
    .defaults = &olmo_defaults,
    .fields = olmo_fields,
    .layer = mx_prenorm_layer,
};
