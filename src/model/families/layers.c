/* layers.c - the pieces and shapes of layers that several families share; what differs is in the configuration. */
#include <math.h>

#include "model/families/families.h"

static mx_qkv norm_heads(mx_builder *b, mx_qkv t)
{
    return (mx_qkv){
        .q = mx_rmsnorm_heads(b, t.q, "self_attn.q_norm"), .k = mx_rmsnorm_heads(b, t.k, "self_attn.k_norm"), .v = t.v};
}

mx_value mx_layer_attention(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_qkv t)
{
    const mx_layer_config *layer = &c->layers[i_layer];
    const double query_scale = c->query_scale != 0 ? c->query_scale : layer->head_dim;
    mx_attention_settings settings = {
        .scale = (float)(c->attention_scale != 0 ? c->attention_scale : 1 / sqrt(query_scale)),
        .softcap = (float)c->attention_softcap,
        .window = layer->is_sliding ? c->window : 0,
        .sinks = c->sinks,
    };
    if (layer->rope != MX_LAYER_ROPE_NONE) {
        const mx_rope_config *rope = &c->ropes[layer->rope];
        settings.sharpening = (mx_sharpening){.beta = (float)rope->query_beta, .n_positions = rope->original_n_ctx};
        t = mx_rope(b, t, (int32_t)layer->rope);
    }
    t = c->qk_norm == MX_QK_NORM_TURNED_HEADS ? norm_heads(b, t) : t;
    return layer->i_kv_layer == i_layer ? mx_attention(b, t, &settings)
                                        : mx_attention_shared(b, t.q, layer->i_kv_layer, &settings);
}

mx_value mx_self_attention(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_value h)
{
    mx_qkv t = mx_linear_qkv(b, h, "self_attn", c->has_qkv_bias);
    if (c->qkv_clip != 0) {
        const float clip = (float)c->qkv_clip;
        t = (mx_qkv){mx_clip(b, t.q, clip), mx_clip(b, t.k, clip), mx_clip(b, t.v, clip)};
    }
    if (c->qk_norm == MX_QK_NORM_HEADS) {
        t = norm_heads(b, t);
    } else if (c->qk_norm == MX_QK_NORM_ROWS) {
        t.q = mx_rmsnorm(b, t.q, "self_attn.q_norm");
        t.k = mx_rmsnorm(b, t.k, "self_attn.k_norm");
    } else if (c->qk_norm == MX_QK_NORM_LAYER_HEADS || c->qk_norm == MX_QK_NORM_LAYER_EACH) {
        t.q = mx_layernorm_heads(b, t.q, "self_attn.q_norm", c->qk_norm == MX_QK_NORM_LAYER_HEADS);
        t.k = mx_layernorm_heads(b, t.k, "self_attn.k_norm", c->qk_norm == MX_QK_NORM_LAYER_HEADS);
    }
    return mx_linear(b, mx_layer_attention(b, c, i_layer, t), "self_attn.o_proj", c->d_model, c->has_o_bias);
}

mx_value mx_layer_mlp(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_value h)
{
    const int64_t d_ff = c->layers[i_layer].d_ff;
    return c->has_plain_mlp ? mx_plain_mlp(b, h, "mlp", d_ff, c->has_mlp_bias)
                            : mx_glu_mlp(b, h, "mlp", d_ff, c->has_mlp_bias);
}

mx_value mx_add_residual(mx_builder *b, const mx_model_config *c, mx_value x, mx_value y)
{
    return mx_add(b, x, c->residual_scale != 0 ? mx_scale(b, y, (float)c->residual_scale) : y);
}

void mx_prenorm_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_value x = mx_stream(b);
    const mx_value a = mx_self_attention(b, c, i_layer, mx_norm(b, x, "input_layernorm"));
    const mx_value y = mx_add_residual(b, c, x, a);
    const mx_value m = mx_layer_mlp(b, c, i_layer, mx_norm(b, y, "post_attention_layernorm"));
    mx_set_stream(b, mx_add_residual(b, c, y, m));
}

void mx_postnorm_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_value x = mx_stream(b);
    const mx_value a = mx_self_attention(b, c, i_layer, x);
    const mx_value y = mx_add(b, x, mx_norm(b, a, "post_attention_layernorm"));
    const mx_value m = mx_layer_mlp(b, c, i_layer, y);
    mx_set_stream(b, mx_add(b, y, mx_norm(b, m, "post_feedforward_layernorm")));
}

void mx_sandwich_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_value x = mx_stream(b);
    const mx_value a = mx_self_attention(b, c, i_layer, mx_norm(b, x, "input_layernorm"));
    const mx_value y = mx_add(b, x, mx_norm(b, a, "post_attention_layernorm"));
    const mx_value m = mx_layer_mlp(b, c, i_layer, mx_norm(b, y, "pre_feedforward_layernorm"));
    mx_set_stream(b, mx_add(b, y, mx_norm(b, m, "post_feedforward_layernorm")));
}

void mx_parallel_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_value x = mx_stream(b);
    const mx_value h = mx_norm(b, x, "input_layernorm");
    const mx_value y = mx_add_residual(b, c, x, mx_self_attention(b, c, i_layer, h));
    mx_set_stream(b, mx_add_residual(b, c, y, mx_layer_mlp(b, c, i_layer, h)));
}
