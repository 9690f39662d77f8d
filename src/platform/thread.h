/* thread.h - threads, locks, and sleeping on a word of memory.
 *
 * The storage of locks is a few opaque words, so that no system header is needed here; the files that know the system
 * assert that it suffices.
 */
#ifndef MX_PLATFORM_THREAD_H
#define MX_PLATFORM_THREAD_H

#include <stdint.h>

#include "base/error.h"
#include "platform/atomic.h"

typedef struct mx_thread {
    uintptr_t handle;
} mx_thread;

/* Starts run(arg). `name` (at most 15 bytes are kept) shows in debuggers. Every started thread must be joined.
 * MX_NO_MEMORY when the system has no room for a thread. */
mx_status mx_thread_start(mx_thread *thread, const char *name, void (*run)(void *arg), void *arg,
                          mx_error *err) MX_NODISCARD;

/* Waits for the end of the thread. */
void mx_thread_join(mx_thread *thread);

typedef struct mx_mutex {
    uint64_t opaque[8];
} mx_mutex;

void mx_mutex_init(mx_mutex *mutex);
void mx_mutex_deinit(mx_mutex *mutex);
void mx_mutex_lock(mx_mutex *mutex); /* not recursive */
void mx_mutex_unlock(mx_mutex *mutex);

typedef struct mx_cond {
    uint64_t opaque[8];
} mx_cond;

void mx_cond_init(mx_cond *cond);
void mx_cond_deinit(mx_cond *cond);

/* Unlocks, sleeps until woken (or for no reason: check the condition again), locks. */
void mx_cond_wait(mx_cond *cond, mx_mutex *mutex);

/* The same for at most timeout_ms. */
void mx_cond_wait_ms(mx_cond *cond, mx_mutex *mutex, int64_t timeout_ms);
void mx_cond_wake_one(mx_cond *cond);
void mx_cond_wake_all(mx_cond *cond);

/* Sleeps as long as *word holds `value`, until a wake call for this word; may return early, so callers loop. The check
 * and falling asleep are one step: a wake that follows the change of the word is not lost. */
void mx_wait_on_address(mx_atomic_u32 *word, uint32_t value);
void mx_wake_one(mx_atomic_u32 *word);
void mx_wake_all(mx_atomic_u32 *word);

/* Runs something once in the process: {0} at first. */
typedef struct mx_once {
    mx_atomic_u32 state; /* 0 not yet, 1 running, 2 done */
} mx_once;

/* Runs `run` if nobody has; returns when it has ended, whoever ran it. */
void mx_once_run(mx_once *once, void (*run)(void));

#endif
