/* linear_few.cu - products of up to 8 rows with packed weights: decoding, where reading the weights is all the time.
 *
 * Source    the tensor cores' 16 x 8 products with weights on the left, as in Marlin (arXiv 2408.11743), here with the
 *           weights' own lane order (tiles.params.h), so that a warp reads 512 neighbouring bytes and needs no shuffle.
 * Codes     go into the products without arithmetic: an f16 whose exponent bits are 0 is its last bits times 2^-24, so
 *           a masked word is a pair of codes. Nibbles 1 and 3 of a byte pair come out 16 times too large, and the
 *           columns of x that meet them are 16 times smaller. A group's sum is multiplied by its scale in f32, and its
 *           bias by the sum of the group's x: weights are exact, x alone is rounded.
 * x         Each span of 128 columns is brought near 2^14 by a power of two of its own, so no look at the whole row
 *           comes before its conversion; the norm's 1 / rms is a factor at the end. One row is brought to f16 by every
 *           block for itself; more rows by linear_stage, once, and copied.
 * Grid      (blocks, 1), or with experts (blocks, n_tokens * top_k): block row j is one expert for one row of x.
 *           Blocks walk over tiles. linear_stage: a block a row.
 * Block     512 threads = 16 warps; 2^share_shift of them share a tile, each with every n-th span.
 * Shared    [warp][slot] a ring of spans, filled by copies that run ahead of their use. Then the warps' sums,
 *           2 x [16][16][8] f32, parts of squares, factors, and the staged rows (linear.params.h).
 * Order     The first weights are asked for before the wait for the previous kernel. A sum is over spans in order,
 *           then over warps in order, whatever the number of rows.
 * Roofline  n * k * (bits + 32 / group) / 8 bytes at the memory's speed: 4096 x 4096, 4 bits, group 64: 9.4 MB.
 */
#include "backend/cuda/kernels/linear_output.cuh"
#include "backend/cuda/kernels/linear_row.cuh"
#include "backend/cuda/kernels/weights_dequant.cuh"

/* A span in the ring: the words of its two chunks, then [g][group of the span] x {scale, bias, those of row g + 8}. */
template <int KIND, int GROUP> struct few_slot {
    enum {
        N_GROUPS = SPAN_COLS / GROUP,
        N_LOADS = KIND == TILE_Q4   ? 1
                  : KIND == TILE_Q8 ? 2
                                    : 4, /* of 16 bytes, a lane and chunk */
        WORD_BYTES = 2 * 512 * N_LOADS,
        BYTES = FEW_SLOT_BYTES(KIND, N_GROUPS),
        N_SLOTS = FEW_SLOTS(KIND),
    };
};

/* Where a warp's copies have got to. */
struct few_stream {
    const uint8_t *words; /* of the tile, at this lane's place */
    const uint8_t *scales;
    int32_t span;
    int32_t n_tiles; /* that are left */
};

/* Asks for the warp's next span; a group of copies is closed in any case, so that groups can be counted. */
template <int KIND, int GROUP>
__device__ __forceinline__ void ask(few_stream *s, const linear_params *p, uint8_t *slot, int32_t first_span)
{
    typedef few_slot<KIND, GROUP> S;
    if (s->n_tiles > 0) {
        const int32_t lane = threadIdx.x % 32;
        const uint8_t *words = s->words + s->span * S::WORD_BYTES;
#pragma unroll
        for (int i = 0; i < 2 * S::N_LOADS; i++) {
            copy_async(slot + 512 * i + 16 * lane, words + 512 * i, true);
        }
        if (KIND != TILE_F16) {
            if (lane < 4 * S::N_GROUPS) {
                copy_async(slot + S::WORD_BYTES + 16 * lane, s->scales + s->span * 64 * S::N_GROUPS, true);
            }
        }
        s->span += 1 << p->share_shift;
        if (s->span >= p->n_spans) {
            const int64_t n_tiles = (int64_t)gridDim.x << (FEW_WARPS_SHIFT - p->share_shift);
            s->span = first_span;
            s->n_tiles -= (int32_t)n_tiles;
            s->words += n_tiles * p->n_spans * S::WORD_BYTES;
            s->scales += n_tiles * p->n_spans * (64 * S::N_GROUPS);
        }
    }
    copy_commit();
}

/* Rows ------------------------------------------------------------------------------------------------------------- */

/* The power of two that brings a number with these bits into [2^14, 2^15), and its inverse; 1 for 0, and for what is
 * no number. */
__device__ __forceinline__ float raise_of(uint32_t bits)
{
    const int32_t exponent = min(max((int32_t)(bits >> 23), 15), 254);
    return __uint_as_float((uint32_t)(127 + 127 + 14 - exponent) << 23);
}

__device__ __forceinline__ float lower_of(uint32_t bits)
{
    const int32_t exponent = min(max((int32_t)(bits >> 23), 15), 254);
    return __uint_as_float((uint32_t)(exponent - 14) << 23);
}

/* Of a layer norm: the row's mean, and 1 over the root of its variance. */
struct layer_stats {
    float mean;
    float factor;
};

/* Brings this thread's columns of a row to f16, after its norm short of the factor of an RMS norm. The whole block
 * takes part; a warp has spans of 128 columns. units[n_units][FEW_ROWS] gets, for row r, each unit's sum of x and what
 * undoes its power of two. Returns this thread's part of the sum of squares. */
template <int KIND, int GROUP>
__device__ __forceinline__ float stage_row(const linear_params *p, const float *x, layer_stats stats, uint16_t *x16,
                                           float2 *units, int32_t r)
{
    enum { LANES = GROUP / 4 };
    const int32_t n_cols = p->n_cols;
    const int32_t lane = threadIdx.x % 32;
    const float lift = KIND == TILE_Q4 ? 0.0625f : 1.0f; /* of the columns that meet the larger nibbles */
    float squares = 0.0f;
#pragma unroll 2
    for (int32_t k = 4 * threadIdx.x; k < p->n_padded;
         k += 4 * FEW_THREADS) { /* the same turns for all lanes of a warp */
        float4 v = load_4(x, k, n_cols);
        squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
        if (p->is_centered && k < n_cols) {
            v = {(v.x - stats.mean) * stats.factor, (v.y - stats.mean) * stats.factor,
                 (v.z - stats.mean) * stats.factor, (v.w - stats.mean) * stats.factor};
        }
        if (p->norm) { /* zeros past the end stay or become zeros: the weights there are loaded as 0 */
            const float4 w = load_4(p->norm, k, n_cols);
            const float offset = k < n_cols ? p->weight_offset : 0.0f;
            v = {v.x * (w.x + offset), v.y * (w.y + offset), v.z * (w.z + offset), v.w * (w.w + offset)};
        }
        if (p->norm_bias) {
            const float4 b = load_4(p->norm_bias, k, n_cols);
            v = {v.x + b.x, v.y + b.y, v.z + b.z, v.w + b.w};
        }
        const float peak = fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
        const uint32_t bits = warp_max_bits(__float_as_uint(peak));
        const float up = raise_of(bits);
        uint2 pair;
        pair.x = h2_from_f32(v.x * up, v.y * up);
        pair.y = h2_from_f32(v.z * (up * lift), v.w * (up * lift));
        *(uint2 *)(x16 + k) = pair;
        float sum = (h_to_f32((uint16_t)pair.x) + h_to_f32((uint16_t)(pair.x >> 16))) +
                    (h_to_f32((uint16_t)pair.y) + h_to_f32((uint16_t)(pair.y >> 16))) * (1.0f / lift);
        if (KIND != TILE_F16) {
#pragma unroll
            for (int i = 1; i < LANES; i *= 2) {
                sum += __shfl_xor_sync(FULL_WARP, sum, i);
            }
        }
        if (lane % LANES == 0) {
            const float down = lower_of(bits);
            units[k / GROUP * FEW_ROWS + r] = {sum * down, KIND == TILE_F16 ? down : down * (1.0f / CODE_UNIT)};
        }
    }
    return squares;
}

__device__ static layer_stats find_stats(const linear_params *p, const float *x, float *shared)
{
    float sum = 0.0f;
    for (int32_t k = threadIdx.x; k < p->n_cols; k += FEW_THREADS) {
        sum += load_f32(x + k);
    }
    const float mean = block_sum(sum, shared) / (float)p->n_cols;
    float squares = 0.0f;
    for (int32_t k = threadIdx.x; k < p->n_cols; k += FEW_THREADS) {
        const float v = load_f32(x + k) - mean;
        squares += v * v;
    }
    return {mean, rsqrtf(block_sum(squares, shared) / (float)p->n_cols + p->eps)};
}

template <int KIND, int GROUP> __device__ __forceinline__ void linear_stage(const linear_params *p)
{
    __shared__ float shared[32];
    let_next_start();
    wait_for_previous();
    const int32_t r = blockIdx.x;
    float *factors = p->staged;
    float2 *units = (float2 *)(factors + FEW_ROWS);
    uint16_t *x16 = (uint16_t *)(units + p->n_spans * (SPAN_COLS / GROUP) * FEW_ROWS) + r * (p->n_padded + 32);
    const float *x = p->x + (int64_t)r * p->n_cols;
    layer_stats stats = {0.0f, 1.0f};
    if (p->is_centered) {
        stats = find_stats(p, x, shared);
    }
    const float squares = stage_row<KIND, GROUP>(p, x, stats, x16, units, r);
    const float sum = block_sum(squares, shared);
    if (threadIdx.x == 0) {
        factors[r] = p->has_norm && !p->is_centered ? rsqrtf(sum / (float)p->n_cols + p->eps) : 1.0f;
    }
}

/* Products --------------------------------------------------------------------------------------------------------- */

/* Adds the products of a block of 32 columns to sum, or begins it with them; words are a lane's of the block. */
template <int KIND>
__device__ __forceinline__ void multiply_block(float sum[4], uint4 low, uint4 high, uint4 x, bool is_first)
{
    uint32_t a[2][4];
    if (KIND == TILE_Q4) {
        codes_q4(a, low.x, low.y);
    } else if (KIND == TILE_Q8) {
        codes_q8(a, low);
    } else {
        dequant_f16(a, low, high);
    }
    if (is_first) {
        mma_f16_first(sum, a[0], x.x, x.y);
    } else {
        mma_f16(sum, a[0], x.x, x.y);
    }
    mma_f16(sum, a[1], x.z, x.w);
}

/* One span from the ring; x and units are those of the span, at this lane's place. */
template <int KIND, int GROUP>
__device__ __forceinline__ void multiply_span(float acc[4], const uint8_t *slot, const uint16_t *x, const float2 *units)
{
    typedef few_slot<KIND, GROUP> S;
    enum { N_WORDS = 2 * S::N_LOADS, BLOCKS = GROUP / 32 };
    const int32_t lane = threadIdx.x % 32;
    uint4 words[N_WORDS];
#pragma unroll
    for (int i = 0; i < N_WORDS; i++) {
        words[i] = *(const uint4 *)(slot + 512 * i + 16 * lane);
    }
    const uint2 *scales = (const uint2 *)(slot + S::WORD_BYTES) + lane / 4 * S::N_GROUPS;
#pragma unroll
    for (int i = 0; i < S::N_GROUPS; i++) {
        float sum[4];
#pragma unroll
        for (int j = 0; j < BLOCKS; j++) {
            const int b = i * BLOCKS + j; /* of the span's four */
            const uint4 v = *(const uint4 *)(x + 32 * b);
            uint4 low = words[b * N_WORDS / 4]; /* Q4: half of it */
            if (KIND == TILE_Q4 && b % 2) {
                low = make_uint4(low.z, low.w, 0, 0);
            }
            multiply_block<KIND>(sum, low, words[KIND == TILE_F16 ? 2 * b + 1 : 0], v, j == 0);
        }
        const float4 u = *(const float4 *)(units + i * FEW_ROWS); /* sum and factor of two columns */
        if (KIND == TILE_F16) {
            acc[0] += u.y * sum[0];
            acc[1] += u.w * sum[1];
            acc[2] += u.y * sum[2];
            acc[3] += u.w * sum[3];
        } else {
            const uint2 s = scales[i];
            const float scale[2] = {h_to_f32((uint16_t)s.x), h_to_f32((uint16_t)s.y)};
            const float bias[2] = {h_to_f32((uint16_t)(s.x >> 16)), h_to_f32((uint16_t)(s.y >> 16))};
#pragma unroll
            for (int j = 0; j < 4; j++) {
                acc[j] += scale[j / 2] * (j % 2 ? u.w : u.y) * sum[j];
                acc[j] += bias[j / 2] * (j % 2 ? u.z : u.x);
            }
        }
    }
}

/* The factor of row r: 1 / rms where there is a norm. parts: the warps' sums of squares, where the block staged x. */
__device__ __forceinline__ float factor_of_row(const linear_params *p, const float *factors, const float *parts,
                                               int32_t r)
{
    if (p->is_staged) {
        return factors[r];
    }
    if (!p->has_norm) {
        return 1.0f;
    }
    float sum = 0.0f;
#pragma unroll
    for (int32_t i = 0; i < FEW_WARPS; i++) {
        sum += parts[i];
    }
    return rsqrtf(sum / (float)p->n_cols + p->eps);
}

/* What a thread has of the outputs of a turn: one element of one row. */
struct few_output {
    int32_t local; /* tile of the block's */
    int32_t n;     /* row in the tile */
    int32_t r;     /* row of x */
};

__device__ __forceinline__ few_output output_of(const linear_params *p, int32_t i)
{
    const int32_t shift = FEW_WARPS_SHIFT - p->share_shift + 4 - p->has_glu; /* outputs of a row of x, as a power */
    return {(i & ((1 << shift) - 1)) >> 4 << p->has_glu, i % TILE_ROWS, i >> shift};
}

/* Adds up what the warps have of the block's tiles, and stores it. Every thread takes part. */
__device__ __forceinline__ void finish_tiles(const linear_params *p, const float *sums, const float *segment_factors,
                                             const float *factors, const float *parts, int32_t first_tile,
                                             int32_t expert, int64_t first_row, float residual)
{
    const int32_t n_share = 1 << p->share_shift;
    for (int32_t i = threadIdx.x;; i += FEW_THREADS) {
        const few_output out = output_of(p, i);
        if (out.r >= p->n_x_rows) {
            break;
        }
        if (first_tile + out.local >= p->n_tiles) {
            continue;
        }
        const float *from = sums + ((out.local << p->share_shift) * TILE_ROWS + out.n) * FEW_ROWS + out.r;
        float sum[2] = {0.0f, 0.0f};
#pragma unroll 4
        for (int32_t w = 0; w < n_share; w++) {
            sum[0] += from[w * TILE_ROWS * FEW_ROWS];
        }
        const float row_factor = factor_of_row(p, factors, parts, out.r);
        const output_place place = place_of_tile(p, first_tile + out.local);
        if (p->has_glu) {
            from += n_share * TILE_ROWS * FEW_ROWS;
#pragma unroll 4
            for (int32_t w = 0; w < n_share; w++) {
                sum[1] += from[w * TILE_ROWS * FEW_ROWS];
            }
            store_glu(p, expert, place.row + out.n, first_row + out.r, sum[0] * segment_factors[0],
                      sum[1] * segment_factors[1], row_factor);
        } else {
            if (i != (int32_t)threadIdx.x) {
                residual = load_residual(p, place, place.row + out.n, first_row + out.r);
            }
            store_plain(p, place, expert, place.row + out.n, first_row + out.r,
                        sum[0] * segment_factors[place.i_segment], row_factor, residual);
        }
    }
}

/* The residual that this thread will want first, asked for early. */
__device__ __forceinline__ float early_residual(const linear_params *p, int32_t first_tile, int64_t first_row)
{
    if (!p->residual) {
        return 0.0f;
    }
    const few_output out = output_of(p, threadIdx.x);
    if (out.r >= p->n_x_rows || first_tile + out.local >= p->n_tiles) {
        return 0.0f;
    }
    const output_place place = place_of_tile(p, first_tile + out.local);
    return load_residual(p, place, place.row + out.n, first_row + out.r);
}

/* Rows that linear_stage has prepared, as they lie. */
__device__ __forceinline__ void copy_staged(const linear_params *p, float *staged, int32_t n_bytes)
{
    for (int32_t i = 16 * threadIdx.x; i < n_bytes; i += 16 * FEW_THREADS) {
        copy_async((uint8_t *)staged + i, (const uint8_t *)p->staged + i, true);
    }
    copy_commit();
    copy_wait<0>();
}

/* Waits for the oldest of n_slots copies: MOST of them, or 2 or 1 where shared memory is small. */
template <int MOST> __device__ __forceinline__ void wait_for_oldest(int32_t n_slots)
{
    if (n_slots == MOST) {
        copy_wait<MOST - 1>();
    } else if (n_slots == 2) {
        copy_wait<1>();
    } else {
        copy_wait<0>();
    }
}

template <int KIND, int GROUP> __device__ __forceinline__ void linear_few(const linear_params *p)
{
    typedef few_slot<KIND, GROUP> S;
    MX_DYNAMIC_SHARED(uint4, memory);
    const int32_t warp = threadIdx.x / 32;
    const int32_t lane = threadIdx.x % 32;
    uint8_t *ring = (uint8_t *)memory + warp * (p->n_slots * S::BYTES);
    float *sums = (float *)((uint8_t *)memory + FEW_WARPS * p->n_slots * S::BYTES);
    float *parts = sums + 2 * FEW_WARPS * TILE_ROWS * FEW_ROWS;
    float *segment_factors = parts + FEW_WARPS;
    float *staged = segment_factors + 2 * LINEAR_MAX_SEGMENTS;
    float2 *units = (float2 *)(staged + FEW_ROWS);
    uint16_t *x16 = (uint16_t *)(units + p->n_spans * S::N_GROUPS * FEW_ROWS);
    let_next_start();

    const int32_t first_span = warp & ((1 << p->share_shift) - 1);
    const int32_t my_tile = warp >> p->share_shift;
    const int32_t n_at_once = FEW_WARPS >> p->share_shift;
    int32_t expert = 0;
    if (p->ids) {
        wait_for_previous(); /* the ids are from an earlier kernel */
        expert = __ldcg(p->ids + blockIdx.y);
    }
    const int64_t tile = (int64_t)blockIdx.x * n_at_once + my_tile;
    few_stream stream;
    stream.words = p->tiles + expert * p->expert_tile_bytes + tile * p->n_spans * S::WORD_BYTES + 16 * lane;
    stream.scales = (const uint8_t *)(p->scales + expert * p->expert_scale_words) +
                    tile * p->n_spans * (64 * S::N_GROUPS) + 16 * lane;
    stream.span = first_span;
    stream.n_tiles = first_span < p->n_spans ? p->n_tiles - (int32_t)tile : 0;
#pragma unroll 1
    for (int32_t u = 0; u < p->n_slots; u++) {
        ask<KIND, GROUP>(&stream, p, ring + u * S::BYTES, first_span);
    }
    if (threadIdx.x < p->n_segments) {
        segment_factors[threadIdx.x] = p->segments[threadIdx.x].factor[expert];
    }
    const int64_t first_row = p->ids ? blockIdx.y : 0;
    if (p->is_staged) {
        wait_for_previous();
        copy_staged(p, staged, p->staged_bytes);
    } else {
        if (p->norm) {
            for (int32_t k = 32 * threadIdx.x; k < p->n_cols; k += 32 * FEW_THREADS) {
                expect_line(p->norm + k);
            }
        }
        if (!p->ids) {
            wait_for_previous();
        }
        const int32_t x_row = p->ids ? (p->is_x_by_slot ? blockIdx.y : blockIdx.y / p->top_k) : 0;
        const float squares = stage_row<KIND, GROUP>(p, p->x + (int64_t)x_row * p->n_cols, {0.0f, 1.0f}, x16, units, 0);
        if (p->has_norm) {
            const float sum = warp_sum(squares);
            if (lane == 0) {
                parts[warp] = sum;
            }
        }
    }
    __syncthreads(); /* x is there */

    const int32_t row = lane / 4 < p->n_x_rows ? lane / 4 : 0; /* columns without a row are computed and not stored */
    const uint16_t *x_lane = x16 + row * (p->n_padded + 32) + lane % 4 * 8;
    const float2 *units_lane = units + lane % 4 * 2;
    int32_t slot = 0;
    int32_t turn = 0;
    const int32_t tile_step = (int32_t)gridDim.x * n_at_once;
    for (int32_t first_tile = (int32_t)blockIdx.x * n_at_once; first_tile < p->n_tiles; first_tile += tile_step) {
        const float residual = early_residual(p, first_tile, first_row);
        float acc[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        const int32_t n_spans = first_tile + my_tile < p->n_tiles ? p->n_spans : 0;
        for (int32_t span = first_span; span < n_spans; span += 1 << p->share_shift) {
            uint8_t *at = ring + slot * S::BYTES;
            wait_for_oldest<S::N_SLOTS>(p->n_slots);
            __syncwarp(); /* what the other lanes copied is there */
            multiply_span<KIND, GROUP>(acc, at, x_lane + span * SPAN_COLS, units_lane + span * S::N_GROUPS * FEW_ROWS);
            __syncwarp(); /* all lanes have read the slot */
            ask<KIND, GROUP>(&stream, p, at, first_span);
            slot = slot + 1 == p->n_slots ? 0 : slot + 1;
        }
        float *turn_sums = sums + turn * FEW_WARPS * TILE_ROWS * FEW_ROWS;
        float *to = turn_sums + (warp * TILE_ROWS + lane / 4) * FEW_ROWS + lane % 4 * 2;
        *(float2 *)to = {acc[0], acc[1]};
        *(float2 *)(to + 8 * FEW_ROWS) = {acc[2], acc[3]};
        __syncthreads(); /* sums of this turn are there; those of the turn before last have been read */
        finish_tiles(p, turn_sums, segment_factors, staged, parts, first_tile, expert, first_row, residual);
        turn ^= 1;
    }
}

#define LINEAR_FEW(name, kind, group)                                \
    extern "C" __global__ void __launch_bounds__(FEW_THREADS, 2)     \
        linear_few_##name(const __grid_constant__ linear_params p)   \
    {                                                                \
        linear_few<kind, group>(&p);                                 \
    }                                                                \
    extern "C" __global__ void __launch_bounds__(FEW_THREADS)        \
        linear_stage_##name(const __grid_constant__ linear_params p) \
    {                                                                \
        linear_stage<kind, group>(&p);                               \
    }
LINEAR_FEW(q4_32, TILE_Q4, 32)
LINEAR_FEW(q4_64, TILE_Q4, 64)
LINEAR_FEW(q4_128, TILE_Q4, 128)
LINEAR_FEW(q8_32, TILE_Q8, 32)
LINEAR_FEW(q8_64, TILE_Q8, 64)
LINEAR_FEW(q8_128, TILE_Q8, 128)
LINEAR_FEW(f16, TILE_F16, SPAN_COLS)
