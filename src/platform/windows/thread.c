/* thread.c - Win32 threads, slim locks and condition variables; no pthreads library. */
#include "platform/thread.h"

#include <errno.h>
#include <process.h>
#include <windows.h>

#include "base/mem.h"

_Static_assert(sizeof(SRWLOCK) <= sizeof(mx_mutex), "a lock fits its storage");
_Static_assert(sizeof(CONDITION_VARIABLE) <= sizeof(mx_cond), "a condition variable fits its storage");
_Static_assert(sizeof(mx_atomic_u32) == 4, "the system sees a plain word");

typedef struct thread_start {
    void (*run)(void *arg);
    void *arg;
} thread_start;

static unsigned __stdcall thread_main(void *arg)
{
    const thread_start start = *(thread_start *)arg;
    mx_free(arg);
    start.run(start.arg);
    return 0;
}

typedef HRESULT(WINAPI *set_description_function)(HANDLE thread, const wchar_t *description);

/* Debuggers show the description; absent before Windows 10 1607. */
static void describe(HANDLE thread, const char *name)
{
    const set_description_function set_description = (set_description_function)(void (*)(void))GetProcAddress(
        GetModuleHandleW(L"kernel32.dll"), "SetThreadDescription");
    wchar_t wide[16] = {0};
    for (size_t i = 0; i < MX_COUNTOF(wide) - 1 && name[i]; i++) {
        wide[i] = (wchar_t)(unsigned char)name[i];
    }
    if (set_description) {
        set_description(thread, wide);
    }
}

mx_status mx_thread_start(mx_thread *thread, const char *name, void (*run)(void *arg), void *arg, mx_error *err)
{
    thread_start *start = mx_malloc(sizeof *start);
    if (!start) {
        return mx_fail_no_memory(err, sizeof *start, "a thread");
    }
    *start = (thread_start){.run = run, .arg = arg};
    const uintptr_t handle = _beginthreadex(NULL, 0, thread_main, start, 0, NULL);
    if (handle == 0) {
        mx_free(start);
        return mx_fail_native(err, MX_NO_MEMORY, errno, "cannot start the thread %s", name);
    }
    describe((HANDLE)handle, name);
    thread->handle = handle;
    return MX_OK;
}

void mx_thread_join(mx_thread *thread)
{
    WaitForSingleObject((HANDLE)thread->handle, INFINITE);
    CloseHandle((HANDLE)thread->handle);
    thread->handle = 0;
}

static SRWLOCK *lock_of(mx_mutex *mutex)
{
    return (SRWLOCK *)(void *)mutex->opaque;
}

static CONDITION_VARIABLE *cond_of(mx_cond *cond)
{
    return (CONDITION_VARIABLE *)(void *)cond->opaque;
}

void mx_mutex_init(mx_mutex *mutex)
{
    InitializeSRWLock(lock_of(mutex));
}

void mx_mutex_deinit(mx_mutex *mutex)
{
    (void)mutex;
}

void mx_mutex_lock(mx_mutex *mutex)
{
    AcquireSRWLockExclusive(lock_of(mutex));
}

void mx_mutex_unlock(mx_mutex *mutex)
{
    ReleaseSRWLockExclusive(lock_of(mutex));
}

void mx_cond_init(mx_cond *cond)
{
    InitializeConditionVariable(cond_of(cond));
}

void mx_cond_deinit(mx_cond *cond)
{
    (void)cond;
}

void mx_cond_wait(mx_cond *cond, mx_mutex *mutex)
{
    SleepConditionVariableSRW(cond_of(cond), lock_of(mutex), INFINITE, 0);
}

void mx_cond_wait_ms(mx_cond *cond, mx_mutex *mutex, int64_t timeout_ms)
{
    SleepConditionVariableSRW(cond_of(cond), lock_of(mutex), (DWORD)MX_MAX(MX_MIN(timeout_ms, INT32_MAX), 0), 0);
}

void mx_cond_wake_one(mx_cond *cond)
{
    WakeConditionVariable(cond_of(cond));
}

void mx_cond_wake_all(mx_cond *cond)
{
    WakeAllConditionVariable(cond_of(cond));
}

void mx_wait_on_address(mx_atomic_u32 *word, uint32_t value)
{
    WaitOnAddress((volatile VOID *)word, &value, sizeof value, INFINITE);
}

void mx_wake_one(mx_atomic_u32 *word)
{
    WakeByAddressSingle(word);
}

void mx_wake_all(mx_atomic_u32 *word)
{
    WakeByAddressAll(word);
}
