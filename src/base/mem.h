/* mem.h - the heap, with a switch that makes allocations fail in tests.
 *
 * All host memory of the project comes through here, through an arena or through platform/memory.h (large aligned
 * blocks). Running out is a status, never an abort.
 */
#ifndef MX_BASE_MEM_H
#define MX_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/error.h"

/* As malloc, calloc (zeroed, overflow checked), realloc and free. A size of 0 gives a unique pointer. NULL when out of
 * memory. Safe from any thread. */
void *mx_malloc(size_t n_bytes) MX_NODISCARD;
void *mx_calloc(size_t n_items, size_t item_size) MX_NODISCARD;
void *mx_realloc(void *ptr, size_t n_bytes) MX_NODISCARD;
void mx_free(void *ptr);

/* Makes room for n_needed items in a growing array.
 *
 * items      the array, or NULL; its owner frees it with mx_free
 * cap        room in items; changed when the array moves
 * n_max      the array's cap from birth; more is refused
 * Grows by half. On failure the array is as it was.
 * Returns the array, or NULL (out of memory, or n_needed > n_max).
 */
void *mx_array_grow(void *items, size_t *cap, size_t n_needed, size_t item_size, size_t n_max) MX_NODISCARD;

/* The sentence for a failed allocation: `what` names the thing that did not fit. Returns MX_NO_MEMORY. */
mx_status mx_fail_no_memory(mx_error *err, size_t n_bytes, const char *what);

/* For tests: the n-th allocation of this thread from now on fails (1 is the next), and only that one; 0 switches the
 * counter off. */
void mx_mem_fail_at(int64_t n);

/* For tests: allocations of this thread since mx_mem_fail_at was last called. */
int64_t mx_mem_count(void);

/* Overflow-checked products and sums of sizes; false when the result does not fit (*out is then untouched). */
static inline bool mx_mul_size(size_t a, size_t b, size_t *out)
{
    if (b != 0 && a > SIZE_MAX / b) {
        return false;
    }
    *out = a * b;
    return true;
}

static inline bool mx_add_size(size_t a, size_t b, size_t *out)
{
    if (a > SIZE_MAX - b) {
        return false;
    }
    *out = a + b;
    return true;
}

/* The same for non-negative counts. */
static inline bool mx_mul_i64(int64_t a, int64_t b, int64_t *out)
{
    if (a < 0 || b < 0 || (b != 0 && a > INT64_MAX / b)) {
        return false;
    }
    *out = a * b;
    return true;
}

/* Products and sums of non-negative counts that are compared or shown, not used: INT64_MAX where they do not fit. */
static inline int64_t mx_mul_capped(int64_t a, int64_t b)
{
    int64_t product = INT64_MAX;
    return mx_mul_i64(a, b, &product) ? product : INT64_MAX;
}

static inline int64_t mx_add_capped(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

#endif
