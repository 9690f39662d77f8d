/* foreign.h - weights of AutoAWQ, GPTQ, compressed-tensors and BitNet under MLX's names and in MLX's formats. Private
 * to weights/.
 *
 * MLX packs a row's values along the row. The others pack along columns, or in another order, and store zero points z
 * where MLX stores biases: scale * (q - z) = scale * q + (-scale * z). What has the right layout is used as it lies in
 * the file; the rest is made anew in one block of memory. Scales and biases become F32, in which -scale * z is exact.
 *
 * BitNet's bytes hold four rows that are a quarter of the matrix apart, codes 0, 1 and 2 for -1, 0 and 1, with one
 * factor for all: 2 bits, scale * q - scale.
 *
 * Source: AutoAWQ, awq/utils/packing_utils.py; AutoGPTQ and GPTQModel, qlinear; compressed-tensors,
 * compressors/quantized_compressors/pack_quantized.py and nvfp4_quantized.py; mlx-lm, mlx_lm/utils.py; transformers,
 * integrations/bitnet.py.
 */
#ifndef MX_WEIGHTS_FOREIGN_H
#define MX_WEIGHTS_FOREIGN_H

#include <stdbool.h>

#include "base/arena.h"
#include "platform/memory.h"
#include "weights/checkpoint.h"
#include "weights/quant.h"

/* Whether there are BitNet's packed weights, which MLX's conversions of BitNet keep without saying so. */
bool mx_foreign_has_ternary(const mx_checkpoint *checkpoint);

/* The table of a checkpoint's tensors after translation: foreign tensors are replaced by `<path>.weight`, `.scales`,
 * and `.biases` or `.global_scale`; others stay.
 *
 * arena  takes the table and names
 * block  is set to the memory of what was made anew; the caller frees it, also after a failure
 *
 * MX_FORMAT       tensors that do not fit each other, named
 * MX_UNSUPPORTED  a variant that has no equal in MLX (values ordered by activation), named
 * MX_NO_MEMORY
 */
mx_status mx_foreign_translate(const mx_checkpoint *checkpoint, const mx_quant_config *config, mx_arena *arena,
                               mx_block *block, mx_tensors *out, mx_error *err) MX_NODISCARD;

#endif
