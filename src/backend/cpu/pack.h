/* pack.h - weights in the layout that the CPU's kernels read, made once when an executor is opened.
 *
 * A weight becomes tiles of 16 rows (the last one padded with zeros), each tile one run of memory that is read once
 * from front to back:
 *
 *     tile = group, group, ...
 *     group = [16 scales | 16 biases | blocks of 32 columns]
 *
 * The unit of codes is a vector of 64 bytes: byte 4r + j belongs to row r and column j of four neighbouring columns (a
 * quad), so one broadcast of four activations meets 16 rows. A block of 32 columns has 8 quads. Its vectors:
 *
 *     2 bits  2 vectors: quad 4v + i in bits 2i, 2i+1 of vector v
 *     4 bits  4 vectors: quad 2v + i in bits 4i to 4i+3 of vector v
 *     8 bits  8 vectors, one a quad
 *     3 bits  the 2-bit vectors of the low bits, then 1 vector: the third bit of quad q in bit q
 *     5 bits  the 4-bit vectors of the low bits, then 1 vector: the fifth bit of quad q in bit q
 *     6 bits  the 4-bit vectors of the low bits, then the 2-bit vectors of the high bits
 *     e2m1    as 4 bits; nvfp4's groups are half a block
 *
 * Scales and biases stay as stored: f16, bf16 or f32. e2m1 has scales only, in bf16 (half the file's, since its codes
 * count halves, and exact); the bias is then -12 times the scale, for codes 0 to 24. Weights whose products are in f32
 * have one row of 16 values a column, in the file's format: f32, f16, bf16, or for mxfp8 a byte with 16 scales in bf16
 * before each 32 columns.
 */
#ifndef MX_BACKEND_CPU_PACK_H
#define MX_BACKEND_CPU_PACK_H

#include <stdbool.h>
#include <stdint.h>

#include "weights/weight.h"

#define MX_TILE_ROWS 16

/* name, bits */
#define MX_PACK_CODE_LIST(X) \
    X(U2, 2)                 \
    X(U3, 3)                 \
    X(U4, 4)                 \
    X(U5, 5)                 \
    X(U6, 6)                 \
    X(U8, 8)                 \
    X(E2M1, 4)               \
    X(E4M3, 8)               \
    X(F16, 16)               \
    X(BF16, 16)              \
    X(F32, 32)

typedef enum mx_pack_code {
#define X(name, bits) MX_CODE_##name,
    MX_PACK_CODE_LIST(X)
#undef X
        MX_CODE_COUNT
} mx_pack_code;

#define MX_CODE_FIRST_DENSE MX_CODE_E4M3 /* from here on the products are in f32 */

typedef struct mx_packed {
    mx_pack_code code;
    mx_dtype scale_dtype; /* of scales and biases: F16, BF16 or F32 */
    int32_t group;        /* columns that share a scale: 16 to 128; 0 for f32, f16, bf16 */
    int64_t n_experts;
    int64_t n_rows;
    int64_t n_cols;
    int64_t n_tiles; /* of one expert */
    int64_t tile_bytes;
    int64_t group_bytes; /* of one group of a tile; 0 without groups */
    float factor;        /* on every product; nvfp4's global scale */
    uint8_t *data;       /* borrowed [n_experts, n_tiles, tile_bytes], 64-byte aligned */
} mx_packed;

/* Describes the packed form of w; data is NULL. */
mx_packed mx_pack_plan(const mx_weight *w);

/* Bytes of all tiles of all experts. */
int64_t mx_packed_bytes(const mx_packed *packed);

/* Writes tile i_tile of expert `expert` of w. Tiles may be written by many threads. */
void mx_pack_tile(const mx_packed *packed, const mx_weight *w, int64_t expert, int64_t i_tile);

static inline uint8_t *mx_packed_tile(const mx_packed *packed, int64_t expert, int64_t i_tile)
{
    return packed->data + (expert * packed->n_tiles + i_tile) * packed->tile_bytes;
}

#endif
