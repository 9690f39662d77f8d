/* safetensors_writer.h - a checkpoint written tensor by tensor, in files of limited size with an index.
 *
 * First all tensors are named with their shapes, then their bytes are produced one after the other in that order; none
 * is held in memory by the writer.
 */
#ifndef MX_WEIGHTS_SAFETENSORS_WRITER_H
#define MX_WEIGHTS_SAFETENSORS_WRITER_H

#include "base/buf.h"
#include "platform/write_file.h"
#include "weights/safetensors.h"

#define MX_ST_SHARD_BYTES ((int64_t)5 << 30) /* what MLX's tools put into one file at most */

typedef struct mx_st_item {
    const char *name;
    mx_dtype dtype;
    int32_t n_dims;
    int64_t shape[MX_TENSOR_MAX_DIMS];
    int64_t n_bytes;
} mx_st_item;

typedef struct mx_st_plan {
    mx_st_item *items; /* owned */
    size_t n;
    size_t cap;
} mx_st_plan;

/* Adds a tensor; `name` is borrowed until the plan is freed. MX_NO_MEMORY, MX_FORMAT (a size that does not fit). */
mx_status mx_st_plan_add(mx_st_plan *plan, const char *name, mx_dtype dtype, const int64_t *shape, int32_t n_dims,
                         mx_error *err) MX_NODISCARD;

/* A zeroed plan is fine. */
void mx_st_plan_deinit(mx_st_plan *plan);

/* Produces the bytes of plan->items[i_item], all of them, by mx_write_file_append on `out`. */
typedef mx_status (*mx_st_produce)(void *arg, size_t i_item, mx_write_file *out, mx_error *err);

/* Writes model.safetensors, or model-0000i-of-0000N.safetensors and model.safetensors.index.json where there is more
 * than max_shard_bytes. MX_IO, MX_NO_MEMORY, and what produce fails with. */
mx_status mx_st_plan_write(const mx_st_plan *plan, const char *dir, int64_t max_shard_bytes, mx_st_produce produce,
                           void *arg, mx_error *err) MX_NODISCARD;

#endif
