/* quantizer.h - from floats to MLX's quantised formats, bit for bit as MLX's CPU back end makes them.
 *
 * Source: mlx, mlx/ops.cpp affine_quantize and fp_quantize; mlx/backend/cpu/quantized.cpp. The GPU back ends of MLX
 * round ties and e8m0 scales differently; their files differ in few values.
 */
#ifndef MX_WEIGHTS_QUANTIZER_H
#define MX_WEIGHTS_QUANTIZER_H

#include "weights/weight.h"

/* Quantises n values, whole groups of them.
 *
 * w       [n] f32
 * quant   a valid format (mx_quant_is_valid), not MX_QUANT_NONE
 * dtype   of scales and biases: that of the weights in their file (F32, F16, BF16). Float modes have bytes as scales
 * packed  [n * bits / 8] bytes out
 * scales  [n / group_size] out; biases the same for affine, else not used
 * Cannot fail. Safe from any thread.
 */
void mx_quantize(const float *w, int64_t n, mx_quant quant, mx_dtype dtype, uint8_t *packed, uint8_t *scales,
                 uint8_t *biases);

/* Writes value number i of packed values, whose bytes have been zeroed. */
void mx_quant_pack(uint8_t *packed, int64_t i, int32_t bits, uint32_t value);

/* Stores a float as F32, F16 or BF16. */
void mx_dtype_store(uint8_t *out, mx_dtype dtype, float value);

#endif
