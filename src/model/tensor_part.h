/* tensor_part.h - weights that are parts of fused tensors, or are stored the other way round. For tensor_map.c. */
#ifndef MX_MODEL_TENSOR_PART_H
#define MX_MODEL_TENSOR_PART_H

#include "model/tensor_map.h"

/* Makes *w, which is a whole tensor, the part of it that the weight at the canonical path is. Nothing is copied but
 * parts of biases that are not neighbours, and quantised matrices that have to be turned (MX_PART_LATENT_KEYS), which
 * become dense. MX_FORMAT naming the tensor, MX_NO_MEMORY. */
mx_status mx_tensor_part_take(mx_tensor_map *map, mx_part part, mx_str canonical, mx_weight *w,
                              mx_error *err) MX_NODISCARD;

/* Frees the dense copies. */
void mx_tensor_part_free_copies(mx_tensor_map *map);

#endif
