/* memory.h - large blocks from the operating system, and how much memory there is. */
#ifndef MX_PLATFORM_MEMORY_H
#define MX_PLATFORM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct mx_block {
    void *ptr;      /* owned */
    size_t n_bytes; /* as asked for, rounded up to whole pages */
} mx_block;

/* Zeroed memory, aligned to 2 MiB where it is at least that large, else to a page; the system is asked for huge pages.
 * Physical memory is taken page by page, at first use. MX_NO_MEMORY. */
mx_status mx_block_alloc(size_t n_bytes, mx_block *out, mx_error *err) MX_NODISCARD;

/* Gives it back. A zeroed object is fine. */
void mx_block_free(mx_block *block);

/* Bytes that this process may use in all (a container's limit counts), and bytes that are free now, counting caches
 * that the system would drop. INT64_MAX where unknown. */
int64_t mx_memory_total(void);
int64_t mx_memory_available(void);

#endif
