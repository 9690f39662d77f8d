/* weight.h - one weight matrix of a model as the program and the back ends see it: shape, storage format, bytes.
 *
 * A weight borrows its bytes from a mapped checkpoint and owns nothing. File bytes have no alignment: they are read
 * with unaligned loads or copied. Source of the formats: MLX, mlx/ops.cpp and mlx/backend/cpu/quantized.cpp.
 */
#ifndef MX_WEIGHTS_WEIGHT_H
#define MX_WEIGHTS_WEIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "weights/dtype.h"

typedef struct mx_checkpoint mx_checkpoint;     /* checkpoint.h */
typedef struct mx_quant_config mx_quant_config; /* quant.h */

typedef enum mx_quant_mode {
    MX_QUANT_NONE,   /* dense: f32, f16 or bf16 */
    MX_QUANT_AFFINE, /* w = scale * q + bias; bits 2, 3, 4, 5, 6, 8; group 32, 64, 128 */
    MX_QUANT_MXFP4,  /* e2m1 values, e8m0 scales, group 32 */
    MX_QUANT_NVFP4,  /* e2m1 values, e4m3 scales, group 16 */
    MX_QUANT_MXFP8,  /* e4m3 values, e8m0 scales, group 32 */
} mx_quant_mode;

typedef struct mx_quant {
    mx_quant_mode mode;
    int32_t bits;       /* of one value; 0 for MX_QUANT_NONE */
    int32_t group_size; /* values along n_cols that share a scale; 0 for MX_QUANT_NONE */
} mx_quant;

typedef struct mx_weight {
    mx_str name; /* as in the checkpoint, without ".weight": "model.layers.0.mlp.down_proj"; borrowed */
    mx_quant quant;
    mx_dtype dtype;       /* of the values (dense), or of scales and biases (affine); U8 for the float modes' scales */
    int64_t n_experts;    /* 1 for a plain matrix */
    int64_t n_rows;       /* outputs, or vocabulary entries; 1 for a vector */
    int64_t n_cols;       /* inputs */
    int64_t n_pitch_cols; /* columns from one stored row to the next, where this is a part of a wider matrix's columns;
                             0: n_cols */
    const struct mx_weight *experts; /* [n_experts], each a plain matrix of this shape and format, where the checkpoint
                                        keeps experts apart (data, scales and biases are then NULL); else NULL */
    const uint8_t *data;             /* dense: [n_experts, n_rows, n_cols] dtype; else packed words, each row
                                        n_cols * bits / 8 bytes, element i in bits [i*bits, (i+1)*bits), lowest first */
    const uint8_t *scales;           /* [n_experts, n_rows, n_cols / group_size] dtype; NULL when dense */
    const uint8_t *biases;           /* the same shape; affine only, else NULL */
    float global_scale;              /* nvfp4: factor on every value, 1 where the file has none */

    /* Some rows of a larger matrix, or its transpose, without a copy; all 0 where rows and columns are neighbours. */
    int64_t expert_rows; /* stored rows from one expert to the next; 0: n_rows */
    int64_t run_rows;    /* rows that follow each other before a gap; 0: all */
    int64_t run_step;    /* stored rows from the start of one such run to that of the next */
    int64_t first_row;   /* of the runs: row 0 is this one of theirs */
    int64_t col_step;    /* dense: values from one column to the next, rows being neighbours; 0: columns are */
} mx_weight;

/* Finds `<path>.weight` with its `.scales` and `.biases` (or, where path is itself a tensor's whole name, that tensor:
 * "model.layers.0.self_attn.q_proj.bias") and checks that kinds and shapes fit each other and the configuration.
 *
 * MX_NOT_FOUND   no such tensor
 * MX_FORMAT      shapes or dtypes that do not fit, naming the tensor, what was expected and what was found
 * MX_UNSUPPORTED a storage format that we do not read, named
 */
mx_status mx_weight_resolve(const mx_checkpoint *checkpoint, const mx_quant_config *quant, mx_str path, mx_weight *out,
                            mx_error *err) MX_NODISCARD;

/* Whether mx_weight_resolve would find a tensor. */
bool mx_weight_exists(const mx_checkpoint *checkpoint, mx_str path);

/* Rows [from, from + n) of each expert as a weight of their own. No copy. Fused q/k/v are split so. The caller has
 * checked the range; experts must not be tensors of their own. */
mx_weight mx_weight_slice_rows(const mx_weight *w, int64_t from, int64_t n);

/* The same for n_runs runs of run_rows rows each, run_step apart, from row `from` on: the queries of a matrix that
 * holds query, key and value head by head. Only of a weight that is not made of runs itself. */
mx_weight mx_weight_slice_runs(const mx_weight *w, int64_t from, int64_t n_runs, int64_t run_rows, int64_t run_step);

/* Columns become rows, of each expert: a dense matrix that is stored [n_in, n_out]. No copy. */
mx_weight mx_weight_transpose(const mx_weight *w);

/* Columns [from, from + n) likewise: of a quantised weight whole groups, which the caller has checked too. A rank of a
 * divided model reads its part of the inputs so. */
mx_weight mx_weight_slice_cols(const mx_weight *w, int64_t from, int64_t n);

/* Bytes of n_cols values as stored, and of their scales (and as many of biases); 0 scales when dense. */
static inline int64_t mx_weight_value_bytes(const mx_weight *w, int64_t n_cols)
{
    return w->quant.mode == MX_QUANT_NONE ? n_cols * (int64_t)mx_dtype_size(w->dtype) : n_cols * w->quant.bits / 8;
}

static inline int64_t mx_weight_scale_bytes(const mx_weight *w, int64_t n_cols)
{
    return w->quant.mode == MX_QUANT_NONE ? 0 : n_cols / w->quant.group_size * (int64_t)mx_dtype_size(w->dtype);
}

/* Columns from one stored row to the next. */
static inline int64_t mx_weight_pitch(const mx_weight *w)
{
    return w->n_pitch_cols ? w->n_pitch_cols : w->n_cols;
}

/* Where row `row` is among those stored. */
static inline int64_t mx_weight_row_place(const mx_weight *w, int64_t row)
{
    const int64_t r = w->first_row + row;
    return w->run_rows ? r / w->run_rows * w->run_step + r % w->run_rows : row;
}

/* Where row `row` of a plain matrix starts: its values (col_step apart), and its scales and biases as offsets into
 * both.
 */
static inline const uint8_t *mx_weight_row(const mx_weight *w, int64_t row)
{
    return w->data + mx_weight_row_place(w, row) * mx_weight_value_bytes(w, w->col_step ? 1 : mx_weight_pitch(w));
}

static inline int64_t mx_weight_row_scales(const mx_weight *w, int64_t row)
{
    return mx_weight_row_place(w, row) * mx_weight_scale_bytes(w, mx_weight_pitch(w));
}

/* Whether the bytes of a plain matrix are not in one piece. */
static inline bool mx_weight_is_scattered(const mx_weight *w)
{
    return w->run_rows > 0 || w->col_step > 0 || w->n_pitch_cols > 0;
}

/* The bytes of a plain matrix in one piece, row after row: of its values into data and, where the matrix has them, of
 * scales and biases. */
void mx_weight_gather(const mx_weight *w, uint8_t *data, uint8_t *scales, uint8_t *biases);

/* Expert `expert` as a plain matrix of its own, whichever way the checkpoint keeps experts; the weight itself when it
 * is a plain matrix. No copy. Code that reads expert weights goes through here. */
static inline mx_weight mx_weight_expert(const mx_weight *w, int64_t expert)
{
    if (w->experts) {
        return w->experts[expert];
    }
    const int64_t n_stored = expert * (w->expert_rows ? w->expert_rows : w->n_rows);
    mx_weight one = *w;
    one.n_experts = 1;
    one.data = w->data + n_stored * mx_weight_value_bytes(w, mx_weight_pitch(w));
    one.scales = w->scales ? w->scales + n_stored * mx_weight_scale_bytes(w, mx_weight_pitch(w)) : NULL;
    one.biases = w->biases ? w->biases + n_stored * mx_weight_scale_bytes(w, mx_weight_pitch(w)) : NULL;
    return one;
}

/* Bytes of file data that one pass over the whole weight reads. */
int64_t mx_weight_bytes(const mx_weight *w);

/* out[n_cols] = row `row` of expert `expert` (mx_weight_expert) in f32: the definition of every storage format. Affine:
 * the product and the sum are f32. Cannot fail; safe from any thread. */
void mx_weight_dequantize_row(const mx_weight *w, int64_t expert, int64_t row, float *out);

#endif
