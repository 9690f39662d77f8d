/* families.h - one object a family, and what several of them are made of. */
#ifndef MX_MODEL_FAMILIES_FAMILIES_H
#define MX_MODEL_FAMILIES_FAMILIES_H

#include "model/family.h"

#define MX_FAMILY(name) extern const mx_family mx_family_##name;
#include "model/families/families.def"
#undef MX_FAMILY

/* Llama's layer, which Mistral and Qwen2 share: what differs is in the configuration. */
void mx_llama_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer);

/* Rotates and attends as layer i_layer is configured: its rotary embedding, window, scale, cap and cache. Where it
 * attends to the keys of an earlier layer, t.k and t.v are not used. */
mx_value mx_layer_attention(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_qkv t);

/* x plus y times the configuration's residual_scale. */
mx_value mx_add_residual(mx_builder *b, const mx_model_config *c, mx_value x, mx_value y);

#endif
