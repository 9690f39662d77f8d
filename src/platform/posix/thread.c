/* thread.c - pthreads. Errors of lock calls mean a lock that was never initialised: our own mistake, so asserted. */
#include "platform/thread.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"

_Static_assert(sizeof(pthread_t) <= sizeof(uintptr_t), "a thread's handle fits");
_Static_assert(sizeof(pthread_mutex_t) <= sizeof(mx_mutex), "a mutex fits its storage");
_Static_assert(sizeof(pthread_cond_t) <= sizeof(mx_cond), "a condition variable fits its storage");

typedef struct thread_start {
    void (*run)(void *arg);
    void *arg;
    char name[16];
} thread_start;

static void *thread_main(void *arg)
{
    const thread_start start = *(thread_start *)arg;
    mx_free(arg);
#ifdef __APPLE__
    pthread_setname_np(start.name);
#else
    pthread_setname_np(pthread_self(), start.name);
#endif
    start.run(start.arg);
    return NULL;
}

mx_status mx_thread_start(mx_thread *thread, const char *name, void (*run)(void *arg), void *arg, mx_error *err)
{
    thread_start *start = mx_malloc(sizeof *start);
    if (!start) {
        return mx_fail_no_memory(err, sizeof *start, "a thread");
    }
    *start = (thread_start){.run = run, .arg = arg};
    snprintf(start->name, sizeof start->name, "%s", name);
    pthread_t handle;
    const int code = pthread_create(&handle, NULL, thread_main, start);
    if (code != 0) {
        mx_free(start);
        return mx_fail_native(err, MX_NO_MEMORY, code, "cannot start the thread %s: %s", name, strerror(code));
    }
    thread->handle = (uintptr_t)handle;
    return MX_OK;
}

void mx_thread_join(mx_thread *thread)
{
    pthread_join((pthread_t)thread->handle, NULL);
    thread->handle = 0;
}

static pthread_mutex_t *mutex_of(mx_mutex *mutex)
{
    return (pthread_mutex_t *)(void *)mutex->opaque;
}

static pthread_cond_t *cond_of(mx_cond *cond)
{
    return (pthread_cond_t *)(void *)cond->opaque;
}

static void check(int code)
{
    assert(code == 0);
    (void)code;
}

void mx_mutex_init(mx_mutex *mutex)
{
    check(pthread_mutex_init(mutex_of(mutex), NULL));
}

void mx_mutex_deinit(mx_mutex *mutex)
{
    check(pthread_mutex_destroy(mutex_of(mutex)));
}

void mx_mutex_lock(mx_mutex *mutex)
{
    check(pthread_mutex_lock(mutex_of(mutex)));
}

void mx_mutex_unlock(mx_mutex *mutex)
{
    check(pthread_mutex_unlock(mutex_of(mutex)));
}

void mx_cond_init(mx_cond *cond)
{
    check(pthread_cond_init(cond_of(cond), NULL));
}

void mx_cond_deinit(mx_cond *cond)
{
    check(pthread_cond_destroy(cond_of(cond)));
}

void mx_cond_wait(mx_cond *cond, mx_mutex *mutex)
{
    check(pthread_cond_wait(cond_of(cond), mutex_of(mutex)));
}

void mx_cond_wait_ms(mx_cond *cond, mx_mutex *mutex, int64_t timeout_ms)
{
    struct timespec until;
    timeout_ms = MX_MAX(MX_MIN(timeout_ms, INT32_MAX), 0); /* who waits for years looks again after some weeks */
    clock_gettime(CLOCK_REALTIME, &until);                 /* macOS has no condition variables on the monotonic clock */
    until.tv_sec += (time_t)(timeout_ms / 1000);
    until.tv_nsec += (long)(timeout_ms % 1000 * 1000000);
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    const int code = pthread_cond_timedwait(cond_of(cond), mutex_of(mutex), &until);
    check(code == ETIMEDOUT ? 0 : code);
}

void mx_cond_wake_one(mx_cond *cond)
{
    check(pthread_cond_signal(cond_of(cond)));
}

void mx_cond_wake_all(mx_cond *cond)
{
    check(pthread_cond_broadcast(cond_of(cond)));
}
