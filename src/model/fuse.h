/* fuse.h - a model with an adapter merged into its weights, written to a new folder. */
#ifndef MX_MODEL_FUSE_H
#define MX_MODEL_FUSE_H

#include "base/error.h"

/* Writes to `out_dir`, which is made: the weights files of `model_dir` under their names, in which the weights that the
 * adapter changes are merged, each in the format that it had (quantised ones are quantised anew); and the other files
 * of the folder as they are. *n_fused gets the number of changed weights.
 *
 * The adapter is checked before anything is written, and the folder gets its name when all is in it: until then it is
 * `out_dir`.partial, which a failure removes.
 *
 * MX_INVALID      out_dir is there and is not an empty folder, or its .partial is there
 * MX_UNSUPPORTED  a changed weight has nvfp4's factor of all, or is another tool's; or the adapter has tensors without
 *                 a place in the checkpoint
 * MX_NOT_FOUND, MX_FORMAT, MX_IO, MX_NO_MEMORY
 */
mx_status mx_fuse(const char *model_dir, const char *adapter_dir, const char *out_dir, int32_t *n_fused,
                  mx_error *err) MX_NODISCARD;

#endif
