/* linear_launch.c - LINEAR and EXPERT_LINEAR: which kernel, and how it is cut into blocks. */
#include "backend/cuda/cuda_backend.h"

#define MANY_TILES     8
#define MANY_STAGES    4
#define MIN_WIDE_SPLIT 4 /* the same in spans, for linear_wide */
#define MIN_SPLIT      4 /* chunks that a split of the columns has at least */
#define SHARED_STATIC  1024

static int32_t count_groups(const mx_cuda_packed *packed)
{
    return SPAN_COLS / packed->group; /* of a span */
}

int64_t mx_cuda_staged_bytes(const mx_cuda_packed *packed, int64_t n_rows)
{
    const int64_t n_units = packed->n_chunks / 2 * count_groups(packed);
    return FEW_ROWS * 4 + n_units * FEW_ROWS * 8 + n_rows * (packed->n_chunks * CHUNK_COLS + 32) * 2;
}

static uint32_t few_shared_bytes(const mx_cuda_packed *packed, int64_t n_rows, int32_t n_slots)
{
    return (uint32_t)(FEW_WARPS * n_slots * FEW_SLOT_BYTES(packed->kind, count_groups(packed)) + FEW_SUM_FLOATS * 4 +
                      mx_cuda_staged_bytes(packed, n_rows));
}

/* Slots of a warp's ring that fit into the device's shared memory: 0, 1, 2 or all. */
static int32_t few_slots(const mx_cuda *cuda, const mx_cuda_packed *packed, int64_t n_rows)
{
    const uint32_t n_bytes = (uint32_t)cuda->max_shared_bytes - SHARED_STATIC;
    if (few_shared_bytes(packed, n_rows, FEW_SLOTS(packed->kind)) <= n_bytes) {
        return FEW_SLOTS(packed->kind);
    }
    return few_shared_bytes(packed, n_rows, 2) <= n_bytes ? 2 : few_shared_bytes(packed, n_rows, 1) <= n_bytes;
}

static uint32_t many_shared_bytes(const mx_cuda_packed *packed, int32_t n_row_tiles)
{
    static const uint32_t stage_bytes[TILE_KINDS] = {[TILE_Q4] = 512 + 128, [TILE_Q8] = 1024 + 128, [TILE_F16] = 2048};
    return MANY_STAGES * (MANY_TILES * stage_bytes[packed->kind] + 16 * 128 * (uint32_t)n_row_tiles);
}

static linear_params params_of(const mx_cuda *cuda, const mx_op *op, const mx_cuda_packed *packed)
{
    const mx_linear_params *p = &op->u.linear;
    const bool is_expert = op->kind == MX_OP_EXPERT_LINEAR;
    linear_params params = {
        .x = mx_cuda_value(cuda, op->in[0]),
        .norm = p->has_norm ? mx_cuda_vector(cuda, p->norm.weight) : 0,
        .x16 = cuda->x16,
        .factors = cuda->x_factors,
        .tiles = packed->tiles,
        .scales = packed->scales,
        .residual = !is_expert && op->in[1] != MX_NO_VALUE ? mx_cuda_value(cuda, op->in[1]) : 0,
        .partials = cuda->partials,
        .counters = cuda->counters,
        .staged = cuda->staged,
        .ids = is_expert ? mx_cuda_value(cuda, op->in[1]) : 0,
        .expert_tile_bytes = packed->expert_tile_bytes,
        .expert_scale_words = packed->expert_scale_words,
        .n_x_rows = is_expert ? 1 : (int32_t)mx_cuda_n_rows(cuda, op->in[0]),
        .n_cols = (int32_t)mx_cuda_n_cols(cuda, op->in[0]),
        .n_padded = packed->n_chunks * CHUNK_COLS,
        .n_chunks = packed->n_chunks,
        .n_tiles = packed->n_tiles,
        .n_spans = packed->n_chunks / 2,
        .group = packed->group,
        .n_segments = packed->n_segments,
        .has_glu = p->has_glu,
        .act = p->has_glu || p->has_act ? (int32_t)p->act : ACT_NONE,
        .has_norm = p->has_norm,
        .eps = p->norm.eps,
        .weight_offset = p->norm.weight_offset,
        .norm_bias = p->has_norm && p->norm.is_centered ? mx_cuda_vector(cuda, p->norm.bias) : 0,
        .is_centered = p->has_norm && p->norm.is_centered,
    };
    for (int32_t i = 0; i < packed->n_segments; i++) {
        const int32_t place = packed->outputs[i];
        params.segments[i] = (linear_segment){
            .y = mx_cuda_value(cuda, op->out[p->has_glu ? 0 : place]),
            .bias = mx_cuda_vector(cuda, p->biases[place]),
            .factor = mx_cuda_factor_of(packed, i, 0),
            .n_rows = (int32_t)cuda->program->weights[p->weights[place]].n_rows,
            .first_tile = packed->first_tile[i],
        };
    }
    return params;
}

/* Warps that share a tile, as a power of two: the choice that gives the busiest warp least to do. */
static int32_t choose_share(const mx_cuda_packed *packed, int32_t max_blocks)
{
    int32_t best = 0;
    int64_t least = INT64_MAX;
    for (int32_t shift = 0; shift <= FEW_WARPS_SHIFT - (packed->takes_turns ? 1 : 0); shift++) {
        const int32_t n_at_once = (FEW_WARPS >> shift) * max_blocks;
        const int64_t n_turns = (packed->n_tiles + n_at_once - 1) / n_at_once;
        const int64_t n_spans = (packed->n_chunks / 2 + (1 << shift) - 1) >> shift;
        const int64_t work = n_turns * (n_spans + 1); /* ending a turn costs about as much as a span */
        if (work <= least) {
            best = shift;
            least = work;
        }
    }
    return best;
}

static int32_t few_kernel(const mx_cuda_packed *packed)
{
    const int32_t i_group = packed->group == 32 ? 0 : packed->group == 64 ? 1 : 2;
    return packed->kind == TILE_F16 ? 6 : packed->kind * 3 + i_group;
}

static mx_status launch_few(mx_cuda *cuda, const mx_cuda_packed *packed, linear_params *params, int32_t n_slots,
                            mx_error *err)
{
    params->n_slots = few_slots(cuda, packed, params->n_x_rows);
    const uint32_t n_shared = few_shared_bytes(packed, params->n_x_rows, params->n_slots);
    const int32_t per_sm = params->n_x_rows == 1 && 2 * (n_shared + 1024) <= (uint32_t)cuda->max_shared_bytes ? 2 : 1;
    const int32_t max_blocks = MX_MAX(1, per_sm * cuda->device->n_sms / n_slots);
    params->share_shift = choose_share(packed, max_blocks);
    const int32_t n_at_once = FEW_WARPS >> params->share_shift;
    const int32_t n_blocks = MX_MIN((packed->n_tiles + n_at_once - 1) / n_at_once, max_blocks);
    const mx_cuda_grid grid = {{(uint32_t)n_blocks, (uint32_t)n_slots, 1}, FEW_THREADS, n_shared};
    return mx_cuda_launch(cuda, (mx_cuda_kernel)(MX_CUDA_linear_few_q4_32 + few_kernel(packed)), grid, params, err);
}

/* Rows of x for all packed matrices that want them alike. */
static mx_status launch_stage(mx_cuda *cuda, const mx_cuda_packed *packed, linear_params *params, mx_error *err)
{
    return mx_cuda_launch(cuda, (mx_cuda_kernel)(MX_CUDA_linear_stage_q4_32 + few_kernel(packed)),
                          (mx_cuda_grid){{(uint32_t)params->n_x_rows, 1, 1}, FEW_THREADS, 0}, params, err);
}

static mx_status launch_many(mx_cuda *cuda, const mx_cuda_packed *packed, linear_params *params, mx_error *err)
{
    static const int32_t row_tiles[] = {1, 4, 8};
    static const mx_cuda_kernel kernels[TILE_KINDS][3] = {
        [TILE_Q4] = {MX_CUDA_linear_many_q4_16, MX_CUDA_linear_many_q4_64, MX_CUDA_linear_many_q4_128},
        [TILE_Q8] = {MX_CUDA_linear_many_q8_16, MX_CUDA_linear_many_q8_64, MX_CUDA_linear_many_q8_128},
        [TILE_F16] = {MX_CUDA_linear_many_f16_16, MX_CUDA_linear_many_f16_64, MX_CUDA_linear_many_f16_128},
    };
    int32_t i = params->n_x_rows <= 16 ? 0 : params->n_x_rows <= 64 ? 1 : 2;
    while (i > 0 && many_shared_bytes(packed, row_tiles[i]) + SHARED_STATIC > (uint32_t)cuda->max_shared_bytes) {
        i--;
    }
    const int32_t rows = 16 * row_tiles[i];
    const int32_t n_blocks_x = (params->n_x_rows + rows - 1) / rows;
    const int32_t n_blocks_y = (packed->n_tiles + MANY_TILES - 1) / MANY_TILES;
    const int32_t n_splits =
        MX_MAX(1, MX_MIN(mx_cuda_wanted_blocks(cuda) / (n_blocks_x * n_blocks_y), packed->n_chunks / MIN_SPLIT));
    const mx_cuda_grid grid = {
        {(uint32_t)n_blocks_x, (uint32_t)n_blocks_y, (uint32_t)n_splits}, 256, many_shared_bytes(packed, row_tiles[i])};
    return mx_cuda_launch(cuda, kernels[packed->kind][i], grid, params, err);
}

/* Rows of x that a block of linear_wide takes. */
static int32_t wide_rows(int64_t n_rows)
{
    return n_rows <= 16 ? 16 : n_rows <= 64 ? 64 : 128;
}

static mx_status launch_wide(mx_cuda *cuda, const mx_cuda_packed *packed, linear_params *params, int32_t n_rows_a_block,
                             mx_error *err)
{
    static const int32_t chunk_bytes[TILE_KINDS] = {[TILE_Q4] = 512, [TILE_Q8] = 1024, [TILE_F16] = 2048};
    const int32_t n_scales = packed->kind == TILE_F16 ? 0 : 64 * count_groups(packed);
    const int32_t n_blocks_x = (params->n_x_rows + n_rows_a_block - 1) / n_rows_a_block;
    /* Twice as many tiles a block where that leaves work for all. */
    const int32_t n_fold =
        n_rows_a_block == 128 && n_blocks_x * (packed->n_tiles / (2 * WIDE_TILES)) >= cuda->device->n_sms ? 2 : 1;
    const int32_t n_tiles = n_fold * WIDE_TILES;
    const int32_t n_bytes = 256 * n_rows_a_block + n_tiles * (2 * chunk_bytes[packed->kind] + n_scales);
    params->stage_bytes = (n_bytes + 1023) / 1024 * 1024;
    params->n_stages = MX_MIN((cuda->max_shared_bytes - 2 * SHARED_STATIC) / params->stage_bytes, WIDE_MAX_STAGES);
    const int32_t n_blocks_y = (packed->n_tiles + n_tiles - 1) / n_tiles;
    const int32_t n_splits =
        n_fold > 1
            ? 1
            : MX_MAX(1, MX_MIN(cuda->device->n_sms / (n_blocks_x * n_blocks_y), params->n_spans / MIN_WIDE_SPLIT));
    const int32_t i_rows = n_rows_a_block == 16 ? 0 : n_rows_a_block == 64 ? 1 : 1 + n_fold;
    const mx_cuda_grid grid = {{(uint32_t)n_blocks_x, (uint32_t)n_blocks_y, (uint32_t)n_splits},
                               WIDE_THREADS,
                               (uint32_t)(params->n_stages * params->stage_bytes + 1024)};
    return mx_cuda_launch(cuda, (mx_cuda_kernel)(MX_CUDA_linear_wide_q4_16 + packed->kind * 4 + i_rows), grid, params,
                          err);
}

/* x once for all packed matrices of the operation: they have the same columns. */
static mx_status launch_input(mx_cuda *cuda, const mx_norm_params *norm, const linear_params *linear, mx_error *err)
{
    const bool is_centered = linear->has_norm && norm->is_centered;
    linear_input_params params = {
        .x = linear->x,
        .norm = linear->norm,
        .bias = is_centered ? mx_cuda_vector(cuda, norm->bias) : 0,
        .x16 = linear->x16,
        .factors = linear->factors,
        .n_cols = linear->n_cols,
        .n_padded = linear->n_padded,
        .has_norm = linear->has_norm,
        .eps = linear->eps,
        .weight_offset = linear->weight_offset,
        .is_centered = is_centered,
        .n_rows_padded = linear->n_rows_padded,
    };
    return mx_cuda_launch(cuda, MX_CUDA_linear_input, (mx_cuda_grid){{(uint32_t)linear->n_x_rows, 1, 1}, 256, 0},
                          &params, err);
}

static bool fits_few(const mx_cuda *cuda, const mx_cuda_op_data *data, int64_t n_rows)
{
    for (int32_t i = 0; i < data->n_packed; i++) {
        if (few_slots(cuda, &data->packed[i], n_rows) == 0) {
            return false;
        }
    }
    return true;
}

mx_status mx_cuda_linear(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    const int64_t n_rows = mx_cuda_n_rows(cuda, op->in[0]);
    if (n_rows == 0) {
        return MX_OK;
    }
    const mx_norm_params *norm = &op->u.linear.norm;
    const bool is_few = n_rows <= FEW_ROWS && fits_few(cuda, data, n_rows);
    const int32_t n_wide_rows = !is_few && cuda->has_wide ? wide_rows(n_rows) : 0;
    for (int32_t i = 0; i < data->n_packed; i++) {
        const mx_cuda_packed *packed = &data->packed[i];
        linear_params params = params_of(cuda, op, packed);
        if (n_wide_rows) {
            params.n_rows_padded = (int32_t)(n_rows + n_wide_rows - 1) / n_wide_rows * n_wide_rows;
        }
        if (!is_few && i == 0) {
            MX_TRY(launch_input(cuda, norm, &params, err));
        }
        params.is_staged = is_few && (n_rows > 1 || params.is_centered);
        params.staged_bytes = (int32_t)mx_cuda_staged_bytes(packed, n_rows);
        if (params.is_staged && (i == 0 || few_kernel(packed) != few_kernel(&data->packed[i - 1]))) {
            MX_TRY(launch_stage(cuda, packed, &params, err));
        }
        if (is_few) {
            MX_TRY(launch_few(cuda, packed, &params, 1, err));
        } else if (n_wide_rows) {
            MX_TRY(launch_wide(cuda, packed, &params, n_wide_rows, err));
        } else {
            MX_TRY(launch_many(cuda, packed, &params, err));
        }
    }
    return MX_OK;
}

mx_status mx_cuda_expert_linear(mx_cuda *cuda, const mx_op *op, const mx_cuda_op_data *data, mx_error *err)
{
    const int32_t top_k = (int32_t)mx_cuda_n_cols(cuda, op->in[1]);
    for (int32_t i = 0; i < data->n_packed && cuda->step.n_tokens > 0; i++) {
        linear_params params = params_of(cuda, op, &data->packed[i]);
        params.top_k = top_k;
        params.is_x_by_slot = cuda->program->values[op->in[0]].row_factor == top_k;
        MX_TRY(launch_few(cuda, &data->packed[i], &params, cuda->step.n_tokens * top_k, err));
    }
    return MX_OK;
}
