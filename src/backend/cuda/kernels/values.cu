/* values.cu - the operations on whole values; values.params.h says what each computes.
 *
 * Grid      element-wise: (n / 256); the others: one block a row (or group).
 * Block     256 threads; rmsnorm and layernorm 32 or 256.
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
VALUE_KERNEL(value_clip, fminf(fmaxf(a, -p.factor), p.factor))
VALUE_KERNEL(value_activation, activate(a, p.act))
VALUE_KERNEL(value_glu, gated(a, load_f32(p.b + i), p.act))

extern "C" __global__ void __launch_bounds__(256) multiply(const __grid_constant__ multiply_params p)
{
    let_next_start();
    wait_for_previous();
    const int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (i < p.n) {
        p.y[i] = load_f32(p.x + i) * p.w[i % p.n_w];
    }
}

extern "C" __global__ void __launch_bounds__(256) scale_chosen(const __grid_constant__ scale_chosen_params p)
{
    let_next_start();
    wait_for_previous();
    const int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (i < p.n) {
        p.y[i] = load_f32(p.weights + i) * p.w[p.ids[i]];
    }
}

/* log(1 + exp(x)) without its overflow. */
__device__ __forceinline__ float softplus(float x)
{
    return x > 20.0f ? x : log1pf(expf(x));
}

extern "C" __global__ void __launch_bounds__(256) xielu(const __grid_constant__ xielu_params p)
{
    let_next_start();
    wait_for_previous();
    const int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (i < p.n) {
        const float x = load_f32(p.x + i);
        const float beta = *p.beta;
        p.y[i] = beta * x + (x > 0.0f ? softplus(*p.alpha_p) * x * x
                                      : (beta + softplus(*p.alpha_n)) * (expm1f(fminf(x, *p.eps)) - x));
    }
}

extern "C" __global__ void __launch_bounds__(256) embed(const __grid_constant__ embed_params p)
{
    let_next_start();
    wait_for_previous();
    const int32_t token = p.tokens[blockIdx.x];
    const int32_t row = token < p.n_rows ? token : 0;
    for (int32_t c = threadIdx.x; c < p.table.n_cols; c += 256) {
        p.y[(int64_t)blockIdx.x * p.table.n_cols + c] = raw_value(&p.table, row, c) * p.scale;
    }
}

extern "C" __global__ void __launch_bounds__(256) add_positions(const __grid_constant__ add_positions_params p)
{
    let_next_start();
    wait_for_previous();
    const int32_t row = p.positions[blockIdx.x];
    const int64_t first = (int64_t)blockIdx.x * p.table.n_cols;
    for (int32_t c = threadIdx.x; c < p.table.n_cols; c += 256) {
        p.y[first + c] = load_f32(p.x + first + c) + raw_value(&p.table, row, c);
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
    const float *w = p.w ? p.w + (int64_t)(blockIdx.x % p.n_weight_groups) * p.n_cols : nullptr;
    for (int32_t c = threadIdx.x; c < p.n_cols; c += blockDim.x) {
        p.y[first + c] = load_f32(p.x + first + c) * factor * (w ? w[c] + p.weight_offset : 1.0f);
    }
}

extern "C" __global__ void __launch_bounds__(256) layernorm(const __grid_constant__ layernorm_params p)
{
    __shared__ float shared[32];
    let_next_start();
    wait_for_previous();
    const int64_t first = (int64_t)blockIdx.x * p.n_cols;
    float sum = 0.0f;
    for (int32_t c = threadIdx.x; c < p.n_cols; c += blockDim.x) {
        sum += load_f32(p.x + first + c);
    }
    const float mean = block_sum(sum, shared) / (float)p.n_cols;
    float squares = 0.0f;
    for (int32_t c = threadIdx.x; c < p.n_cols; c += blockDim.x) {
        const float v = load_f32(p.x + first + c) - mean;
        squares += v * v;
    }
    const float factor = rsqrtf(block_sum(squares, shared) / (float)p.n_cols + p.eps);
    const float *w = p.w ? p.w + (int64_t)(blockIdx.x % p.n_weights) * p.n_cols : 0;
    for (int32_t c = threadIdx.x; c < p.n_cols; c += blockDim.x) {
        const float v = (load_f32(p.x + first + c) - mean) * factor;
        p.y[first + c] = v * (w ? w[c] + p.weight_offset : 1.0f) + (p.bias ? p.bias[c] : 0.0f);
    }
}

/* The largest of c[0 .. n) and its place, the first of equals, given to every lane; NaN throughout gives place 0. */
__device__ __forceinline__ float warp_find_largest(const float *c, int32_t n, int32_t *place)
{
    float best = -INFINITY;
    int32_t id = n;
    for (int32_t e = threadIdx.x % 32; e < n; e += 32) {
        if (c[e] > best || (id == n && c[e] == best)) {
            best = c[e];
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
    *place = id < n ? id : 0;
    return best;
}

/* p = score(x), c = p + bias */
__device__ __forceinline__ void route_score(const route_params &r, const float *x, float *p, float *c)
{
    const int32_t lane = threadIdx.x;
    float largest = -3.0e38f;
    for (int32_t e = lane; e < r.n_experts; e += 32) {
        p[e] = load_f32(x + e);
        largest = fmaxf(largest, p[e]);
    }
    largest = warp_max(largest);
    float sum = 0.0f;
    for (int32_t e = lane; e < r.n_experts; e += 32) {
        p[e] = r.score == SCORE_SOFTMAX   ? expf(p[e] - largest)
               : r.score == SCORE_SIGMOID ? 1.0f / (1.0f + expf(-p[e]))
                                          : p[e];
        sum += p[e];
    }
    sum = warp_sum(sum);
    for (int32_t e = lane; e < r.n_experts; e += 32) {
        p[e] = r.score == SCORE_SOFTMAX ? p[e] / sum : p[e];
        c[e] = r.bias ? p[e] + r.bias[e] : p[e];
    }
    __syncwarp(); /* every lane reads all of c from here on */
}

/* Takes the experts of all groups but the best out of c; `ranks` has room for n_groups. */
__device__ __forceinline__ void route_groups(const route_params &r, float *c, float *ranks)
{
    const int32_t lane = threadIdx.x;
    const int32_t n = r.n_experts / r.n_groups;
    for (int32_t g = lane; g < r.n_groups; g += 32) {
        float first = -INFINITY;
        float second = -INFINITY;
        for (int32_t e = g * n; e < (g + 1) * n; e++) {
            second = fmaxf(second, fminf(first, c[e]));
            first = fmaxf(first, c[e]);
        }
        ranks[g] = r.ranks_by_top_two ? first + (n > 1 ? second : 0.0f) : first;
    }
    __syncwarp(); /* the ranks are whole */
    for (int32_t i = 0; i < r.top_groups; i++) {
        int32_t group;
        warp_find_largest(ranks, r.n_groups, &group);
        __syncwarp(); /* all lanes have looked */
        ranks[group] = -INFINITY;
        __syncwarp(); /* the group is kept */
    }
    for (int32_t e = lane; e < r.n_experts; e += 32) {
        c[e] = ranks[e / n] > -INFINITY ? -INFINITY : c[e];
    }
    __syncwarp(); /* c holds the best groups alone */
}

/* SPARSEMIXER's weight of the largest of those left in c. */
__device__ __forceinline__ float sparsemixer_weight(const route_params &r, const float *c, float largest)
{
    float sum = 0.0f;
    for (int32_t e = threadIdx.x; e < r.n_experts; e += 32) {
        if (c[e] > -INFINITY && (largest - c[e]) / fmaxf(fabsf(c[e]), largest) <= 2.0f * r.jitter) {
            sum += expf(c[e] - largest);
        }
    }
    return 1.0f / warp_sum(sum);
}

/* One warp a token. Shared: p, c [n_experts each], ranks [n_groups]. */
extern "C" __global__ void __launch_bounds__(32) route(const __grid_constant__ route_params r)
{
    MX_DYNAMIC_SHARED(float, p);
    float *c = p + r.n_experts;
    let_next_start();
    wait_for_previous();
    route_score(r, r.scores + (int64_t)blockIdx.x * r.n_experts, p, c);
    if (r.n_groups > 1) {
        route_groups(r, c, c + r.n_experts);
    }
    const int32_t lane = threadIdx.x;
    float *weights = r.weights + (int64_t)blockIdx.x * r.top_k;
    float sum = 0.0f;
    for (int32_t j = 0; j < r.top_k; j++) {
        int32_t id;
        const float best = warp_find_largest(c, r.n_experts, &id);
        const float weight = r.score == SCORE_SPARSEMIXER ? sparsemixer_weight(r, c, best) : p[id];
        sum += weight;
        __syncwarp(); /* all lanes have read c */
        if (lane == 0) {
            r.ids[(int64_t)blockIdx.x * r.top_k + j] = id;
            weights[j] = weight;
            c[id] = -INFINITY;
        }
        __syncwarp(); /* the expert is taken */
    }
    const float divisor = r.is_normalized ? fmaxf(sum, r.min_sum) : 1.0f;
    for (int32_t j = 0; lane == 0 && j < r.top_k; j++) {
        weights[j] = weights[j] / divisor * r.scale;
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
