/* memory_need.h - whether a model fits into memory, told before anything is taken. */
#ifndef MX_ENGINE_MEMORY_NEED_H
#define MX_ENGINE_MEMORY_NEED_H

#include <stdint.h>

#include "base/error.h"

typedef struct mx_memory_need {
    int64_t n_weight_bytes;
    int64_t n_kv_bytes;      /* the cache of n_ctx tokens */
    int64_t n_scratch_bytes; /* buffers of a step */
    int32_t n_ctx;
} mx_memory_need;

/* MX_NO_MEMORY when the sum is more than n_available (INT64_MAX: unknown, so fine), saying what needs how much and what
 * to do. */
mx_status mx_memory_check(const mx_memory_need *need, int64_t n_available, mx_error *err) MX_NODISCARD;

#endif
