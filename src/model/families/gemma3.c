/* gemma3.c - Gemma 3, the text model: alone ("gemma3_text") or inside of the vision model ("gemma3").
 *
 * Norms before and after each block with weights stored as w - 1, an embedding scaled by sqrt(d_model), and five layers
 * with a sliding window and a rotary embedding of their own to each that sees everything. "attn_logit_softcapping" is a
 * leftover of Gemma 2 in the configuration: the reference does not apply it, and published files have null.
 */
#include "model/families/families.h"

static const mx_model_config gemma3_defaults = {
    .model_type = "gemma3_text",
    .n_layers = 26,
    .n_heads = 8,
    .n_kv_heads = 4,
    .head_dim = 256,
    .n_ctx = 131072,
    .d_model = 2304,
    .d_ff = 9216,
    .n_vocab = 262208,
    .norm_eps = 1e-6,
    .norm_weight_offset = 1,
    .act = MX_ACT_GELU_TANH,
    .is_tied = true,
    .scales_embedding = true,
    .window = 4096,
    .query_scale = 256,
    .ropes = {MX_ROPE_PLAIN(1e6), MX_ROPE_PLAIN(1e4)},
    .has_local_rope = true,
    .eos_ids = {1},
    .n_eos_ids = 1,
};

static mx_status gemma3_sliding(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    bool is_bidirectional = false;
    MX_TRY(mx_json_get_bool(obj, "use_bidirectional_attention", &is_bidirectional, err));
    if (is_bidirectional) {
        return mx_fail(err, MX_UNSUPPORTED, "\"use_bidirectional_attention\": embedding models are not supported");
    }
    return mx_sliding_pattern(obj, c, layers, err);
}

static void gemma3_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_value x = mx_stream(b);
    mx_qkv t = mx_linear_qkv(b, mx_rmsnorm(b, x, "input_layernorm"), "self_attn", c->has_qkv_bias);
    t.q = mx_rmsnorm_heads(b, t.q, "self_attn.q_norm");
    t.k = mx_rmsnorm_heads(b, t.k, "self_attn.k_norm");
    const mx_value a = mx_layer_attention(b, c, i_layer, t);
    const mx_value o = mx_linear(b, a, "self_attn.o_proj", c->d_model, c->has_o_bias);
    const mx_value y = mx_add(b, x, mx_rmsnorm(b, o, "post_attention_layernorm"));
    const mx_value z = mx_rmsnorm(b, y, "pre_feedforward_layernorm");
    const mx_value m = mx_glu_mlp(b, z, "mlp", c->d_ff, c->has_mlp_bias);
    mx_set_stream(b, mx_add(b, y, mx_rmsnorm(b, m, "post_feedforward_layernorm")));
}

const mx_family mx_family_gemma3 = {
    .model_types = {"gemma3_text", "gemma3"},
    .source = "transformers, models/gemma3/modeling_gemma3.py",
    .defaults = &gemma3_defaults,
    .sliding = gemma3_sliding,
    .layer = gemma3_layer,
};
