/* linear_input.cu - rows of x as linear_many takes them: normalised, in f16, scaled row by row.
 *
 * Grid      one block a row.
 * Block     256 threads; thread t has every 256th pair of columns.
 * Roofline  6 bytes an element, read two to four times from the second cache: memory-bound, some microseconds.
 */
#include "backend/cuda/kernels/linear.params.h"

#include "backend/cuda/kernels/device.cuh"

/* Element k after the norm, where `mean` and `factor` are those of a layer norm; 0 and 1 otherwise. */
static __device__ __forceinline__ float input_at(const linear_input_params *p, const float *x, int32_t k, float mean,
                                                 float factor)
{
    float v = (load_f32(x + k) - mean) * factor;
    v *= p->norm ? p->norm[k] + p->weight_offset : 1.0f;
    return p->bias ? v + p->bias[k] : v;
}

extern "C" __global__ void __launch_bounds__(256) linear_input(const __grid_constant__ linear_input_params p)
{
    __shared__ float shared[32];
    const float *x = p.x + (int64_t)blockIdx.x * p.n_cols;
    uint16_t *x16 = p.x16 + (int64_t)blockIdx.x * p.n_padded;
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
    for (int32_t k = threadIdx.x; k < p.n_cols; k += 256) {
        const float v = load_f32(x + k) - mean;
        squares += v * v;
        largest = fmaxf(largest, fabsf(p.norm ? v * (p.norm[k] + p.weight_offset) : v));
    }
    squares = block_sum(squares, shared);
    const float root = p.has_norm ? rsqrtf(squares / (float)p.n_cols + p.eps) : 1.0f;
    const float factor = p.is_centered ? root : 1.0f;
    if (p.is_centered) { /* with the bias, the largest is known only now */
        largest = 0.0f;
        for (int32_t k = threadIdx.x; k < p.n_cols; k += 256) {
            largest = fmaxf(largest, fabsf(input_at(&p, x, k, mean, factor)));
        }
    }
    largest = block_max(largest, shared);
    const float up = largest > 0.0f ? 16384.0f / largest : 1.0f;
    for (int32_t k = 2 * threadIdx.x; k < p.n_padded; k += 512) {
        float v[2];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            v[i] = k + i < p.n_cols ? input_at(&p, x, k + i, mean, factor) : 0.0f;
        }
        *(uint32_t *)(x16 + k) = h2_from_f32(v[0] * up, v[1] * up);
    }
    if (threadIdx.x == 0) {
        p.factors[blockIdx.x] = (p.is_centered ? 1.0f : root) / up;
    }
}
