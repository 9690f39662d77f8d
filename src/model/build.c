/* build.c - what all families have around their layers: embedding, rotary embeddings, last norm and logits. */
#include "model/build.h"

#include <math.h>

#include "model/families/families.h"
#include "model/rope_scaling.h"

/* The embedding's factor is rounded to bf16 as mlx-lm always does, and transformers for bf16 checkpoints: Gemma was
 * trained with the rounded one. */
static float embed_scale(const mx_model_config *c)
{
    const double scale = c->embedding_scale != 0 ? c->embedding_scale : 1;
    return c->scales_embedding ? mx_bf16_to_f32(mx_bf16_from_f32((float)sqrt((double)c->d_model))) : (float)scale;
}

/* Places in mx_program.ropes are those of mx_model_config.ropes. */
static void add_ropes(mx_builder *b, const mx_model_config *c, int32_t n_ctx)
{
    float inv_freq[MX_MAX_HEAD_DIM / 2];
    const int32_t n_ropes = c->has_local_rope ? MX_LAYER_ROPE_COUNT : 1;
    for (int32_t i = 0; i < n_ropes; i++) {
        mx_rope_spec spec = {
            .rot_dim = mx_rope_rot_dim(&c->ropes[i]), .is_interleaved = c->is_rope_interleaved, .inv_freq = inv_freq};
        mx_rope_table(&c->ropes[i], n_ctx, c->n_ctx, inv_freq, &spec.factor);
        (void)mx_builder_add_rope(b, &spec);
    }
}

static mx_value build_logits(mx_builder *b, const mx_model_config *c, const mx_family *family, mx_value x,
                             bool has_lm_head)
{
    const bool is_tied = c->is_tied || !has_lm_head;
    mx_value y = mx_logits(b, x, is_tied ? "embed_tokens" : "lm_head", c->has_head_bias && !is_tied);
    y = c->logit_scale != 0 ? mx_scale(b, y, (float)c->logit_scale) : y;
    y = family->logits ? family->logits(b, c, y, is_tied) : y;
    return c->logit_softcap != 0 ? mx_softcap(b, y, (float)c->logit_softcap) : y;
}

static mx_value build_all(mx_builder *b, const mx_model_config *c, const mx_family *family, int32_t n_ctx,
                          bool has_lm_head)
{
    add_ropes(b, c, n_ctx);
    mx_set_stream(b, mx_embed(b, "embed_tokens", embed_scale(c)));
    if (c->has_position_table) {
        mx_set_stream(b, mx_add_positions(b, mx_stream(b), "embed_positions", c->n_ctx));
    }
    if (family->begin) {
        family->begin(b, c);
    }
    for (int32_t i = 0; i < c->n_layers; i++) {
        mx_builder_set_layer(b, i);
        mx_builder_set_heads(b, c->layers[i].n_heads, c->layers[i].n_kv_heads, c->layers[i].head_dim);
        family->layer(b, c, i);
    }
    mx_builder_set_layer(b, -1);
    if (family->end) {
        family->end(b, c);
    }
    return build_logits(b, c, family, mx_norm(b, mx_gather_samples(b, mx_stream(b)), "norm"), has_lm_head);
}

mx_status mx_model_build(const mx_model_config *c, const mx_family *family, int32_t n_ctx, bool has_lm_head,
                         mx_weight_source source, mx_program *out, mx_error *err)
{
    const mx_builder_shape shape = {
        .n_layers = c->n_layers,
        .n_ctx = n_ctx,
        .d_model = c->d_model,
        .n_vocab = c->n_vocab,
        .norm_eps = (float)c->norm_eps,
        .norm_weight_offset = (float)c->norm_weight_offset,
        .norm = c->norm,
        .act = c->act,
    };
    mx_builder *b = NULL;
    MX_TRY(mx_builder_new(&shape, source, &b, err));
    const mx_value logits = build_all(b, c, family, n_ctx, has_lm_head);
    const mx_status st = mx_builder_finish(b, logits, out, err);
    mx_builder_free(b);
    return st;
}
