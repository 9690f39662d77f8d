/* charsmap_test.c - a map with two keys, put together by hand, and the same damaged in every place. */
#include "text/tokenizer/charsmap.h"

#include "base/mem.h"
#include "tests/tokenizer_testing.h"

/* Units of the trie with "a" -> "xy" and "bc" -> "". A node's children lie at its base, xored with their byte. */
enum { N_UNITS = 1024, ROOT = 256, A = 512, B = 768, C = 896 };

static void put_unit(uint8_t *units, uint32_t at, uint32_t unit)
{
    for (int i = 0; i < 4; i++) {
        units[at * 4 + (uint32_t)i] = (uint8_t)(unit >> (8 * i));
    }
}

static size_t make_map(uint8_t *bytes)
{
    memset(bytes, 0, 4 + N_UNITS * 4);
    put_unit(bytes, 0, N_UNITS * 4);
    uint8_t *units = bytes + 4;
    put_unit(units, 0, ROOT << 10);
    put_unit(units, ROOT ^ 'a', ((ROOT ^ 'a' ^ A) << 10) | 1u << 8 | 'a');
    put_unit(units, A, 0x80000000u | 0);
    put_unit(units, ROOT ^ 'b', ((ROOT ^ 'b' ^ B) << 10) | 'b');
    put_unit(units, B ^ 'c', ((B ^ 'c' ^ C) << 10) | 1u << 8 | 'c');
    put_unit(units, C, 0x80000000u | 3);
    units[N_UNITS * 4] = 'x'; /* "xy", its end, and the empty string's end */
    units[N_UNITS * 4 + 1] = 'y';
    units[N_UNITS * 4 + 2] = 0;
    units[N_UNITS * 4 + 3] = 0;
    return 4 + N_UNITS * 4 + 4;
}

static mx_str to_base64(const uint8_t *bytes, size_t n, char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t len = 0;
    for (size_t i = 0; i < n; i += 3) {
        const uint32_t b1 = i + 1 < n ? bytes[i + 1] : 0;
        const uint32_t b2 = i + 2 < n ? bytes[i + 2] : 0;
        const uint32_t bits = (uint32_t)bytes[i] << 16 | b1 << 8 | b2;
        for (size_t k = 0; k < 4; k++) {
            out[len++] = k > n - i ? '=' : digits[bits >> (18 - 6 * k) & 63];
        }
    }
    return (mx_str){out, len};
}

static uint8_t bytes[4 + N_UNITS * 4 + 4];
static char base64[sizeof bytes * 2];

MX_TEST(the_shortest_key_counts)
{
    mx_error err;
    mx_charsmap map;
    mx_str found;
    const size_t n = make_map(bytes);
    MX_CHECK_OK(mx_charsmap_init(&map, to_base64(bytes, n, base64), &err), &err);
    MX_CHECK(mx_charsmap_find(&map, MX_STR("a"), &found) && mx_str_eq_cstr(found, "xy"));
    MX_CHECK(mx_charsmap_find(&map, MX_STR("ab"), &found) && mx_str_eq_cstr(found, "xy"));
    MX_CHECK(mx_charsmap_find(&map, MX_STR("bc"), &found) && found.len == 0);
    MX_CHECK(!mx_charsmap_find(&map, MX_STR("b"), &found));
    MX_CHECK(!mx_charsmap_find(&map, MX_STR("c"), &found));
    MX_CHECK(!mx_charsmap_find(&map, MX_STR(""), &found));
    MX_CHECK(map.maps_ascii['a'] && !map.maps_ascii['b']);
    mx_charsmap_deinit(&map);
}

MX_TEST(damaged_maps_are_refused_or_harmless)
{
    uint64_t state = 11;
    for (int round = 0; round < 3000; round++) {
        mx_error err;
        mx_charsmap map;
        const size_t n = make_map(bytes);
        for (int k = 0; k < 4; k++) {
            bytes[testing_random(&state) % n] = (uint8_t)testing_random(&state);
            bytes[4 + ((testing_random(&state) % 2 ? ROOT ^ 'a' : A) * 4) + testing_random(&state) % 4] =
                (uint8_t)testing_random(&state);
        }
        const size_t cut = testing_random(&state) % 4 ? n : testing_random(&state) % n;
        if (mx_charsmap_init(&map, to_base64(bytes, cut, base64), &err) == MX_OK) {
            mx_str found;
            if (mx_charsmap_find(&map, MX_STR("ab"), &found)) {
                MX_CHECK(found.ptr >= map.strings.ptr && found.ptr + found.len <= map.strings.ptr + map.strings.len);
            }
            mx_charsmap_deinit(&map);
        }
    }
}

MX_TEST_MAIN(MX_CASE(the_shortest_key_counts), MX_CASE(damaged_maps_are_refused_or_harmless))
