/* linear_input.cu - rows of x as linear_many takes them: normalised, in f16, scaled row by row.
 *
 * Grid      one block a row.
 * Block     256 threads; thread t has every 256th pair of columns.
 * Roofline  6 bytes an element, read twice from the second cache: memory-bound, some microseconds.
 */
#include "backend/cuda/kernels/linear.params.h"

#include "backend/cuda/kernels/device.cuh"

extern "C" __global__ void __launch_bounds__(256) linear_input(const __grid_constant__ linear_input_params p)
{
    __shared__ float shared[32];
    const float *x = p.x + (int64_t)blockIdx.x * p.n_cols;
    uint16_t *x16 = p.x16 + (int64_t)blockIdx.x * p.n_padded;
    let_next_start();
    wait_for_previous();
    float squares = 0.0f;
    float largest = 0.0f;
    for (int32_t k = threadIdx.x; k < p.n_cols; k += 256) {
        const float v = load_f32(x + k);
        squares += v * v;
        largest = fmaxf(largest, fabsf(p.norm ? v * (p.norm[k] + p.weight_offset) : v));
    }
    squares = block_sum(squares, shared);
    largest = block_max(largest, shared);
    const float up = largest > 0.0f ? 16384.0f / largest : 1.0f;
    for (int32_t k = 2 * threadIdx.x; k < p.n_padded; k += 512) {
        float v[2];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            v[i] = k + i < p.n_cols ? load_f32(x + k + i) : 0.0f;
            v[i] *= p.norm && k + i < p.n_cols ? p.norm[k + i] + p.weight_offset : 1.0f;
        }
        *(uint32_t *)(x16 + k) = h2_from_f32(v[0] * up, v[1] * up);
    }
    if (threadIdx.x == 0) {
        p.factors[blockIdx.x] = (p.has_norm ? rsqrtf(squares / (float)p.n_cols + p.eps) : 1.0f) / up;
    }
}
