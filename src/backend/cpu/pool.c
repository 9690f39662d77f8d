/* pool.c - a start counter, an end by barrier, and a barrier of one counter and one generation.
 *
 * The last thread to arrive at a barrier resets the counter and moves the generation on; the others watch the
 * generation. A flat counter costs about a microsecond at 8 threads; past one chiplet a tree would be needed.
 *
 * A thread that gives up spinning counts itself in n_sleepers before it sleeps, so that the one that moves a word on
 * makes the system call that wakes only when somebody sleeps. Both sides use sequentially consistent operations on the
 * two words: either the sleeper sees the new value, or the waker sees the sleeper.
 */
#include "backend/cpu/pool.h"

#include "base/mem.h"
#include "platform/atomic.h"
#include "platform/clock.h"
#include "platform/cpu.h"
#include "platform/thread.h"

#define SPIN_NS         50000
#define PAUSES_PER_LOOK 4
#define LOOKS_PER_CLOCK 64
#define CACHE_LINE      64

/* A word that threads wait to see change, alone on its cache line. */
typedef struct wait_word {
    mx_atomic_u32 value;
    mx_atomic_u32 n_sleepers;
    char padding[CACHE_LINE - 2 * sizeof(mx_atomic_u32)];
} wait_word;

typedef struct pool_member {
    mx_pool *pool;
    mx_thread thread;
    int32_t i_thread;
} pool_member;

struct mx_pool {
    wait_word start;   /* runs begun; members wait here between runs */
    wait_word barrier; /* barriers passed */
    mx_atomic_u32 n_arrived;
    char padding[CACHE_LINE - sizeof(mx_atomic_u32)];
    void (*run)(void *arg, int32_t i_thread); /* NULL: the pool closes */
    void *arg;
    int32_t n_threads;
    int32_t n_started; /* members whose thread runs */
    int64_t spin_ns;
    pool_member members[]; /* [n_threads - 1] */
};

static void wait_while(mx_pool *pool, wait_word *word, uint32_t old)
{
    if (pool->spin_ns > 0) {
        const int64_t end_ns = mx_clock_ns() + pool->spin_ns;
        do {
            for (int32_t i = 0; i < LOOKS_PER_CLOCK; i++) {
                if (mx_atomic_load_u32(&word->value) != old) {
                    return;
                }
                for (int32_t j = 0; j < PAUSES_PER_LOOK; j++) {
                    mx_cpu_pause();
                }
            }
        } while (mx_clock_ns() < end_ns);
    }
    mx_atomic_add_u32(&word->n_sleepers, 1);
    while (mx_atomic_add_u32(&word->value, 0) == old) {
        mx_wait_on_address(&word->value, old);
    }
    mx_atomic_add_u32(&word->n_sleepers, UINT32_MAX);
}

static void move_on(wait_word *word)
{
    mx_atomic_add_u32(&word->value, 1);
    if (mx_atomic_add_u32(&word->n_sleepers, 0) != 0) {
        mx_wake_all(&word->value);
    }
}

void mx_pool_barrier(mx_pool *pool)
{
    const uint32_t n_passed = mx_atomic_load_u32(&pool->barrier.value);
    if (mx_atomic_add_u32(&pool->n_arrived, 1) == (uint32_t)pool->n_threads - 1) {
        mx_atomic_store_u32(&pool->n_arrived, 0);
        move_on(&pool->barrier);
    } else {
        wait_while(pool, &pool->barrier, n_passed);
    }
}

static void member_loop(void *arg)
{
    pool_member *member = (pool_member *)arg;
    mx_pool *pool = member->pool;
    for (uint32_t n_runs = 0;; n_runs++) {
        wait_while(pool, &pool->start, n_runs);
        if (!pool->run) {
            return;
        }
        pool->run(pool->arg, member->i_thread);
        mx_pool_barrier(pool);
    }
}

mx_status mx_pool_open(int32_t n_threads, mx_pool **out, mx_error *err)
{
    *out = NULL;
    const int32_t n_usable = mx_cpu_get()->n_usable;
    if (n_threads < 0 || n_threads > MX_POOL_MAX_THREADS) {
        return mx_fail(err, MX_INVALID, "%d threads: the number must be between 0 (all) and %d", n_threads,
                       MX_POOL_MAX_THREADS);
    }
    if (n_threads == 0) {
        n_threads = MX_MIN(n_usable, MX_POOL_MAX_THREADS);
    }
    const size_t n_bytes = sizeof(mx_pool) + (size_t)(n_threads - 1) * sizeof(pool_member);
    mx_pool *pool = (mx_pool *)mx_calloc(1, n_bytes);
    if (!pool) {
        return mx_fail_no_memory(err, n_bytes, "the thread pool");
    }
    pool->n_threads = n_threads;
    pool->spin_ns = n_threads <= n_usable ? SPIN_NS : 0;
    for (int32_t i = 0; i < n_threads - 1; i++) {
        pool_member *member = &pool->members[i];
        *member = (pool_member){.pool = pool, .i_thread = i + 1};
        const mx_status st = mx_thread_start(&member->thread, "mlxcel-cpu", member_loop, member, err);
        if (st != MX_OK) {
            mx_pool_close(pool);
            return mx_error_prefix(err, st, "thread %d of %d", i + 2, n_threads);
        }
        pool->n_started++;
    }
    *out = pool;
    return MX_OK;
}

void mx_pool_close(mx_pool *pool)
{
    if (!pool) {
        return;
    }
    pool->run = NULL;
    move_on(&pool->start);
    for (int32_t i = 0; i < pool->n_started; i++) {
        mx_thread_join(&pool->members[i].thread);
    }
    mx_free(pool);
}

int32_t mx_pool_n_threads(const mx_pool *pool)
{
    return pool->n_threads;
}

void mx_pool_run(mx_pool *pool, void (*run)(void *arg, int32_t i_thread), void *arg)
{
    pool->run = run;
    pool->arg = arg;
    move_on(&pool->start);
    run(arg, 0);
    mx_pool_barrier(pool);
}
