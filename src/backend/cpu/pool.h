/* pool.h - the threads of the CPU back end.
 *
 * A pool runs one function on all of its threads at once, the caller's included; inside, mx_pool_barrier separates the
 * phases. Between two runs, and at a barrier, a thread spins for some 50 microseconds (a step's phases follow one
 * another closely) and then sleeps. Spinning is switched off where the pool has more threads than the process may use
 * processors at once, since it would then keep the working thread from its processor.
 */
#ifndef MX_BACKEND_CPU_POOL_H
#define MX_BACKEND_CPU_POOL_H

#include <stdint.h>

#include "base/error.h"

typedef struct mx_pool mx_pool;

#define MX_POOL_MAX_THREADS 512

/* Starts n_threads - 1 threads; 0 means as many as the affinity mask and the container's quota let this process use.
 * MX_INVALID (more than MX_POOL_MAX_THREADS, or negative), MX_NO_MEMORY (also when the system refuses a thread). */
mx_status mx_pool_open(int32_t n_threads, mx_pool **out, mx_error *err) MX_NODISCARD;

/* Ends the threads. NULL is fine. */
void mx_pool_close(mx_pool *pool);

int32_t mx_pool_n_threads(const mx_pool *pool);

/* Runs run(arg, i_thread) for each i_thread in [0, n_threads) and returns when all have ended. One caller at a time.
 * Everything written before the call is seen inside, everything written inside is seen after it. */
void mx_pool_run(mx_pool *pool, void (*run)(void *arg, int32_t i_thread), void *arg);

/* Called by every thread of a run, or by none: returns when all have called, and what each wrote before is seen. */
void mx_pool_barrier(mx_pool *pool);

/* The part of n items that thread i_thread of n_threads works on: [*from, *to). Parts differ by at most one item. */
static inline void mx_pool_split(int64_t n, int32_t i_thread, int32_t n_threads, int64_t *from, int64_t *to)
{
    *from = n * i_thread / n_threads;
    *to = n * (i_thread + 1) / n_threads;
}

#endif
