/* adapter.h - LoRA and DoRA adapters as mlx-lm writes them: a folder with adapter_config.json and adapters.safetensors.
 *
 * For a module at `path` the file has `<path>.lora_a` [n_in, rank] and `<path>.lora_b` [rank, n_out], and for DoRA
 * `<path>.m` [n_out]. Names are those of the model's own tensors. Source: mlx-lm, mlx_lm/tuner/lora.py and dora.py.
 */
#ifndef MX_MODEL_ADAPTER_H
#define MX_MODEL_ADAPTER_H

#include "program/builder.h"

typedef struct mx_adapter mx_adapter;

/* Reads the configuration and maps the weights.
 *
 * MX_NOT_FOUND   no such folder, or a file is missing
 * MX_INVALID     the name is empty
 * MX_FORMAT      a file that is not what it claims, no "scale", or no tensor
 * MX_UNSUPPORTED "fine_tune_type" other than lora and dora; an adapter of peft
 * MX_IO, MX_NO_MEMORY
 */
mx_status mx_adapter_open(const char *dir, mx_adapter **out, mx_error *err) MX_NODISCARD;

/* NULL is fine. What was found in it is gone with it. */
void mx_adapter_close(mx_adapter *adapter);

/* What the adapter has for the module at `path`; out->factors is here the magnitudes `m` as stored. *found is false
 * where it has nothing. MX_FORMAT naming a tensor that does not fit or is missing. */
mx_status mx_adapter_find(mx_adapter *adapter, mx_str path, mx_adaptation *out, bool *found,
                          mx_error *err) MX_NODISCARD;

/* MX_UNSUPPORTED naming the first tensor that was never asked for: adapters of embeddings and of experts. */
mx_status mx_adapter_check_unused(const mx_adapter *adapter, mx_error *err) MX_NODISCARD;

/* From magnitudes to factors: factors[n] = m[n] / |W[n,:] + scale * (B A)[n,:]|, for the weight W that is adapted, and
 * scaled_b[n,r] = factors[n] * B[n,r]. Reads all of W.
 * factors [W.n_rows], scaled_b [W.n_rows, rank]; row [2, W.n_cols] is work space. */
void mx_adapter_compute_factors(const mx_weight *w, const mx_adaptation *adaptation, float *factors, float *scaled_b,
                                float *row);

/* Row n of the weight that the adapter would become part of: W[n,:] + scale * (B A)[n,:], of a DoRA adapter (whose
 * factors are magnitudes, as found) brought to the length m[n]. row [2, W.n_cols]: the first of the two is the result,
 * the second is work space. */
void mx_adapter_fuse_row(const mx_weight *w, const mx_adaptation *adaptation, int64_t n, float *row);

#endif
