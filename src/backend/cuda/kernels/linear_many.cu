/* linear_many.cu - products of many rows with packed weights: prompts, and steps of many sequences.
 *
 * Source    weights on the left as in linear_few.cu; stages of shared memory filled by cp.async.
 * Grid      (tiles of rows of x, tiles of outputs, splits of the columns)
 * Block     256 threads = 8 warps, 4 along the outputs x 2 along the rows of x. A warp has 2 tiles of 16 outputs (with
 * a GLU: a gate's and its partner's) and NT tiles of 8 rows. Shared    4 stages of { 8 tiles' chunks | their scales |
 * [16 * NT rows][64 columns] of x16 }, one chunk of columns each. In x, the 16-byte piece j of row r lies at j ^ 4 * (r
 * % 2): 2 rows x 4 pieces are then in 8 different groups of 4 banks, which is what a quarter of a warp reads at once.
 * Order     Sums run over chunks in order; the splits of a tile are added in order by the last block to arrive.
 */
#include "backend/cuda/kernels/linear_output.cuh"
#include "backend/cuda/kernels/weights_dequant.cuh"

enum { MANY_STAGES = 4, MANY_TILES = 8 };

template <int KIND> struct many_stage {
    enum {
        CHUNK_BYTES = KIND == TILE_Q4   ? 512
                      : KIND == TILE_Q8 ? 1024
                                        : 2048,
        TILE_BYTES = MANY_TILES * CHUNK_BYTES,
        SCALE_BYTES = KIND == TILE_F16 ? 0 : MANY_TILES * 128, /* two groups in a chunk at most */
    };
};

/* Weights and scales of one chunk for the block's tiles. */
template <int KIND>
__device__ __forceinline__ void fetch_weights(const linear_params *p, uint8_t *stage, int32_t first_tile, int32_t chunk,
                                              bool is_there)
{
    typedef many_stage<KIND> S;
    for (int i = threadIdx.x; i < S::TILE_BYTES / 16; i += 256) {
        const int32_t tile = first_tile + i / (S::CHUNK_BYTES / 16);
        const bool is_in = is_there && tile < p->n_tiles;
        const int64_t at = is_in ? ((int64_t)tile * p->n_chunks + chunk) * S::CHUNK_BYTES : 0;
        copy_async(stage + 16 * i, p->tiles + at + 16 * (i % (S::CHUNK_BYTES / 16)), is_in);
    }
    if (KIND != TILE_F16) {
        /* Of 8 bytes: row pair g of a group. [tile][group in the chunk][g] in the stage. */
        const int32_t n_groups = p->group == 32 ? 2 : 1;
        const int i = threadIdx.x;
        if (i < MANY_TILES * 8 * n_groups) {
            const int32_t tile = first_tile + i / 8 / n_groups;
            const int32_t in_span = SPAN_COLS / p->group;
            const int32_t at_group = chunk % 2 * CHUNK_COLS / p->group + i / 8 % n_groups;
            const int64_t span = is_there && tile < p->n_tiles ? (int64_t)tile * p->n_spans + chunk / 2 : 0;
            copy_async_8(stage + S::TILE_BYTES + i / 8 / n_groups * 128 + i / 8 % n_groups * 64 + i % 8 * 8,
                         p->scales + ((span * 8 + i % 8) * in_span + at_group) * 2);
        }
    }
}

template <int NT>
__device__ __forceinline__ void fetch_rows(const linear_params *p, uint8_t *to, int32_t first_row, int32_t chunk,
                                           bool is_there)
{
    for (int i = threadIdx.x; i < 16 * NT * 8; i += 256) {
        const int32_t r = i / 8;
        const int32_t piece = i % 8;
        const bool is_in = is_there && first_row + r < p->n_x_rows;
        const int64_t at = is_in ? (int64_t)(first_row + r) * p->n_padded + chunk * CHUNK_COLS : 0;
        copy_async(to + r * 128 + (piece ^ 4 * (r % 2)) * 16, p->x16 + at + piece * 8, is_in);
    }
}

template <int KIND, int NT>
__device__ __forceinline__ void multiply_stage(float acc[2][NT][4], const uint8_t *stage, int32_t group)
{
    typedef many_stage<KIND> S;
    const int32_t lane = threadIdx.x % 32;
    const int32_t warp = threadIdx.x / 32;
    const int32_t first_tile = warp / 2 * 2;
    const uint8_t *x = stage + S::TILE_BYTES + S::SCALE_BYTES + (warp % 2 * NT * 8 + lane / 4) * 128;
    const int32_t odd = lane / 4 % 2 * 4;
#pragma unroll
    for (int b = 0; b < 2; b++) {
        uint32_t a[2][2][4];
#pragma unroll
        for (int m = 0; m < 2; m++) {
            const uint8_t *w = stage + (first_tile + m) * S::CHUNK_BYTES;
            const uint8_t *s = stage + S::TILE_BYTES + (first_tile + m) * 128 + (group == 32 ? b * 64 : 0);
            if (KIND == TILE_Q4) {
                const uint2 words = *(const uint2 *)(w + lane * 16 + 8 * b);
                dequant_q4(a[m], words.x, words.y, *(const uint2 *)(s + lane / 4 * 8));
            } else if (KIND == TILE_Q8) {
                dequant_q8(a[m], *(const uint4 *)(w + 512 * b + lane * 16), *(const uint2 *)(s + lane / 4 * 8));
            } else {
                dequant_f16(a[m], *(const uint4 *)(w + 1024 * b + lane * 16),
                            *(const uint4 *)(w + 1024 * b + 512 + lane * 16));
            }
        }
#pragma unroll
        for (int t = 0; t < NT; t++) {
            const uint4 v = *(const uint4 *)(x + t * 8 * 128 + ((4 * b + lane % 4) ^ odd) * 16);
#pragma unroll
            for (int m = 0; m < 2; m++) {
                mma_f16(acc[m][t], a[m][0], v.x, v.y);
                mma_f16(acc[m][t], a[m][1], v.z, v.w);
            }
        }
    }
}

/* Leaves this split's sums for the last block of the tile, which adds them all up. True in that block. */
template <int NT> __device__ static bool add_splits(const linear_params *p, float acc[2][NT][4])
{
    __shared__ uint32_t before;
    const int64_t i_tile = (int64_t)blockIdx.y * gridDim.x + blockIdx.x;
    const int32_t n_elements = 256 * 2 * NT * 4;
    float *mine = p->partials + (i_tile * gridDim.z + blockIdx.z) * n_elements + threadIdx.x;
#pragma unroll
    for (int i = 0; i < 2 * NT * 4; i++) {
        mine[i * 256] = acc[i / (NT * 4)][i / 4 % NT][i % 4];
    }
    __threadfence();
    __syncthreads(); /* all of the block's sums are written */
    if (threadIdx.x == 0) {
        before = arrive(p->counters + i_tile);
    }
    __syncthreads(); /* `before` is there */
    if (before + 1 != gridDim.z) {
        return false;
    }
    if (threadIdx.x == 0) {
        p->counters[i_tile] = 0;
    }
    const float *all = p->partials + i_tile * gridDim.z * n_elements + threadIdx.x;
#pragma unroll
    for (int i = 0; i < 2 * NT * 4; i++) {
        float sum = 0.0f;
        for (int32_t z = 0; z < (int32_t)gridDim.z; z++) {
            sum += __ldcg(all + (int64_t)z * n_elements + i * 256);
        }
        acc[i / (NT * 4)][i / 4 % NT][i % 4] = sum;
    }
    return true;
}

template <int KIND, int NT> __device__ __forceinline__ void linear_many(const linear_params *p)
{
    typedef many_stage<KIND> S;
    enum { STAGE_BYTES = S::TILE_BYTES + S::SCALE_BYTES + 16 * NT * 128 };
    MX_DYNAMIC_SHARED(uint4, memory);
    uint8_t *stages = (uint8_t *)memory;
    let_next_start();

    const int32_t first_row = blockIdx.x * 16 * NT;
    const int32_t first_tile = blockIdx.y * MANY_TILES;
    const int32_t per_split = (p->n_chunks + (int32_t)gridDim.z - 1) / (int32_t)gridDim.z;
    const int32_t from = blockIdx.z * per_split;
    const int32_t to = min(p->n_chunks, from + per_split);
    for (int32_t s = 0; s < MANY_STAGES - 1; s++) { /* weights first: they do not wait for the previous kernel */
        fetch_weights<KIND>(p, stages + s * STAGE_BYTES, first_tile, from + s, from + s < to);
    }
    wait_for_previous();
    for (int32_t s = 0; s < MANY_STAGES - 1; s++) {
        fetch_rows<NT>(p, stages + s * STAGE_BYTES + S::TILE_BYTES + S::SCALE_BYTES, first_row, from + s,
                       from + s < to);
        copy_commit();
    }
    float acc[2][NT][4];
#pragma unroll
    for (int i = 0; i < 2 * NT * 4; i++) {
        acc[i / (NT * 4)][i / 4 % NT][i % 4] = 0.0f;
    }
    for (int32_t chunk = from; chunk < to; chunk++) {
        copy_wait<MANY_STAGES - 2>();
        __syncthreads(); /* the chunk is there, and everyone has done with the stage that is filled next */
        const int32_t next = chunk + MANY_STAGES - 1;
        uint8_t *fill = stages + (next - from) % MANY_STAGES * STAGE_BYTES;
        if (next < to) {
            fetch_weights<KIND>(p, fill, first_tile, next, true);
            fetch_rows<NT>(p, fill + S::TILE_BYTES + S::SCALE_BYTES, first_row, next, true);
        }
        copy_commit();
        multiply_stage<KIND, NT>(acc, stages + (chunk - from) % MANY_STAGES * STAGE_BYTES, p->group);
    }
    if (gridDim.z > 1 && !add_splits<NT>(p, acc)) {
        return;
    }
    const int32_t warp = threadIdx.x / 32;
    float *sums = (float *)memory;
    copy_wait<0>();
    __syncthreads(); /* nobody reads a stage any more */
#pragma unroll
    for (int i = 0; i < 2 * NT; i++) {
        put_sums(sums, acc[i / NT][i % NT], warp / 2 * 2 + i / NT, (warp % 2 * NT + i % NT) * 8);
    }
    __syncthreads(); /* the sums are there */
    store_block(p, sums, 16 * NT, first_row, first_tile);
}

#define LINEAR_MANY(name, kind, n_row_tiles, n_blocks)                                                        \
    extern "C" __global__ void __launch_bounds__(256, n_blocks) name(const __grid_constant__ linear_params p) \
    {                                                                                                         \
        linear_many<kind, n_row_tiles>(&p);                                                                   \
    }
LINEAR_MANY(linear_many_q4_16, TILE_Q4, 1, 3)
LINEAR_MANY(linear_many_q4_64, TILE_Q4, 4, 2)
LINEAR_MANY(linear_many_q4_128, TILE_Q4, 8, 2)
LINEAR_MANY(linear_many_q8_16, TILE_Q8, 1, 3)
LINEAR_MANY(linear_many_q8_64, TILE_Q8, 4, 2)
LINEAR_MANY(linear_many_q8_128, TILE_Q8, 8, 2)
LINEAR_MANY(linear_many_f16_16, TILE_F16, 1, 2)
LINEAR_MANY(linear_many_f16_64, TILE_F16, 4, 2)
LINEAR_MANY(linear_many_f16_128, TILE_F16, 8, 1)
