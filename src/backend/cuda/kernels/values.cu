/* values.cu - the operations on whole values; values.params.h says what each computes.
 *
 * Grid      element-wise: (n / 256); embed, gather_rows, rmsnorm, expert_combine: one block a row (or group).
 * Block     256 threads; rmsnorm 32 or 256.
 * Roofline  8 or 12 bytes an element, mostly in the second cache: the launch is the cost of small ones.
 */
#include "backend/cuda/kernels/activation.cuh"
#include "backend/cuda/kernels/raw_matrix.cuh"
#include "backend/cuda/kernels/values.params.h"

#define VALUE_KERNEL(name, expression)                                                             \
    extern "C" __global__ void __launch_bounds__(256) name(const __grid_constant__ value_params p) \
    {                                                                                              \
        let_next_start();                                                                          \
        wait_for_previous();                                                                       \
        const int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;                                 \
        if (i < p.n) {                                                                             \
            const float a = load_f32(p.a + i);                                                     \
            p.y[i] = expression;                                                                   \
        }                                                                                          \
    }
VALUE_KERNEL(value_add, a + load_f32(p.b + i))
VALUE_KERNEL(value_scale, a *p.factor)
VALUE_KERNEL(value_softcap, p.factor *tanhf(a / p.factor))
VALUE_KERNEL(value_glu, activate(a, p.act) * load_f32(p.b + i))

extern "C" __global__ void __launch_bounds__(256) embed(const __grid_constant__ embed_params p)
{
    let_next_start();
    wait_for_previous();
    const int32_t row = p.tokens[blockIdx.x];
    for (int32_t c = threadIdx.x; c < p.table.n_cols; c += 256) {
        p.y[(int64_t)blockIdx.x * p.table.n_cols + c] = raw_value(&p.table, row, c) * p.scale;
    }
}

extern "C" __global__ void __launch_bounds__(256) gather_rows(const __grid_constant__ gather_rows_params p)
{
    let_next_start();
    wait_for_previous();
    const float *x = p.x + p.rows[blockIdx.x] * p.n_cols;
    for (int64_t c = threadIdx.x; c < p.n_cols; c += 256) {
        p.y[blockIdx.x * p.n_cols + c] = load_f32(x + c);
    }
}

extern "C" __global__ void __launch_bounds__(256) rmsnorm(const __grid_constant__ rmsnorm_params p)
{
    __shared__ float shared[32];
    let_next_start();
    wait_for_previous();
    const int64_t first = (int64_t)blockIdx.x * p.n_cols;
    float squares = 0.0f;
    for (int32_t c = threadIdx.x; c < p.n_cols; c += blockDim.x) {
        const float v = load_f32(p.x + first + c);
        squares += v * v;
    }
    const float factor = rsqrtf(block_sum(squares, shared) / (float)p.n_cols + p.eps);
    for (int32_t c = threadIdx.x; c < p.n_cols; c += blockDim.x) {
        p.y[first + c] = load_f32(p.x + first + c) * factor * (p.w ? p.w[c] + p.weight_offset : 1.0f);
    }
}

/* One warp a token; the probabilities are in shared memory [n_experts]. */
extern "C" __global__ void __launch_bounds__(32) route(const __grid_constant__ route_params p)
{
    MX_DYNAMIC_SHARED(float, probabilities);
    let_next_start();
    wait_for_previous();
    const float *scores = p.scores + (int64_t)blockIdx.x * p.n_experts;
    const int32_t lane = threadIdx.x;
    float largest = -3.0e38f;
    for (int32_t e = lane; e < p.n_experts; e += 32) {
        largest = fmaxf(largest, load_f32(scores + e));
    }
    largest = warp_max(largest);
    float sum = 0.0f;
    for (int32_t e = lane; e < p.n_experts; e += 32) {
        probabilities[e] = expf(load_f32(scores + e) - largest);
        sum += probabilities[e];
    }
    sum = warp_sum(sum);
    float taken = 0.0f;
    for (int32_t j = 0; j < p.top_k; j++) {
        float best = -2.0f; /* a row of NaN gives expert 0 */
        int32_t id = 0;
        for (int32_t e = lane; e < p.n_experts; e += 32) {
            if (probabilities[e] > best) {
                best = probabilities[e];
                id = e;
            }
        }
        for (int i = 16; i > 0; i /= 2) {
            const float other = __shfl_xor_sync(FULL_WARP, best, i);
            const int32_t other_id = __shfl_xor_sync(FULL_WARP, id, i);
            if (other > best || (other == best && other_id < id)) {
                best = other;
                id = other_id;
            }
        }
        if (lane == 0) {
            p.ids[blockIdx.x * p.top_k + j] = id;
            p.weights[blockIdx.x * p.top_k + j] = best / sum;
        }
        if (id % 32 == lane) {
            probabilities[id] = -1.0f;
        }
        taken += best / sum;
        __syncwarp(); /* the expert is taken */
    }
    if (p.is_normalized && lane == 0) {
        for (int32_t j = 0; j < p.top_k; j++) {
            p.weights[blockIdx.x * p.top_k + j] /= taken;
        }
    }
}

extern "C" __global__ void __launch_bounds__(256) expert_combine(const __grid_constant__ expert_combine_params p)
{
    let_next_start();
    wait_for_previous();
    for (int32_t c = threadIdx.x; c < p.n_cols; c += 256) {
        float sum = 0.0f;
        for (int32_t j = 0; j < p.top_k; j++) {
            const int64_t slot = (int64_t)blockIdx.x * p.top_k + j;
            sum += load_f32(p.weights + slot) * load_f32(p.x + slot * p.n_cols + c);
        }
        p.y[(int64_t)blockIdx.x * p.n_cols + c] = sum;
    }
}
