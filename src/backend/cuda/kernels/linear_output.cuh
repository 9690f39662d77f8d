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

#endif
