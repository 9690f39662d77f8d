/* gemma_parts.h - what Gemma 3n and 4 share. */
#ifndef MX_MODEL_FAMILIES_GEMMA_PARTS_H
#define MX_MODEL_FAMILIES_GEMMA_PARTS_H

#include "model/families/families.h"

/* The last n_shared layers attend to the keys of the last layer before them that sees as far as they do. MX_FORMAT
 * where there is none. */
mx_status mx_share_last_keys(const mx_model_config *c, mx_layer_config *layers, int32_t n_shared,
                             mx_error *err) MX_NODISCARD;

/* "self_attn" with norms on the heads of queries, keys and (without weights) values, whose keys may be another layer's.
 * has_k_as_v: values are the keys before their norm. */
mx_value mx_shared_key_attention(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_value h, bool has_k_as_v);

/* For each layer d_small columns that come of the token and of the stream at its start: [T, n_layers * d_small]. */
mx_value mx_small_embeddings(mx_builder *b, const mx_model_config *c, int64_t d_small, int64_t n_vocab);

/* What layer i_layer makes of x and of its columns of mx_side: [T, d_model]. */
mx_value mx_small_embedding_mlp(mx_builder *b, const mx_model_config *c, int32_t i_layer, int64_t d_small, mx_value x);

#endif
