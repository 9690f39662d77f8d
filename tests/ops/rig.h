/* rig.h - programs of one operation, run through the executor's public face.
 *
 * Inputs come in through EMBED: a dense f32 table of random rows whose row is chosen by the token, so any values can
 * be fed and the test knows them. The value under test is the program's output. Weights hold random bits.
 */
#ifndef MX_TESTS_OPS_RIG_H
#define MX_TESTS_OPS_RIG_H

#include "backend/executor.h"
#include "base/arena.h"
#include "program/program.h"

#define RIG_MAX_TOKENS  160 /* of one step */
#define RIG_MAX_SEQS    8
#define RIG_MAX_PAGES   64
#define RIG_PAGE_COLS   16
#define RIG_N_VOCAB     96
#define RIG_MAX_HISTORY (RIG_PAGE_COLS * MX_PAGE_TOKENS)

typedef struct rig_rng {
    uint64_t state;
} rig_rng;

uint32_t rig_next(rig_rng *rng);
float rig_uniform(rig_rng *rng, float from, float to);
float rig_normal(rig_rng *rng);
int32_t rig_below(rig_rng *rng, int32_t n);

/* A storage format. */
typedef struct rig_format {
    const char *name;
    mx_quant quant;
    mx_dtype dtype;
} rig_format;

#define RIG_N_FORMATS 24

/* All that checkpoints come in: "4 bits, group 64, BF16", "mxfp4", "f16", ... */
extern const rig_format rig_formats[RIG_N_FORMATS];

/* The one of that name, which must be there. */
const rig_format *rig_format_named(const char *name);

typedef struct rig {
    const char *device; /* NULL: the CPU */
    mx_program program;
    rig_rng rng;
    int32_t cap;
    mx_executor *executor;
    mx_plan plan;
    /* the batch of the next step, and what went before */
    mx_batch batch;
    int32_t tokens[RIG_MAX_TOKENS];
    int32_t positions[RIG_MAX_TOKENS];
    int32_t row_start[RIG_MAX_SEQS + 1];
    int32_t kv_len[RIG_MAX_SEQS];
    int32_t page_table[RIG_MAX_SEQS * RIG_PAGE_COLS];
    int32_t state_slots[RIG_MAX_SEQS];
    int32_t sample_rows[RIG_MAX_TOKENS];
    int32_t history[RIG_MAX_SEQS][RIG_MAX_HISTORY]; /* token ids of each sequence so far */
    int32_t n_free_page;
} rig;

/* An empty program. Out of memory ends the process: this is a test. */
void rig_init(rig *r, uint64_t seed);
void rig_deinit(rig *r);

mx_value rig_value(rig *r, mx_row_kind rows, int32_t row_factor, int64_t n_cols, mx_value_type type);
mx_op *rig_op(rig *r, mx_op_kind kind, mx_value in0, mx_value in1, mx_value in2, mx_value out);
int32_t rig_weight(rig *r, const mx_weight *w);

/* A value of random rows, one for each token; *table gets the rows [RIG_N_VOCAB, n_cols]. */
mx_value rig_input(rig *r, int64_t n_cols, const float **table);

/* A random weight; its scales are about 1 / sqrt(n_cols), so that products are about 1. */
mx_weight rig_random_weight(rig *r, mx_quant quant, mx_dtype dtype, int64_t n_experts, int64_t n_rows, int64_t n_cols);

/* A random f32 vector as a weight of the program; *values gets its numbers. */
int32_t rig_random_vector(rig *r, int64_t n, const float **values);

/* Row `row` in f64 by the definition of the format, written apart from the code under test. scale_of, if not NULL, gets
 * |scale| * code for each column: what an error of the activation is multiplied by. */
void rig_true_row(const mx_weight *w, int64_t expert, int64_t row, double *out, double *scale_of);

/* Opens an executor whose output is `output`. The program may grow no more. */
mx_status rig_open(rig *r, mx_value output, const mx_executor_options *options, mx_error *err);
void rig_close(rig *r);

/* Starts a new step of no rows; adds n_new random tokens to a sequence (in ascending order of sequences, each once);
 * runs the step with all rows sampled. */
void rig_begin_step(rig *r);
void rig_add_tokens(rig *r, int32_t i_seq, int32_t n_new);
mx_status rig_run(rig *r, mx_error *err);

/* Forgets all sequences. */
void rig_forget(rig *r);

#endif
