/* kernels.h - the inner loops that an instruction set can do faster, as one table of functions.
 *
 * packed_generic.c and rows_generic.c fill the whole table in plain C; the files in isa/ overwrite what they do better,
 * for the processor that the program runs on. Which table is in use never changes what is computed: products with
 * quantised weights are sums of integers, exact in any order, and the floating-point operations around them have one
 * order, written down below, that every file keeps. So a row alone, in a batch, by AVX2 or by AVX-512 gives the same
 * bits, wherever a fused multiply-add rounds once.
 *
 * Weights are packed by pack.h into tiles of 16 rows. A product goes one of two ways:
 *   dot     one row of activations: codes are unpacked into registers and used at once
 *   expand, then panel   more rows: a tile is unpacked once into a panel of bytes, which all rows then use
 */
#ifndef MX_BACKEND_CPU_KERNELS_H
#define MX_BACKEND_CPU_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "backend/cpu/attend.h"
#include "backend/cpu/pack.h"
#include "backend/cpu/recurrent_kernels.h"
#include "backend/executor.h"
#include "program/program.h"

/* How activations are written for the kernels. x_group columns share a scale; code = round(x / scale). */
typedef enum mx_act_form {
    MX_ACT_F32,    /* [n_cols, n_tokens] f32: dense weights and mxfp8 */
    MX_ACT_SPLIT,  /* int16 as 256 * high + low: [n_cols / 4, n_tokens, {high, low}, 4] int8 */
    MX_ACT_INT8,   /* [n_cols / 4, n_tokens, 4] int8 */
    MX_ACT_PAIRED, /* int16 in the order 0, 2, 1, 3 of each four columns: [n_cols / 4, n_tokens, 4] int16 */
} mx_act_form;

#define MX_MAX_BLOCK_TOKENS 8

/* A block of rows of activations, ready for the kernels. */
typedef struct mx_acts {
    mx_act_form form;
    int32_t n_tokens; /* 1, 2, 4 or 8 */
    int32_t x_group;  /* columns that share a scale; divides w_group */
    int32_t w_group;  /* the weight's group */
    int64_t n_cols;
    uint8_t *codes;
    float *scales;      /* [n_cols / x_group, n_tokens] */
    float *sums;        /* [n_cols / w_group, n_tokens] sums of x, in f32 */
    int32_t *code_sums; /* [n_cols / x_group, n_tokens] */
} mx_acts;

/* Codes of some groups of a tile as bytes: for each group [16 scales f32 | 16 biases f32 | w_group / 4 vectors of 64
 * bytes], vector q holding columns 4q to 4q + 3 of row r in bytes 4r to 4r + 3. */
#define MX_PANEL_HEAD_BYTES 128

typedef struct mx_cpu_kernels mx_cpu_kernels;

struct mx_cpu_kernels {
    const char *name; /* "avx2" */
    int32_t max_block_tokens;

    /* The form that dot (is_one) or panel wants for weights of this code. */
    mx_act_form (*choose_form)(mx_pack_code code, bool is_fast, bool is_one);

    /* Writes row i_token of the block from x [n_cols]. The largest code is 32639 (split and paired) or 127. */
    void (*quantize_row)(const mx_acts *block, int32_t i_token, const float *x, bool is_fast);

    /* y[16] = the tile's rows times the one row of x:
     *   for each group g:  t = 0;  for each x group i of g: t = fma(sum of code products, scale[i], t)
     *                      y = fma(t, w_scale[g], y);  y = fma(sum[g], w_bias[g], y)
     *   y = y * factor */
    void (*dot[MX_CODE_COUNT])(const mx_packed *w, const uint8_t *tile, const mx_acts *x, float *y);

    /* Unpacks n_groups groups of a tile, src on, into a panel of mx_panel_bytes. */
    void (*expand[MX_CODE_COUNT])(const mx_packed *w, const uint8_t *src, int64_t n_groups, uint8_t *panel);

    /* Adds the groups [first_group, first_group + n_groups), which the panel holds, to y[n_tokens, 16]: the same
     * operations in the same order as dot, but for the factor. */
    void (*panel)(const mx_packed *w, const uint8_t *panel, int64_t first_group, int64_t n_groups, const mx_acts *x,
                  float *y);

    /* y[n_tokens, 16] for weights whose activations stay f32: y = fma(w[k], x[k], y) for ascending k, for mxfp8 within
     * a group and then y = fma(t, scale, y). */
    void (*dense[MX_CODE_COUNT])(const mx_packed *w, const uint8_t *tile, const mx_acts *x, float *y);

    /* Rows of f32: the mathematics of ops/, within a few units of the last place. */
    void (*rmsnorm_row)(float *y, const float *x, const float *w, int64_t n_cols, float eps, float weight_offset);
    void (*layernorm_row)(float *y, const float *x, const float *w, const float *bias, int64_t n_cols, float eps,
                          float weight_offset);
    void (*act_row)(float *y, const float *x, int64_t n, mx_activation act);
    void (*glu_row)(float *y, const float *gate, const float *up, int64_t n, mx_activation act);

    /* Rotates one head in place; cosines and sines [rot_dim / 2], times the factor. */
    void (*rope_head)(float *x, const float *cosines, const float *sines, int32_t n_pairs, bool is_interleaved);

    /* attend.h; and dst[n] = src as f16, values past its range as its largest. */
    void (*attend)(const mx_attend *a);
    void (*narrow)(uint16_t *dst, const float *src, int32_t n);

    mx_recurrent_kernels recurrent;
};

/* Bytes of a panel of n_groups groups of a weight. */
size_t mx_panel_bytes(const mx_packed *w, int64_t n_groups);

/* The table for an instruction set; NULL names the best that this processor has. Returns NULL for an instruction set
 * that is not known, not built in or not there. */
const mx_cpu_kernels *mx_cpu_kernels_find(const char *isa);

/* Names of the instruction sets that this processor has, best first, n at most; returns how many there are. */
int32_t mx_cpu_kernels_list(const char **names, int32_t n);

/* Parts of tables, one a file: each overwrites the rows that it has. rows_*: quantize_row and what follows dense;
 * packed_*: the rest, and max_block_tokens and choose_form where they differ from the generic ones. */
#define MX_KERNEL_FILLS(X) \
    X(packed_generic)      \
    X(rows_generic)        \
    X(attend_generic)      \
    X(recurrent_generic)   \
    X(recurrent_avx2)      \
    X(recurrent_avx512)    \
    X(recurrent_neon)      \
    X(packed_avx2)         \
    X(rows_avx2)           \
    X(attend_avx2)         \
    X(packed_avx512)       \
    X(rows_avx512)         \
    X(attend_avx512)       \
    X(packed_neon)         \
    X(packed_dotprod)      \
    X(attend_neon)
#define X(name) void mx_cpu_kernels_fill_##name(mx_cpu_kernels *k);
MX_KERNEL_FILLS(X)
#undef X

#endif
