/* build.c - what all families have around their layers: embedding, rotary embeddings, last norm and logits. */
#include "model/build.h"

#include <math.h>

#include "model/families/families.h"
#include "model/rope_scaling.h"

/* The embedding's factor is rounded to bf16 as mlx-lm always does, and transformers for bf16 checkpoints: Gemma was
 * trained with the rounded one. */
static float embed_scale(const mx_model_config *c)
{
    return c->scales_embedding ? mx_bf16_to_f32(mx_bf16_from_f32((float)sqrt((double)c->d_model))) : 1.0f;
}

/* Places in mx_program.ropes are those of mx_model_config.ropes. */
static void add_ropes(mx_builder *b, const mx_model_config *c, int32_t n_ctx)
{
    float inv_freq[MX_MAX_HEAD_DIM / 2];
    const int32_t n_ropes = c->has_local_rope ? MX_LAYER_ROPE_COUNT : 1;
    for (int32_t i = 0; i < n_ropes; i++) {
        mx_rope_spec spec = {.rot_dim = mx_rope_rot_dim(&c->ropes[i], c->head_dim), .inv_freq = inv_freq};
        mx_rope_table(&c->ropes[i], c->head_dim, n_ctx, c->n_ctx, inv_freq, &spec.factor);
        (void)mx_builder_add_rope(b, &spec);
    }
}

mx_value mx_layer_attention(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_qkv t)
{
    const bool is_sliding = c->layers[i_layer].is_sliding;
    const bool is_local = is_sliding && c->has_local_rope;
    const mx_attention_settings settings = {.scale = (float)(1 / sqrt(c->query_scale)),

                                            .window = is_sliding ? c->window : 0};
    return mx_attention(b, mx_rope(b, t, is_local ? MX_LAYER_ROPE_LOCAL : MX_LAYER_ROPE_GLOBAL), &settings);
}

static mx_value build_all(mx_builder *b, const mx_model_config *c, const mx_family *family, int32_t n_ctx,
                          bool has_lm_head)
{
    add_ropes(b, c, n_ctx);
    mx_set_stream(b, mx_embed(b, "embed_tokens", embed_scale(c)));
    for (int32_t i = 0; i < c->n_layers; i++) {
        mx_builder_set_layer(b, i);
        family->layer(b, c, i);
    }
    mx_builder_set_layer(b, -1);
    const mx_value x = mx_rmsnorm(b, mx_gather_samples(b, mx_stream(b)), "norm");
    const mx_value y = mx_logits(b, x, c->is_tied || !has_lm_head ? "embed_tokens" : "lm_head");
    return c->logit_softcap > 0 ? mx_softcap(b, y, (float)c->logit_softcap) : y;
}

mx_status mx_model_build(const mx_model_config *c, const mx_family *family, int32_t n_ctx, bool has_lm_head,
                         mx_weight_source source, mx_program *out, mx_error *err)
{
    const mx_builder_shape shape = {
        .n_layers = c->n_layers,
        .n_ctx = n_ctx,
        .n_heads = c->n_heads,
        .n_kv_heads = c->n_kv_heads,
        .head_dim = c->head_dim,
        .d_model = c->d_model,
        .n_vocab = c->n_vocab,
        .norm_eps = (float)c->norm_eps,
        .norm_weight_offset = (float)c->norm_weight_offset,
        .act = c->act,
    };
    mx_builder *b = NULL;
    MX_TRY(mx_builder_new(&shape, source, &b, err));
    const mx_value logits = build_all(b, c, family, n_ctx, has_lm_head);
    const mx_status st = mx_builder_finish(b, logits, out, err);
    mx_builder_free(b);
    return st;
}
