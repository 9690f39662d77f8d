/* linear.params.h - LINEAR and EXPERT_LINEAR: y_i[r,n] = sum_k norm(x)[r,k] * W_i[n,k] + b_i[n], then a GLU, or an
 * activation and a residual.
 *
 * Weights of one tile format that share x are one packed matrix (tiles.params.h): segment i has its own run of tiles.
 * With a GLU the two segments take turns, tile by tile. A launch computes all segments of one packed matrix.
 *
 * x goes into the products as f16, scaled by powers of two so that the largest element of a row (linear_many), or of a
 * span of a row (linear_few), is near 2^14; factors undo that. Sums are in f32.
 */
#ifndef MX_CUDA_LINEAR_PARAMS_H
#define MX_CUDA_LINEAR_PARAMS_H

#include "backend/cuda/kernels/params.h"
#include "backend/cuda/kernels/tiles.params.h"

enum { LINEAR_MAX_SEGMENTS = 4 };

/* linear_few: rows of x at most, a block's warps; a slot of a warp's ring, how many there are (where shared memory is
 * small 2 or 1: n_slots), and what else the block
 * has of shared memory before the staged rows: { FEW_ROWS factors | [unit][FEW_ROWS] x {sum of x, factor} | f16 rows of
 * n_padded + 32 }. A unit is a group of columns, or a span for TILE_F16. */
enum { FEW_ROWS = 8, FEW_WARPS_SHIFT = 4, FEW_WARPS = 1 << FEW_WARPS_SHIFT, FEW_THREADS = 32 * FEW_WARPS };
#define FEW_SLOT_BYTES(kind, n_groups) ((kind) == TILE_F16 ? 4096 : ((kind) == TILE_Q4 ? 1024 : 2048) + 64 * (n_groups))
#define FEW_SLOTS(kind)                ((kind) == TILE_Q4 ? 4 : (kind) == TILE_Q8 ? 3 : 2)
#define FEW_SUM_FLOATS                 (2 * FEW_WARPS * TILE_ROWS * FEW_ROWS + FEW_WARPS + 2 * LINEAR_MAX_SEGMENTS)

/* linear_wide: a block's threads, its tiles of outputs (or twice as many), and stages at most. */
enum { WIDE_THREADS = 384, WIDE_TILES = 8, WIDE_MAX_STAGES = 8 };

/* x16[r,k] = f16(x[r,k] * w[k] * s_r),  factors[r] = 1 / s_r / sqrt(mean(x[r,:]^2) + eps); without a norm the second
 * factor of each is 1. Of a layer norm (is_centered) x16 holds all: the normalised x, its bias included, times s_r.
 * Columns up to n_padded become zeros.
 *
 * For linear_wide (n_rows_padded > 0) x16 is [chunk][n_rows_padded][64]: the 16-byte piece j of row r at j ^ (r % 8),
 * and piece 4b + 2j + h holds the columns 32b + 8c + 4j + 2h, + 1 for c = 0 .. 3, as tiles have them. */
typedef struct linear_input_params {
    MX_DEVPTR(const float) x;    /* [n_rows, n_cols] */
    MX_DEVPTR(const float) norm; /* [n_cols] or null */
    MX_DEVPTR(const float) bias; /* of a layer norm: [n_cols] or null */
    MX_DEVPTR(uint16_t) x16;     /* [n_rows, n_padded], or as linear_wide wants it */
    MX_DEVPTR(float) factors;    /* [n_rows] */
    int32_t n_cols;
    int32_t n_padded;
    int32_t has_norm;
    float eps;
    float weight_offset;
    int32_t is_centered;
    int32_t n_rows_padded;
    int32_t reserved;
} linear_input_params;
MX_PARAMS_SIZE(linear_input_params, 72);

typedef struct linear_segment {
    MX_DEVPTR(float) y;            /* [rows of x, n_rows] */
    MX_DEVPTR(const float) bias;   /* [n_rows] or null; of experts [n_experts, n_rows] */
    MX_DEVPTR(const float) factor; /* of the matrix; of experts [n_experts] */
    int32_t n_rows;
    int32_t first_tile; /* in the launch's packed matrix; unused with a GLU */
} linear_segment;
MX_PARAMS_SIZE(linear_segment, 32);

typedef struct linear_params {
    MX_DEVPTR(const float) x;         /* linear_few: [n_x_rows, n_cols] */
    MX_DEVPTR(const float) norm;      /* linear_few: [n_cols] or null */
    MX_DEVPTR(const float) norm_bias; /* linear_stage: of a layer norm, or null */
    MX_DEVPTR(const uint16_t) x16;    /* linear_many, linear_wide: what linear_input left */
    MX_DEVPTR(const float) factors;   /* the same: [n_x_rows] */
    MX_DEVPTR(const uint8_t) tiles;
    MX_DEVPTR(const uint32_t) scales;
    MX_DEVPTR(const float) residual; /* [n_rows of y, n_rows of segment 0] or null */
    MX_DEVPTR(float) partials;       /* the same, split: [tile of y, split, tile's elements] */
    MX_DEVPTR(uint32_t) counters;    /* the same: [tile of y], zeros before and after */
    MX_DEVPTR(const int32_t) ids;    /* experts: [n_tokens, top_k], or null */
    MX_DEVPTR(float) staged;         /* linear_few: rows as linear_stage leaves them */
    linear_segment segments[LINEAR_MAX_SEGMENTS];
    int64_t expert_tile_bytes; /* from one expert's tiles and scales to the next's */
    int64_t expert_scale_words;
    int32_t n_x_rows; /* of this launch; linear_few with experts: 1 */
    int32_t n_cols;
    int32_t n_padded; /* n_chunks * 64 */
    int32_t n_chunks; /* even */
    int32_t n_spans;
    int32_t n_tiles;
    int32_t n_groups; /* of columns */
    int32_t group;    /* columns: 32, 64 or 128 */
    int32_t n_segments;
    int32_t has_glu;
    int32_t act; /* of the GLU, else of every output; ACT_NONE */
    int32_t has_norm;
    float eps;
    float weight_offset;
    int32_t share_shift; /* linear_few: 2^n warps share a tile's columns; at most half of a block's with a GLU */
    int32_t is_staged;   /* linear_few: x is in `staged`, else each block stages its one row (no layer norm) */
    int32_t staged_bytes;
    int32_t top_k;         /* experts */
    int32_t is_x_by_slot;  /* experts: row of x is the slot t * top_k + j, else the token t */
    int32_t is_centered;   /* linear_stage: the norm is a layer norm */
    int32_t n_rows_padded; /* linear_wide */
    int32_t n_stages;
    int32_t stage_bytes;
    int32_t n_slots; /* linear_few */
} linear_params;
MX_PARAMS_SIZE(linear_params, 336);

#endif
