/* bandwidth.h - how fast this machine reads memory, with the threads and at the moment of a benchmark. */
#ifndef MX_BENCH_BANDWIDTH_H
#define MX_BENCH_BANDWIDTH_H

#include "backend/cpu/pool.h"
#include "platform/memory.h"

typedef struct bandwidth {
    mx_pool *pool;  /* owned */
    mx_block block; /* owned: what is read */
    uint64_t sum;   /* of what was read, so that reading cannot be left out */
} bandwidth;

/* A pool of n_threads and n_bytes to read. */
mx_status bandwidth_open(bandwidth *b, int32_t n_threads, size_t n_bytes, mx_error *err) MX_NODISCARD;
void bandwidth_close(bandwidth *b);

/* Reads everything once; bytes a second. */
double bandwidth_measure(bandwidth *b);

/* The middle one of n values, which are sorted. */
double bench_median(double *values, int32_t n);

#endif
