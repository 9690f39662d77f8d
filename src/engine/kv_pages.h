/* kv_pages.h - who holds which page of the KV cache.
 *
 *     free: [ 9 4 7 ... ]      n_users: [ 1 2 0 1 ... ]
 *
 * A page is MX_PAGE_TOKENS positions of every layer's cache, and a number here: the bytes are the executor's. Pages are
 * counted, because sequences with the same beginning may share its pages. Allocates nothing after it is made. One
 * thread at a time, the engine's.
 */
#ifndef MX_ENGINE_KV_PAGES_H
#define MX_ENGINE_KV_PAGES_H

#include <stdint.h>

#include "base/error.h"

typedef struct mx_kv_pages {
    int32_t n_pages;
    int32_t n_free;
    int32_t *free_pages; /* owned [n_pages]; the first n_free are free, the last one is handed out next */
    int32_t *n_users;    /* owned [n_pages]; 0 for a free page */
} mx_kv_pages;

/* A pool of n_pages free pages. MX_NO_MEMORY. */
mx_status mx_kv_pages_init(mx_kv_pages *pool, int32_t n_pages, mx_error *err) MX_NODISCARD;

/* Frees the pool. A zeroed pool is fine. */
void mx_kv_pages_deinit(mx_kv_pages *pool);

/* Hands out a free page with one user. MX_BUSY when there is none. */
mx_status mx_kv_pages_take(mx_kv_pages *pool, int32_t *page, mx_error *err) MX_NODISCARD;

/* One more user of a page that has one. */
void mx_kv_pages_share(mx_kv_pages *pool, int32_t page);

/* One user less; the page is free when it was the last. */
void mx_kv_pages_drop(mx_kv_pages *pool, int32_t page);

#endif
