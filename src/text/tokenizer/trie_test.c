/* trie_test.c - building, walking and searching, against looking at every place. */
#include "text/tokenizer/trie.h"

#include "base/mem.h"
#include "tests/tokenizer_testing.h"

/* The value of the key that is exactly s, or -1. */
static int32_t find(const mx_trie *trie, mx_str s)
{
    uint32_t node = MX_TRIE_ROOT;
    for (size_t i = 0; i < s.len; i++) {
        if (trie->n_nodes == 0 || !mx_trie_child(trie, node, (uint8_t)s.ptr[i], &node)) {
            return -1;
        }
    }
    return trie->value[node];
}

MX_TEST(finds_the_keys_and_nothing_else)
{
    static const mx_trie_key keys[] = {
        {MX_STR_INIT("abcdefghij"), 0}, {MX_STR_INIT("abcdefghix"), 1}, {MX_STR_INIT("a"), 2}, {MX_STR_INIT("b"), 3},
        {MX_STR_INIT("\xff\xfe"), 4},   {MX_STR_INIT("abcdefghi"), 5},  {MX_STR_INIT("a"), 6}, {MX_STR_INIT("\0z"), 7},
    };
    mx_error err;
    mx_trie trie;
    MX_CHECK_OK(mx_trie_init(&trie, keys, MX_COUNTOF(keys), &err), &err);
    for (size_t i = 0; i < MX_COUNTOF(keys); i++) {
        MX_CHECK_I64(find(&trie, keys[i].str), keys[i].value == 2 ? 6 : keys[i].value); /* of equal keys the last */
    }
    MX_CHECK_I64(find(&trie, MX_STR("abc")), -1);
    MX_CHECK_I64(find(&trie, MX_STR("abcdefghijk")), -1);
    MX_CHECK_I64(find(&trie, MX_STR("c")), -1);
    mx_trie_deinit(&trie);
}

MX_TEST(an_empty_trie_finds_nothing)
{
    mx_error err;
    mx_trie trie;
    MX_CHECK_OK(mx_trie_init(&trie, NULL, 0, &err), &err);
    MX_CHECK_OK(mx_trie_link(&trie, &err), &err);
    MX_CHECK_I64(find(&trie, MX_STR("a")), -1);
    mx_trie_deinit(&trie);
}

/* The key that ends at s[0..end) and is the longest, by trying all. */
static int32_t longest_suffix(const mx_trie_key *keys, size_t n_keys, mx_str s, size_t end)
{
    int32_t value = -1;
    size_t best = 0;
    for (size_t i = 0; i < n_keys; i++) {
        if (keys[i].str.len > best && mx_str_ends_with(mx_str_slice(s, 0, end), keys[i].str)) {
            best = keys[i].str.len;
            value = keys[i].value;
        }
    }
    return value;
}

MX_TEST(the_linked_trie_names_the_longest_key_that_ends_at_each_place)
{
    mx_error err;
    uint64_t state = 1;
    for (int round = 0; round < 300; round++) {
        char strings[12][8];
        mx_trie_key keys[12];
        const size_t n_keys = 1 + testing_random(&state) % 12;
        for (size_t i = 0; i < n_keys; i++) {
            const size_t len = 1 + testing_random(&state) % 7;
            for (size_t k = 0; k < len; k++) {
                strings[i][k] = (char)('a' + testing_random(&state) % 2);
            }
            keys[i] = (mx_trie_key){{strings[i], len}, 0};
        }
        for (size_t i = 0; i < n_keys;
             i++) { /* equal strings get equal values, so that it does not matter which is meant */
            for (size_t k = 0; k <= i; k++) {
                if (mx_str_eq(keys[k].str, keys[i].str)) {
                    keys[i].value = (int32_t)k;
                    break;
                }
            }
        }
        char text[60];
        for (size_t i = 0; i < sizeof text; i++) {
            text[i] = (char)('a' + testing_random(&state) % 2);
        }
        mx_trie trie;
        MX_CHECK_OK(mx_trie_init(&trie, keys, n_keys, &err), &err);
        MX_CHECK_OK(mx_trie_link(&trie, &err), &err);
        uint32_t node = MX_TRIE_ROOT;
        for (size_t i = 0; i < sizeof text; i++) {
            node = mx_trie_step(&trie, node, (uint8_t)text[i]);
            MX_CHECK_I64(trie.value[node], longest_suffix(keys, n_keys, (mx_str){text, sizeof text}, i + 1));
        }
        mx_trie_deinit(&trie);
    }
}

MX_TEST(a_failing_allocation_is_reported)
{
    static const mx_trie_key keys[] = {{MX_STR_INIT("ab"), 0}, {MX_STR_INIT("b"), 1}};
    for (int64_t n = 1;; n++) {
        mx_error err;
        mx_trie trie;
        mx_mem_fail_at(n);
        const mx_status st = mx_trie_init(&trie, keys, 2, &err);
        mx_mem_fail_at(0);
        if (st == MX_OK) {
            mx_trie_deinit(&trie);
            MX_CHECK(n > 3);
            return;
        }
        MX_CHECK_I64(st, MX_NO_MEMORY);
    }
}

MX_TEST_MAIN(MX_CASE(finds_the_keys_and_nothing_else), MX_CASE(an_empty_trie_finds_nothing),
             MX_CASE(the_linked_trie_names_the_longest_key_that_ends_at_each_place),
             MX_CASE(a_failing_allocation_is_reported))
