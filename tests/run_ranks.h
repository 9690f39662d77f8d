/* run_ranks.h - a model divided among ranks and stages as one executor, for tests: each part is an executor of its own
 * in a thread of its own, and they talk through threads.h.
 *
 *     mx_executor *whole;
 *     run_ranks_open(program, &layout, max_tokens, &options, &whole, &err)      the program is plain
 *     ... mx_executor_run(whole, ...), mx_executor_close(whole)
 */
#ifndef MX_TESTS_RUN_RANKS_H
#define MX_TESTS_RUN_RANKS_H

#include <string.h>

#include "backend/executor.h"
#include "base/mem.h"
#include "parallel/threads.h"
#include "platform/thread.h"
#include "program/passes.h"

#define RUN_RANKS_MAX 8

typedef struct run_layout {
    int32_t n_ranks;
    int32_t n_stages;
    bool without_passes;
} run_layout;

typedef struct run_rank {
    mx_program program; /* owned */
    mx_plan plan;       /* owned */
    mx_executor *executor;
    const mx_batch *batch;
    mx_status st;
    mx_error err;
} run_rank;

typedef struct run_ranks {
    mx_executor base; /* first */
    run_layout layout;
    mx_thread_ranks *ranks[RUN_RANKS_MAX];  /* owned; of each stage */
    mx_thread_ranks *stages[RUN_RANKS_MAX]; /* owned; of each rank */
    run_rank parts[RUN_RANKS_MAX];          /* [n_stages, n_ranks] */
} run_ranks;

static inline void run_rank_step(void *arg)
{
    run_rank *part = (run_rank *)arg;
    part->st = mx_executor_run(part->executor, part->batch, &part->err);
}

static inline mx_status run_ranks_step(mx_executor *executor, const mx_batch *batch, mx_error *err)
{
    run_ranks *all = (run_ranks *)executor;
    const int32_t n = all->layout.n_ranks * all->layout.n_stages;
    mx_thread threads[RUN_RANKS_MAX];
    mx_status st = MX_OK;
    int32_t n_started = 0;
    for (; n_started < n && st == MX_OK; n_started++) {
        all->parts[n_started].batch = batch;
        st = mx_thread_start(&threads[n_started], "rank", run_rank_step, &all->parts[n_started], err);
    }
    for (int32_t i = 0; i < n_started; i++) {
        mx_thread_join(&threads[i]);
        if (st == MX_OK && all->parts[i].st != MX_OK) {
            st = all->parts[i].st;
            *err = all->parts[i].err;
        }
    }
    return st;
}

/* Rank 0 of the last stage; that the others have the same is a test of its own. */
static inline const float *run_ranks_view_logits(const mx_executor *executor)
{
    const run_ranks *all = (const run_ranks *)executor;
    return mx_executor_view_logits(all->parts[(all->layout.n_stages - 1) * all->layout.n_ranks].executor);
}

static inline mx_status run_ranks_copy_state(mx_executor *executor, int32_t from_slot, int32_t to_slot, mx_error *err)
{
    run_ranks *all = (run_ranks *)executor;
    for (int32_t i = 0; i < all->layout.n_ranks * all->layout.n_stages; i++) {
        MX_TRY(mx_executor_copy_state(all->parts[i].executor, from_slot, to_slot, err));
    }
    return MX_OK;
}

static inline void run_ranks_close(mx_executor *executor)
{
    run_ranks *all = (run_ranks *)executor;
    for (int32_t i = 0; i < RUN_RANKS_MAX; i++) {
        mx_executor_close(all->parts[i].executor);
        mx_plan_deinit(&all->parts[i].plan);
        mx_program_deinit(&all->parts[i].program);
        mx_thread_ranks_free(all->ranks[i]);
        mx_thread_ranks_free(all->stages[i]);
    }
    mx_free(all);
}

static inline mx_status run_rank_open(run_ranks *all, const mx_program *program, int32_t i_stage, int32_t i_rank,
                                      int32_t max_tokens, mx_executor_options options, mx_error *err)
{
    const run_layout *layout = &all->layout;
    run_rank *part = &all->parts[i_stage * layout->n_ranks + i_rank];
    mx_program rank = {0};
    MX_TRY(mx_pass_shard(program, i_rank, layout->n_ranks, &rank, err));
    const mx_status st = mx_pass_cut(&rank, i_stage, layout->n_stages, &part->program, err);
    mx_program_deinit(&rank);
    MX_TRY(st);
    if (!layout->without_passes) {
        MX_TRY(mx_passes_run(&part->program, err));
    }
    options.ranks = mx_thread_ranks_view(all->ranks[i_stage], i_rank);
    options.stages = mx_thread_ranks_view(all->stages[i_rank], i_stage);
    MX_TRY(mx_plan_init(&part->plan, &part->program, max_tokens, max_tokens, err));
    return mx_executor_open("cpu", &part->plan, &options, &part->executor, err);
}

static inline mx_status run_ranks_open(const mx_program *program, const run_layout *layout, int32_t max_tokens,
                                       const mx_executor_options *options, mx_executor **out, mx_error *err)
{
    run_ranks *all = (run_ranks *)mx_calloc(1, sizeof *all);
    mx_status st = all ? MX_OK : mx_fail_no_memory(err, sizeof *all, "ranks");
    MX_TRY(st);
    *all = (run_ranks){.base = {.run = run_ranks_step,
                                .view_logits = run_ranks_view_logits,
                                .copy_state = run_ranks_copy_state,
                                .close = run_ranks_close},
                       .layout = *layout};
    for (int32_t i = 0; i < layout->n_stages; i++) {
        MX_TRY_OR(done, st, mx_thread_ranks_new(layout->n_ranks, &all->ranks[i], err));
    }
    for (int32_t i = 0; i < layout->n_ranks; i++) {
        MX_TRY_OR(done, st, mx_thread_ranks_new(layout->n_stages, &all->stages[i], err));
    }
    for (int32_t i = 0; i < layout->n_ranks * layout->n_stages; i++) {
        MX_TRY_OR(done, st,
                  run_rank_open(all, program, i / layout->n_ranks, i % layout->n_ranks, max_tokens, *options, err));
    }
    *out = &all->base;
    return MX_OK;
done:
    run_ranks_close(&all->base);
    return st;
}

#endif
