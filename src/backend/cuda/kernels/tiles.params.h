/* tiles.params.h - the packed form of a weight matrix on the GPU, and the kernels that make it.
 *
 * Rows (outputs) are taken 16 at a time, a tile; columns (inputs) 64 at a time, a chunk, and two chunks are a span.
 * Rows are padded with zeros to tiles, columns to spans. A chunk of a tile is what one warp turns into the left side of
 * 4 * 2 products (device.cuh): lane l = 4g + c holds rows g and g + 8, and of each block of 32 columns the columns 8c
 * .. 8c+7, in the order that the products need.
 *
 *   TILE_Q4   512 bytes  codes of 4 bits: [lane] x {row g block 0, row g+8 block 0, row g block 1, row g+8 block 1},
 *                        each 32 bits: column i of 8 in nibble i/2 (even i) or 4 + i/2 (odd i), so that a mask of
 *                        every fourth nibble gives neighbours in the halves of a word
 *   TILE_Q8  1024 bytes  codes of 8 bits: [block] [lane] x {row g: 8 bytes, row g+8: 8 bytes}, columns in the
 *                        order 0 2 1 3 4 6 5 7, for the same reason
 *   TILE_F16 2048 bytes  f16 values: [block] [row g, then row g+8] [lane] x 16 bytes
 *
 * Scales and biases are f16 pairs, [tile] [span] [g] [group in the span] x {scale, bias of row g, those of row g + 8};
 * a weight is scale * code + bias, rounded once to f16. f16 has a small range, so a matrix has one more factor, a power
 * of two that brings its largest scale or bias (or value) near 8; products are multiplied by its inverse.
 *
 * Codes of 2 and 3 bits are widened to 4; 5 and 6 to 8. mxfp4's values, twice over, are whole numbers from -12 to 12:
 * codes of 8 bits with a bias. nvfp4 and mxfp8 become f16, which holds their values exactly, short of the range.
 */
#ifndef MX_CUDA_TILES_PARAMS_H
#define MX_CUDA_TILES_PARAMS_H

#include "backend/cuda/kernels/params.h"

enum { TILE_ROWS = 16, CHUNK_COLS = 64, SPAN_COLS = 128 };
enum { TILE_Q4, TILE_Q8, TILE_F16, TILE_KINDS };
enum { RAW_DENSE, RAW_AFFINE, RAW_MXFP4, RAW_NVFP4, RAW_MXFP8 }; /* mx_quant_mode */
enum { RAW_F32, RAW_F16, RAW_BF16 };

/* A matrix as the checkpoint has it, at addresses without alignment. */
typedef struct raw_matrix {
    MX_DEVPTR(const uint8_t) data;   /* packed rows, or dense values */
    MX_DEVPTR(const uint8_t) scales; /* [n_rows, n_cols / group] */
    MX_DEVPTR(const uint8_t) biases; /* the same, affine only */
    int32_t mode;
    int32_t dtype; /* of values (dense), or of scales and biases (affine) */
    int32_t bits;
    int32_t group; /* 1 for dense */
    int32_t n_rows;
    int32_t n_cols;
    float global_scale;
    int32_t reserved;
} raw_matrix;
MX_PARAMS_SIZE(raw_matrix, 56);

/* largest = the largest magnitude in scales and biases (or values), as the bits of an f32. */
typedef struct tile_range_params {
    raw_matrix raw;
    MX_DEVPTR(uint32_t) largest; /* 0 before */
} tile_range_params;
MX_PARAMS_SIZE(tile_range_params, 64);

typedef struct tile_pack_params {
    raw_matrix raw;
    MX_DEVPTR(const uint32_t) largest;
    MX_DEVPTR(uint8_t) tiles;   /* of the packed matrix */
    MX_DEVPTR(uint32_t) scales; /* the same; unused for TILE_F16 */
    MX_DEVPTR(float) factor;    /* the inverse of the matrix's power of two */
    int32_t kind;
    int32_t first_tile; /* place of this matrix in the packed one */
    int32_t tile_step;  /* 1, or 2 where two matrices take turns */
    int32_t n_tiles;
    int32_t n_chunks;
    int32_t group; /* columns of a group in the packed form */
} tile_pack_params;
MX_PARAMS_SIZE(tile_pack_params, 112);

#endif
