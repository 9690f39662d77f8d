/* checkpoint.h - the tensors of a model's folder, in one safetensors file or in several.
 *
 * Files are mapped and never copied. A checkpoint does not change once open, so any thread may read it.
 */
#ifndef MX_WEIGHTS_CHECKPOINT_H
#define MX_WEIGHTS_CHECKPOINT_H

#include "base/error.h"
#include "weights/safetensors.h"

typedef struct mx_checkpoint mx_checkpoint;
typedef struct mx_quant_config mx_quant_config; /* quant.h */

/* Opens the folder's weights.
 *
 * With model.safetensors.index.json: the files that it names. An index none of whose files are there beside weights
 * that are whole without it is left over from before they were packed anew, and is not used. Without an index:
 * model.safetensors; or a whole set model-00001-of-0000N.safetensors; or else every model*.safetensors, or every
 * weights*.safetensors. The headers, not the index, say where a tensor lies.
 *
 * MX_NOT_FOUND  no such folder, no weights in it, or a file of the set is missing: named, with what to do
 * MX_FORMAT     a file or the index breaks a rule, or two files hold the same tensor
 * MX_UNSUPPORTED, MX_IO, MX_NO_MEMORY
 */
mx_status mx_checkpoint_open(const char *dir, mx_checkpoint **out, mx_error *err) MX_NODISCARD;

/* Gives the weights of another tool, which the configuration names (AutoAWQ, GPTQ, compressed-tensors), MLX's names and
 * formats: foreign.h tells how. Does nothing for MLX's own. To be called before tensors are looked up.
 *
 * MX_FORMAT, MX_UNSUPPORTED, MX_NO_MEMORY; the checkpoint is then to be closed.
 */
mx_status mx_checkpoint_import(mx_checkpoint *checkpoint, const mx_quant_config *config, mx_error *err) MX_NODISCARD;

/* NULL is fine. Tensors and weights taken from it are gone with it. */
void mx_checkpoint_close(mx_checkpoint *checkpoint);

/* The folder as given. */
const char *mx_checkpoint_dir(const mx_checkpoint *checkpoint);

/* The tensor of this name; NULL when there is none. */
const mx_tensor *mx_checkpoint_find(const mx_checkpoint *checkpoint, mx_str name);

/* All tensors, file by file in the order of the data. */
size_t mx_checkpoint_n_tensors(const mx_checkpoint *checkpoint);
const mx_tensor *mx_checkpoint_at(const mx_checkpoint *checkpoint, size_t i_tensor);

#endif
