/* apertus.c - Apertus: norms on heads, and an MLP without a gate whose activation, xIELU, is trained. */
#include "model/families/families.h"

static const mx_model_config apertus_defaults = {
    .model_type = "apertus",
    .n_layers = 32,
    .n_heads = 32,
    .n_ctx = 65536,
    .d_model = 4096,
    .d_ff = 14336,
    .n_vocab = 131072,
    .norm_eps = 1e-5,
    .qk_norm = MX_QK_NORM_HEADS,
    .ropes = {MX_ROPE_PLAIN(12e6)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static const mx_rename apertus_renames[] = {
    {"input_layernorm", "attention_layernorm"},
    {"post_attention_layernorm", "feedforward_layernorm"},
    {NULL, NULL},
};

/* The rotary embedding of a file that says nothing of one. */
static mx_status apertus_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    mx_rope_config *rope = &c->ropes[MX_LAYER_ROPE_GLOBAL];
    (void)arena;
    (void)err;
    if (!yyjson_is_obj(yyjson_obj_get(obj, "rope_parameters")) && !yyjson_is_obj(yyjson_obj_get(obj, "rope_scaling"))) {
        rope->kind = MX_ROPE_LLAMA3;
        rope->factor = 8;
        rope->original_n_ctx = 8192;
        rope->low_freq_factor = 1;
        rope->high_freq_factor = 4;
    }
    return MX_OK;
}

static void apertus_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_value x = mx_stream(b);
    const mx_value y = mx_add(b, x, mx_self_attention(b, c, i_layer, mx_norm(b, x, "input_layernorm")));
    const mx_value z = mx_norm(b, y, "post_attention_layernorm");
    mx_set_stream(b, mx_add(b, y, mx_xielu_mlp(b, z, "mlp", c->layers[i_layer].d_ff)));
}

const mx_family mx_family_apertus = {
    .model_types = {"apertus"},
    .title = "Apertus",
    .source = "transformers, models/apertus/modeling_apertus.py",
    .defaults = &apertus_defaults,
    .renames = apertus_renames,
    .own_activation = "xielu",
    .read = apertus_read,
    .layer = apertus_layer,
};
