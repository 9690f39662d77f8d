/* attention.cu - softmax attention over a paged cache, on the tensor cores.
 *
 * Source    online softmax as in FlashAttention (arXiv 2205.14135) and its split over positions (FlashDecoding).
 * Grid      attention_split: (n_seqs, n_kv_heads * n_row_tiles, splits);
 *           attention_tiles: (query tiles, n_heads * 4 / warps).
 * Block     128 threads = 4 warps. A warp has 16 queries: pairs of a token and one of the heads that share a kv head,
 *           so keys and values are read once for all of them. In attention_split the warps share the queries and take
 *           every fourth page; in attention_tiles each has its own queries.
 * Shared    attention_split: [4][16][dim + 2] f32, what the warps found, and 4 KiB of weights.
 * Layout    A page is 32 positions: 4 column tiles of scores. Column 2c + e of tile t is position 8c + 2t + e, so a
 *           lane has 8 neighbouring positions and its scores are, as they lie, the left side of the product with the
 *           values. Keys and values go from memory to the products with one 16-byte load for two products and no
 *           shared memory.
 * Roofline  splits: 4 * dim bytes a position and kv head at the memory's speed.
 */
#include "backend/cuda/kernels/attention_heads.cuh"
#include "backend/cuda/kernels/device.cuh"

enum { ATTENTION_WARPS = 4, QUERY_ROWS = 16, QUERY_TILE_TOKENS = 64, TILE_STAGES = 3 };

#define LOG2_E 1.44269504f
#define NONE   (-1.0e30f) /* below every score; finite, so that differences are */

/* One warp's 16 queries: row g and row g + 8 in each lane. */
template <int DIM> struct warp_queries {
    uint32_t q[DIM / 16][4];
    float o[DIM / 8][4];
    float largest[2]; /* of the scores so far, times log2(e) */
    float total[2];   /* this lane's part */
    int32_t first[2]; /* positions that the row sees; last < first: none */
    int32_t last[2];
};

/* rows: index into [token of the sequence][head of the group], -1: no query. q_shared: the block's queries [row][DIM]
 * in shared memory, or null. */
template <int DIM>
__device__ __forceinline__ void open_queries(warp_queries<DIM> *w, const attention_params *p, int32_t first_token,
                                             int32_t kv_head, const int32_t rows[2], const uint16_t *q_shared)
{
    const int32_t c = threadIdx.x % 4;
    const int32_t n_group = p->n_heads / p->n_kv_heads;
    uint4 zero = make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const int64_t token = first_token + rows[r] / n_group;
        const uint16_t *q = p->q16 + (token * p->n_heads + kv_head * n_group + rows[r] % n_group) * DIM + 8 * c;
        const uint16_t *near = q_shared + (threadIdx.x % 32 / 4 + 8 * r) * DIM + 8 * c;
#pragma unroll
        for (int j = 0; j < DIM / 32; j++) {
            const uint4 v = rows[r] < 0 ? zero
                            : q_shared  ? *(const uint4 *)(near + 32 * j)
                                        : __ldcg((const uint4 *)(q + 32 * j));
            w->q[2 * j][r] = v.x;
            w->q[2 * j][2 + r] = v.y;
            w->q[2 * j + 1][r] = v.z;
            w->q[2 * j + 1][2 + r] = v.w;
        }
        w->last[r] = rows[r] >= 0 ? p->step.positions[token] : -1;
        w->first[r] = rows[r] >= 0 && p->window > 0 ? max(0, w->last[r] - p->window + 1) : 0;
        w->largest[r] = NONE;
        w->total[r] = 0.0f;
    }
#pragma unroll
    for (int i = 0; i < DIM / 8; i++) {
        w->o[i][0] = w->o[i][1] = w->o[i][2] = w->o[i][3] = 0.0f;
    }
}

/* Takes the 32 positions of a page into account. keys and values are those of the page and kv head; IS_STAGED: in
 * shared memory, the 16-byte piece j of a key r at j ^ 4 * (r % 2), which keeps two keys from sharing banks. */
template <int DIM, bool IS_STAGED>
__device__ __forceinline__ void attend_page(warp_queries<DIM> *w, const attention_params *p, const uint16_t *keys,
                                            const uint16_t *values, int32_t first_position)
{
    const int32_t g = threadIdx.x % 32 / 4;
    const int32_t c = threadIdx.x % 4;
    const int32_t odd = IS_STAGED ? g % 2 * 32 : 0;
    float s[4][4];
#pragma unroll
    for (int t = 0; t < 4; t++) {
        const uint16_t *key = keys + (8 * (g / 2) + 2 * t + g % 2) * DIM + 8 * c;
        s[t][0] = s[t][1] = s[t][2] = s[t][3] = 0.0f;
#pragma unroll
        for (int j = 0; j < DIM / 32; j++) {
            const uint4 k = *(const uint4 *)(key + ((32 * j) ^ odd));
            mma_f16(s[t], w->q[2 * j], k.x, k.y);
            mma_f16(s[t], w->q[2 * j + 1], k.z, k.w);
        }
    }
    float largest[2] = {w->largest[0], w->largest[1]};
#pragma unroll
    for (int t = 0; t < 4; t++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int32_t position = first_position + 8 * c + 2 * t + i % 2;
            float v = s[t][i] * p->scale;
            v = p->softcap > 0.0f ? p->softcap * tanhf(v / p->softcap) : v;
            s[t][i] = position >= w->first[i / 2] && position <= w->last[i / 2] ? v * LOG2_E : NONE;
            largest[i / 2] = fmaxf(largest[i / 2], s[t][i]);
        }
    }
#pragma unroll
    for (int r = 0; r < 2; r++) {
        largest[r] = fmaxf(largest[r], __shfl_xor_sync(FULL_WARP, largest[r], 1));
        largest[r] = fmaxf(largest[r], __shfl_xor_sync(FULL_WARP, largest[r], 2));
        const float shrink = exp2f(w->largest[r] - largest[r]);
        w->largest[r] = largest[r];
        w->total[r] *= shrink;
#pragma unroll
        for (int i = 0; i < DIM / 8; i++) {
            w->o[i][2 * r] *= shrink;
            w->o[i][2 * r + 1] *= shrink;
        }
    }
    uint32_t weights[2][4];
#pragma unroll
    for (int t = 0; t < 4; t++) {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const float a = s[t][2 * r] > NONE ? exp2f(s[t][2 * r] - largest[r]) : 0.0f;
            const float b = s[t][2 * r + 1] > NONE ? exp2f(s[t][2 * r + 1] - largest[r]) : 0.0f;
            w->total[r] += a + b;
            weights[t / 2][2 * (t % 2) + r] = h2_from_f32(a, b);
        }
    }
    const uint16_t *value = values + g * PAGE_TOKENS + 8 * c;
#pragma unroll
    for (int i = 0; i < DIM / 8; i++) {
        const uint4 v = *(const uint4 *)(value + 8 * i * PAGE_TOKENS);
        mma_f16(w->o[i], weights[0], v.x, v.y);
        mma_f16(w->o[i], weights[1], v.z, v.w);
    }
}

/* The lanes' totals of a row come together. */
template <int DIM> __device__ __forceinline__ void close_totals(warp_queries<DIM> *w)
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        w->total[r] += __shfl_xor_sync(FULL_WARP, w->total[r], 1);
        w->total[r] += __shfl_xor_sync(FULL_WARP, w->total[r], 2);
    }
}

/* 1 / total with the sink in it, times what brings sums over `largest` to the sink's scale. */
__device__ __forceinline__ float closing_factor(const attention_params *p, int32_t head, float largest, float total)
{
    if (p->sinks) {
        const float sink = p->sinks[head] * LOG2_E;
        const float top = fmaxf(sink, largest);
        const float shrink = exp2f(largest - top);
        return shrink / (total * shrink + exp2f(sink - top));
    }
    return 1.0f / total;
}

/* Brings n_parts parts [QUERY_ROWS][DIM + 2] together, in order, and writes the block's rows. IS_GLOBAL: other blocks
 * wrote the parts; else they are in shared memory. */
template <int DIM, bool IS_GLOBAL>
__device__ static void store_rows(const attention_params *p, const float *parts, int32_t n_parts, int32_t first_token,
                                  int32_t kv_head, int32_t first_row, int32_t n_rows)
{
    __shared__ float weights[QUERY_ROWS][ATTENTION_MAX_SPLITS]; /* of each part in a row's result */
    const int32_t n_group = p->n_heads / p->n_kv_heads;
    const int32_t lane = threadIdx.x % 32;
    auto at = [&](int32_t part, int32_t row, int32_t d) {
        const float *from = parts + (part * QUERY_ROWS + row) * (DIM + 2) + d;
        return IS_GLOBAL ? __ldcg(from) : *from;
    };
    for (int32_t row = threadIdx.x / 32; row < n_rows; row += ATTENTION_WARPS) {
        float largest = NONE;
        for (int32_t i = lane; i < n_parts; i += 32) {
            weights[row][i] = at(i, row, DIM);
            largest = fmaxf(largest, weights[row][i]);
        }
        largest = warp_max(largest);
        float total = 0.0f;
        for (int32_t i = lane; i < n_parts; i += 32) {
            weights[row][i] = exp2f(weights[row][i] - largest);
            total += weights[row][i] * at(i, row, DIM + 1);
        }
        const float factor =
            closing_factor(p, kv_head * n_group + (first_row + row) % n_group, largest, warp_sum(total));
        for (int32_t i = lane; i < n_parts; i += 32) {
            weights[row][i] *= factor;
        }
    }
    __syncthreads(); /* the weights are there */
    for (int32_t i = threadIdx.x; i < n_rows * DIM; i += 128) {
        const int32_t row = i / DIM;
        const int32_t d = i % DIM;
        if (d < p->v_dim) {
            float sum = 0.0f;
#pragma unroll 8
            for (int32_t j = 0; j < n_parts; j++) {
                sum += at(j, row, d) * weights[row][j];
            }
            const int32_t head = kv_head * n_group + (first_row + row) % n_group;
            const int64_t token = first_token + (first_row + row) / n_group;
            p->y[(token * p->n_heads + head) * p->v_dim + d] = sum;
        }
    }
}

template <int DIM> __device__ __forceinline__ void leave_part(const warp_queries<DIM> *w, float *part)
{
    const int32_t g = threadIdx.x % 32 / 4;
    const int32_t c = threadIdx.x % 4;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float *row = part + (g + 8 * r) * (DIM + 2);
#pragma unroll
        for (int i = 0; i < DIM / 8; i++) {
            row[8 * i + 2 * c] = w->o[i][2 * r];
            row[8 * i + 2 * c + 1] = w->o[i][2 * r + 1];
        }
        if (c == 0) {
            row[DIM] = w->largest[r];
            row[DIM + 1] = w->total[r];
        }
    }
}

/* A sequence's page of keys and values on its way to the second cache. */
template <int DIM> __device__ __forceinline__ void expect_page(const attention_params *p, int64_t page, int32_t kv_head)
{
    const int64_t block = (page * p->n_kv_heads + kv_head) * PAGE_TOKENS * DIM;
    for (int32_t i = threadIdx.x % 32; i < PAGE_TOKENS * DIM / 64; i += 32) {
        expect_line(p->keys + block + 64 * i);
        expect_line(p->values + block + 64 * i);
    }
}

/* The block's queries into shared memory; where it has the last page, the new key and value into the cache, in the page
 * that begins at `block`. */
template <int DIM>
__device__ __forceinline__ void prepare_heads(const attention_prepare_params *p, const head_tables *tables,
                                              uint16_t *q_shared, int32_t token, int32_t first_head, int32_t n_rows,
                                              int32_t kv_head, bool has_last_page, int64_t block, int32_t slot)
{
    __shared__ float heads[ATTENTION_WARPS][HEAD_MAX];
    const int32_t warp = threadIdx.x / 32;
    for (int32_t i = warp; i < n_rows + (has_last_page ? 2 : 0); i += ATTENTION_WARPS) {
        if (i < n_rows) {
            prepare_query(p, tables, q_shared + i * DIM, heads[warp], token, first_head + i);
        } else if (i == n_rows) {
            append_key(p, tables, block, heads[warp], token, kv_head, slot);
        } else {
            append_value(p, block, token, kv_head, slot);
        }
    }
    __syncthreads(); /* queries, key and value are there */
}

template <int DIM> __device__ __forceinline__ void attention_split(const attention_params *p)
{
    MX_DYNAMIC_SHARED(float, parts); /* [ATTENTION_WARPS][QUERY_ROWS][DIM + 2] */
    __shared__ uint4 q_shared[QUERY_ROWS * DIM / 8];
    __shared__ head_tables tables;
    __shared__ uint32_t before;
    let_next_start();
    const int32_t seq = blockIdx.x;
    const int32_t kv_head = blockIdx.y / p->n_row_tiles;
    const int32_t first_row = blockIdx.y % p->n_row_tiles * QUERY_ROWS;
    const int32_t first_token = p->step.row_start[seq];
    const int32_t n_group = p->n_heads / p->n_kv_heads;
    const int32_t n_rows = min(QUERY_ROWS, (p->step.row_start[seq + 1] - first_token) * n_group - first_row);
    if (n_rows <= 0) {
        return;
    }
    const int32_t g = threadIdx.x % 32 / 4;
    const int32_t warp = threadIdx.x / 32;
    const int32_t rows[2] = {g < n_rows ? first_row + g : -1, g + 8 < n_rows ? first_row + g + 8 : -1};

    const int32_t low = p->step.positions[first_token + first_row / n_group];
    const int32_t high = p->step.positions[first_token + (first_row + n_rows - 1) / n_group];
    const int32_t first_page = p->window > 0 ? max(0, low - p->window + 1) / PAGE_TOKENS : 0;
    const int32_t n_pages = high / PAGE_TOKENS + 1 - first_page;
    const int32_t per_split = (n_pages + (int32_t)gridDim.z - 1) / (int32_t)gridDim.z;
    const int32_t from = first_page + (int32_t)blockIdx.z * per_split;
    const int32_t to = min(from + per_split, first_page + n_pages);
    const int32_t *pages = p->step.page_table + (int64_t)seq * p->step.header->n_page_cols;
    if (from + warp < to) { /* the batch was there before the step, and so was all of the cache but its new positions */
        expect_page<DIM>(p, pages[from + warp], kv_head);
    }
    uint16_t *near = 0;
    if (p->has_prepare) {
        const int32_t last = high / PAGE_TOKENS;
        const int64_t block = ((int64_t)pages[last] * p->n_kv_heads + kv_head) * PAGE_TOKENS * DIM;
        near = (uint16_t *)q_shared;
        fill_tables(&p->prepare, &tables, high);
        __syncthreads(); /* the tables are there */
        wait_for_previous();
        prepare_heads<DIM>(&p->prepare, &tables, near, first_token, kv_head * n_group + first_row, n_rows, kv_head,
                           from <= last && last < to, block, high % PAGE_TOKENS);
    } else {
        wait_for_previous();
    }
    warp_queries<DIM> w;
    open_queries<DIM>(&w, p, first_token, kv_head, rows, near);
    for (int32_t i = from + warp; i < to; i += ATTENTION_WARPS) {
        const int64_t block = ((int64_t)pages[i] * p->n_kv_heads + kv_head) * PAGE_TOKENS * DIM;
        attend_page<DIM, false>(&w, p, p->keys + block, p->values + block, i * PAGE_TOKENS);
    }
    close_totals<DIM>(&w);
    leave_part<DIM>(&w, parts + warp * QUERY_ROWS * (DIM + 2));
    __syncthreads(); /* the warps' parts are there */
    if (gridDim.z == 1) {
        store_rows<DIM, false>(p, parts, ATTENTION_WARPS, first_token, kv_head, first_row, n_rows);
        return;
    }
    /* Leave the block's part; the last block of these queries brings all of them together. */
    const int64_t i_rows = (int64_t)blockIdx.x * gridDim.y + blockIdx.y;
    float *all = p->partials + i_rows * gridDim.z * QUERY_ROWS * (DIM + 2);
    float *mine = all + blockIdx.z * QUERY_ROWS * (DIM + 2);
    for (int32_t i = threadIdx.x; i < n_rows * (DIM + 2); i += blockDim.x) {
        const int32_t row = i / (DIM + 2);
        const int32_t d = i % (DIM + 2);
        float largest = NONE;
        float sum = 0.0f;
        for (int32_t j = 0; j < ATTENTION_WARPS; j++) {
            largest = fmaxf(largest, parts[(j * QUERY_ROWS + row) * (DIM + 2) + DIM]);
        }
        for (int32_t j = 0; j < ATTENTION_WARPS; j++) {
            const float *part = parts + (j * QUERY_ROWS + row) * (DIM + 2);
            sum += part[d] * exp2f(part[DIM] - largest);
        }
        mine[i] = d == DIM ? largest : sum;
    }
    __threadfence();
    __syncthreads(); /* all of the block's part is written */
    if (threadIdx.x == 0) {
        before = arrive(p->counters + i_rows);
    }
    __syncthreads(); /* `before` is there */
    if (before + 1 == gridDim.z) {
        if (threadIdx.x == 0) {
            p->counters[i_rows] = 0;
        }
        store_rows<DIM, true>(p, all, gridDim.z, first_token, kv_head, first_row, n_rows);
    }
}

/* A page of keys and values of a kv head, on its way to a stage of shared memory. */
template <int DIM>
__device__ __forceinline__ void fetch_page(const attention_params *p, uint16_t *stage, int64_t page, int32_t kv_head)
{
    const int64_t block = (page * p->n_kv_heads + kv_head) * PAGE_TOKENS * DIM;
    for (int32_t i = threadIdx.x; i < PAGE_TOKENS * DIM / 8; i += blockDim.x) { /* of 8 elements */
        const int32_t odd = i / (DIM / 8) % 2 * 4;
        copy_async(stage + (i ^ odd) * 8, p->keys + block + i * 8, true);
        copy_async(stage + PAGE_TOKENS * DIM + i * 8, p->values + block + i * 8, true);
    }
}

template <int DIM> __device__ __forceinline__ void attention_tiles(const attention_params *p)
{
    MX_DYNAMIC_SHARED(uint4, memory); /* [TILE_STAGES] x {keys, values} of a page */
    uint16_t *stages = (uint16_t *)memory;
    const int32_t n_warps = blockDim.x / 32;
    let_next_start();
    wait_for_previous();
    const int32_t i_tile = gridDim.x - 1 - blockIdx.x; /* the last tokens, which see most, first */
    const int32_t seq = p->step.query_tiles[2 * i_tile];
    const int32_t first_token = p->step.query_tiles[2 * i_tile + 1];
    const int32_t n_group = p->n_heads / p->n_kv_heads;
    const int32_t n_parts = n_group * (QUERY_TILE_TOKENS / QUERY_ROWS) / n_warps; /* blocks of a kv head */
    const int32_t kv_head = blockIdx.y / n_parts;
    const int32_t n_all = min(QUERY_TILE_TOKENS, p->step.row_start[seq + 1] - first_token) * n_group;
    const int32_t block_row = (int32_t)blockIdx.y % n_parts * n_warps * QUERY_ROWS;
    if (block_row >= n_all) {
        return;
    }
    const int32_t first_row = block_row + (int32_t)threadIdx.x / 32 * QUERY_ROWS;
    const int32_t n_rows = min(QUERY_ROWS, n_all - first_row); /* none in some warps of the last block */
    const int32_t g = threadIdx.x % 32 / 4;
    const int32_t c = threadIdx.x % 4;
    const int32_t rows[2] = {g < n_rows ? first_row + g : -1, g + 8 < n_rows ? first_row + g + 8 : -1};
    warp_queries<DIM> w;
    open_queries<DIM>(&w, p, first_token, kv_head, rows, 0);
    /* Pages that the block's queries see, and the last that this warp's do. */
    const int32_t last_row = min(block_row + n_warps * QUERY_ROWS, n_all) - 1;
    const int32_t low = p->step.positions[first_token + block_row / n_group];
    const int32_t to = p->step.positions[first_token + last_row / n_group] / PAGE_TOKENS + 1;
    const int32_t from = p->window > 0 ? max(0, low - p->window + 1) / PAGE_TOKENS : 0;
    const int32_t my_to =
        n_rows > 0 ? p->step.positions[first_token + (first_row + n_rows - 1) / n_group] / PAGE_TOKENS + 1 : 0;
    const int32_t *pages = p->step.page_table + (int64_t)seq * p->step.header->n_page_cols;
    for (int32_t i = 0; i < TILE_STAGES - 1; i++) {
        if (from + i < to) {
            fetch_page<DIM>(p, stages + i * (2 * PAGE_TOKENS * DIM), pages[from + i], kv_head);
        }
        copy_commit();
    }
    for (int32_t i = from; i < to; i++) {
        copy_wait<TILE_STAGES - 2>();
        __syncthreads(); /* the page is there, and everyone has done with the stage that is filled next */
        const int32_t next = i + TILE_STAGES - 1;
        if (next < to) {
            fetch_page<DIM>(p, stages + (next - from) % TILE_STAGES * (2 * PAGE_TOKENS * DIM), pages[next], kv_head);
        }
        copy_commit();
        const uint16_t *stage = stages + (i - from) % TILE_STAGES * (2 * PAGE_TOKENS * DIM);
        if (i < my_to) {
            attend_page<DIM, true>(&w, p, stage, stage + PAGE_TOKENS * DIM, i * PAGE_TOKENS);
        }
    }
    close_totals<DIM>(&w);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        if (rows[r] >= 0) {
            const int32_t head = kv_head * n_group + rows[r] % n_group;
            const int64_t token = first_token + rows[r] / n_group;
            const float factor = closing_factor(p, head, w.largest[r], w.total[r]);
            float *y = p->y + (token * p->n_heads + head) * p->v_dim;
#pragma unroll
            for (int i = 0; i < DIM / 8; i++) {
                for (int e = 0; e < 2; e++) {
                    if (8 * i + 2 * c + e < p->v_dim) {
                        y[8 * i + 2 * c + e] = w.o[i][2 * r + e] * factor;
                    }
                }
            }
        }
    }
}

#define ATTENTION(dim)                                                    \
    extern "C" __global__ void __launch_bounds__(128)                     \
        attention_split_##dim(const __grid_constant__ attention_params p) \
    {                                                                     \
        attention_split<dim>(&p);                                         \
    }                                                                     \
    extern "C" __global__ void __launch_bounds__(256)                     \
        attention_tiles_##dim(const __grid_constant__ attention_params p) \
    {                                                                     \
        attention_tiles<dim>(&p);                                         \
    }
ATTENTION(64)
ATTENTION(128)
ATTENTION(256)
