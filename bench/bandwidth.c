/* bandwidth.c - every thread sums its part of a block that is larger than the caches it could stay in. */
#include "bench/bandwidth.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "platform/clock.h"

#define LINES       8 /* at once */
#define LINE_WORDS  8
#define AHEAD_WORDS 512

mx_status bandwidth_open(bandwidth *b, int32_t n_threads, size_t n_bytes, mx_error *err)
{
    *b = (bandwidth){0};
    MX_TRY(mx_pool_open(n_threads, &b->pool, err));
    MX_TRY(mx_block_alloc(n_bytes, &b->block, err));
    memset(b->block.ptr, 1, b->block.n_bytes); /* every page is a page of its own, not the shared zero page */
    return MX_OK;
}

void bandwidth_close(bandwidth *b)
{
    mx_pool_close(b->pool);
    mx_block_free(&b->block);
}

/* One word of each cache line, and a prefetch some KiB ahead as the kernels have it: without, a core waits for lines
 * that it has not asked for. */
static void read_part(void *arg, int32_t i_thread)
{
    bandwidth *b = (bandwidth *)arg;
    const uint64_t *words = (const uint64_t *)b->block.ptr;
    int64_t from;
    int64_t to;
    uint64_t sums[LINES] = {0};
    mx_pool_split((int64_t)(b->block.n_bytes / (LINES * LINE_WORDS * 8)), i_thread, mx_pool_n_threads(b->pool), &from,
                  &to);
    for (int64_t i = from; i < to; i++) {
        const uint64_t *at = words + i * LINES * LINE_WORDS;
        for (int32_t j = 0; j < LINES; j++) {
            sums[j] += at[j * LINE_WORDS];
            MX_PREFETCH(at + j * LINE_WORDS + AHEAD_WORDS);
        }
    }
    for (int32_t j = 0; j < LINES && i_thread == 0; j++) {
        b->sum += sums[j];
    }
}

double bandwidth_measure(bandwidth *b)
{
    const int64_t start_ns = mx_clock_ns();
    mx_pool_run(b->pool, read_part, b);
    return (double)b->block.n_bytes * 1e9 / (double)(mx_clock_ns() - start_ns);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, int32_t n)
{
    qsort(values, (size_t)n, sizeof *values, compare);
    return values[n / 2];
}
