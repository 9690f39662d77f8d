/* cpu_backend.h - the CPU back end from inside: one open executor, and what an operation sees of a step.
 *
 * A step is one run of the thread pool: every thread walks the list of operations, takes its part of each, and meets
 * the others at a barrier before the next. ops/ has one readable file an operation; these plain kernels define the
 * results and are all that MX_CPU_REFERENCE uses. The tuned operations (linear_packed.c, attention_paged.c, ...) do the
 * same on repacked weights through a table of kernels (kernels.h) that isa/ fills for the instruction set at hand.
 */
#ifndef MX_BACKEND_CPU_CPU_BACKEND_H
#define MX_BACKEND_CPU_CPU_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/cpu/kv_cache.h"
#include "backend/cpu/pack.h"
#include "backend/cpu/pool.h"
#include "backend/cpu/state_pool.h"
#include "backend/executor.h"
#include "platform/memory.h"
#include "program/batch.h"
#include "program/plan.h"

extern const mx_backend mx_backend_cpu;

typedef struct mx_cpu mx_cpu;
typedef struct mx_cpu_task mx_cpu_task;
typedef struct mx_cpu_kernels mx_cpu_kernels; /* kernels.h */

/* Work space that an operation needs for the largest step. */
typedef struct mx_cpu_need {
    size_t n_shared_bytes;
    size_t n_thread_bytes;
} mx_cpu_need;

/* One row of a table of operations, indexed by mx_op_kind. */
typedef struct mx_cpu_op {
    void (*run)(const mx_cpu_task *task);
    mx_cpu_need (*need)(const mx_cpu *cpu, const mx_op *op); /* NULL: nothing */
} mx_cpu_op;

struct mx_cpu {
    mx_executor base; /* first: an mx_executor * is an mx_cpu * */
    const mx_plan *plan;
    const mx_program *program; /* the plan's */
    mx_executor_options options;
    mx_pool *pool;                 /* owned */
    const mx_cpu_kernels *kernels; /* of the tuned modes */
    mx_packed *packed;             /* owned [n_weights]; data is NULL where a weight is not packed */
    mx_block packed_block;         /* owned: the packed weights one after the other */
    mx_cpu_op ops[MX_OP_COUNT];    /* of the mode */
    mx_kv_cache *caches;           /* owned [n_caches] */
    mx_state_pool states;          /* owned */
    float **vectors;               /* owned [n_weights]: f32 copies of norms, biases and sinks; NULL for matrices */
    mx_block scratch;              /* owned: the plan's values */
    mx_block work;                 /* owned: [shared bytes | bytes of thread 0 | bytes of thread 1 | ...] */
    size_t n_shared_bytes;         /* of work */
    size_t n_thread_bytes;
    int32_t *token_seqs;   /* owned [max_tokens]: the sequence of each token of the step */
    const mx_batch *batch; /* of the running step */
    mx_status talk_status; /* of the first talk with other executors that failed in this step; no more are begun */
    mx_error talk_error;
};

/* One thread's part of one operation. */
struct mx_cpu_task {
    mx_cpu *cpu;
    const mx_batch *batch;
    const mx_op *op;
    int32_t i_thread;
    int32_t n_threads;
    uint8_t *shared; /* work space of the operation, 64-byte aligned, the same for all threads */
    uint8_t *own;    /* work space of this thread */
};

/* The plain operations, each a file in ops/, and those that the tuned modes do in another way; the other rows of the
 * second table are empty. */
extern const mx_cpu_op mx_cpu_reference_ops[MX_OP_COUNT];
extern const mx_cpu_op mx_cpu_tuned_ops[MX_OP_COUNT];

void mx_cpu_embed(const mx_cpu_task *task);
void mx_cpu_gather_rows(const mx_cpu_task *task);
void mx_cpu_add_positions(const mx_cpu_task *task);
void mx_cpu_norm(const mx_cpu_task *task);
void mx_cpu_add(const mx_cpu_task *task);
void mx_cpu_scale(const mx_cpu_task *task);
void mx_cpu_softcap(const mx_cpu_task *task);
void mx_cpu_clip(const mx_cpu_task *task);
void mx_cpu_multiply(const mx_cpu_task *task);
void mx_cpu_xielu(const mx_cpu_task *task);
void mx_cpu_cutoff(const mx_cpu_task *task);
void mx_cpu_concat(const mx_cpu_task *task);
void mx_cpu_match_rms(const mx_cpu_task *task);
void mx_cpu_mix_streams(const mx_cpu_task *task);
void mx_cpu_add_streams(const mx_cpu_task *task);
void mx_cpu_activation(const mx_cpu_task *task);
void mx_cpu_glu(const mx_cpu_task *task);
void mx_cpu_linear(const mx_cpu_task *task);
void mx_cpu_rope(const mx_cpu_task *task);
void mx_cpu_kv_append(const mx_cpu_task *task);
void mx_cpu_attention(const mx_cpu_task *task);
void mx_cpu_route(const mx_cpu_task *task);
void mx_cpu_expert_linear(const mx_cpu_task *task);
void mx_cpu_expert_combine(const mx_cpu_task *task);
void mx_cpu_scale_chosen(const mx_cpu_task *task);
void mx_cpu_slice(const mx_cpu_task *task);
void mx_cpu_causal_conv(const mx_cpu_task *task);
void mx_cpu_ssm_scan(const mx_cpu_task *task);
void mx_cpu_delta_rule(const mx_cpu_task *task);
void mx_cpu_rg_lru(const mx_cpu_task *task);
void mx_cpu_head_linear(const mx_cpu_task *task);
void mx_cpu_head_columns(const mx_cpu_task *task);

void mx_cpu_allreduce(const mx_cpu_task *task);
void mx_cpu_allgather(const mx_cpu_task *task);
void mx_cpu_send(const mx_cpu_task *task);
void mx_cpu_recv(const mx_cpu_task *task);

mx_cpu_need mx_cpu_allgather_need(const mx_cpu *cpu, const mx_op *op);
mx_cpu_need mx_cpu_add_positions_need(const mx_cpu *cpu, const mx_op *op);
mx_cpu_need mx_cpu_linear_need(const mx_cpu *cpu, const mx_op *op);
mx_cpu_need mx_cpu_attention_need(const mx_cpu *cpu, const mx_op *op);
mx_cpu_need mx_cpu_route_need(const mx_cpu *cpu, const mx_op *op);
mx_cpu_need mx_cpu_expert_linear_need(const mx_cpu *cpu, const mx_op *op);
mx_cpu_need mx_cpu_ssm_scan_need(const mx_cpu *cpu, const mx_op *op);
mx_cpu_need mx_cpu_delta_rule_need(const mx_cpu *cpu, const mx_op *op);
mx_cpu_need mx_cpu_rg_lru_need(const mx_cpu *cpu, const mx_op *op);
mx_cpu_need mx_cpu_head_linear_need(const mx_cpu *cpu, const mx_op *op);

/* Rows of a value in this step, its place, and its description. */
int64_t mx_cpu_n_rows(const mx_cpu_task *task, mx_value value);
float *mx_cpu_f32(const mx_cpu_task *task, mx_value value);
int32_t *mx_cpu_i32(const mx_cpu_task *task, mx_value value);
const mx_value_info *mx_cpu_info_of(const mx_cpu *cpu, mx_value value);

/* Rows of a value in the largest step. */
int64_t mx_cpu_max_rows(const mx_cpu *cpu, mx_value value);

/* This thread's part of n items: [*from, *to). */
void mx_cpu_split(const mx_cpu_task *task, int64_t n, int64_t *from, int64_t *to);

/* Waits for the other threads of the operation. */
void mx_cpu_barrier(const mx_cpu_task *task);

/* The communicator to talk through: for thread 0, as long as nothing has failed in this step; NULL for all others.
 * mx_cpu_end_talk keeps what went wrong, for the end of the step: the values are not to be used then, but stay in
 * range. */
mx_communicator *mx_cpu_ranks(const mx_cpu_task *task);
mx_communicator *mx_cpu_stages(const mx_cpu_task *task);
void mx_cpu_end_talk(const mx_cpu_task *task, mx_status st, const mx_error *err);

/* A vector of the program as f32, or NULL for MX_NO_WEIGHT. */
const float *mx_cpu_vector(const mx_cpu *cpu, int32_t weight);

/* Page of position `position` of the sequence of token t. */
int32_t mx_cpu_page(const mx_cpu_task *task, int32_t t, int32_t position);

/* Rows of a sequence in this step. */
int32_t mx_cpu_n_seq_rows(const mx_cpu_task *task, int32_t i_seq);

/* Row `row` of a state of a sequence that has rows in this step; all 0 where the sequence begins, so a step asks once
 * for each row. */
float *mx_cpu_state_row(const mx_cpu_task *task, int32_t i_seq, int32_t i_state, int64_t row);

/* The plain kernels that operations share. ------------------------------------------------------------------------ */

/* y[c] = x[c] / sqrt(mean(x^2) + eps) * (w[c] + weight_offset); w NULL: 1 for the last factor. y may be x. */
void mx_ref_rmsnorm_row(float *y, const float *x, const float *w, int64_t n_cols, float eps, float weight_offset);

/* The same of x less its mean, which makes the mean square the variance; + bias[c], where it is not NULL. */
void mx_ref_layernorm_row(float *y, const float *x, const float *w, const float *bias, int64_t n_cols, float eps,
                          float weight_offset);

/* Whichever of the two the parameters are for, on n_group_cols columns. */
void mx_ref_norm_row(const mx_cpu *cpu, const mx_norm_params *norm, float *y, const float *x);

/* y[i] = act(x[i]); y may be x. */
void mx_ref_act_row(float *y, const float *x, int64_t n, mx_activation act);

/* y[i] = act(gate[i]) * up[i]; y may be either. */
void mx_ref_glu_row(float *y, const float *gate, const float *up, int64_t n, mx_activation act);

/* Rotates one head in place for the position. */
void mx_ref_rope_head(float *x, const mx_rope_spec *rope, int32_t position);

/* log(1 + exp(x)). */
float mx_ref_softplus(float x);

/* sum_i a[i] * b[i], summed in f64. */
float mx_ref_dot(const float *a, const float *b, int64_t n);

#endif
