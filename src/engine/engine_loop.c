/* engine_loop.c - take in, step, publish the counts, sleep when there is nothing to do. */
#include "engine/engine_loop.h"

#include <assert.h>

#include "platform/clock.h"

static void update_stats(mx_engine_loop *loop)
{
    const mx_scheduler *s = loop->scheduler;
    loop->stats = (mx_loop_stats){
        .counts = s->counts,
        .n_running = s->n_running,
        .n_waiting = s->n_queued,
        .n_pages = s->engine->pages.n_pages,
        .n_free_pages = s->engine->pages.n_free,
        .n_prefix_pages = s->tree.n_pages,
    };
    loop->around_ns = mx_clock_ns();
}

/* Takes what came in over to the scheduler. The lock is held. */
static void empty_inbox(mx_engine_loop *loop)
{
    while (loop->inbox) {
        mx_job *job = loop->inbox;
        loop->inbox = job->next;
        loop->n_inbox--;
        const mx_status st = mx_scheduler_add(loop->scheduler, job, NULL);
        assert(st == MX_OK); /* submit has counted */
        (void)st;
    }
}

static void run(void *arg)
{
    mx_engine_loop *loop = (mx_engine_loop *)arg;
    mx_mutex_lock(&loop->lock);
    while (!loop->is_closing) {
        loop->has_news = false;
        empty_inbox(loop);
        update_stats(loop);
        if (mx_scheduler_has_work(loop->scheduler)) {
            mx_mutex_unlock(&loop->lock);
            mx_scheduler_step(loop->scheduler);
            mx_mutex_lock(&loop->lock);
            update_stats(loop);
        } else {
            while (!loop->has_news) {
                mx_cond_wait(&loop->wake, &loop->lock);
            }
        }
    }
    empty_inbox(loop);
    mx_mutex_unlock(&loop->lock);
    mx_error err;
    const mx_status st = mx_fail(&err, MX_CANCELLED, "the engine is being closed");
    mx_scheduler_fail_all(loop->scheduler, st, &err);
}

mx_status mx_engine_loop_start(mx_engine_loop *loop, mx_scheduler *scheduler, mx_error *err)
{
    *loop = (mx_engine_loop){.scheduler = scheduler};
    mx_mutex_init(&loop->lock);
    mx_cond_init(&loop->wake);
    update_stats(loop);
    const mx_status st = mx_thread_start(&loop->thread, "mlxcel-engine", run, loop, err);
    if (st != MX_OK) {
        mx_cond_deinit(&loop->wake);
        mx_mutex_deinit(&loop->lock);
        *loop = (mx_engine_loop){0};
    }
    return st;
}

void mx_engine_loop_notify(mx_engine_loop *loop)
{
    mx_mutex_lock(&loop->lock);
    loop->has_news = true;
    mx_cond_wake_one(&loop->wake);
    mx_mutex_unlock(&loop->lock);
}

void mx_engine_loop_stop(mx_engine_loop *loop)
{
    if (!loop->scheduler) {
        return;
    }
    mx_mutex_lock(&loop->lock);
    loop->is_closing = true;
    mx_mutex_unlock(&loop->lock);
    mx_engine_loop_notify(loop);
    mx_thread_join(&loop->thread);
    mx_cond_deinit(&loop->wake);
    mx_mutex_deinit(&loop->lock);
    *loop = (mx_engine_loop){0};
}

mx_status mx_engine_loop_submit(mx_engine_loop *loop, mx_job *const *jobs, int32_t n_jobs, mx_error *err)
{
    mx_status st = MX_OK;
    mx_mutex_lock(&loop->lock);
    const int32_t n_present = loop->stats.n_running + loop->stats.n_waiting + loop->n_inbox;
    if (loop->is_closing) {
        st = mx_fail(err, MX_CANCELLED, "the engine is being closed");
    } else if (n_jobs > mx_scheduler_max_jobs(loop->scheduler) - n_present) {
        st = mx_fail(err, MX_BUSY, "%d texts are in work or waiting and at most %d may be: try again later",
                     (int)n_present, (int)mx_scheduler_max_jobs(loop->scheduler));
    } else {
        mx_job **last = &loop->inbox;
        while (*last) {
            last = &(*last)->next;
        }
        for (int32_t i = 0; i < n_jobs; i++) {
            jobs[i]->next = NULL;
            *last = jobs[i];
            last = &jobs[i]->next;
        }
        loop->n_inbox += n_jobs;
        loop->has_news = true;
        mx_cond_wake_one(&loop->wake);
    }
    mx_mutex_unlock(&loop->lock);
    return st;
}

void mx_engine_loop_get_stats(mx_engine_loop *loop, mx_loop_stats *stats)
{
    mx_mutex_lock(&loop->lock);
    *stats = loop->stats;
    stats->n_waiting += loop->n_inbox;
    const int64_t since_ns = mx_clock_ns() - loop->around_ns;
    stats->stalled_ms = stats->n_running + stats->n_waiting > 0 ? since_ns / 1000000 : 0;
    mx_mutex_unlock(&loop->lock);
}
