/* quantize.h - MLX's quantiser, as its CPU back end rounds, for tests that need weights in a known format.
 *
 * Source: mlx, mlx/ops.cpp affine_quantize and fp_quantize; mlx/backend/cpu/quantized.cpp.
 */
#ifndef MX_TESTS_QUANTIZE_H
#define MX_TESTS_QUANTIZE_H

#include <math.h>
#include <string.h>

#include "weights/minifloat.h"
#include "weights/weight.h"

/* Writes value i of a row of packed values. The row has been zeroed. */
static inline void mx_test_pack(uint8_t *row, int64_t i, int32_t bits, uint32_t value)
{
    for (int32_t b = 0; b < bits; b++) {
        const int64_t at = i * bits + b;
        row[at / 8] |= (uint8_t)((value >> b & 1u) << (at % 8));
    }
}

/* One group of affine values: q [n] codes, and scale and bias before they are rounded to their type. */
static inline void mx_test_quantize_affine(const float *w, int64_t n, int32_t bits, uint8_t *q, float *scale,
                                           float *bias)
{
    const float n_steps = (float)((1 << bits) - 1);
    float w_max = -INFINITY;
    float w_min = INFINITY;
    for (int64_t i = 0; i < n; i++) {
        w_max = fmaxf(w_max, w[i]);
        w_min = fminf(w_min, w[i]);
    }
    const bool is_low_side = fabsf(w_min) > fabsf(w_max);
    const float step = fmaxf((w_max - w_min) / n_steps, 1e-7f);
    const float edge = is_low_side ? w_min : w_max;
    *scale = is_low_side ? step : -step;
    *bias = 0;
    const float q0 = rintf(edge / *scale);
    if (q0 != 0) {
        *scale = edge / q0;
        *bias = edge;
    }
    for (int64_t i = 0; i < n; i++) {
        q[i] = (uint8_t)fminf(fmaxf(rintf((w[i] - *bias) / *scale), 0), n_steps);
    }
}

/* The code among n_codes whose value is nearest; the smallest of equals. */
static inline uint8_t mx_test_nearest(float value, float (*decode)(uint8_t), int32_t n_codes)
{
    uint8_t best = 0;
    for (int32_t code = 0; code < n_codes; code++) {
        if (fabsf(decode((uint8_t)code) - value) < fabsf(decode(best) - value)) {
            best = (uint8_t)code;
        }
    }
    return best;
}

/* One group of a float mode: codes and the scale's byte. */
static inline void mx_test_quantize_float(const float *w, mx_quant quant, uint8_t *q, uint8_t *scale)
{
    const bool is_wide = quant.mode == MX_QUANT_MXFP8;
    float amax = 0;
    for (int32_t i = 0; i < quant.group_size; i++) {
        amax = fmaxf(amax, fabsf(w[i]));
    }
    const float wanted = amax / (is_wide ? 448.0f : 6.0f);
    float factor;
    if (quant.mode == MX_QUANT_NVFP4) {
        *scale = mx_test_nearest(wanted, mx_e4m3_to_f32, 0x7F);
        factor = mx_e4m3_to_f32(*scale);
    } else {
        const float exponent = wanted > 0 ? rintf(log2f(wanted)) : 0;
        *scale = (uint8_t)(fminf(fmaxf(exponent, -127), 127) + 127);
        factor = mx_e8m0_to_f32(*scale);
    }
    for (int32_t i = 0; i < quant.group_size; i++) {
        const float value = factor > 0 ? w[i] / factor : 0;
        q[i] = is_wide ? mx_test_nearest(value, mx_e4m3_to_f32, 0xFF) : mx_test_nearest(value, mx_e2m1_to_f32, 16);
    }
}

#endif
