/* scheduler.h - many texts at once: who has a part in the next step.
 *
 *     queue ──admit──► running ──► over
 *       ▲                 │
 *       └────preempt──────┘
 *
 * A step is at most max_step_tokens rows. First every running text that is past its prompt gets the row of its last
 * token and, where there is room, rows for guesses; then prompts get what is left, in chunks, those of the client that
 * has had the least first. So texts go on while a long prompt is read, and a prompt is read as fast as the budget
 * allows.
 *
 * Pages are taken as texts grow. When there are none, pages that only the prefix tree holds are evicted; after that,
 * the running text of the lowest priority, of these the one that came last, gives its pages back and returns to the
 * queue with all of its tokens, to be computed again. One text alone always has room, so the oldest one always goes on.
 *
 * A step never fails as a whole: what fails is told to the jobs that it concerns, and the scheduler goes on. All memory
 * is taken at start. One thread at a time.
 */
#ifndef MX_ENGINE_SCHEDULER_H
#define MX_ENGINE_SCHEDULER_H

#include "engine/clients.h"
#include "engine/engine.h"
#include "engine/job.h"
#include "engine/prefix_tree.h"

typedef struct mx_scheduler_options {
    bool is_recurrent; /* the model has recurrent layers; n_checkpoints of the engine's limits hold their states */
    int32_t max_queue; /* jobs that there may be on top of those that can run at once */
    bool is_without_prefixes; /* computes every prompt from its first token */
} mx_scheduler_options;

/* Sums since the start. */
typedef struct mx_scheduler_counts {
    int64_t n_steps;
    int64_t n_failed_steps;
    int64_t n_jobs_over; /* n_jobs_failed and n_jobs_cancelled are among them */
    int64_t n_jobs_failed;
    int64_t n_jobs_cancelled;
    int64_t n_computed; /* rows of prompts, what a preemption made necessary included */
    int64_t n_reused;   /* tokens of prompts that were in the cache */
    int64_t n_new;      /* tokens drawn */
    int64_t n_drafts;   /* guesses made, and */
    int64_t n_right;    /* of them right */
    int64_t n_preemptions;
} mx_scheduler_counts;

typedef struct mx_scheduler {
    mx_engine *engine; /* borrowed */
    mx_scheduler_options options;
    mx_prefix_tree tree;
    mx_sampler_scratch scratch;
    mx_clients clients;
    mx_job **running; /* owned [engine's max_seqs]; by rank: higher priority first, then who came first */
    int32_t n_running;
    mx_job *queue; /* by arrival */
    int32_t n_queued;
    uint64_t n_arrivals;
    mx_step_part *parts; /* owned [max_seqs] */
    mx_job **part_jobs;  /* owned [max_seqs]: whose part it is */
    mx_scheduler_counts counts;
} mx_scheduler;

/* The engine must outlive the scheduler; a step of the engine must hold more tokens than sequences. MX_NO_MEMORY. */
mx_status mx_scheduler_init(mx_scheduler *s, mx_engine *engine, const mx_scheduler_options *options,
                            mx_error *err) MX_NODISCARD;

/* No job may be left. A zeroed object is fine. */
void mx_scheduler_deinit(mx_scheduler *s);

/* Jobs that there may be, running and waiting. */
int32_t mx_scheduler_max_jobs(const mx_scheduler *s);

/* Puts a job into the queue. MX_BUSY when there are as many as may be; then the job is the caller's still. */
mx_status mx_scheduler_add(mx_scheduler *s, mx_job *job, mx_error *err) MX_NODISCARD;

/* Whether any job waits or runs. */
bool mx_scheduler_has_work(const mx_scheduler *s);

/* Lets go of cancelled jobs, admits waiting ones, computes one step and tells the jobs what it brought. */
void mx_scheduler_step(mx_scheduler *s);

/* Ends all jobs with this failure. */
void mx_scheduler_fail_all(mx_scheduler *s, mx_status status, const mx_error *err);

#endif
