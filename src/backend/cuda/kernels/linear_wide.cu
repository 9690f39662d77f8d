/* linear_wide.cu - products of many rows with packed weights on GPUs of compute capability 9.0: prompts, and steps of
 * many sequences. Elsewhere linear_many does the same.
 *
 * Source    weights, brought to f16 in registers, are the left side of wgmma, as in Machete; x is the right side, from
 *           shared memory. The lane order of tiles (tiles.params.h) is also that of a wgmma's left side.
 * Grid      (tiles of N rows of x, 8 * MT tiles of 16 outputs, splits of the columns)
 * Block     384 threads: two groups of four warps, MT tiles of outputs a warp, and a group that gives its registers to
 *           them, of which one warp has everything copied. With MT = 1 a block asks the second cache for 40 KB a span,
 *           which limits it; with MT = 2 for 50 KB and twice the products.
 * Shared    p->n_stages stages of a span (128 columns): 2 chunks of x [N][64] in f16, words of 8 * MT tiles, their
 *           scales. linear_input leaves x in the order of wgmma.cuh and with columns permuted as tiles have them, so a
 *           stage's x is two pieces of global memory.
 * Order     While a chunk's products run, the warp brings the next chunk's weights to f16. A stage is given back when
 *           the products after its last ones have been begun, so that none of its own are under way.
 *           Sums run over columns in order; the splits of a tile are added in order by the last block to arrive.
 */
#include "backend/cuda/kernels/linear_output.cuh"
#include "backend/cuda/kernels/weights_dequant.cuh"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#include "backend/cuda/kernels/wgmma.cuh"

enum { WIDE_CONSUMERS = 256 };

template <int KIND> struct wide_words {
    enum { CHUNK = KIND == TILE_Q4 ? 512 : KIND == TILE_Q8 ? 1024 : 2048 };
};

struct wide_stage {
    uint8_t *x;
    uint8_t *words;
    uint8_t *scales;
};

template <int KIND, int N, int MT>
__device__ __forceinline__ wide_stage stage_at(const linear_params *p, uint8_t *memory, int32_t i)
{
    uint8_t *at = memory + i * p->stage_bytes;
    return {at, at + 256 * N, at + 256 * N + MT * WIDE_TILES * 2 * wide_words<KIND>::CHUNK};
}

__device__ __forceinline__ void consumers_meet()
{
    asm volatile("bar.sync 1, 256;" ::: "memory");
}

/* Weights and scales of a span: a lane copies a tile's. */
template <int KIND, int MT>
__device__ __forceinline__ void copy_weights(const linear_params *p, wide_stage stage, uint64_t *full,
                                             int32_t first_tile, int32_t span)
{
    enum { WORD_BYTES = 2 * wide_words<KIND>::CHUNK };
    const int32_t i = threadIdx.x % 32;
    if (i >= MT * WIDE_TILES) {
        return;
    }
    const int64_t at = (int64_t)min(first_tile + i, p->n_tiles - 1) * p->n_spans + span;
    copy_bulk(stage.words + i * WORD_BYTES, p->tiles + at * WORD_BYTES, WORD_BYTES, full);
    if (KIND != TILE_F16) {
        const int32_t n_bytes = 64 * (SPAN_COLS / p->group);
        copy_bulk(stage.scales + i * n_bytes, (const uint8_t *)p->scales + at * n_bytes, (uint32_t)n_bytes, full);
    }
}

template <int N>
__device__ __forceinline__ void copy_rows(const linear_params *p, wide_stage stage, uint64_t *full, int32_t first_row,
                                          int32_t span)
{
    const int32_t h = threadIdx.x % 32;
    if (h < 2) {
        const int64_t row = (int64_t)(2 * span + h) * p->n_rows_padded + first_row;
        copy_bulk(stage.x + h * (128 * N), p->x16 + row * CHUNK_COLS, 128 * N, full);
    }
}

/* The copying warp. */
template <int KIND, int N, int MT>
__device__ __forceinline__ void produce(const linear_params *p, uint8_t *memory, uint64_t *full, uint64_t *empty,
                                        int32_t from, int32_t to)
{
    const int32_t first_tile = blockIdx.y * (MT * WIDE_TILES);
    const int32_t first_row = blockIdx.x * N;
    const uint32_t n_bytes =
        256 * N +
        MT * WIDE_TILES * (2 * wide_words<KIND>::CHUNK + (KIND == TILE_F16 ? 0 : 64 * (SPAN_COLS / p->group)));
    const int32_t n_first = min(to - from, p->n_stages);
    for (int32_t i = 0; i < n_first; i++) { /* weights do not wait for the previous kernel */
        if (threadIdx.x % 32 == 0) {
            barrier_expect(&full[i], n_bytes);
        }
        __syncwarp(); /* the bytes are expected before they can come */
        copy_weights<KIND, MT>(p, stage_at<KIND, N, MT>(p, memory, i), &full[i], first_tile, from + i);
    }
    wait_for_previous();
    for (int32_t i = 0; i < n_first; i++) {
        copy_rows<N>(p, stage_at<KIND, N, MT>(p, memory, i), &full[i], first_row, from + i);
    }
    int32_t i_stage = 0;
    uint32_t parity = 0;
    for (int32_t span = from + n_first; span < to; span++) {
        barrier_wait(&empty[i_stage], parity);
        if (threadIdx.x % 32 == 0) {
            barrier_expect(&full[i_stage], n_bytes);
        }
        __syncwarp(); /* as above */
        const wide_stage stage = stage_at<KIND, N, MT>(p, memory, i_stage);
        copy_weights<KIND, MT>(p, stage, &full[i_stage], first_tile, span);
        copy_rows<N>(p, stage, &full[i_stage], first_row, span);
        if (++i_stage == p->n_stages) {
            i_stage = 0;
            parity ^= 1;
        }
    }
}

/* Chunk h of a span of the warp's tile, as the left sides of four products. */
template <int KIND>
__device__ __forceinline__ void expand_chunk(uint32_t a[4][4], const uint8_t *words, const uint2 *scales, int h,
                                             int32_t group)
{
    const int32_t lane = threadIdx.x % 32;
    const uint8_t *at = words + h * wide_words<KIND>::CHUNK + 16 * lane;
    uint4 q4;
    if (KIND == TILE_Q4) {
        q4 = *(const uint4 *)at;
    }
#pragma unroll
    for (int b = 0; b < 2; b++) {
        const uint2 s = KIND == TILE_F16 ? make_uint2(0, 0) : scales[(64 * h + 32 * b) / group];
        if (KIND == TILE_Q4) {
            dequant_q4(a + 2 * b, b ? q4.z : q4.x, b ? q4.w : q4.y, s);
        } else if (KIND == TILE_Q8) {
            dequant_q8(a + 2 * b, *(const uint4 *)(at + 512 * b), s);
        } else {
            dequant_f16(a + 2 * b, *(const uint4 *)(at + 1024 * b), *(const uint4 *)(at + 1024 * b + 512));
        }
    }
}

/* Leaves this split's sums for the last block of the tile, which adds them all up. True in that block. */
template <int N> __device__ __forceinline__ bool add_wide_splits(const linear_params *p, float *d)
{
    __shared__ uint32_t before;
    const int64_t i_tile = (int64_t)blockIdx.y * gridDim.x + blockIdx.x;
    const int32_t n_elements = WIDE_CONSUMERS * N / 2;
    float *mine = p->partials + (i_tile * gridDim.z + blockIdx.z) * n_elements + threadIdx.x;
#pragma unroll
    for (int i = 0; i < N / 2; i++) {
        mine[i * WIDE_CONSUMERS] = d[i];
    }
    __threadfence();
    consumers_meet(); /* all of the block's sums are written */
    if (threadIdx.x == 0) {
        before = arrive(p->counters + i_tile);
    }
    consumers_meet(); /* `before` is there */
    if (before + 1 != gridDim.z) {
        return false;
    }
    if (threadIdx.x == 0) {
        p->counters[i_tile] = 0;
    }
    const float *all = p->partials + i_tile * gridDim.z * n_elements + threadIdx.x;
#pragma unroll
    for (int i = 0; i < N / 2; i++) {
        d[i] = 0.0f;
    }
    for (int32_t z = 0; z < (int32_t)gridDim.z; z++) {
#pragma unroll
        for (int i = 0; i < N / 2; i++) {
            d[i] += __ldcg(all + (int64_t)z * n_elements + i * WIDE_CONSUMERS);
        }
    }
    return true;
}

template <int KIND, int N, int MT>
__device__ __forceinline__ void consume(const linear_params *p, uint8_t *memory, uint64_t *full, uint64_t *empty,
                                        int32_t from, int32_t to)
{
    const int32_t warp = threadIdx.x / 32;
    const int32_t lane = threadIdx.x % 32;
    const int32_t n_groups = SPAN_COLS / p->group;
    float d[MT][N / 2];
#pragma unroll
    for (int i = 0; i < MT * N / 2; i++) {
        d[i / (N / 2)][i % (N / 2)] = 0.0f;
    }
    uint32_t a[2][4][4];
    int32_t i_stage = 0;
    uint32_t parity = 0;
    uint64_t *previous = 0;
    wait_for_previous(); /* for the factors and the residual; the copying warp waits for itself */
    for (int32_t span = from; span < to; span++) {
        const wide_stage stage = stage_at<KIND, N, MT>(p, memory, i_stage);
        barrier_wait(&full[i_stage], parity);
#pragma unroll
        for (int i = 0; i < 2 * MT; i++) { /* chunk i / MT of the span, tile i % MT of the warp's */
            const int32_t tile = i % MT * WIDE_TILES + warp;
            const uint8_t *words = stage.words + tile * (2 * wide_words<KIND>::CHUNK);
            const uint2 *scales = (const uint2 *)stage.scales + (tile * 8 + lane / 4) * n_groups;
            expand_chunk<KIND>(a[i % 2], words, scales, i / MT, p->group);
            const uint64_t side = wgmma_side(stage.x + i / MT * (128 * N));
            wgmma_begin();
#pragma unroll
            for (int k = 0; k < 4; k++) {
                wgmma_f16<N>(d[i % MT], a[i % 2][k], side + 2 * k);
            }
            wgmma_end();
            wgmma_wait<1>();
            if (i == 0 && previous && lane == 0) {
                barrier_arrive(previous);
            }
        }
        previous = &empty[i_stage];
        if (++i_stage == p->n_stages) {
            i_stage = 0;
            parity ^= 1;
        }
    }
    wgmma_wait<0>();
    if (MT == 1 && gridDim.z > 1 && !add_wide_splits<N>(p, d[0])) {
        return;
    }
    float *sums = (float *)memory;
#pragma unroll
    for (int m = 0; m < MT; m++) {
        consumers_meet(); /* nobody reads a stage, or the sums before, any more */
#pragma unroll
        for (int t = 0; t < N / 8; t++) {
            put_sums(sums, d[m] + 4 * t, warp, 8 * t);
        }
        consumers_meet(); /* the sums are there */
        store_block(p, sums, N, blockIdx.x * N, (blockIdx.y * MT + m) * WIDE_TILES);
    }
}

template <int KIND, int N, int MT> __device__ __forceinline__ void linear_wide(const linear_params *p)
{
    MX_DYNAMIC_SHARED(uint4, dynamic);
    __shared__ uint64_t full[WIDE_MAX_STAGES];
    __shared__ uint64_t empty[WIDE_MAX_STAGES];
    uint8_t *memory = (uint8_t *)dynamic + (1024 - (shared_address(dynamic) & 1023)) % 1024;
    let_next_start();
    if (threadIdx.x == 0) {
        for (int32_t i = 0; i < p->n_stages; i++) {
            barrier_init(&full[i], 1);
            barrier_init(&empty[i], WIDE_CONSUMERS / 32);
        }
        barrier_init_done();
    }
    __syncthreads(); /* the barriers are ready */
    const int32_t per_split = (p->n_spans + (int32_t)gridDim.z - 1) / (int32_t)gridDim.z;
    const int32_t from = min(p->n_spans, (int32_t)blockIdx.z * per_split);
    const int32_t to = min(p->n_spans, from + per_split);
    if (threadIdx.x >= WIDE_CONSUMERS) {
        registers_give();
        if (threadIdx.x < WIDE_CONSUMERS + 32) {
            produce<KIND, N, MT>(p, memory, full, empty, from, to);
        }
    } else {
        registers_take();
        consume<KIND, N, MT>(p, memory, full, empty, from, to);
    }
}

#define WIDE_BODY(kind, n, mt) linear_wide<kind, n, mt>(&p)
#else
#define WIDE_BODY(kind, n, mt) /* the host knows on which GPUs the kernel does something */
#endif

#define LINEAR_WIDE(name, kind, n, mt)                              \
    extern "C" __global__ void __launch_bounds__(WIDE_THREADS, 1)   \
        linear_wide_##name(const __grid_constant__ linear_params p) \
    {                                                               \
        WIDE_BODY(kind, n, mt);                                     \
    }
#define LINEAR_WIDE_ALL(name, kind)       \
    LINEAR_WIDE(name##_16, kind, 16, 1)   \
    LINEAR_WIDE(name##_64, kind, 64, 1)   \
    LINEAR_WIDE(name##_128, kind, 128, 1) \
    LINEAR_WIDE(name##_128x2, kind, 128, 2)
LINEAR_WIDE_ALL(q4, TILE_Q4)
LINEAR_WIDE_ALL(q8, TILE_Q8)
LINEAR_WIDE_ALL(f16, TILE_F16)
