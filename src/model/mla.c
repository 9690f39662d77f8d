/* mla.c - from a configuration to the block. */
#include "model/mla.h"

#include <math.h>

#define MLA_NORM_EPS 1e-6f /* of the norms inside, whatever the configuration says of the others */

mx_status mx_mla_read(yyjson_val *obj, mx_model_config *c, mx_error *err)
{
    mx_mla_config *mla = &c->mla;
    if (yyjson_is_null(yyjson_obj_get(obj, "q_lora_rank"))) {
        mla->q_rank = 0;
    }
    if (mla->rope_dim % 2 != 0 || mla->kv_rank + mla->rope_dim > MX_MAX_HEAD_DIM) {
        return mx_fail(err, MX_FORMAT,
                       "\"qk_rope_head_dim\" is %d, which must be even, and with \"kv_lora_rank\", %d, at most %d",
                       mla->rope_dim, mla->kv_rank, MX_MAX_HEAD_DIM);
    }
    c->n_kv_heads = 1;
    c->head_dim = mla->kv_rank + mla->rope_dim;
    c->ropes[MX_LAYER_ROPE_GLOBAL].head_dim = mla->rope_dim;
    return MX_OK;
}

/* Stretched models sharpen their scores. */
static double score_scale(const mx_model_config *c)
{
    const mx_rope_config *rope = &c->ropes[MX_LAYER_ROPE_GLOBAL];
    const double scale = 1 / sqrt((double)(c->mla.nope_dim + c->mla.rope_dim));
    const bool is_sharper = rope->kind != MX_ROPE_DEFAULT && rope->mscale_all_dim != 0 && rope->factor > 1;
    const double m = is_sharper ? 0.1 * rope->mscale_all_dim * log(rope->factor) + 1 : 1;
    return scale * m * m;
}

mx_value mx_mla_self_attention(mx_builder *b, const mx_model_config *c, mx_value h)
{
    const mx_mla_settings settings = {
        .q_rank = c->mla.q_rank,
        .kv_rank = c->mla.kv_rank,
        .nope_dim = c->mla.nope_dim,
        .rope_dim = c->mla.rope_dim,
        .v_dim = c->mla.v_dim,
        .rope = MX_LAYER_ROPE_GLOBAL,
        .scale = (float)score_scale(c),
        .norm_eps = MLA_NORM_EPS,
        .has_bias = c->has_qkv_bias,
    };
    return mx_linear(b, mx_mla(b, h, "self_attn", &settings), "self_attn.o_proj", c->d_model, c->has_o_bias);
}
