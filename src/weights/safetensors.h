/* safetensors.h - the header of one safetensors file: names, dtypes, shapes and places of its tensors.
 *
 *     [ u64 n | n bytes of JSON, padded with spaces | tensor data, without gaps ]
 *
 * The rules are those of the official library: at most 100 MB of header; a JSON object without duplicate keys;
 * "__metadata__", if there, a map from strings to strings; each tensor's size follows from dtype and shape; together
 * the tensors fill the rest of the file, none overlapping, no byte left over. The start of a tensor need not be aligned
 * (MLX writes files where it is not), so readers do not assume it.
 * Source: https://github.com/huggingface/safetensors, README and safetensors/src/tensor.rs.
 */
#ifndef MX_WEIGHTS_SAFETENSORS_H
#define MX_WEIGHTS_SAFETENSORS_H

#include "base/arena.h"
#include "base/error.h"
#include "weights/dtype.h"

#define MX_TENSOR_MAX_DIMS 8

typedef struct mx_tensor {
    mx_str name;      /* borrowed, as is the next */
    const char *path; /* of the file, for messages */
    mx_dtype dtype;
    int32_t n_dims;
    int64_t shape[MX_TENSOR_MAX_DIMS]; /* outermost first */
    const uint8_t *data;               /* borrowed from the mapping; any alignment */
    size_t n_bytes;
} mx_tensor;

typedef struct mx_tensors {
    mx_tensor *items; /* in the order of the file */
    size_t n;
} mx_tensors;

/* Reads the header of a whole file in memory.
 *
 * arena   takes the names and the table
 * data    [n_bytes] the file; tensors point into it
 * path    names the file in errors and tensors; must live as long as the result
 *
 * MX_FORMAT       a rule is broken: the sentence names file, tensor, and what is wrong
 * MX_UNSUPPORTED  a dtype that we do not know, or more than MX_TENSOR_MAX_DIMS dimensions
 * MX_NO_MEMORY
 */
mx_status mx_safetensors_parse(mx_arena *arena, const uint8_t *data, size_t n_bytes, const char *path, mx_tensors *out,
                               mx_error *err) MX_NODISCARD;

#endif
