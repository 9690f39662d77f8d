/* linear_output.cuh - what happens to a sum of products before it is stored. */
#ifndef MX_CUDA_LINEAR_OUTPUT_CUH
#define MX_CUDA_LINEAR_OUTPUT_CUH

#include "backend/cuda/kernels/activation.cuh"
#include "backend/cuda/kernels/linear.params.h"
#include "backend/cuda/kernels/tiles.params.h"

/* Where the rows of a tile go. */
struct output_place {
    int32_t i_segment;
    int32_t row; /* of the segment's output, for the tile's row 0 */
};

__device__ __forceinline__ output_place place_of_tile(const linear_params *p, int32_t tile)
{
    output_place place = {0, tile * TILE_ROWS};
    if (p->has_glu) {
        place.i_segment = tile % 2;
        place.row = tile / 2 * TILE_ROWS;
        return place;
    }
    for (int32_t i = 1; i < p->n_segments; i++) {
        if (tile >= p->segments[i].first_tile) {
            place.i_segment = i;
            place.row = (tile - p->segments[i].first_tile) * TILE_ROWS;
        }
    }
    return place;
}

/* sum * row_factor + bias for one element; the matrix's factor is in the sum, `row_factor` is the one of x's row. */
__device__ __forceinline__ float finished_sum(const linear_params *p, int32_t i_segment, int32_t expert, int32_t n,
                                              float sum, float row_factor)
{
    const linear_segment *s = &p->segments[i_segment];
    const float y = sum * row_factor;
    return s->bias ? y + s->bias[(int64_t)expert * s->n_rows + n] : y;
}

/* What is added to element n of row r; 0 without a residual, and past the end. */
__device__ __forceinline__ float load_residual(const linear_params *p, output_place place, int32_t n, int64_t r)
{
    const linear_segment *s = &p->segments[place.i_segment];
    return p->residual && n < s->n_rows ? load_f32(p->residual + r * s->n_rows + n) : 0.0f;
}

/* Element n of row r, without a GLU. */
__device__ __forceinline__ void store_plain(const linear_params *p, output_place place, int32_t expert, int32_t n,
                                            int64_t r, float sum, float row_factor, float residual)
{
    const linear_segment *s = &p->segments[place.i_segment];
    if (n < s->n_rows) {
        s->y[r * s->n_rows + n] =
            activate(finished_sum(p, place.i_segment, expert, n, sum, row_factor), p->act) + residual;
    }
}

/* The same from the sums of the gate and of what it lets through. */
__device__ __forceinline__ void store_glu(const linear_params *p, int32_t expert, int32_t n, int64_t r, float gate_sum,
                                          float up_sum, float row_factor)
{
    const linear_segment *s = &p->segments[0];
    if (n < s->n_rows) {
        const float gate = finished_sum(p, 0, expert, n, gate_sum, row_factor);
        const float up = finished_sum(p, 1, expert, n, up_sum, row_factor);
        s->y[r * s->n_rows + n] = gated(gate, up, p->act);
    }
}

/* The sums of a block of linear_many or linear_wide, [row of x][SUM_STRIDE] in shared memory: tile t of the block's eight
 * from column 16t on, four columns of padding against shared banks. */
enum { BLOCK_TILES = 8, SUM_STRIDE = 16 * BLOCK_TILES + 4 };

/* Puts a lane's part of an m16n8 tile of sums in its place: rows of the tile of outputs, columns first_row + 0 .. 7 of x. */
__device__ __forceinline__ void put_sums(float *sums, const float c[4], int32_t tile, int32_t first_row)
{
    const int32_t lane = threadIdx.x % 32;
    float *to = sums + (first_row + lane % 4 * 2) * SUM_STRIDE + tile * TILE_ROWS + lane / 4;
    to[0] = c[0];
    to[SUM_STRIDE] = c[1];
    to[8] = c[2];
    to[SUM_STRIDE + 8] = c[3];
}

/* Finishes and stores the block's n_rows rows; 256 threads take part. The loop is short code on purpose: unrolled over all
 * of a thread's sums, activations were more instructions than the caches for them hold. */
__device__ __forceinline__ void store_block(const linear_params *p, const float *sums, int32_t n_rows, int32_t first_row,
                                            int32_t first_tile)
{
    const int32_t shift = p->has_glu ? 6 : 7; /* 64 or 128 outputs */
    const int32_t i_output = threadIdx.x & ((1 << shift) - 1);
    const int32_t local = i_output / TILE_ROWS << p->has_glu;
    if (first_tile + local >= p->n_tiles) {
        return;
    }
    const output_place place = place_of_tile(p, first_tile + local);
    const linear_segment *s = &p->segments[place.i_segment];
    const int32_t n = place.row + i_output % TILE_ROWS;
    if (n >= s->n_rows) {
        return;
    }
    const float factor[2] = {*s->factor, p->has_glu ? *p->segments[1].factor : 0.0f};
    const float bias[2] = {s->bias ? s->bias[n] : 0.0f,
                           p->has_glu && p->segments[1].bias ? p->segments[1].bias[n] : 0.0f};
    const float *from = sums + local * TILE_ROWS + i_output % TILE_ROWS;
    const int32_t step = 256 >> shift;
#pragma unroll 1
    for (int32_t r = threadIdx.x >> shift; r < n_rows; r += 4 * step) {
        float residual[4];
        float row_factor[4];
#pragma unroll
        for (int j = 0; j < 4; j++) { /* loads before stores, which the compiler must keep in order */
            const int64_t row = first_row + r + j * step;
            const bool is_in = row < p->n_x_rows;
            residual[j] = p->residual && is_in ? load_f32(p->residual + row * s->n_rows + n) : 0.0f;
            row_factor[j] = is_in ? load_f32(p->factors + row) : 0.0f;
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int64_t row = first_row + r + j * step;
            const float *sum = from + (r + j * step) * SUM_STRIDE;
            float y = sum[0] * (factor[0] * row_factor[j]) + bias[0];
            y = p->has_glu ? gated(y, sum[TILE_ROWS] * (factor[1] * row_factor[j]) + bias[1], p->act)
                           : activate(y, p->act) + residual[j];
            if (row < p->n_x_rows) {
                s->y[row * s->n_rows + n] = y;
            }
        }
    }
}

#endif
