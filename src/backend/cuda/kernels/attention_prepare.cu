/* attention_prepare.cu - heads as attention takes them: queries normalised, rotated and in f16, keys and values in the
 * cache. Also ROPE alone.
 *
 * Grid      attention_prepare: (n_tokens, heads of q, k and v, four a block); rope: (n_tokens, n_heads).
 * Block     attention_prepare: 128 threads, a warp a head; rope: 64.
 * Roofline  a few kilobytes a token: the launch is the cost.
 */
#include "backend/cuda/kernels/attention.params.h"
#include "backend/cuda/kernels/rotation.cuh"

enum { PREPARE_WARPS = 4, HEAD_MAX = 256 };

#define F16_MAX 65504.0f

__device__ static uint16_t to_f16(float v)
{
    return (uint16_t)h2_from_f32(fminf(fmaxf(v, -F16_MAX), F16_MAX), 0.0f);
}

/* The head after its norm, in shared memory. The whole warp takes part. */
__device__ static void normalise(float *head, const float *x, int32_t dim, bool has_norm, const float *w, float eps,
                                 float offset)
{
    const int32_t lane = threadIdx.x % 32;
    float squares = 0.0f;
    for (int32_t d = lane; d < dim; d += 32) {
        const float v = load_f32(x + d);
        head[d] = v;
        squares += v * v;
    }
    if (has_norm) {
        const float factor = rsqrtf(warp_sum(squares) / (float)dim + eps);
        for (int32_t d = lane; d < dim; d += 32) {
            head[d] *= factor * (w ? w[d] + offset : 1.0f);
        }
    }
    __syncwarp(); /* each lane will read its neighbours' columns */
}

/* What queries of this position are multiplied by. */
__device__ static float sharpening_at(const attention_prepare_params *p, int32_t position)
{
    if (p->sharpening_beta == 0.0f) {
        return 1.0f;
    }
    const float n_steps = floorf((float)(position + p->sharpening_shift) / (float)p->sharpening_n);
    return 1.0f + p->sharpening_beta * logf(1.0f + n_steps);
}

extern "C" __global__ void __launch_bounds__(128) attention_prepare(const __grid_constant__ attention_prepare_params p)
{
    __shared__ float heads[PREPARE_WARPS][HEAD_MAX];
    let_next_start();
    wait_for_previous();
    float *head = heads[threadIdx.x / 32];
    const int32_t lane = threadIdx.x % 32;
    const int32_t t = blockIdx.x;
    const int32_t i = blockIdx.y * PREPARE_WARPS + threadIdx.x / 32; /* q heads, then k heads, then v heads */
    const int32_t position = p.step.positions[t];
    auto column = [&](int32_t d) { return head[d]; };
    if (i < p.n_heads) {
        normalise(head, p.q + ((int64_t)t * p.n_heads + i) * p.k_dim, p.k_dim, p.has_norm, p.q_norm, p.q_eps,
                  p.q_offset);
        uint16_t *to = p.q16 + ((int64_t)t * p.n_heads + i) * p.dim;
        const float sharpening = sharpening_at(&p, position);
        for (int32_t d = lane; d < p.dim; d += 32) {
            to[d] = d < p.k_dim ? to_f16(sharpening * rotated(column, d, p.inv_freq, p.inv_freq ? p.rot_dim : 0,
                                                              p.is_interleaved, p.rope_factor, position))
                                : 0;
        }
        return;
    }
    if (!p.k || i >= p.n_heads + 2 * p.n_kv_heads) {
        return;
    }
    const int32_t page =
        p.step.page_table[(int64_t)p.step.token_seqs[t] * p.step.header->n_page_cols + position / PAGE_TOKENS];
    const int32_t slot = position % PAGE_TOKENS;
    const int32_t h = (i - p.n_heads) % p.n_kv_heads;
    const int64_t block = ((int64_t)page * p.n_kv_heads + h) * PAGE_TOKENS * p.dim;
    if (i < p.n_heads + p.n_kv_heads) {
        normalise(head, p.k + ((int64_t)t * p.n_kv_heads + h) * p.k_dim, p.k_dim, p.has_norm, p.k_norm, p.k_eps,
                  p.k_offset);
        for (int32_t d = lane; d < p.k_dim; d += 32) {
            p.keys[block + slot * p.dim + d] = to_f16(
                rotated(column, d, p.inv_freq, p.inv_freq ? p.rot_dim : 0, p.is_interleaved, p.rope_factor, position));
        }
    } else {
        for (int32_t d = lane; d < p.v_dim; d += 32) {
            p.values[block + d * PAGE_TOKENS + slot] =
                to_f16(load_f32(p.v + ((int64_t)t * p.n_kv_heads + h) * p.v_dim + d));
        }
    }
}

extern "C" __global__ void __launch_bounds__(64) rope(const __grid_constant__ rope_params p)
{
    let_next_start();
    wait_for_previous();
    const int64_t first = ((int64_t)blockIdx.x * p.n_heads + blockIdx.y) * p.head_dim;
    const int32_t position = p.positions[blockIdx.x];
    auto column = [&](int32_t d) { return load_f32(p.x + first + d); };
    for (int32_t d = threadIdx.x; d < p.head_dim; d += 64) {
        p.y[first + d] = rotated(column, d, p.inv_freq, p.rot_dim, p.is_interleaved, p.factor, position);
    }
}
