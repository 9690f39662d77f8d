/* quantizer.c - the quantisers, group by group. The order of the float operations is part of the format. */
#include "weights/quantizer.h"

#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "weights/minifloat.h"

enum { MAX_GROUP = 128 };

void mx_quant_pack(uint8_t *packed, int64_t i, int32_t bits, uint32_t value)
{
    for (int32_t done = 0; done < bits;) {
        const int64_t at = i * bits + done;
        const int32_t n = MX_MIN(bits - done, 8 - (int32_t)(at % 8));
        packed[at / 8] |= (uint8_t)((value >> done & ((1u << n) - 1u)) << (at % 8));
        done += n;
    }
}

void mx_dtype_store(uint8_t *out, mx_dtype dtype, float value)
{
    if (dtype == MX_DTYPE_F32) {
        const uint32_t bits = mx_f32_bits(value);
        for (int i = 0; i < 4; i++) {
            out[i] = (uint8_t)(bits >> 8 * i);
        }
    } else {
        const uint16_t bits = dtype == MX_DTYPE_F16 ? mx_f16_from_f32(value) : mx_bf16_from_f32(value);
        out[0] = (uint8_t)bits;
        out[1] = (uint8_t)(bits >> 8);
    }
}

/* Codes of one group, and scale and bias before they are rounded to their type. The edge of larger magnitude and zero
 * are exact. */
static void quantize_affine(const float *w, int32_t n, int32_t bits, uint8_t *q, float *scale, float *bias)
{
    const float n_steps = (float)((1 << bits) - 1);
    float w_max = w[0];
    float w_min = w[0];
    for (int32_t i = 1; i < n; i++) {
        w_max = w[i] > w_max ? w[i] : w_max;
        w_min = w[i] < w_min ? w[i] : w_min;
    }
    const bool is_low_side = fabsf(w_min) > fabsf(w_max);
    const float step = fmaxf((w_max - w_min) / n_steps, 1e-7f);
    const float edge = is_low_side ? w_min : w_max;
    *scale = is_low_side ? step : -step;
    *bias = 0.0f;
    const float q0 = rintf(edge / *scale);
    if (q0 != 0.0f) {
        *scale = edge / q0;
        *bias = edge;
    }
    for (int32_t i = 0; i < n; i++) {
        q[i] = (uint8_t)fminf(fmaxf(rintf((w[i] - *bias) / *scale), 0.0f), n_steps);
    }
}

/* The code whose value is nearest; of two that are as near, the even one, or with
 * ties_down the smaller. Values grow with the codes up to n_codes. */
static uint8_t nearest_magnitude(float value, float (*decode)(uint8_t), int32_t n_codes, bool ties_down)
{
    int32_t low = 0; /* the largest code whose value is not above */
    for (int32_t step = 128; step > 0; step /= 2) {
        if (low + step < n_codes && decode((uint8_t)(low + step)) <= value) {
            low += step;
        }
    }
    if (low + 1 < n_codes) {
        const float above = decode((uint8_t)(low + 1)) - value;
        const float below = value - decode((uint8_t)low);
        low += above < below || (above == below && low % 2 != 0 && !ties_down);
    }
    return (uint8_t)low;
}

static uint8_t e4m3_code(float value)
{
    const uint8_t code = nearest_magnitude(fabsf(value), mx_e4m3_to_f32, 0x7F, false);
    return (uint8_t)(code | (signbit(value) ? 0x80 : 0));
}

/* MLX compares with a table of all values, so zero has no sign and ties go to the smaller magnitude. */
static uint8_t e2m1_code(float value)
{
    const uint8_t code = nearest_magnitude(fabsf(value), mx_e2m1_to_f32, 8, true);
    return (uint8_t)(code | (value < 0.0f && code != 0 ? 8 : 0));
}

static void quantize_float(const float *w, mx_quant quant, uint8_t *q, uint8_t *scale)
{
    const bool is_wide = quant.mode == MX_QUANT_MXFP8;
    float amax = 0.0f;
    for (int32_t i = 0; i < quant.group_size; i++) {
        amax = fmaxf(amax, fabsf(w[i]));
    }
    const float wanted = amax / (is_wide ? 448.0f : 6.0f);
    float factor;
    if (quant.mode == MX_QUANT_NVFP4) {
        *scale = e4m3_code(wanted);
        factor = mx_e4m3_to_f32(*scale);
    } else {
        const float exponent = wanted > 0.0f ? ceilf(log2f(wanted)) : 0.0f;
        *scale = (uint8_t)(fminf(fmaxf(exponent, -127.0f), 127.0f) + 127.0f);
        factor = mx_e8m0_to_f32(*scale);
    }
    for (int32_t i = 0; i < quant.group_size; i++) {
        const float value = factor > 0.0f ? w[i] / factor : 0.0f;
        q[i] = is_wide ? e4m3_code(value) : e2m1_code(value);
    }
}

void mx_quantize(const float *w, int64_t n, mx_quant quant, mx_dtype dtype, uint8_t *packed, uint8_t *scales,
                 uint8_t *biases)
{
    uint8_t q[MAX_GROUP];
    const size_t n_item = mx_dtype_size(dtype);
    memset(packed, 0, (size_t)(n * quant.bits / 8));
    for (int64_t at = 0, i_group = 0; at < n; at += quant.group_size, i_group++) {
        if (quant.mode == MX_QUANT_AFFINE) {
            float scale;
            float bias;
            quantize_affine(w + at, quant.group_size, quant.bits, q, &scale, &bias);
            mx_dtype_store(scales + (size_t)i_group * n_item, dtype, scale);
            mx_dtype_store(biases + (size_t)i_group * n_item, dtype, bias);
        } else {
            quantize_float(w + at, quant, q, &scales[i_group]);
        }
        for (int32_t i = 0; i < quant.group_size; i++) {
            mx_quant_pack(packed, at + i, quant.bits, q[i]);
        }
    }
}
