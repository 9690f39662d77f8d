/* attention_launch.c - ATTENTION, KV_APPEND and ROPE. */
#include "backend/cuda/cuda_backend.h"

#define PREPARE_WARPS  4
#define MANY_TOKENS    512
#define WARPS          4
#define QUERY_ROWS     16
#define TILE_STAGES    3
#define MAX_SPLIT_ROWS 64 /* queries of a sequence and kv head, up to which the positions are split over blocks */

static uint32_t ceil_div(int32_t n, int32_t by)
{
    return (uint32_t)((n + by - 1) / by);
}

static attention_prepare_params prepare_params(const mx_cuda *cuda, int32_t i_cache)
{
    const mx_cache_spec *spec = &cuda->program->caches[i_cache];
    const mx_cuda_cache *cache = &cuda->caches[i_cache];
    return (attention_prepare_params){
        .step = mx_cuda_attention_step(cuda),
        .q16 = cuda->q16,
        .keys = cache->keys,
        .values = cache->values,
        .n_kv_heads = spec->n_kv_heads,
        .k_dim = spec->k_dim,
        .v_dim = spec->v_dim,
        .dim = cache->dim,
    };
}

static mx_status launch_prepare(mx_cuda *cuda, attention_prepare_params *params, mx_error *err)
{
    const int32_t n_heads = params->n_heads + (params->k ? 2 * params->n_kv_heads : 0);
    /* A block's tables serve all of a token's heads, where there are tokens enough for the device. */
    const uint32_t n_shares = cuda->step.n_tokens >= MANY_TOKENS ? 1 : ceil_div(n_heads, PREPARE_WARPS);
    const mx_cuda_grid grid = {{(uint32_t)cuda->step.n_tokens, n_shares, 1}, 32 * PREPARE_WARPS, 0};
    return mx_cuda_launch(cuda, MX_CUDA_attention_prepare, grid, params, err);
}

mx_status mx_cuda_kv_append(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    (void)data;
    attention_prepare_params params = prepare_params(cuda, op->u.kv_append.i_cache);
    params.k = mx_cuda_value(cuda, op->in[0]);
    params.v = mx_cuda_value(cuda, op->in[1]);
    return cuda->step.n_tokens ? launch_prepare(cuda, &params, err) : MX_OK;
}

static attention_prepare_params prepare_params_of(const mx_cuda *cuda, const mx_op *op)
{
    const mx_attention_params *p = &op->u.attention;
    attention_prepare_params params = prepare_params(cuda, p->i_cache);
    params.q = mx_cuda_value(cuda, op->in[0]);
    params.n_heads = p->n_heads;
    params.sharpening_beta = p->sharpening.beta;
    params.sharpening_n = p->sharpening.n_positions;
    params.sharpening_shift = p->sharpening.shift;
    if (p->has_append) {
        params.k = mx_cuda_value(cuda, op->in[1]);
        params.v = mx_cuda_value(cuda, op->in[2]);
        if (p->has_qk_norm) {
            params.has_norm = 1;
            params.q_norm = mx_cuda_vector(cuda, p->q_norm.weight);
            params.k_norm = mx_cuda_vector(cuda, p->k_norm.weight);
            params.q_eps = p->q_norm.eps;
            params.q_offset = p->q_norm.weight_offset;
            params.k_eps = p->k_norm.eps;
            params.k_offset = p->k_norm.weight_offset;
        }
        if (p->rope != MX_NO_ROPE) {
            params.inv_freq = cuda->ropes[p->rope].inv_freq;
            params.rot_dim = cuda->program->ropes[p->rope].rot_dim;
            params.is_interleaved = cuda->program->ropes[p->rope].is_interleaved;
            params.rope_factor = cuda->program->ropes[p->rope].factor;
        }
    }
    return params;
}

mx_status mx_cuda_attention(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    static const mx_cuda_kernel split_kernels[] = {MX_CUDA_attention_split_64, MX_CUDA_attention_split_128,
                                                   MX_CUDA_attention_split_256};
    static const mx_cuda_kernel tile_kernels[] = {MX_CUDA_attention_tiles_64, MX_CUDA_attention_tiles_128,
                                                  MX_CUDA_attention_tiles_256};
    (void)data;
    const mx_attention_params *p = &op->u.attention;
    const mx_cache_spec *spec = &cuda->program->caches[p->i_cache];
    const mx_cuda_cache *cache = &cuda->caches[p->i_cache];
    const mx_cuda_step *step = &cuda->step;
    if (step->n_tokens == 0) {
        return MX_OK;
    }
    attention_params params = {
        .step = mx_cuda_attention_step(cuda),
        .prepare = prepare_params_of(cuda, op),
        .has_prepare = p->has_append && step->max_seq_tokens == 1,
        .q16 = cuda->q16,
        .keys = cache->keys,
        .values = cache->values,
        .sinks = mx_cuda_vector(cuda, p->sinks),
        .y = mx_cuda_value(cuda, op->out[0]),
        .partials = cuda->partials,
        .counters = cuda->counters,
        .n_heads = p->n_heads,
        .n_kv_heads = spec->n_kv_heads,
        .v_dim = spec->v_dim,
        .window = p->window,
        .scale = p->scale,
        .softcap = p->softcap,
    };
    if (!params.has_prepare) {
        MX_TRY(launch_prepare(cuda, &params.prepare, err));
    }
    const int32_t i_dim = cache->dim == 64 ? 0 : cache->dim == 128 ? 1 : 2;
    const int32_t n_rows = step->max_seq_tokens * (p->n_heads / spec->n_kv_heads);
    if (n_rows > MAX_SPLIT_ROWS) {
        const uint32_t n_warps = p->n_heads / spec->n_kv_heads % 2 ? WARPS : 2 * WARPS; /* 2: two heads' queries */
        const mx_cuda_grid grid = {{(uint32_t)step->n_query_tiles, (uint32_t)p->n_heads * WARPS / n_warps, 1},
                                   32 * n_warps,
                                   TILE_STAGES * 2 * MX_PAGE_TOKENS * (uint32_t)cache->dim * 2};
        return mx_cuda_launch(cuda, tile_kernels[i_dim], grid, &params, err);
    }
    params.n_row_tiles = (int32_t)ceil_div(n_rows, QUERY_ROWS);
    const int32_t n_blocks = step->n_seqs * spec->n_kv_heads * params.n_row_tiles;
    const int32_t n_pages = p->window > 0 ? MX_MIN(step->n_pages, p->window / MX_PAGE_TOKENS + 2) : step->n_pages;
    const int32_t most = MX_MIN(ATTENTION_MAX_SPLITS, (int32_t)ceil_div(n_pages, WARPS));
    const int32_t n_splits = MX_MAX(1, MX_MIN(mx_cuda_wanted_blocks(cuda) / n_blocks, most));
    const mx_cuda_grid grid = {
        {(uint32_t)step->n_seqs, (uint32_t)(spec->n_kv_heads * params.n_row_tiles), (uint32_t)n_splits},
        32 * WARPS,
        (uint32_t)(WARPS * QUERY_ROWS * (cache->dim + 2)) * (uint32_t)sizeof(float)};
    return mx_cuda_launch(cuda, split_kernels[i_dim], grid, &params, err);
}

mx_status mx_cuda_rope_op(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    (void)data;
    const mx_rope_spec *spec = &cuda->program->ropes[op->u.rope.rope];
    rope_params params = {
        .x = mx_cuda_value(cuda, op->in[0]),
        .y = mx_cuda_value(cuda, op->out[0]),
        .inv_freq = cuda->ropes[op->u.rope.rope].inv_freq,
        .positions = mx_cuda_batch_at(cuda, cuda->batch_layout.positions),
        .n_heads = op->u.rope.n_heads,
        .head_dim = op->u.rope.head_dim,
        .rot_dim = spec->rot_dim,
        .is_interleaved = spec->is_interleaved,
        .factor = spec->factor,
    };
    if (cuda->step.n_tokens == 0) {
        return MX_OK;
    }
    const mx_cuda_grid grid = {{(uint32_t)cuda->step.n_tokens, (uint32_t)op->u.rope.n_heads, 1}, 64, 0};
    return mx_cuda_launch(cuda, MX_CUDA_rope, grid, &params, err);
}
