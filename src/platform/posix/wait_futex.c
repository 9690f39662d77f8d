/* wait_futex.c - sleeping on a word with Linux's futex. */
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/thread.h"

_Static_assert(sizeof(mx_atomic_u32) == 4, "the kernel sees a plain word");

void mx_wait_on_address(mx_atomic_u32 *word, uint32_t value)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

void mx_wake_one(mx_atomic_u32 *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void mx_wake_all(mx_atomic_u32 *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
