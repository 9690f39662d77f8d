/* raw_matrix.cuh - values of a matrix in the checkpoint's own bytes; weights/quant.h says what the formats are. */
#ifndef MX_CUDA_RAW_MATRIX_CUH
#define MX_CUDA_RAW_MATRIX_CUH

#include "backend/cuda/kernels/device.cuh"
#include "backend/cuda/kernels/tiles.params.h"

__device__ __forceinline__ float float_at(const uint8_t *p, int32_t dtype)
{
    if (dtype == RAW_F32) {
        return __uint_as_float(p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
    }
    const uint32_t bits = p[0] | (uint32_t)p[1] << 8;
    return dtype == RAW_F16 ? h_to_f32((uint16_t)bits) : __uint_as_float(bits << 16);
}

__device__ __forceinline__ int32_t float_size(int32_t dtype)
{
    return dtype == RAW_F32 ? 4 : 2;
}

/* 2^(bits - 127); 255 is NaN, and 0 is 2^-127. */
__device__ __forceinline__ float e8m0(uint8_t bits)
{
    return bits == 255 ? __uint_as_float(0x7fc00000u) : __uint_as_float(bits ? (uint32_t)bits << 23 : 0x00400000u);
}

__device__ __forceinline__ float e4m3(uint8_t bits)
{
    const uint32_t exponent = bits >> 3 & 15;
    const uint32_t mantissa = bits & 7;
    float v = exponent ? __uint_as_float((exponent + 120) << 23 | mantissa << 20) : (float)mantissa / 512.0f;
    v = (bits & 127) == 127 ? __uint_as_float(0x7fc00000u) : v;
    return bits & 128 ? -v : v;
}

/* Twice the value of an e2m1 code. */
__device__ __forceinline__ int32_t e2m1_twice(uint32_t code)
{
    const uint32_t exponent = code >> 1 & 3;
    const int32_t v = exponent ? (int32_t)((2 + (code & 1)) << (exponent - 1)) : (int32_t)(code & 1);
    return code & 8 ? -v : v;
}

__device__ __forceinline__ uint32_t raw_code(const raw_matrix *m, int32_t row, int32_t col)
{
    const uint8_t *p = m->data + (int64_t)row * m->n_cols * m->bits / 8;
    const int32_t bit = col * m->bits;
    uint32_t word = p[bit / 8];
    if (bit % 8 + m->bits > 8) {
        word |= (uint32_t)p[bit / 8 + 1] << 8;
    }
    return word >> bit % 8 & ((1u << m->bits) - 1);
}

__device__ __forceinline__ float raw_scale(const raw_matrix *m, int32_t row, int32_t col)
{
    const int64_t i = (int64_t)row * (m->n_cols / m->group) + col / m->group;
    if (m->mode == RAW_AFFINE) {
        return float_at(m->scales + i * float_size(m->dtype), m->dtype);
    }
    return m->mode == RAW_NVFP4 ? e4m3(m->scales[i]) * m->global_scale : e8m0(m->scales[i]);
}

__device__ __forceinline__ float raw_bias(const raw_matrix *m, int32_t row, int32_t col)
{
    const int64_t i = (int64_t)row * (m->n_cols / m->group) + col / m->group;
    return float_at(m->biases + i * float_size(m->dtype), m->dtype);
}

/* The weight in f32; the product and the sum of an affine weight are rounded apart, as the reference has it. */
__device__ __forceinline__ float raw_value(const raw_matrix *m, int32_t row, int32_t col)
{
    switch (m->mode) {
    case RAW_DENSE: return float_at(m->data + ((int64_t)row * m->n_cols + col) * float_size(m->dtype), m->dtype);
    case RAW_AFFINE:
        return __fadd_rn(__fmul_rn(raw_scale(m, row, col), (float)raw_code(m, row, col)), raw_bias(m, row, col));
    case RAW_MXFP8: return e4m3((uint8_t)raw_code(m, row, col)) * raw_scale(m, row, col);
    default: return 0.5f * (float)e2m1_twice(raw_code(m, row, col)) * raw_scale(m, row, col);
    }
}

#endif
