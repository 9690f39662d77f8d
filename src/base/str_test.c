#include "base/str.h"

#include <stdlib.h>

#include "tests/test.h"

MX_TEST(slices_are_clamped)
{
    const mx_str s = MX_STR("abcdef");
    MX_CHECK_STR(mx_str_slice(s, 2, 4), MX_STR("cd"));
    MX_CHECK_STR(mx_str_slice(s, 4, 100), MX_STR("ef"));
    MX_CHECK_STR(mx_str_slice(s, 5, 2), MX_STR(""));
    MX_CHECK_STR(mx_str_slice(s, 100, 200), MX_STR(""));
    MX_CHECK_STR(mx_str_slice((mx_str){0}, 1, 2), MX_STR(""));
}

MX_TEST(starts_ends_and_equality)
{
    MX_CHECK(mx_str_starts_with(MX_STR("abc"), MX_STR("ab")) && !mx_str_starts_with(MX_STR("a"), MX_STR("ab")));
    MX_CHECK(mx_str_ends_with(MX_STR("abc"), MX_STR("bc")) && !mx_str_ends_with(MX_STR("c"), MX_STR("bc")));
    MX_CHECK(mx_str_starts_with(MX_STR("abc"), (mx_str){0}) && mx_str_ends_with((mx_str){0}, MX_STR("")));
    MX_CHECK(mx_str_eq((mx_str){0}, MX_STR("")) && !mx_str_eq(MX_STR("a"), MX_STR("b")));
    MX_CHECK(mx_str_eq_cstr(MX_STR("ab"), "ab") && mx_str_eq_cstr((mx_str){0}, ""));
}

MX_TEST(the_order_is_that_of_unsigned_bytes)
{
    MX_CHECK(mx_str_compare(MX_STR("a"), MX_STR("b")) < 0);
    MX_CHECK(mx_str_compare(MX_STR("b"), MX_STR("ab")) > 0);
    MX_CHECK(mx_str_compare(MX_STR("a"), MX_STR("ab")) < 0);
    MX_CHECK(mx_str_compare(MX_STR("ab"), MX_STR("a")) > 0);
    MX_CHECK(mx_str_compare(MX_STR("\x7F"), MX_STR("\x80")) < 0);
    MX_CHECK(mx_str_compare(MX_STR(""), (mx_str){0}) == 0);
}

MX_TEST(needles_are_found_where_they_first_occur)
{
    const mx_str s = MX_STR("aabaabaac");
    MX_CHECK_I64(mx_str_find(s, MX_STR("aabaac"), 0), 3);
    MX_CHECK_I64(mx_str_find(s, MX_STR("aa"), 1), 3);
    MX_CHECK_I64(mx_str_find(s, MX_STR("c"), 0), 8);
    MX_CHECK(mx_str_find(s, MX_STR("d"), 0) == MX_STR_NPOS);
    MX_CHECK(mx_str_find(s, MX_STR("ac"), 8) == MX_STR_NPOS);
    MX_CHECK_I64(mx_str_find(s, MX_STR(""), 4), 4);
    MX_CHECK_I64(mx_str_find(s, MX_STR(""), 9), 9);
    MX_CHECK(mx_str_find(s, MX_STR(""), 10) == MX_STR_NPOS);
    MX_CHECK(mx_str_find(MX_STR(""), MX_STR("a"), 0) == MX_STR_NPOS);
}

/* The places of the first and of the last needle, one comparison a place. */
static size_t try_each_place(mx_str s, mx_str needle, size_t *last)
{
    size_t first = *last = MX_STR_NPOS;
    for (size_t at = 0; at + needle.len <= s.len; at++) {
        if (memcmp(s.ptr + at, needle.ptr, needle.len) == 0) {
            first = first == MX_STR_NPOS ? at : first;
            *last = at;
        }
    }
    return first;
}

MX_TEST(long_needles_are_found_in_texts_that_repeat_themselves)
{
    char text[300];
    uint32_t seed = 1;
    for (int round = 0; round < 20000; round++) {
        seed = seed * 1664525u + 1013904223u;
        const size_t period = 1 + (seed >> 8) % 60;
        for (size_t i = 0; i < sizeof text; i++) { /* a period, with few disturbances */
            seed = seed * 1664525u + 1013904223u;
            text[i] = i >= period && (seed >> 24) > 2 ? text[i - period] : (char)('a' + (seed >> 16) % 2);
        }
        seed = seed * 1664525u + 1013904223u;
        const size_t len = 30 + (seed >> 8) % 120;
        const size_t from = (seed >> 16) % (sizeof text - len);
        const mx_str needle = {text + from, len};
        const mx_str s = {text, round % 2 ? sizeof text : from + len - 1}; /* the second kind may lack it */
        size_t last;
        const size_t first = try_each_place(s, needle, &last);
        MX_CHECK(mx_str_find(s, needle, 0) == first);
        MX_CHECK(mx_str_find_last(s, needle) == last);
    }
}

MX_TEST(a_needle_that_nearly_fits_everywhere_takes_no_time)
{
    enum { N_TEXT = 4 << 20, N_NEEDLE = 2 << 20 }; /* place by place these are 4e12 comparisons */
    char *text = (char *)malloc(N_TEXT);
    char *needle = (char *)malloc(N_NEEDLE);
    MX_CHECK(text && needle);
    if (text && needle) {
        memset(text, 'a', N_TEXT);
        memset(needle, 'a', N_NEEDLE);
        needle[N_NEEDLE - 1] = 'b';
        MX_CHECK(mx_str_find((mx_str){text, N_TEXT}, (mx_str){needle, N_NEEDLE}, 0) == MX_STR_NPOS);
        MX_CHECK(mx_str_find_last((mx_str){text, N_TEXT}, (mx_str){needle, N_NEEDLE}) == MX_STR_NPOS);
        needle[N_NEEDLE - 1] = 'a';
        needle[0] = 'b';
        MX_CHECK(mx_str_find((mx_str){text, N_TEXT}, (mx_str){needle, N_NEEDLE}, 0) == MX_STR_NPOS);
        MX_CHECK(mx_str_find_last((mx_str){text, N_TEXT}, (mx_str){needle, N_NEEDLE}) == MX_STR_NPOS);
    }
    free(text);
    free(needle);
}

MX_TEST(the_last_needle_is_found_from_the_end)
{
    const mx_str s = MX_STR("aabaabaac");
    MX_CHECK_I64(mx_str_find_last(s, MX_STR("aab")), 3);
    MX_CHECK_I64(mx_str_find_last(s, MX_STR("c")), 8);
    MX_CHECK_I64(mx_str_find_last(s, MX_STR("")), 9);
    MX_CHECK_I64(mx_str_find_last(s, s), 0);
    MX_CHECK(mx_str_find_last(s, MX_STR("d")) == MX_STR_NPOS);
    MX_CHECK(mx_str_find_last(MX_STR(""), MX_STR("a")) == MX_STR_NPOS);
    MX_CHECK_I64(mx_str_find_last((mx_str){0}, (mx_str){0}), 0);
}

MX_TEST(hashes_tell_short_strings_apart)
{
    static uint64_t seen[4 * 256];
    size_t n = 0;
    char bytes[16] = {0};
    for (size_t len = 1; len <= 16; len += 5) {
        for (int c = 0; c < 256; c++) {
            bytes[len - 1] = (char)c;
            const uint64_t h = mx_str_hash((mx_str){bytes, len});
            for (size_t i = 0; i < n; i++) {
                MX_CHECK(seen[i] != h);
            }
            seen[n++] = h;
        }
    }
    MX_CHECK(mx_str_hash(MX_STR("")) == mx_str_hash((mx_str){0}));
    MX_CHECK(mx_str_hash(MX_STR("a")) != mx_str_hash((mx_str){"a\0", 2}));
}

MX_TEST(distances_count_edits)
{
    MX_CHECK_I64(mx_str_distance(MX_STR("kitten"), MX_STR("sitting")), 3);
    MX_CHECK_I64(mx_str_distance(MX_STR("--temp"), MX_STR("--tmep")), 2);
    MX_CHECK_I64(mx_str_distance(MX_STR(""), MX_STR("abc")), 3);
    MX_CHECK_I64(mx_str_distance(MX_STR("abc"), MX_STR("")), 3);
    MX_CHECK_I64(mx_str_distance(MX_STR("same"), MX_STR("same")), 0);
    char text[65];
    memset(text, 'x', sizeof text);
    MX_CHECK_I64(mx_str_distance((mx_str){text, 64}, MX_STR("x")), 63);
    MX_CHECK(mx_str_distance((mx_str){text, 65}, MX_STR("x")) == MX_STR_NPOS);
}

MX_TEST_MAIN(MX_CASE(slices_are_clamped), MX_CASE(starts_ends_and_equality),
             MX_CASE(the_order_is_that_of_unsigned_bytes), MX_CASE(needles_are_found_where_they_first_occur),
             MX_CASE(long_needles_are_found_in_texts_that_repeat_themselves),
             MX_CASE(a_needle_that_nearly_fits_everywhere_takes_no_time),
             MX_CASE(the_last_needle_is_found_from_the_end), MX_CASE(hashes_tell_short_strings_apart),
             MX_CASE(distances_count_edits))
