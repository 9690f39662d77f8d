/* mem.c - the heap with a fault switch.
 *
 * The switch is a thread-local countdown rather than a global one: a test then fails its own allocations and not those
 * of a worker thread, and no atomics are needed below platform/.
 */
#include "base/mem.h"

#include <stdlib.h>

static MX_THREAD_LOCAL int64_t fail_at;
static MX_THREAD_LOCAL int64_t n_allocations;

static bool must_fail(void)
{
    n_allocations++;
    return MX_UNLIKELY(fail_at != 0) && n_allocations == fail_at;
}

void *mx_malloc(size_t n_bytes)
{
    return must_fail() ? NULL : malloc(n_bytes ? n_bytes : 1);
}

void *mx_calloc(size_t n_items, size_t item_size)
{
    size_t n_bytes = 0;
    if (must_fail() || !mx_mul_size(n_items, item_size, &n_bytes)) {
        return NULL;
    }
    return calloc(1, n_bytes ? n_bytes : 1);
}

void *mx_realloc(void *ptr, size_t n_bytes)
{
    return must_fail() ? NULL : realloc(ptr, n_bytes ? n_bytes : 1);
}

void mx_free(void *ptr)
{
    free(ptr);
}

void *mx_array_grow(void *items, size_t *cap, size_t n_needed, size_t item_size, size_t n_max)
{
    if (n_needed <= *cap && items) {
        return items;
    }
    if (n_needed > n_max) {
        return NULL;
    }
    size_t new_cap = *cap < 8 ? 8 : *cap + *cap / 2;
    new_cap = MX_MIN(MX_MAX(new_cap, n_needed), n_max);
    size_t n_bytes = 0;
    if (!mx_mul_size(new_cap, item_size, &n_bytes)) {
        return NULL;
    }
    void *moved = mx_realloc(items, n_bytes);
    if (moved) {
        *cap = new_cap;
    }
    return moved;
}

mx_status mx_fail_no_memory(mx_error *err, size_t n_bytes, const char *what)
{
    return mx_fail(err, MX_NO_MEMORY, "out of memory: %s needs %zu bytes", what, n_bytes);
}

void mx_mem_fail_at(int64_t n)
{
    fail_at = n;
    n_allocations = 0;
}

int64_t mx_mem_count(void)
{
    return n_allocations;
}
