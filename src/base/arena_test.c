#include "base/arena.h"

#include "base/mem.h"
#include "tests/test.h"

MX_TEST(memory_is_zeroed_aligned_and_apart)
{
    mx_arena arena;
    uint8_t *last = NULL;
    mx_arena_init(&arena, 1 << 24);
    for (size_t i = 0; i < 2000; i++) {
        const size_t n = i % 67;
        uint8_t *p = mx_arena_alloc(&arena, n);
        if (!p) {
            MX_TEST_FAIL("no memory for %zu bytes", n);
            break;
        }
        MX_CHECK((uintptr_t)p % 16 == 0 && p != last);
        for (size_t k = 0; k < n; k++) {
            MX_CHECK(p[k] == 0);
        }
        if (n > 0) {
            memset(p, 0xAA, n);
            last = p;
        }
    }
    mx_arena_deinit(&arena);
}

MX_TEST(a_reset_arena_gives_zeroed_memory_again_and_keeps_one_block)
{
    mx_arena arena;
    mx_arena_init(&arena, 1 << 24);
    for (int i = 0; i < 100; i++) {
        memset(mx_arena_alloc(&arena, 1000), 0xFF, 1000);
    }
    mx_arena_reset(&arena);
    const size_t kept = arena.n_bytes;
    MX_CHECK(kept > 0);
    mx_mem_fail_at(1); /* nothing is taken from the heap */
    const uint8_t *p = mx_arena_alloc(&arena, 1000);
    mx_mem_fail_at(0);
    MX_CHECK(p && p[0] == 0 && p[999] == 0);
    MX_CHECK_I64(arena.n_bytes, kept);
    mx_arena_deinit(&arena);
    mx_arena_reset(&arena);
    MX_CHECK(mx_arena_alloc(&arena, 1) != NULL);
    mx_arena_deinit(&arena);
}

MX_TEST(the_cap_is_kept_to_the_byte)
{
    mx_arena arena;
    mx_arena_init(&arena, 4096);
    MX_CHECK(mx_arena_alloc(&arena, 4097) == NULL);
    MX_CHECK(mx_arena_alloc(&arena, 4096) != NULL);
    MX_CHECK(mx_arena_alloc(&arena, 1) == NULL);
    mx_arena_deinit(&arena);
    MX_CHECK(mx_arena_alloc(&arena, 16) != NULL);
    MX_CHECK(mx_arena_alloc(&arena, SIZE_MAX) == NULL);
    MX_CHECK(mx_arena_alloc(&arena, SIZE_MAX - 15) == NULL);
    MX_CHECK(mx_arena_calloc(&arena, SIZE_MAX / 2, 4) == NULL);
    mx_arena_deinit(&arena);
    const mx_arena nothing = {0};
    mx_arena zeroed = nothing;
    MX_CHECK(mx_arena_alloc(&zeroed, 1) == NULL);
    mx_arena_deinit(&zeroed);
}

MX_TEST(strings_are_copied_and_formatted_with_a_terminator)
{
    mx_arena arena;
    mx_arena_init(&arena, 1 << 20);
    const mx_str copy = mx_arena_copy_str(&arena, (mx_str){"a\0b", 3});
    MX_CHECK_STR(copy, ((mx_str){"a\0b", 3}));
    MX_CHECK(copy.ptr[3] == '\0');
    const mx_str empty = mx_arena_copy_str(&arena, (mx_str){0});
    MX_CHECK(empty.ptr && empty.len == 0 && empty.ptr[0] == '\0');
    MX_CHECK_CSTR(mx_arena_printf(&arena, "%s-%d-%5.2f", "x", 7, 1.5), "x-7- 1.50");
    mx_arena_deinit(&arena);
}

MX_TEST(each_failing_allocation_is_a_null)
{
    mx_arena arena;
    mx_arena_init(&arena, 1 << 20);
    mx_mem_fail_at(1);
    MX_CHECK(mx_arena_alloc(&arena, 10) == NULL);
    mx_mem_fail_at(1);
    MX_CHECK(mx_arena_copy_str(&arena, MX_STR("abc")).ptr == NULL);
    mx_mem_fail_at(1);
    MX_CHECK(mx_arena_printf(&arena, "abc") == NULL);
    mx_mem_fail_at(0);
    MX_CHECK(mx_arena_new(&arena, int64_t) != NULL);
    mx_arena_deinit(&arena);
}

MX_TEST_MAIN(MX_CASE(memory_is_zeroed_aligned_and_apart),
             MX_CASE(a_reset_arena_gives_zeroed_memory_again_and_keeps_one_block), MX_CASE(the_cap_is_kept_to_the_byte),
             MX_CASE(strings_are_copied_and_formatted_with_a_terminator), MX_CASE(each_failing_allocation_is_a_null))
