/* linear_input.cu - rows of x as linear_many and linear_wide take them: normalised, in f16, scaled row by row.
 *
 * Grid      one block a row.
 * Block     256 threads; thread t has every 256th four columns.
 * Roofline  6 bytes an element, read two to four times from the second cache: memory-bound, some microseconds.
 */
#include "backend/cuda/kernels/linear.params.h"

#include "backend/cuda/kernels/linear_row.cuh"

__device__ __forceinline__ float square_of(float v)
{
    return v * v;
}

/* Columns k .. k + 3 after the norm, where `mean` and `factor` are those of a layer norm; 0 and 1 otherwise. What is
 * past the row's end becomes 0 by its weight, or meets weights of the matrix that are 0. */
__device__ __forceinline__ float4 after_norm(const linear_input_params *p, float4 v, int32_t k, float mean,
                                             float factor)
{
    v = {(v.x - mean) * factor, (v.y - mean) * factor, (v.z - mean) * factor, (v.w - mean) * factor};
    if (p->norm) {
        const float4 w = load_4(p->norm, k, p->n_cols);
        const float offset = p->weight_offset;
        v = {v.x * (w.x + offset), v.y * (w.y + offset), v.z * (w.z + offset), v.w * (w.w + offset)};
    }
    if (p->bias) {
        const float4 b = load_4(p->bias, k, p->n_cols);
        v = {v.x + b.x, v.y + b.y, v.z + b.z, v.w + b.w};
    }
    return v;
}

/* Where columns k and k + 1 of row r lie. */
__device__ __forceinline__ uint16_t *input_place(const linear_input_params *p, int32_t r, int32_t k)
{
    if (!p->n_rows_padded) {
        return p->x16 + (int64_t)r * p->n_padded + k;
    }
    const int32_t piece = k % 64 / 32 * 4 + k % 8 / 2;
    return p->x16 + ((int64_t)(k / 64) * p->n_rows_padded + r) * 64 + (piece ^ r % 8) * 8 + k % 32 / 8 * 2;
}

extern "C" __global__ void __launch_bounds__(256) linear_input(const __grid_constant__ linear_input_params p)
{
    __shared__ float shared[32];
    const float *x = p.x + (int64_t)blockIdx.x * p.n_cols;
    let_next_start();
    wait_for_previous();
    float mean = 0.0f;
    if (p.is_centered) {
        float sum = 0.0f;
        for (int32_t k = threadIdx.x; k < p.n_cols; k += 256) {
            sum += load_f32(x + k);
        }
        mean = block_sum(sum, shared) / (float)p.n_cols;
    }
    float squares = 0.0f;
    float largest = 0.0f;
#pragma unroll 2
    for (int32_t k = 4 * threadIdx.x; k < p.n_cols; k += 1024) {
        float4 v = load_4(x, k, p.n_cols);
        squares += square_of(v.x - mean) + (k + 1 < p.n_cols ? square_of(v.y - mean) : 0.0f) +
                   (k + 2 < p.n_cols ? square_of(v.z - mean) : 0.0f) +
                   (k + 3 < p.n_cols ? square_of(v.w - mean) : 0.0f);
        v = after_norm(&p, v, k, 0.0f, 1.0f);
        largest = fmaxf(fmaxf(fmaxf(largest, fabsf(v.x)), fmaxf(fabsf(v.y), fabsf(v.z))), fabsf(v.w));
    }
    squares = block_sum(squares, shared);
    const float root = p.has_norm ? rsqrtf(squares / (float)p.n_cols + p.eps) : 1.0f;
    const float factor = p.is_centered ? root : 1.0f;
    if (p.is_centered) { /* with the bias, the largest is known only now */
        largest = 0.0f;
        for (int32_t k = 4 * threadIdx.x; k < p.n_cols; k += 1024) {
            const float4 v = after_norm(&p, load_4(x, k, p.n_cols), k, mean, factor);
            largest = fmaxf(fmaxf(fmaxf(largest, fabsf(v.x)), fmaxf(fabsf(v.y), fabsf(v.z))), fabsf(v.w));
        }
    }
    largest = block_max(largest, shared);
    const float up = largest > 0.0f ? 16384.0f / largest : 1.0f;
#pragma unroll 2
    for (int32_t k = 4 * threadIdx.x; k < p.n_padded; k += 1024) {
        float4 v = load_4(x, k, p.n_cols);
        if (k < p.n_cols) {
            v = after_norm(&p, v, k, mean, factor);
        }
        *(uint32_t *)input_place(&p, blockIdx.x, k) = h2_from_f32(v.x * up, v.y * up);
        *(uint32_t *)input_place(&p, blockIdx.x, k + 2) = h2_from_f32(v.z * up, v.w * up);
    }
    if (threadIdx.x == 0) {
        p.factors[blockIdx.x] = (p.is_centered ? 1.0f : root) / up;
    }
}
