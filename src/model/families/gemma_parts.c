/* gemma_parts.c - what Gemma 3n and 4 share: layers without keys of their own, and small embeddings for single layers.
 */
#include "model/families/gemma_parts.h"

#include <math.h>

mx_status mx_share_last_keys(const mx_model_config *c, mx_layer_config *layers, int32_t n_shared, mx_error *err)
{
    const int32_t n_own = c->n_layers - n_shared;
    for (int32_t i = MX_MAX(n_own, 0); i < c->n_layers; i++) {
        int32_t from = n_own - 1;
        while (from >= 0 && layers[from].is_sliding != layers[i].is_sliding) {
            from--;
        }
        if (from < 0) {
            return mx_fail(err, MX_FORMAT, "\"num_kv_shared_layers\" is %d: no layer before has keys for layer %d",
                           n_shared, i);
        }
        layers[i].i_kv_layer = from;
    }
    return MX_OK;
}

mx_value mx_shared_key_attention(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_value h, bool has_k_as_v)
{
    const mx_layer_config *layer = &c->layers[i_layer];
    const int64_t n_kv = (int64_t)layer->n_kv_heads * layer->head_dim;
    mx_qkv t = {MX_NO_VALUE, MX_NO_VALUE, MX_NO_VALUE};
    t.q = mx_linear(b, h, "self_attn.q_proj", (int64_t)layer->n_heads * layer->head_dim, c->has_qkv_bias);
    t.q = mx_rmsnorm_heads(b, t.q, "self_attn.q_norm");
    if (layer->i_kv_layer == i_layer) {
        const mx_value k = mx_linear(b, h, "self_attn.k_proj", n_kv, c->has_qkv_bias);
        const mx_value v = has_k_as_v ? k : mx_linear(b, h, "self_attn.v_proj", n_kv, c->has_qkv_bias);
        t.k = mx_rmsnorm_heads(b, k, "self_attn.k_norm");
        t.v = mx_rmsnorm_heads(b, v, NULL);
    }
    return mx_linear(b, mx_layer_attention(b, c, i_layer, t), "self_attn.o_proj", c->d_model, c->has_o_bias);
}

mx_value mx_small_embeddings(mx_builder *b, const mx_model_config *c, int64_t d_small, int64_t n_vocab)
{
    const int64_t n_cols = c->n_layers * d_small;
    const float scale = mx_bf16_to_f32(mx_bf16_from_f32((float)sqrt((double)d_small)));
    const mx_value of_token = mx_embed_table(b, "embed_tokens_per_layer", n_vocab, n_cols, scale);
    mx_value of_stream = mx_linear(b, mx_stream(b), "per_layer_model_projection", n_cols, false);
    of_stream = mx_scale(b, of_stream, (float)(1 / sqrt((double)c->d_model)));
    of_stream = mx_rmsnorm_groups(b, of_stream, "per_layer_projection_norm", d_small, (float)c->norm_eps, false);
    return mx_scale(b, mx_add(b, of_stream, of_token), (float)sqrt(0.5));
}

mx_value mx_small_embedding_mlp(mx_builder *b, const mx_model_config *c, int32_t i_layer, int64_t d_small, mx_value x)
{
    const mx_value own =
        mx_slice(b, mx_side(b), mx_columns_from(i_layer * d_small, d_small), d_small, "per_layer_input");
    const mx_value gate = mx_linear(b, x, "per_layer_input_gate", d_small, false);
    const mx_value h = mx_gate(b, gate, own, c->act, "per_layer_gated");
    return mx_norm(b, mx_linear(b, h, "per_layer_projection", c->d_model, false), "post_per_layer_input_norm");
}
