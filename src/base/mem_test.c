#include "base/mem.h"

#include "tests/test.h"

MX_TEST(memory_of_no_bytes_is_a_pointer)
{
    void *a = mx_malloc(0);
    void *b = mx_calloc(0, 8);
    MX_CHECK(a && b && a != b);
    a = mx_realloc(a, 0);
    MX_CHECK(a != NULL);
    mx_free(a);
    mx_free(b);
    mx_free(NULL);
}

MX_TEST(products_and_sums_that_overflow_are_refused)
{
    size_t size = 7;
    int64_t count = 7;
    MX_CHECK(!mx_mul_size(SIZE_MAX / 2 + 1, 2, &size) && size == 7);
    MX_CHECK(mx_mul_size(SIZE_MAX, 1, &size) && size == SIZE_MAX);
    MX_CHECK(mx_mul_size(SIZE_MAX, 0, &size) && size == 0);
    MX_CHECK(!mx_add_size(SIZE_MAX, 1, &size));
    MX_CHECK(mx_add_size(SIZE_MAX - 1, 1, &size) && size == SIZE_MAX);
    MX_CHECK(!mx_mul_i64(INT64_MAX, 2, &count) && !mx_mul_i64(-1, 2, &count) && count == 7);
    MX_CHECK(mx_mul_i64(INT64_C(3000000000), 3, &count) && count == INT64_C(9000000000));
    MX_CHECK(mx_mul_i64(0, INT64_MAX, &count) && count == 0);
    MX_CHECK(mx_calloc(SIZE_MAX / 2, 4) == NULL);
}

MX_TEST(an_array_grows_by_half_up_to_its_cap)
{
    size_t cap = 0;
    int32_t *items = mx_array_grow(NULL, &cap, 1, sizeof *items, 20);
    MX_CHECK(items && cap == 8);
    items[0] = 42;
    items = mx_array_grow(items, &cap, 9, sizeof *items, 20);
    MX_CHECK(items && cap == 12 && items[0] == 42);
    MX_CHECK(mx_array_grow(items, &cap, 12, sizeof *items, 20) == items);
    items = mx_array_grow(items, &cap, 19, sizeof *items, 20);
    MX_CHECK(items && cap == 19);
    items = mx_array_grow(items, &cap, 20, sizeof *items, 20);
    MX_CHECK(items && cap == 20);
    MX_CHECK(mx_array_grow(items, &cap, 21, sizeof *items, 20) == NULL && cap == 20);
    mx_free(items);
    cap = 0;
    MX_CHECK(mx_array_grow(NULL, &cap, SIZE_MAX / 2, 4, SIZE_MAX) == NULL && cap == 0);
}

MX_TEST(just_the_nth_allocation_fails)
{
    void *kept[4] = {0};
    mx_mem_fail_at(3);
    for (size_t i = 0; i < 4; i++) {
        kept[i] = i % 2 ? mx_malloc(8) : mx_calloc(1, 8);
    }
    MX_CHECK_I64(mx_mem_count(), 4);
    mx_mem_fail_at(0);
    MX_CHECK(kept[0] && kept[1] && !kept[2] && kept[3]);
    mx_mem_fail_at(1);
    void *same = mx_realloc(kept[0], 100);
    mx_mem_fail_at(0);
    MX_CHECK(same == NULL);
    for (size_t i = 0; i < 4; i++) {
        mx_free(kept[i]);
    }
}

MX_TEST(running_out_names_what_did_not_fit)
{
    mx_error err = {0};
    MX_CHECK_FAILS(mx_fail_no_memory(&err, 123, "the vocabulary"), MX_NO_MEMORY, &err,
                   "the vocabulary needs 123 bytes");
}

MX_TEST(capped_sums_and_products_stop_at_the_largest_number)
{
    MX_CHECK_I64(mx_mul_capped(3, 7), 21);
    MX_CHECK_I64(mx_mul_capped(INT64_MAX / 2 + 1, 2), INT64_MAX);
    MX_CHECK_I64(mx_mul_capped(INT64_MAX, 0), 0);
    MX_CHECK_I64(mx_add_capped(3, 7), 10);
    MX_CHECK_I64(mx_add_capped(INT64_MAX, 0), INT64_MAX);
    MX_CHECK_I64(mx_add_capped(INT64_MAX - 1, 2), INT64_MAX);
}

MX_TEST_MAIN(MX_CASE(capped_sums_and_products_stop_at_the_largest_number), MX_CASE(memory_of_no_bytes_is_a_pointer),
             MX_CASE(products_and_sums_that_overflow_are_refused), MX_CASE(an_array_grows_by_half_up_to_its_cap),
             MX_CASE(just_the_nth_allocation_fails), MX_CASE(running_out_names_what_did_not_fit))
