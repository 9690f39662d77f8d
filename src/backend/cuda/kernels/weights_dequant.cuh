/* weights_dequant.cuh - from the words of a tile to the left side of two products.
 *
 * Each function gives a[0] and a[1], the left sides (device.cuh) of the two products that a block of 32 columns makes.
 * The scale and bias of a row are a pair of f16: {scale, bias}.
 */
#ifndef MX_CUDA_WEIGHTS_DEQUANT_CUH
#define MX_CUDA_WEIGHTS_DEQUANT_CUH

#include "backend/cuda/kernels/device.cuh"
#include "backend/cuda/kernels/tiles.params.h"

/* 0x6400 is 1024 in f16, and its last bits count ones: 0x6400 | code is 1024 + code, for codes up to 1023. */
#define H2_1024 0x64006400u

__device__ __forceinline__ uint32_t weight_pair(uint32_t codes_1024, uint32_t scale, uint32_t bias)
{
    return h2_fma(h2_sub(codes_1024, H2_1024), scale, bias);
}

__device__ __forceinline__ void dequant_q4(uint32_t a[2][4], uint32_t low, uint32_t high, uint2 s)
{
    const uint32_t scale[2] = {bytes_of(s.x, 0, 0x1010), bytes_of(s.y, 0, 0x1010)};
    const uint32_t bias[2] = {bytes_of(s.x, 0, 0x3232), bytes_of(s.y, 0, 0x3232)};
    const uint32_t words[2] = {low, high};
#pragma unroll
    for (int i = 0; i < 4; i++) { /* product i / 2, k-half i % 2 */
#pragma unroll
        for (int r = 0; r < 2; r++) {
            a[i / 2][2 * (i % 2) + r] = weight_pair((words[r] >> 4 * i & 0x000f000fu) | H2_1024, scale[r], bias[r]);
        }
    }
}

__device__ __forceinline__ void dequant_q8(uint32_t a[2][4], uint4 w, uint2 s)
{
    const uint32_t scale[2] = {bytes_of(s.x, 0, 0x1010), bytes_of(s.y, 0, 0x1010)};
    const uint32_t bias[2] = {bytes_of(s.x, 0, 0x3232), bytes_of(s.y, 0, 0x3232)};
    const uint32_t words[2][2] = {{w.x, w.y}, {w.z, w.w}};
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            a[i / 2][2 * (i % 2) + r] =
                weight_pair(bytes_of(words[r][i / 2], 0x64, i % 2 ? 0x4341 : 0x4240), scale[r], bias[r]);
        }
    }
}

/* Codes alone, each times 2^-24: the numbers of an f16 without exponent bits. Codes of 4 bits in k-half 1 come out 16
 * times larger. */
#define CODE_UNIT 5.9604644775390625e-8f

__device__ __forceinline__ void codes_q4(uint32_t a[2][4], uint32_t low, uint32_t high)
{
    a[0][0] = low & 0x000f000fu;
    a[0][1] = high & 0x000f000fu;
    a[0][2] = low & 0x00f000f0u;
    a[0][3] = high & 0x00f000f0u;
    a[1][0] = low >> 8 & 0x000f000fu;
    a[1][1] = high >> 8 & 0x000f000fu;
    a[1][2] = low >> 8 & 0x00f000f0u;
    a[1][3] = high >> 8 & 0x00f000f0u;
}

__device__ __forceinline__ void codes_q8(uint32_t a[2][4], uint4 w)
{
    a[0][0] = w.x & 0x00ff00ffu;
    a[0][1] = w.z & 0x00ff00ffu;
    a[0][2] = w.x >> 8 & 0x00ff00ffu;
    a[0][3] = w.z >> 8 & 0x00ff00ffu;
    a[1][0] = w.y & 0x00ff00ffu;
    a[1][1] = w.w & 0x00ff00ffu;
    a[1][2] = w.y >> 8 & 0x00ff00ffu;
    a[1][3] = w.w >> 8 & 0x00ff00ffu;
}

__device__ __forceinline__ void dequant_f16(uint32_t a[2][4], uint4 low, uint4 high)
{
    a[0][0] = low.x;
    a[0][1] = high.x;
    a[0][2] = low.y;
    a[0][3] = high.y;
    a[1][0] = low.z;
    a[1][1] = high.z;
    a[1][2] = low.w;
    a[1][3] = high.w;
}

#endif
