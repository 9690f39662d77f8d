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

void mx_llama_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_value x = mx_stream(b);
    const mx_value h = mx_rmsnorm(b, x, "input_layernorm");
    const mx_qkv t = mx_linear_qkv(b, h, "self_attn", c->has_qkv_bias);
    const mx_value a = mx_layer_attention(b, c, i_layer, t);
    const mx_value y = mx_add_residual(b, c, x, mx_linear(b, a, "self_attn.o_proj", c->d_model, c->has_o_bias));
    const mx_value z = mx_rmsnorm(b, y, "post_attention_layernorm");
    mx_set_stream(b, mx_add_residual(b, c, y, mx_glu_mlp(b, z, "mlp", c->layers[i_layer].d_ff, c->has_mlp_bias)));
}

const mx_family mx_family_llama = {
    .model_types = {"llama"},
    .source = "transformers, models/llama/modeling_llama.py",
    .defaults = &llama_defaults,
    .layer = mx_llama_layer,
};
