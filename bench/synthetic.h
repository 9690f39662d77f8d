/* synthetic.h - models of exact shapes with random weights: speed does not depend on values. */
#ifndef MX_BENCH_SYNTHETIC_H
#define MX_BENCH_SYNTHETIC_H

#include "base/arena.h"
#include "platform/memory.h"
#include "program/plan.h"
#include "program/program.h"

typedef struct synthetic_shape {
    const char *name;
    int32_t n_layers;
    int32_t n_heads;
    int32_t n_kv_heads;
    int32_t head_dim;
    int64_t d_model;
    int64_t d_ff;
    int64_t n_vocab;
    bool has_head_norms; /* norms on queries and keys, as in Qwen3 */
} synthetic_shape;

/* Ends with a row without a name. */
extern const synthetic_shape synthetic_shapes[];

const synthetic_shape *synthetic_shape_find(const char *name);

typedef struct synthetic_model {
    mx_program program; /* owned; after all passes */
    mx_plan plan;       /* owned */
    mx_block weights;   /* owned: random bytes, shared by all weights of the model */
    mx_quant quant;
    mx_dtype dtype;         /* of dense values, or of scales and biases */
    int64_t n_weight_bytes; /* that one token reads, embedding rows left out: as stored */
    mx_arena arena;         /* owned: names */
} synthetic_model;

/* Builds a tied model (the head is the embedding) of the shape, as a checkpoint of this format would. */
mx_status synthetic_model_open(synthetic_model *model, const synthetic_shape *shape, mx_quant quant, mx_dtype dtype,
                               int32_t n_ctx, int32_t max_tokens, mx_error *err) MX_NODISCARD;
void synthetic_model_close(synthetic_model *model);

#endif
