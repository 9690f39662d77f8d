#include "base/strmap.h"

#include "base/mem.h"
#include "tests/test.h"

#define N_KEYS 5000

static char keys[N_KEYS][8];

static mx_str key_of(int32_t i)
{
    snprintf(keys[i], sizeof keys[i], "k%d", (int)i);
    return mx_str_from(keys[i]);
}

MX_TEST(what_was_put_is_found)
{
    mx_strmap map = {0};
    mx_error err = {0};
    int32_t value = -1;
    bool was_there = true;
    MX_CHECK(!mx_strmap_get(&map, MX_STR("k1"), &value));
    for (int32_t i = 0; i < N_KEYS; i++) {
        MX_CHECK_OK(mx_strmap_put(&map, key_of(i), i, &was_there, &err), &err);
        MX_CHECK(!was_there);
    }
    MX_CHECK_I64(map.n_items, N_KEYS);
    for (int32_t i = 0; i < N_KEYS; i++) {
        MX_CHECK(mx_strmap_get(&map, key_of(i), &value) && value == i);
    }
    MX_CHECK(!mx_strmap_get(&map, MX_STR("k5000"), &value));
    MX_CHECK(!mx_strmap_get(&map, MX_STR("k"), &value));
    mx_strmap_deinit(&map);
    mx_strmap_deinit(&map);
}

MX_TEST(a_second_value_replaces_the_first)
{
    mx_strmap map = {0};
    mx_error err = {0};
    int32_t value = 0;
    bool was_there = true;
    MX_CHECK_OK(mx_strmap_put(&map, MX_STR("a"), 1, NULL, &err), &err);
    MX_CHECK_OK(mx_strmap_put(&map, MX_STR("a"), 2, &was_there, &err), &err);
    MX_CHECK(was_there && mx_strmap_get(&map, MX_STR("a"), &value));
    MX_CHECK_I64(value, 2);
    MX_CHECK_I64(map.n_items, 1);
    mx_strmap_deinit(&map);
}

MX_TEST(the_empty_string_is_a_key)
{
    mx_strmap map = {0};
    mx_error err = {0};
    int32_t value = 0;
    MX_CHECK(!mx_strmap_get(&map, (mx_str){0}, &value));
    MX_CHECK_OK(mx_strmap_put(&map, (mx_str){0}, 5, NULL, &err), &err);
    MX_CHECK(mx_strmap_get(&map, MX_STR(""), &value));
    MX_CHECK_I64(value, 5);
    mx_strmap_deinit(&map);
}

MX_TEST(reserved_room_is_not_grown)
{
    mx_strmap map = {0};
    mx_error err = {0};
    MX_CHECK_OK(mx_strmap_reserve(&map, N_KEYS, &err), &err);
    mx_mem_fail_at(1);
    for (int32_t i = 0; i < N_KEYS; i++) {
        MX_CHECK_OK(mx_strmap_put(&map, key_of(i), i, NULL, &err), &err);
    }
    mx_mem_fail_at(0);
    mx_strmap_deinit(&map);
}

MX_TEST(a_failed_growth_leaves_the_map_whole)
{
    mx_strmap map = {0};
    mx_error err = {0};
    int32_t value = 0;
    mx_mem_fail_at(1);
    MX_CHECK_FAILS(mx_strmap_put(&map, MX_STR("a"), 1, NULL, &err), MX_NO_MEMORY, &err, "a table of names");
    mx_mem_fail_at(0);
    int32_t n = 0;
    while (n < 12) {
        MX_CHECK_OK(mx_strmap_put(&map, key_of(n), n, NULL, &err), &err);
        n++;
    }
    mx_mem_fail_at(1);
    MX_CHECK_FAILS(mx_strmap_put(&map, key_of(n), n, NULL, &err), MX_NO_MEMORY, &err, "a table of names");
    MX_CHECK_FAILS(mx_strmap_reserve(&map, SIZE_MAX, &err), MX_NO_MEMORY, &err, "a table of names");
    mx_mem_fail_at(0);
    MX_CHECK(mx_strmap_get(&map, MX_STR("k11"), &value) && value == 11);
    mx_strmap_deinit(&map);
}

MX_TEST_MAIN(MX_CASE(what_was_put_is_found), MX_CASE(a_second_value_replaces_the_first),
             MX_CASE(the_empty_string_is_a_key), MX_CASE(reserved_room_is_not_grown),
             MX_CASE(a_failed_growth_leaves_the_map_whole))
