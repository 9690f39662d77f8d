/* attention_heads.cuh - one head, by one warp: normalised and rotated, into f16 or into the cache. */
#ifndef MX_CUDA_ATTENTION_HEADS_CUH
#define MX_CUDA_ATTENTION_HEADS_CUH

#include "backend/cuda/kernels/attention.params.h"
#include "backend/cuda/kernels/rotation.cuh"

enum { HEAD_MAX = 256 };

#define F16_MAX 65504.0f

__device__ __forceinline__ uint16_t to_f16(float v)
{
    return (uint16_t)h2_from_f32(fminf(fmaxf(v, -F16_MAX), F16_MAX), 0.0f);
}

/* What a block needs for its heads whatever the kernel before it does, in shared memory. */
struct head_tables {
    float norms[2][HEAD_MAX]; /* q's and k's weights, offsets added; 1 where there are none */
    float2 turns[HEAD_MAX / 2]; /* cosine and sine of the token's rotation, times the rope's factor */
};

/* The whole block takes part; a barrier follows. */
__device__ __forceinline__ void fill_tables(const attention_prepare_params *p, head_tables *tables, int32_t position)
{
    for (int32_t i = threadIdx.x; p->inv_freq && i < p->rot_dim / 2; i += blockDim.x) {
        const float angle = (float)position * p->inv_freq[i];
        tables->turns[i] = {cosf(angle) * p->rope_factor, sinf(angle) * p->rope_factor};
    }
    for (int32_t d = threadIdx.x; p->has_norm && d < p->k_dim; d += blockDim.x) {
        tables->norms[0][d] = p->q_norm ? p->q_norm[d] + p->q_offset : 1.0f;
        tables->norms[1][d] = p->k_norm ? p->k_norm[d] + p->k_offset : 1.0f;
    }
}

/* What queries of this position are multiplied by. */
__device__ __forceinline__ float sharpening_at(const attention_prepare_params *p, int32_t position)
{
    if (p->sharpening_beta == 0.0f) {
        return 1.0f;
    }
    const float n_steps = floorf((float)(position + p->sharpening_shift) / (float)p->sharpening_n);
    return 1.0f + p->sharpening_beta * logf(1.0f + n_steps);
}

/* A head x[k_dim], normalised and rotated, times `factor`, to to[0 .. n), zeros behind k_dim. `head` is room for HEAD_MAX floats of the
 * warp's own; the whole warp takes part. */
__device__ __forceinline__ void prepare_head(const attention_prepare_params *p, const head_tables *tables,
                                             uint16_t *to, int32_t n, float *head, const float *x, int32_t i_norm,
                                             float eps, float factor)
{
    const int32_t lane = threadIdx.x % 32;
    float squares = 0.0f;
    __syncwarp(); /* lanes may still read the head before */
    for (int32_t d = lane; d < p->k_dim; d += 32) {
        const float v = load_f32(x + d);
        head[d] = v;
        squares += v * v;
    }
    if (p->has_norm) {
        const float root = rsqrtf(warp_sum(squares) / (float)p->k_dim + eps);
        for (int32_t d = lane; d < p->k_dim; d += 32) {
            head[d] *= root * tables->norms[i_norm][d];
        }
    }
    __syncwarp(); /* each lane will read its neighbours' columns */
    const int32_t rot_dim = p->inv_freq ? p->rot_dim : 0;
    for (int32_t d = lane; d < n; d += 32) {
        float v = d < p->k_dim ? head[d] : 0.0f;
        if (d < rot_dim) {
            const rotated_pair pair = pair_of(d, rot_dim, p->is_interleaved);
            const float2 turn = tables->turns[pair.i];
            v = pair.is_second ? head[pair.second] * turn.x + head[pair.first] * turn.y
                               : head[pair.first] * turn.x - head[pair.second] * turn.y;
        }
        to[d] = to_f16(v * factor);
    }
}

__device__ __forceinline__ void prepare_query(const attention_prepare_params *p, const head_tables *tables,
                                              uint16_t *to, float *head, int32_t t, int32_t h)
{
    prepare_head(p, tables, to, p->dim, head, p->q + ((int64_t)t * p->n_heads + h) * p->k_dim, 0, p->q_eps,
                 sharpening_at(p, p->step.positions[t]));
}

/* The new key and value of kv head h into the page that begins at `block` (attention.params.h). */
__device__ __forceinline__ void append_key(const attention_prepare_params *p, const head_tables *tables, int64_t block,
                                           float *head, int32_t t, int32_t h, int32_t slot)
{
    prepare_head(p, tables, p->keys + block + slot * p->dim, p->k_dim, head,
                 p->k + ((int64_t)t * p->n_kv_heads + h) * p->k_dim, 1, p->k_eps, 1.0f);
}

__device__ __forceinline__ void append_value(const attention_prepare_params *p, int64_t block, int32_t t, int32_t h,
                                             int32_t slot)
{
    const float *v = p->v + ((int64_t)t * p->n_kv_heads + h) * p->v_dim;
    for (int32_t d = threadIdx.x % 32; d < p->v_dim; d += 32) {
        p->values[block + d * PAGE_TOKENS + slot] = to_f16(load_f32(v + d));
    }
}

#endif
