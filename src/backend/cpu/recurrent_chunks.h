/* recurrent_chunks.h - the tuned operations with a state. A long part of a sequence goes in chunks of up to
 * MX_CHUNK_ROWS rows, each a few products of small matrices; a short one goes token by token. */
#ifndef MX_BACKEND_CPU_RECURRENT_CHUNKS_H
#define MX_BACKEND_CPU_RECURRENT_CHUNKS_H

#include "backend/cpu/cpu_backend.h"

#define MX_CHUNK_ROWS 64

void mx_cpu_chunked_conv(const mx_cpu_task *task);
void mx_cpu_chunked_ssm(const mx_cpu_task *task);
void mx_cpu_chunked_delta(const mx_cpu_task *task);
void mx_cpu_chunked_lru(const mx_cpu_task *task);

mx_cpu_need mx_cpu_chunked_ssm_need(const mx_cpu *cpu, const mx_op *op);
mx_cpu_need mx_cpu_chunked_delta_need(const mx_cpu *cpu, const mx_op *op);
mx_cpu_need mx_cpu_chunked_lru_need(const mx_cpu *cpu, const mx_op *op);

/* Columns of an input that one head reads: row t is at[t * stride]. */
typedef struct mx_head_view {
    const float *at;
    int64_t stride;
} mx_head_view;

/* The view's columns from `first` on; `at` is NULL for MX_NO_VALUE. */
mx_head_view mx_cpu_head_view(const mx_cpu_task *task, mx_value value, const mx_columns *view, int64_t first);

/* Calls run(task, sequence, row) for this thread's part of all rows of states of sequences that are in the step. */
void mx_cpu_for_each_state_row(const mx_cpu_task *task, int64_t n_rows,
                               void (*run)(const mx_cpu_task *task, int32_t i_seq, int64_t row));

#endif
