/* tensor_map.h - finds a family's weights under the names that a checkpoint gives them, and knows what was not asked
 * for.
 *
 * Canonical paths ("layers.3.mlp.up_proj") begin as the checkpoint's do ("model.", "language_model.model.", ...); a
 * family's renames are tried where a path is not there. Experts that are tensors of their own become one weight with a
 * table (mx_weight.experts); a part of a fused matrix, or the transpose of a stored one, is seen in place.
 */
#ifndef MX_MODEL_TENSOR_MAP_H
#define MX_MODEL_TENSOR_MAP_H

#include "base/arena.h"
#include "base/strmap.h"
#include "model/adapter.h"
#include "model/family.h"
#include "weights/checkpoint.h"
#include "weights/quant.h"

typedef struct mx_tensor_map {
    const mx_checkpoint *checkpoint; /* borrowed, as are the next three */
    const mx_quant_config *quant;
    const mx_family *family;
    const mx_model_config *config;
    const mx_stem *stem; /* static */
    mx_adapter *adapter; /* NULL, or what changes the products with the weights; borrowed */
    mx_arena arena;      /* owned: names, tables of experts and parts of biases, to which weights point */
    mx_strmap used;      /* owned: full paths that were resolved */
    void *copies;        /* owned: of tensor_part.c */
} mx_tensor_map;

/* Finds out how the checkpoint's names begin. MX_NOT_FOUND when there is no embedding under any stem; MX_NO_MEMORY.
 * *map is to be deinitialised also after a failure. */
mx_status mx_tensor_map_init(mx_tensor_map *map, const mx_checkpoint *checkpoint, const mx_quant_config *quant,
                             const mx_family *family, const mx_model_config *config, mx_error *err) MX_NODISCARD;

/* A zeroed map is fine. Weights that were resolved by it are gone with it. */
void mx_tensor_map_deinit(mx_tensor_map *map);

/* For the builder; the map must outlive it and the program. */
mx_weight_source mx_tensor_map_source(mx_tensor_map *map);

/* Whether the checkpoint has an lm_head. */
bool mx_tensor_map_has_lm_head(mx_tensor_map *map);

/* MX_FORMAT naming the first tensor that was never asked for, and how many there are; tensors that are known to carry
 * nothing for a text model (rotary tables, vision towers, the lm_head of a tied model) are passed over. */
mx_status mx_tensor_map_check_unused(const mx_tensor_map *map, mx_error *err) MX_NODISCARD;

#endif
