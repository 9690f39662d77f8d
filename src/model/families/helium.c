/* helium.c - Helium 1: Llama's layer, whose neighbours rotate. */
#include "model/families/families.h"

static const mx_model_config helium_defaults = {
    .model_type = "helium",
    .n_layers = 24,
    .n_heads = 20,
    .n_kv_heads = 20,
    .head_dim = 128,
    .n_ctx = 4096,
    .d_model = 2560,
    .d_ff = 7040,
    .n_vocab = 48000,
    .norm_eps = 1e-8,
    .act = MX_ACT_SILU,
    .is_rope_interleaved = true,
    .ropes = {MX_ROPE_PLAIN(1e5)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

/* "attention_bias" has no bias on o_proj. */
static mx_status helium_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    (void)obj;
    (void)arena;
    (void)err;
    c->has_o_bias = false;
    return MX_OK;
}

const mx_family mx_family_helium = {
    .model_types = {"helium"},
    .title = "Helium",
    .source = "transformers, models/helium/modeling_helium.py",
    .defaults = &helium_defaults,
    .read = helium_read,
    .layer = mx_prenorm_layer,
};
