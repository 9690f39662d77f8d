/* families.h - one object a family, and what several of them are made of. */
#ifndef MX_MODEL_FAMILIES_FAMILIES_H
#define MX_MODEL_FAMILIES_FAMILIES_H

#include "model/family.h"

#define MX_FAMILY(name) extern const mx_family mx_family_##name;
#include "model/families/families.def"
#undef MX_FAMILY

/* Rotates and attends as layer i_layer is configured: its rotary embedding, window, scale, cap and cache. Where it
 * attends to the keys of an earlier layer, t.k and t.v are not used. */
mx_value mx_layer_attention(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_qkv t);

/* The whole of "self_attn": projections of h, norms on queries and keys (c->qk_norm), mx_layer_attention, o_proj. */
mx_value mx_self_attention(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_value h);

/* The MLP at "mlp": with a gate or without. */
mx_value mx_layer_mlp(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_value h);

/* x plus y times the configuration's residual_scale. */
mx_value mx_add_residual(mx_builder *b, const mx_model_config *c, mx_value x, mx_value y);

/* Whole layers of attention A and MLP M, by where their norms N stand:
 *   prenorm    y = x + A(N(x)), y + M(N(y))          Llama and most others
 *   postnorm   y = x + N(A(x)), y + N(M(y))          OLMo 2
 *   sandwich   y = x + N(A(N(x))), y + N(M(N(y)))    Gemma 2
 *   parallel   x + A(N(x)) + M(N(x))                 Command R, Phi-2 */
void mx_prenorm_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer);
void mx_postnorm_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer);
void mx_sandwich_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer);
void mx_parallel_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer);

#endif
