/* kv_pages.c - a stack of free pages and a count of users for each. */
#include "engine/kv_pages.h"

#include <assert.h>

#include "base/mem.h"

mx_status mx_kv_pages_init(mx_kv_pages *pool, int32_t n_pages, mx_error *err)
{
    assert(n_pages > 0);
    *pool = (mx_kv_pages){.n_pages = n_pages, .n_free = n_pages};
    pool->free_pages = (int32_t *)mx_calloc((size_t)n_pages, sizeof(int32_t));
    pool->n_users = (int32_t *)mx_calloc((size_t)n_pages, sizeof(int32_t));
    if (!pool->free_pages || !pool->n_users) {
        mx_kv_pages_deinit(pool);
        return mx_fail_no_memory(err, (size_t)n_pages * sizeof(int32_t) * 2, "the list of KV pages");
    }
    for (int32_t i = 0; i < n_pages; i++) {
        pool->free_pages[i] = n_pages - 1 - i; /* page 0 goes first, so that small requests touch few pages */
    }
    return MX_OK;
}

void mx_kv_pages_deinit(mx_kv_pages *pool)
{
    mx_free(pool->free_pages);
    mx_free(pool->n_users);
    *pool = (mx_kv_pages){0};
}

mx_status mx_kv_pages_take(mx_kv_pages *pool, int32_t *page, mx_error *err)
{
    if (pool->n_free == 0) {
        return mx_fail(err, MX_BUSY, "all %d pages of the KV cache are in use", (int)pool->n_pages);
    }
    *page = pool->free_pages[--pool->n_free];
    assert(pool->n_users[*page] == 0);
    pool->n_users[*page] = 1;
    return MX_OK;
}

void mx_kv_pages_share(mx_kv_pages *pool, int32_t page)
{
    assert(page >= 0 && page < pool->n_pages && pool->n_users[page] > 0);
    pool->n_users[page]++;
}

void mx_kv_pages_drop(mx_kv_pages *pool, int32_t page)
{
    assert(page >= 0 && page < pool->n_pages && pool->n_users[page] > 0);
    if (--pool->n_users[page] == 0) {
        pool->free_pages[pool->n_free++] = page;
    }
}
