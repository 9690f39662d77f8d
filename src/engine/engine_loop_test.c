/* Threads that submit, wait, cancel and look at the counts, all at once; made for the thread sanitizer. */
#include "engine/engine_loop.h"

#include "tests/engine_bench.h"

enum {
    N_CTX = 256,
    N_THREADS = 8,
    N_ROUNDS = 12,
};
static const mx_engine_limits tight = {
    .n_vocab = BENCH_VOCAB, .n_ctx = N_CTX, .max_seqs = 4, .max_step_tokens = 40, .max_samples = 12, .n_pages = 12};
static const mx_scheduler_options plain = {.max_queue = 64};

/* A thread with one job at a time. */
typedef struct worker {
    bench *b;
    mx_engine_loop *loop;
    int32_t i_worker;
    mx_thread thread;
    client c;
    mx_mutex lock; /* for what on_update writes into c */
    mx_cond is_over;
    char wanted[2][BENCH_MAX_OUT];
    int32_t n_wrong;
    int32_t n_done;
} worker;

static worker workers[N_THREADS];

static void hear_in_thread(void *arg, mx_job *job, const mx_job_update *update)
{
    worker *w = (worker *)arg;
    client *c = &w->c;
    mx_mutex_lock(&w->lock);
    const size_t len = strlen(c->text);
    snprintf(c->text + len, sizeof c->text - len, "%.*s", MX_STR_ARG(update->news.text));
    c->is_over = update->is_over;
    c->status = update->status;
    c->finish = job->generation.finish;
    if (update->is_over) {
        mx_cond_wake_all(&w->is_over);
    }
    mx_mutex_unlock(&w->lock);
}

/* Two prompts a worker, which begin as those of every other worker do. */
static mx_generation_request request_of(worker *w, int32_t i)
{
    const int32_t n_prompt = 40 + 30 * i + 5 * w->i_worker;
    make_prompt(&w->c, n_prompt, (uint32_t)w->i_worker % 2);
    mx_generation_request r = bench_request(&w->c, n_prompt, 25);
    r.n_draft = w->i_worker % 3;
    return r;
}

static void work(void *arg)
{
    worker *w = (worker *)arg;
    for (int32_t i = 0; i < N_ROUNDS; i++) {
        mx_error err;
        mx_loop_stats stats;
        const mx_generation_request r = request_of(w, i % 2);
        const bool cancels = i % 4 == 3;
        w->c.job = (mx_job){.on_update = hear_in_thread, .arg = w, .client = (uint64_t)w->i_worker};
        w->c.text[0] = '\0';
        w->c.is_over = false;
        mx_job *jobs[] = {&w->c.job};
        if (mx_generation_init(&w->c.job.generation, &w->b->engine, w->b->tokenizer, &r, &err) != MX_OK ||
            mx_engine_loop_submit(w->loop, jobs, 1, &err) != MX_OK) {
            w->n_wrong++;
            mx_generation_deinit(&w->c.job.generation);
            continue;
        }
        if (cancels) {
            mx_atomic_store_u32(&w->c.job.is_cancelled, 1);
            mx_engine_loop_notify(w->loop);
        }
        mx_engine_loop_get_stats(w->loop, &stats);
        mx_mutex_lock(&w->lock);
        while (!w->c.is_over) {
            mx_cond_wait(&w->is_over, &w->lock);
        }
        w->n_done++;
        w->n_wrong += w->c.status != MX_OK;
        w->n_wrong += w->c.finish != MX_FINISH_CANCELLED && strcmp(w->c.text, w->wanted[i % 2]) != 0;
        mx_mutex_unlock(&w->lock);
        mx_generation_deinit(&w->c.job.generation);
    }
}

static void compute_wanted(void)
{
    static const mx_engine_limits roomy = {
        .n_vocab = BENCH_VOCAB, .n_ctx = N_CTX, .max_seqs = 1, .max_step_tokens = 64};
    bench b;
    if (open_bench(&b, &roomy, &plain)) {
        for (int32_t i = 0; i < 2 * N_THREADS; i++) {
            worker *w = &workers[i / 2];
            w->i_worker = i / 2;
            const mx_generation_request r = request_of(w, i % 2);
            open_client(&b, &w->c, &r);
            add_client(&b, &w->c);
            run_all(&b);
            memcpy(w->wanted[i % 2], w->c.text, BENCH_MAX_OUT);
            close_client(&w->c);
        }
    }
    close_bench(&b);
}

MX_TEST(threads_get_the_texts_that_they_would_get_alone)
{
    mx_error err;
    bench b;
    mx_engine_loop loop = {0};
    compute_wanted();
    if (open_bench(&b, &tight, &plain) && MX_CHECK_OK(mx_engine_loop_start(&loop, &b.scheduler, &err), &err)) {
        for (int32_t i = 0; i < N_THREADS; i++) {
            worker *w = &workers[i];
            w->b = &b;
            w->loop = &loop;
            mx_mutex_init(&w->lock);
            mx_cond_init(&w->is_over);
            MX_CHECK_OK(mx_thread_start(&w->thread, "worker", work, w, &err), &err);
        }
        for (int32_t i = 0; i < N_THREADS; i++) {
            mx_thread_join(&workers[i].thread);
            MX_CHECK_I64(workers[i].n_wrong, 0);
            MX_CHECK_I64(workers[i].n_done, N_ROUNDS);
        }
        mx_loop_stats stats;
        do { /* the last job was told of before the loop counted it */
            mx_engine_loop_get_stats(&loop, &stats);
        } while (stats.n_running + stats.n_waiting > 0);
        MX_CHECK_I64(stats.counts.n_jobs_over, N_THREADS * N_ROUNDS);
        MX_CHECK_I64(stats.n_free_pages + stats.n_prefix_pages, stats.n_pages);
        MX_CHECK_I64(stats.stalled_ms, 0);
        mx_engine_loop_stop(&loop);
        for (int32_t i = 0; i < N_THREADS; i++) {
            mx_cond_deinit(&workers[i].is_over);
            mx_mutex_deinit(&workers[i].lock);
        }
    }
    close_bench(&b);
}

MX_TEST(stopping_ends_what_is_in_work)
{
    static client clients[6];
    mx_error err;
    bench b;
    mx_engine_loop loop = {0};
    if (open_bench(&b, &tight, &plain) && MX_CHECK_OK(mx_engine_loop_start(&loop, &b.scheduler, &err), &err)) {
        mx_job *jobs[6];
        for (int32_t i = 0; i < 6; i++) {
            make_prompt(&clients[i], 200, (uint32_t)i);
            const mx_generation_request r = bench_request(&clients[i], 200, 0);
            open_client(&b, &clients[i], &r);
            jobs[i] = &clients[i].job;
        }
        MX_CHECK_OK(mx_engine_loop_submit(&loop, jobs, 6, &err), &err);
        mx_engine_loop_stop(&loop);
        for (int32_t i = 0; i < 6; i++) {
            MX_CHECK(clients[i].is_over && (clients[i].status == MX_CANCELLED || clients[i].status == MX_OK));
            close_client(&clients[i]);
        }
    }
    close_bench(&b);
}

MX_TEST(jobs_are_taken_all_or_none)
{
    static const mx_scheduler_options small = {.max_queue = 2};
    static client clients[7];
    mx_error err;
    bench b;
    mx_engine_loop loop = {0};
    if (open_bench(&b, &tight, &small) && MX_CHECK_OK(mx_engine_loop_start(&loop, &b.scheduler, &err), &err)) {
        mx_job *jobs[7];
        for (int32_t i = 0; i < 7; i++) {
            make_prompt(&clients[i], 20, (uint32_t)i);
            const mx_generation_request r = bench_request(&clients[i], 20, 2);
            open_client(&b, &clients[i], &r);
            jobs[i] = &clients[i].job;
        }
        MX_CHECK_FAILS(mx_engine_loop_submit(&loop, jobs, 7, &err), MX_BUSY, &err, "at most 6");
        MX_CHECK_OK(mx_engine_loop_submit(&loop, jobs, 6, &err), &err);
        mx_engine_loop_stop(&loop);
        for (int32_t i = 0; i < 7; i++) {
            MX_CHECK(clients[i].is_over == (i < 6));
            close_client(&clients[i]);
        }
    }
    close_bench(&b);
}

/* A device that does not come back, until it is told to. */
static mx_atomic_u32 is_stuck;

static mx_status stuck_run(mx_executor *executor, const mx_batch *batch, mx_error *err)
{
    while (mx_atomic_load_u32(&is_stuck)) {
    }
    return fake_run(executor, batch, err);
}

MX_TEST(a_step_that_hangs_shows_in_the_counts)
{
    static client c;
    mx_error err;
    bench b;
    mx_engine_loop loop = {0};
    if (open_bench(&b, &tight, &plain)) {
        b.fake->base.run = stuck_run;
        mx_atomic_store_u32(&is_stuck, 1);
        make_prompt(&c, 20, 1);
        const mx_generation_request r = bench_request(&c, 20, 2);
        open_client(&b, &c, &r);
        mx_job *jobs[] = {&c.job};
        mx_loop_stats stats = {0};
        MX_CHECK_OK(mx_engine_loop_start(&loop, &b.scheduler, &err), &err);
        MX_CHECK_OK(mx_engine_loop_submit(&loop, jobs, 1, &err), &err);
        while (stats.stalled_ms < 20) { /* for ever, if the counts did not show it */
            mx_engine_loop_get_stats(&loop, &stats);
        }
        mx_atomic_store_u32(&is_stuck, 0);
        while (stats.n_running + stats.n_waiting > 0) {
            mx_engine_loop_get_stats(&loop, &stats);
        }
        MX_CHECK_I64(stats.stalled_ms, 0);
        mx_engine_loop_stop(&loop);
        MX_CHECK(c.is_over && c.status == MX_OK);
        close_client(&c);
    }
    close_bench(&b);
}

MX_TEST_MAIN(MX_CASE(threads_get_the_texts_that_they_would_get_alone), MX_CASE(stopping_ends_what_is_in_work),
             MX_CASE(jobs_are_taken_all_or_none), MX_CASE(a_step_that_hangs_shows_in_the_counts))
