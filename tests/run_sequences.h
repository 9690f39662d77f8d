/* run_sequences.h - feeds token sequences through an executor in steps of any shape and collects their logits: the
 * smallest stand-in for an engine, for tests.
 *
 * Pages are handed out scattered and back to front, so that a reader who takes them for one block is found out.
 */
#ifndef MX_TESTS_RUN_SEQUENCES_H
#define MX_TESTS_RUN_SEQUENCES_H

#include <string.h>

#include "backend/executor.h"
#include "base/arena.h"
#include "tests/run_ranks.h"

#define RUN_MAX_SEQS 4

typedef struct run_seq {
    const int32_t *tokens; /* [n_tokens] */
    int32_t n_tokens;
    int32_t n_done; /* tokens that have been fed */
    float *logits;  /* [n_tokens, n_vocab], filled as tokens are fed */
} run_seq;

typedef struct run_machine {
    const char *device; /* NULL: the CPU; set before run_open */
    run_layout layout;  /* zeroed: one executor runs the program as it is; else parts of it do, which is plain then */
    mx_arena arena;     /* owned */
    mx_plan plan;       /* owned */
    mx_executor *executor; /* owned */
    bool samples_last; /* only the last row of each sequence's part of a step is sampled; `logits` keeps its other rows
                        */
    int32_t n_page_cols;
    int32_t *tokens, *positions, *rows; /* [max_tokens] */
    int32_t *page_table;                /* [RUN_MAX_SEQS, n_page_cols] */
    int32_t state_slots[RUN_MAX_SEQS];
} run_machine;

/* Sequences of up to n_ctx tokens; options' n_pages and max_seqs are filled here. */
static inline mx_status run_open(run_machine *m, const mx_program *program, int32_t n_ctx, int32_t max_tokens,
                                 mx_executor_options options, mx_error *err)
{
    *m = (run_machine){.device = m->device ? m->device : "cpu",
                       .layout = m->layout,
                       .n_page_cols = (n_ctx + MX_PAGE_TOKENS - 1) / MX_PAGE_TOKENS};
    mx_arena_init(&m->arena, (size_t)1 << 24);
    m->tokens = mx_arena_array(&m->arena, int32_t, max_tokens);
    m->positions = mx_arena_array(&m->arena, int32_t, max_tokens);
    m->rows = mx_arena_array(&m->arena, int32_t, max_tokens);
    m->page_table = mx_arena_array(&m->arena, int32_t, RUN_MAX_SEQS * m->n_page_cols);
    if (!m->tokens || !m->positions || !m->rows || !m->page_table) {
        return mx_fail(err, MX_NO_MEMORY, "out of memory: the arrays of a test");
    }
    options.n_pages = RUN_MAX_SEQS * m->n_page_cols;
    options.n_state_slots = RUN_MAX_SEQS;
    options.max_seqs = RUN_MAX_SEQS;
    MX_TRY(mx_plan_init(&m->plan, program, max_tokens, max_tokens, err));
    if (m->layout.n_ranks > 0) {
        return run_ranks_open(program, &m->layout, max_tokens, &options, &m->executor, err);
    }
    return mx_executor_open(m->device, &m->plan, &options, &m->executor, err);
}

static inline void run_close(run_machine *m)
{
    mx_executor_close(m->executor);
    mx_plan_deinit(&m->plan);
    mx_arena_deinit(&m->arena);
    *m = (run_machine){0};
}

/* Appends the next n tokens of sequence i_seq to the batch; its pages are those of place i_seq. */
static inline void run_append(run_machine *m, mx_batch *batch, const run_seq *seq, int32_t i_seq, int32_t n,
                              int32_t *row_start, int32_t *kv_len)
{
    for (int32_t j = 0; j < n; j++) {
        m->tokens[batch->n_tokens] = seq->tokens[seq->n_done + j];
        m->positions[batch->n_tokens] = seq->n_done + j;
        if (!m->samples_last || j == n - 1) {
            m->rows[batch->n_samples++] = batch->n_tokens;
        }
        batch->n_tokens++;
    }
    for (int32_t j = 0; j < m->n_page_cols; j++) {
        m->page_table[batch->n_seqs * m->n_page_cols + j] = RUN_MAX_SEQS * (m->n_page_cols - j) - 1 - i_seq;
    }
    kv_len[batch->n_seqs] = seq->n_done + n;
    m->state_slots[batch->n_seqs] = RUN_MAX_SEQS - 1 - i_seq;
    row_start[++batch->n_seqs] = batch->n_tokens;
}

/* One step: counts[i] more tokens of sequence i (fewer where it has no more; 0: it is not in this step). */
static inline mx_status run_step(run_machine *m, run_seq *seqs, const int32_t *counts, int32_t n_seqs, mx_error *err)
{
    int32_t row_start[RUN_MAX_SEQS + 1] = {0};
    int32_t kv_len[RUN_MAX_SEQS] = {0};
    int32_t taken[RUN_MAX_SEQS] = {0};
    mx_batch batch = {.n_page_cols = m->n_page_cols};
    for (int32_t i = 0; i < n_seqs; i++) {
        taken[i] = MX_MIN(counts[i], seqs[i].n_tokens - seqs[i].n_done);
        if (taken[i] > 0) {
            run_append(m, &batch, &seqs[i], i, taken[i], row_start, kv_len);
        }
    }
    if (batch.n_tokens == 0) {
        return MX_OK;
    }
    batch.tokens = m->tokens;
    batch.positions = m->positions;
    batch.row_start = row_start;
    batch.kv_len = kv_len;
    batch.page_table = m->page_table;
    batch.state_slots = m->state_slots;
    batch.sample_rows = m->rows;
    MX_TRY(mx_executor_run(m->executor, &batch, err));

    const int64_t n_vocab = m->plan.program->n_vocab;
    const float *logits = mx_executor_view_logits(m->executor);
    for (int32_t i = 0; i < n_seqs; i++) {
        const int32_t n_rows = m->samples_last ? taken[i] > 0 : taken[i];
        seqs[i].n_done += taken[i];
        memcpy(seqs[i].logits + (seqs[i].n_done - n_rows) * n_vocab, logits,
               (size_t)(n_rows * n_vocab) * sizeof *logits);
        logits += n_rows * n_vocab;
    }
    return MX_OK;
}

#endif
