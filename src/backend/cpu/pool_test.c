/* pool_test.c - threads that run together and meet at barriers. */
#include "backend/cpu/pool.h"

#include "base/mem.h"
#include "platform/cpu.h"
#include "platform/thread.h"
#include "tests/test.h"

#define N_THREADS 5
#define N_PHASES  200

typedef struct tally {
    mx_pool *pool;
    int64_t counts[N_THREADS]; /* plain memory: only the barriers order the accesses */
    int64_t n_wrong;
} tally;

/* Each phase, every thread adds one to its own count, and after the barrier reads its neighbour's. */
static void count_phases(void *arg, int32_t i_thread)
{
    tally *t = (tally *)arg;
    int64_t n_wrong = 0;
    const int64_t before = t->counts[i_thread];
    for (int64_t phase = 1; phase <= N_PHASES; phase++) {
        t->counts[i_thread] = before + phase;
        mx_pool_barrier(t->pool);
        n_wrong += t->counts[(i_thread + 1) % N_THREADS] != before + phase;
        mx_pool_barrier(t->pool);
    }
    if (i_thread == 0) {
        t->n_wrong += n_wrong;
    }
}

MX_TEST(every_thread_sees_what_others_wrote_before_a_barrier)
{
    mx_error err;
    tally t = {0};
    MX_CHECK_OK(mx_pool_open(N_THREADS, &t.pool, &err), &err);
    for (int32_t i_run = 1; i_run <= 20; i_run++) {
        mx_pool_run(t.pool, count_phases, &t);
        for (int32_t i = 0; i < N_THREADS; i++) {
            MX_CHECK_I64(t.counts[i], i_run * N_PHASES);
        }
    }
    MX_CHECK_I64(t.n_wrong, 0);
    mx_pool_close(t.pool);
}

static void add_one(void *arg, int32_t i_thread)
{
    ((int32_t *)arg)[i_thread]++;
}

MX_TEST(runs_again_after_its_threads_fell_asleep)
{
    mx_error err;
    mx_pool *pool = NULL;
    int32_t counts[3] = {0};
    MX_CHECK_OK(mx_pool_open(3, &pool, &err), &err);
    mx_mutex mutex;
    mx_cond never;
    mx_mutex_init(&mutex);
    mx_cond_init(&never);
    for (int32_t i = 0; i < 5; i++) {
        mx_pool_run(pool, add_one, counts);
        mx_mutex_lock(&mutex);
        mx_cond_wait_ms(&never, &mutex, 5); /* much longer than a thread spins */
        mx_mutex_unlock(&mutex);
    }
    mx_cond_deinit(&never);
    mx_mutex_deinit(&mutex);
    mx_pool_close(pool);
    MX_CHECK(counts[0] == 5 && counts[1] == 5 && counts[2] == 5);
}

MX_TEST(takes_as_many_threads_as_the_process_may_use)
{
    mx_error err;
    mx_pool *pool = NULL;
    MX_CHECK_OK(mx_pool_open(0, &pool, &err), &err);
    MX_CHECK_I64(mx_pool_n_threads(pool), MX_MIN(mx_cpu_get()->n_usable, MX_POOL_MAX_THREADS));
    mx_pool_close(pool);
}

MX_TEST(refuses_a_senseless_number_of_threads)
{
    mx_error err;
    mx_pool *pool = NULL;
    MX_CHECK_FAILS(mx_pool_open(-1, &pool, &err), MX_INVALID, &err, "-1 threads");
    MX_CHECK_FAILS(mx_pool_open(MX_POOL_MAX_THREADS + 1, &pool, &err), MX_INVALID, &err, "between 0");
    mx_pool_close(NULL);
}

MX_TEST(reports_a_failed_allocation)
{
    mx_error err;
    mx_pool *pool = NULL;
    (void)mx_cpu_get();
    mx_mem_fail_at(1);
    MX_CHECK_FAILS(mx_pool_open(2, &pool, &err), MX_NO_MEMORY, &err, "thread pool");
    mx_mem_fail_at(0);
    MX_CHECK(pool == NULL);
}

MX_TEST(splits_work_into_parts_that_differ_by_at_most_one)
{
    for (int64_t n = 0; n < 40; n++) {
        int64_t next = 0;
        for (int32_t i = 0; i < 7; i++) {
            int64_t from;
            int64_t to;
            mx_pool_split(n, i, 7, &from, &to);
            MX_CHECK_I64(from, next);
            MX_CHECK(to - from == n / 7 || to - from == n / 7 + 1);
            next = to;
        }
        MX_CHECK_I64(next, n);
    }
}

MX_TEST_MAIN(MX_CASE(every_thread_sees_what_others_wrote_before_a_barrier),
             MX_CASE(runs_again_after_its_threads_fell_asleep), MX_CASE(takes_as_many_threads_as_the_process_may_use),
             MX_CASE(refuses_a_senseless_number_of_threads), MX_CASE(reports_a_failed_allocation),
             MX_CASE(splits_work_into_parts_that_differ_by_at_most_one))
