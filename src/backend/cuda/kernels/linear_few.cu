/* linear_few.cu - products of up to 8 rows with packed weights: decoding, where reading the weights is all the time.
 *
 * Source    the tensor cores' 16 x 8 products with weights on the left, as in Marlin (arXiv 2408.11743), here with the
 *           weights' own lane order (tiles.params.h), so that a warp reads 512 neighbouring bytes and needs no shuffle.
 * Grid      (blocks, 1), or with experts (blocks, n_tokens * top_k): block row j is one expert for one row of x.
 *           Blocks walk over tiles.
 * Block     256 threads = 8 warps; n_warps_a_tile of them share a tile, each with every n-th chunk of columns.
 * Shared    [rows of x][n_padded + 32] f16, then the warps' sums, 2 x [8][16][8] f32, then 136 floats of reductions.
 *           The 32 more columns keep two rows from sharing banks.
 * Order     The first weights are asked for before the wait for the previous kernel. A sum is over chunks in order,
 *           then over warps in order, whatever the number of rows.
 * Roofline  n * k * (bits + 32 / group) / 8 bytes at the memory's speed: 4096 x 4096, 4 bits, group 64: 9.4 MB.
 */
#include "backend/cuda/kernels/linear_output.cuh"
#include "backend/cuda/kernels/weights_dequant.cuh"

enum { FEW_ROWS = 8, FEW_WARPS = 8, FEW_AHEAD = 4 };

/* What one lane holds of a chunk. */
template <int KIND> struct lane_chunk {
    enum { N_LOADS = KIND == TILE_Q4 ? 1 : KIND == TILE_Q8 ? 2 : 4 };
    uint4 w[N_LOADS];
    uint2 s[2]; /* scales of both blocks */
};

template <int KIND>
__device__ __forceinline__ void load_chunk(lane_chunk<KIND> *to, const linear_params *p, const uint8_t *tiles,
                                           const uint32_t *scales, int32_t tile, int32_t chunk)
{
    const int32_t lane = threadIdx.x % 32;
    const uint8_t *from = tiles + ((int64_t)tile * p->n_chunks + chunk) * (512 * lane_chunk<KIND>::N_LOADS);
#pragma unroll
    for (int i = 0; i < lane_chunk<KIND>::N_LOADS; i++) {
        to->w[i] = load_once(from + 512 * i + 16 * lane);
    }
    if (KIND != TILE_F16) {
        const uint2 *s = (const uint2 *)scales + (int64_t)tile * p->n_groups * 8 + lane / 4;
        const int32_t first = p->group == 128 ? chunk / 2 : p->group == 64 ? chunk : 2 * chunk;
        to->s[0] = __ldg(s + first * 8);
        if (p->group == 32) { /* else s[1] is not used: setting it from s[0] would wait for that load here */
            to->s[1] = __ldg(s + (first + 1) * 8);
        }
    }
}

template <int KIND>
__device__ __forceinline__ void dequant_block(uint32_t a[2][4], const lane_chunk<KIND> *from, int b,
                                              bool has_two_groups)
{
    const uint2 s = b && has_two_groups ? from->s[1] : from->s[0];
    if (KIND == TILE_Q4) {
        dequant_q4(a, b ? from->w[0].z : from->w[0].x, b ? from->w[0].w : from->w[0].y, s);
    } else if (KIND == TILE_Q8) {
        dequant_q8(a, from->w[b % lane_chunk<KIND>::N_LOADS], s);
    } else {
        dequant_f16(a, from->w[2 * b % lane_chunk<KIND>::N_LOADS], from->w[(2 * b + 1) % lane_chunk<KIND>::N_LOADS]);
    }
}

/* Four neighbouring columns of a row; zeros past its end. */
__device__ __forceinline__ float4 load_4(const float *x, int32_t k, int32_t n_cols, bool is_aligned)
{
    if (is_aligned && k < n_cols) {
        return __ldcg((const float4 *)(x + k));
    }
    float4 v;
    v.x = k < n_cols ? load_f32(x + k) : 0.0f;
    v.y = k + 1 < n_cols ? load_f32(x + k + 1) : 0.0f;
    v.z = k + 2 < n_cols ? load_f32(x + k + 2) : 0.0f;
    v.w = k + 3 < n_cols ? load_f32(x + k + 3) : 0.0f;
    return v;
}

__device__ __forceinline__ float4 weighted(const linear_params *p, float4 v, int32_t k, bool is_aligned)
{
    if (p->norm) {
        const float4 w = load_4(p->norm, k, p->n_cols, is_aligned);
        v.x *= w.x + p->weight_offset;
        v.y *= w.y + p->weight_offset;
        v.z *= w.z + p->weight_offset;
        v.w *= w.w + p->weight_offset;
    }
    return v;
}

/* Brings the rows of x to f16 in shared memory and their factors to `factors`. */
__device__ static void stage_rows(const linear_params *p, const float *x, uint16_t *x16, float *factors, float *shared)
{
    const int32_t stride = p->n_padded + 32;
    const bool is_aligned = p->n_cols % 4 == 0;
    for (int32_t r = 0; r < p->n_x_rows; r++) {
        const float *row = x + (int64_t)r * p->n_cols;
        float squares = 0.0f;
        float largest = 0.0f;
#pragma unroll 4
        for (int32_t k = 4 * threadIdx.x; k < p->n_cols; k += 4 * 256) {
            const float4 v = load_4(row, k, p->n_cols, is_aligned);
            const float4 w = weighted(p, v, k, is_aligned);
            squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
            largest = fmaxf(fmaxf(fmaxf(largest, fabsf(w.x)), fmaxf(fabsf(w.y), fabsf(w.z))), fabsf(w.w));
        }
        squares = warp_sum(squares);
        largest = warp_max(largest);
        if (threadIdx.x % 32 == 0) {
            shared[r * FEW_WARPS + threadIdx.x / 32] = squares;
            shared[(FEW_ROWS + r) * FEW_WARPS + threadIdx.x / 32] = largest;
        }
    }
    __syncthreads(); /* the warps' parts are there */
    for (int32_t r = 0; r < p->n_x_rows; r++) {
        const float *row = x + (int64_t)r * p->n_cols;
        float sum = 0.0f;
        float peak = 0.0f;
        for (int32_t i = 0; i < FEW_WARPS; i++) {
            sum += shared[r * FEW_WARPS + i];
            peak = fmaxf(peak, shared[(FEW_ROWS + r) * FEW_WARPS + i]);
        }
        const float up = peak > 0.0f ? 16384.0f / peak : 1.0f;
        if (threadIdx.x == 0) {
            factors[r] = (p->has_norm ? rsqrtf(sum / (float)p->n_cols + p->eps) : 1.0f) / up;
        }
#pragma unroll 4
        for (int32_t k = 4 * threadIdx.x; k < p->n_padded; k += 4 * 256) {
            const float4 v = weighted(p, load_4(row, k, p->n_cols, is_aligned), k, is_aligned);
            uint2 pair;
            pair.x = h2_from_f32(v.x * up, v.y * up);
            pair.y = h2_from_f32(v.z * up, v.w * up);
            *(uint2 *)(x16 + r * stride + k) = pair;
        }
    }
    __syncthreads(); /* x16 and factors are there */
}

/* The same from linear_input's output. */
__device__ static void stage_ready_rows(const linear_params *p, uint16_t *x16, float *factors)
{
    const int32_t n_pieces = p->n_padded / 8;
    for (int32_t i = threadIdx.x; i < p->n_x_rows * n_pieces; i += 256) {
        copy_async(x16 + i / n_pieces * (p->n_padded + 32) + i % n_pieces * 8, p->x16 + (int64_t)i * 8, true);
    }
    copy_commit();
    if (threadIdx.x < p->n_x_rows) {
        factors[threadIdx.x] = load_f32(p->factors + threadIdx.x);
    }
    copy_wait<0>();
    __syncthreads(); /* x16 and factors are there */
}

template <int KIND>
__device__ __forceinline__ void multiply_chunk(float acc[4], const lane_chunk<KIND> *chunk, const uint16_t *x_lane,
                                               bool has_row, bool has_two_groups)
{
#pragma unroll
    for (int b = 0; b < 2; b++) {
        uint32_t a[2][4];
        dequant_block<KIND>(a, chunk, b, has_two_groups);
        const uint4 x = has_row ? *(const uint4 *)(x_lane + 32 * b) : make_uint4(0, 0, 0, 0);
        mma_f16(acc, a[0], x.x, x.y);
        mma_f16(acc, a[1], x.z, x.w);
    }
}

/* Adds up what the warps have of the block's tiles, and stores it. Every thread takes part. */
__device__ static void finish_tiles(const linear_params *p, const float *sums, const float *factors, int32_t first_tile,
                                    int32_t expert, int64_t first_row)
{
    const int32_t n_share = p->n_warps_a_tile;
    const int32_t n_at_once = FEW_WARPS / n_share;
    const int32_t n_out = (p->has_glu ? n_at_once / 2 : n_at_once) * TILE_ROWS * FEW_ROWS;
    for (int32_t i = threadIdx.x; i < n_out; i += blockDim.x) {
        const int32_t r = i / TILE_ROWS % FEW_ROWS;
        const int32_t n = i % TILE_ROWS;
        const int32_t local = i / (TILE_ROWS * FEW_ROWS) * (p->has_glu ? 2 : 1);
        if (r >= p->n_x_rows || first_tile + local >= p->n_tiles) {
            continue;
        }
        float sum[2] = {0.0f, 0.0f};
        for (int32_t j = 0; j < (p->has_glu ? 2 : 1); j++) {
            for (int32_t w = 0; w < n_share; w++) {
                sum[j] += sums[(((local + j) * n_share + w) * TILE_ROWS + n) * FEW_ROWS + r];
            }
        }
        const output_place place = place_of_tile(p, first_tile + local);
        if (p->has_glu) {
            store_glu(p, expert, place.row + n, first_row + r, sum[0], sum[1], factors[r]);
        } else {
            store_plain(p, place, expert, place.row + n, first_row + r, sum[0], factors[r]);
        }
    }
}

template <int KIND> __device__ __forceinline__ void linear_few(const linear_params *p)
{
    MX_DYNAMIC_SHARED(uint4, memory);
    uint16_t *x16 = (uint16_t *)memory;
    float *sums = (float *)(x16 + p->n_x_rows * (p->n_padded + 32));
    float *reductions = sums + 2 * FEW_WARPS * TILE_ROWS * FEW_ROWS; /* 64, then 8 factors */
    let_next_start();

    const int32_t n_share = p->n_warps_a_tile;
    const int32_t n_at_once = FEW_WARPS / n_share;
    const int32_t warp = threadIdx.x / 32;
    const int32_t lane = threadIdx.x % 32;
    const int32_t share = warp % n_share;
    const int32_t n_steps = (p->n_chunks + n_share - 1) / n_share; /* of a tile, for every warp */
    const int32_t n_turns = (p->n_tiles + n_at_once * (int32_t)gridDim.x - 1) / (n_at_once * (int32_t)gridDim.x);
    const int32_t n_all = n_turns * n_steps;

    int32_t expert = 0;
    if (p->ids) {
        wait_for_previous(); /* the ids are from an earlier kernel */
        expert = __ldcg(p->ids + blockIdx.y);
    }
    const uint8_t *tiles = p->tiles + expert * p->expert_tile_bytes;
    const uint32_t *scales = p->scales + expert * p->expert_scale_words;

    /* The next chunk to ask for: step next_step of this warp's tile of turn next_turn. */
    lane_chunk<KIND> ahead[FEW_AHEAD];
    int32_t next_step = 0;
    int32_t next_tile = (int32_t)blockIdx.x * n_at_once + warp / n_share;
    auto load = [&](int slot) {
        const int32_t chunk = next_step * n_share + share;
        if (next_tile < p->n_tiles && chunk < p->n_chunks) {
            load_chunk<KIND>(&ahead[slot], p, tiles, scales, next_tile, chunk);
        }
        if (++next_step == n_steps) {
            next_step = 0;
            next_tile += (int32_t)gridDim.x * n_at_once;
        }
    };
#pragma unroll
    for (int u = 0; u < FEW_AHEAD; u++) {
        load(u);
    }
    if (!p->ids) {
        wait_for_previous();
    }
    const int32_t x_row = p->ids ? (p->is_x_by_slot ? blockIdx.y : blockIdx.y / p->top_k) : 0;
    float *factors = reductions + 2 * FEW_ROWS * FEW_WARPS;
    if (p->x) {
        stage_rows(p, p->x + (int64_t)x_row * p->n_cols, x16, factors, reductions);
    } else {
        stage_ready_rows(p, x16, factors);
    }

    const bool has_row = lane / 4 < p->n_x_rows;
    const uint16_t *x_lane = x16 + (has_row ? lane / 4 : 0) * (p->n_padded + 32) + lane % 4 * 8;
    float acc[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    int32_t in_turn = 0;
    int32_t turn = 0;
    for (int32_t i = 0; i < n_all; i += FEW_AHEAD) {
#pragma unroll
        for (int u = 0; u < FEW_AHEAD; u++) {
            if (i + u < n_all) {
                const int32_t tile = (turn * (int32_t)gridDim.x + (int32_t)blockIdx.x) * n_at_once;
                const int32_t chunk = in_turn * n_share + share;
                if (tile + warp / n_share < p->n_tiles && chunk < p->n_chunks) {
                    multiply_chunk<KIND>(acc, &ahead[u], x_lane + chunk * CHUNK_COLS, has_row, p->group == 32);
                }
                load(u);
                if (++in_turn == n_steps) { /* the tile is done: the same turn for all warps of the block */
                    float *mine = sums + (turn % 2) * FEW_WARPS * TILE_ROWS * FEW_ROWS;
                    float *to = mine + (warp * TILE_ROWS + lane / 4) * FEW_ROWS + lane % 4 * 2;
                    to[0] = acc[0];
                    to[1] = acc[1];
                    to[8 * FEW_ROWS] = acc[2];
                    to[8 * FEW_ROWS + 1] = acc[3];
                    acc[0] = acc[1] = acc[2] = acc[3] = 0.0f;
                    __syncthreads(); /* sums of this turn are there; those of the turn before last have been read */
                    finish_tiles(p, mine, factors, tile, expert, p->ids ? blockIdx.y : 0);
                    in_turn = 0;
                    turn++;
                }
            }
        }
    }
}

#define LINEAR_FEW(name, kind)                                                                         \
    extern "C" __global__ void __launch_bounds__(256, 2) name(const __grid_constant__ linear_params p) \
    {                                                                                                  \
        linear_few<kind>(&p);                                                                          \
    }
LINEAR_FEW(linear_few_q4, TILE_Q4)
LINEAR_FEW(linear_few_q8, TILE_Q8)
LINEAR_FEW(linear_few_f16, TILE_F16)
