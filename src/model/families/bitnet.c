/* bitnet.c - BitNet b1.58: Llama's layer with weights of -1, 0 and 1, squared ReLUs as gates, and a norm before each
 * output projection. The original rounds activations to 8 bits before each product; here they keep the precision of the
 * mode.
 */
#include "model/families/families.h"

static const mx_model_config bitnet_defaults = {
    .model_type = "bitnet",
    .n_layers = 30,
    .n_heads = 20,
    .n_kv_heads = 5,
    .n_ctx = 2048,
    .d_model = 2560,
    .d_ff = 6912,
    .n_vocab = 128256,
    .norm_eps = 1e-5,
    .act = MX_ACT_RELU2,
    .ropes = {MX_ROPE_PLAIN(5e5)},
    .eos_ids = {128001},
    .n_eos_ids = 1,
};

static void bitnet_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_value x = mx_stream(b);
    const mx_qkv t = mx_linear_qkv(b, mx_rmsnorm(b, x, "input_layernorm"), "self_attn", c->has_qkv_bias);
    const mx_value a = mx_rmsnorm(b, mx_layer_attention(b, c, i_layer, t), "self_attn.attn_sub_norm");
    const mx_value y = mx_add(b, x, mx_linear(b, a, "self_attn.o_proj", c->d_model, c->has_o_bias));
    const mx_value z = mx_rmsnorm(b, y, "post_attention_layernorm");
    const mx_value h = mx_glu(b, z, "mlp", c->layers[i_layer].d_ff, c->has_mlp_bias);
    const mx_value m = mx_rmsnorm(b, h, "mlp.ffn_sub_norm");
    mx_set_stream(b, mx_add(b, y, mx_linear(b, m, "mlp.down_proj", c->d_model, c->has_mlp_bias)));
}

const mx_family mx_family_bitnet = {
    .model_types = {"bitnet"},
    .title = "BitNet b1.58",
    .limits = "activations are not rounded to 8 bits as in training",
    .source = "transformers, models/bitnet/modeling_bitnet.py",
    .defaults = &bitnet_defaults,
    .layer = bitnet_layer,
};
