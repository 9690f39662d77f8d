/* gguf_blocks.h - the number formats of GGUF files, as MLX's affine format can hold them.
 *
 * A group of 32 values is q, a scale and a bias: w = scale * q + bias. What GGUF stores as d * (q - 8) or d * q + m has
 * exactly that form, with scales that fit f16; the K formats have products of a 16-bit and a 6-bit number as scales,
 * which f16 rounds; Q6_K has groups of 16, which MLX has not.
 *
 * Source: https://github.com/ggml-org/ggml, src/ggml-common.h and ggml-quants.c, which define the blocks.
 */
#ifndef MX_WEIGHTS_GGUF_BLOCKS_H
#define MX_WEIGHTS_GGUF_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "weights/dtype.h"

#define MX_GGUF_GROUP 32 /* values of one MLX group */

/* How MLX's format takes the values. */
typedef enum mx_gguf_fit {
    MX_GGUF_IS_FLOAT,    /* no blocks: floats */
    MX_GGUF_IS_EXACT,    /* codes, scales and biases as they are */
    MX_GGUF_ROUNDS,      /* codes as they are, scales and biases rounded to f16 */
    MX_GGUF_REQUANTISED, /* dequantised and quantised anew, to 8 bits */
} mx_gguf_fit;

typedef struct mx_gguf_format {
    const char *name;
    uint32_t number;  /* ggml's */
    int32_t n_values; /* of a block */
    int32_t n_bytes;
    mx_gguf_fit fit;
    mx_dtype dtype; /* of floats */
    int32_t bits;   /* in MLX's format */
    /* One block as groups of 32: codes [n_values], scales and biases [n_values / 32] (fit EXACT and ROUNDS). */
    void (*unpack)(const uint8_t *block, uint8_t *q, float *scales, float *biases);
    /* One block as floats (fit REQUANTISED). */
    void (*dequantise)(const uint8_t *block, float *w);
} mx_gguf_format;

/* NULL for formats that are not read. */
const mx_gguf_format *mx_gguf_format_find(uint32_t number);

#endif
