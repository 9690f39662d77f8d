#include "engine/kv_pages.h"

#include "base/mem.h"
#include "tests/test.h"

MX_TEST(hands_out_every_page_once_and_then_says_that_all_are_in_use)
{
    mx_error err;
    mx_kv_pages pool;
    if (!MX_CHECK_OK(mx_kv_pages_init(&pool, 5, &err), &err)) {
        return;
    }
    bool seen[5] = {false};
    for (int i = 0; i < 5; i++) {
        int32_t page = -1;
        MX_CHECK_OK(mx_kv_pages_take(&pool, &page, &err), &err);
        MX_CHECK(page >= 0 && page < 5 && !seen[page]);
        seen[page] = true;
    }
    int32_t page = -1;
    MX_CHECK_FAILS(mx_kv_pages_take(&pool, &page, &err), MX_BUSY, &err, "all 5 pages");
    MX_CHECK_I64(page, -1);
    mx_kv_pages_deinit(&pool);
}

MX_TEST(a_shared_page_is_free_after_its_last_user)
{
    mx_error err;
    mx_kv_pages pool;
    if (!MX_CHECK_OK(mx_kv_pages_init(&pool, 2, &err), &err)) {
        return;
    }
    int32_t page = -1;
    MX_CHECK_OK(mx_kv_pages_take(&pool, &page, &err), &err);
    mx_kv_pages_share(&pool, page);
    mx_kv_pages_drop(&pool, page);
    MX_CHECK_I64(pool.n_free, 1);
    mx_kv_pages_drop(&pool, page);
    MX_CHECK_I64(pool.n_free, 2);
    mx_kv_pages_deinit(&pool);
}

MX_TEST(a_failed_allocation_leaves_nothing_behind)
{
    for (int n = 1; n <= 2; n++) {
        mx_error err;
        mx_kv_pages pool;
        mx_mem_fail_at(n);
        MX_CHECK_FAILS(mx_kv_pages_init(&pool, 8, &err), MX_NO_MEMORY, &err, "KV pages");
        mx_mem_fail_at(0);
        MX_CHECK(pool.free_pages == NULL && pool.n_users == NULL);
    }
}

MX_TEST_MAIN(MX_CASE(hands_out_every_page_once_and_then_says_that_all_are_in_use),
             MX_CASE(a_shared_page_is_free_after_its_last_user), MX_CASE(a_failed_allocation_leaves_nothing_behind))
