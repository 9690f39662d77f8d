/* engine_loop.h - the thread that runs the scheduler, and how other threads reach it.
 *
 * Jobs come in through a list under a lock, which the thread empties between two steps; nothing else of the scheduler
 * is touched from outside. What steps bring is told through the jobs' on_update, in the loop's thread: an owner copies
 * it to where its own thread looks, and does not keep the loop waiting.
 */
#ifndef MX_ENGINE_ENGINE_LOOP_H
#define MX_ENGINE_ENGINE_LOOP_H

#include "engine/scheduler.h"
#include "platform/thread.h"

/* A view of the loop between two steps. */
typedef struct mx_loop_stats {
    mx_scheduler_counts counts;
    int32_t n_running;
    int32_t n_waiting;
    int32_t n_pages;
    int32_t n_free_pages;
    int32_t n_prefix_pages; /* held by the prefix tree; free as soon as they are needed, unless a text uses them */
    int64_t stalled_ms;     /* since the loop last came around while there was work; 0 while there is none */
} mx_loop_stats;

typedef struct mx_engine_loop {
    mx_scheduler *scheduler; /* borrowed; the loop's thread alone uses it */
    mx_thread thread;
    mx_mutex lock; /* for what follows */
    mx_cond wake;
    mx_job *inbox; /* newest last */
    int32_t n_inbox;
    bool has_news; /* a job came, was cancelled, or the loop is to end */
    bool is_closing;
    mx_loop_stats stats;
    int64_t around_ns; /* when the loop last came around */
} mx_engine_loop;

/* Starts the thread. The scheduler must outlive the loop, which must stay where it is. MX_NO_MEMORY. */
mx_status mx_engine_loop_start(mx_engine_loop *loop, mx_scheduler *scheduler, mx_error *err) MX_NODISCARD;

/* Ends all jobs as cancelled and joins the thread. A loop that was not started (zeroed) is fine. */
void mx_engine_loop_stop(mx_engine_loop *loop);

/* Hands jobs [n_jobs] over, all or none. MX_BUSY: no room for all of them. Any thread. */
mx_status mx_engine_loop_submit(mx_engine_loop *loop, mx_job *const *jobs, int32_t n_jobs, mx_error *err) MX_NODISCARD;

/* A job's is_cancelled was set: let the loop look. Any thread. */
void mx_engine_loop_notify(mx_engine_loop *loop);

/* Any thread; never waits for a step. */
void mx_engine_loop_get_stats(mx_engine_loop *loop, mx_loop_stats *stats);

#endif
