/* job.h - a request on its way through the scheduler.
 *
 * Whoever makes a job fills what is above the line and keeps it, with all that it points to, until on_update has told
 * of its end; from mx_scheduler_add to then it belongs to the scheduler's thread. Only is_cancelled may be written by
 * any thread at any time.
 */
#ifndef MX_ENGINE_JOB_H
#define MX_ENGINE_JOB_H

#include "engine/generation.h"
#include "platform/atomic.h"

typedef struct mx_job mx_job;

/* What a job's owner hears, in the scheduler's thread. Borrowed for the call. */
typedef struct mx_job_update {
    mx_generation_news news;
    bool is_over;        /* the job has ended; this is the last update */
    mx_status status;    /* of the end: MX_OK, whatever the finish, or why it failed */
    const mx_error *err; /* of a failure; else NULL */
} mx_job_update;

typedef enum mx_job_state {
    MX_JOB_QUEUED,
    MX_JOB_RUNNING,
    MX_JOB_OVER,
} mx_job_state;

struct mx_job {
    mx_generation generation; /* initialised; the owner deinitialises it after the end */
    int32_t priority;         /* higher goes first */
    uint64_t client;          /* who asked: clients of equal priority get equal shares */
    uint64_t prefix_key;      /* see prefix_tree.h */
    const mx_job *leader;     /* a job with the same prompt that is to compute it first; NULL: none */
    void (*on_update)(void *arg, mx_job *job,
                      const mx_job_update *update); /* once for each step that it had a part in */
    void *arg;
    mx_atomic_u32 is_cancelled;
    /* ---- the scheduler's ---- */
    mx_job_state state;
    mx_job *next;       /* in the queue, by arrival */
    uint64_t arrival;   /* its number */
    int32_t i_client;   /* its row in the scheduler's table */
    mx_step_part part;  /* in the step being made; n_rows 0: none */
    int32_t n_computed; /* rows of the prompt that were computed for it, and */
    int32_t n_reused;   /* tokens of the prompt that were in the cache */
    int32_t kept_page;  /* with the latest checkpoint of its answer, which the next one replaces; MX_NO_PAGE: none */
    int32_t n_preemptions;
    int64_t queued_ns; /* times by mx_clock_ns; 0: not yet */
    int64_t admitted_ns;
    int64_t first_token_ns;
    int64_t over_ns;
};

#endif
