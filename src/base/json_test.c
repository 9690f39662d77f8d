#include "base/json.h"

#include "base/mem.h"
#include "tests/test.h"

static mx_json json;
static mx_error err;

MX_TEST(a_fault_is_told_with_line_and_column)
{
    MX_CHECK_FAILS(mx_json_parse(MX_STR("{\n  \"a\": 1,\n  \"b\": }"), "config.json", &json, &err), MX_FORMAT, &err,
                   "config.json: not valid JSON at line 3, column 8");
    MX_CHECK_FAILS(mx_json_parse(MX_STR(""), "config.json", &json, &err), MX_FORMAT, &err, "config.json");
    MX_CHECK_FAILS(mx_json_parse((mx_str){0}, "config.json", &json, &err), MX_FORMAT, &err, "config.json");
    MX_CHECK_FAILS(mx_json_parse(MX_STR("[1,]"), "x", &json, &err), MX_FORMAT, &err, "line 1");
    MX_CHECK_FAILS(mx_json_parse(MX_STR("\"\xFF\""), "x", &json, &err), MX_FORMAT, &err, "x: not valid JSON");
    mx_json_close(&json);
}

MX_TEST(getters_read_members_and_keep_defaults)
{
    int64_t i = 5;
    double d = 0.5;
    bool b = true;
    mx_str s = MX_STR("default");
    yyjson_val *obj = NULL;
    yyjson_val *arr = NULL;
    MX_CHECK_OK(mx_json_parse(MX_STR("{\"i\": -3, \"e\": 1e4, \"d\": 2, \"b\": false, \"s\": \"a\\u0000b\","
                                     "\"o\": {\"x\": 1}, \"a\": [1], \"n\": null}"),
                              "x", &json, &err),
                &err);
    MX_CHECK_OK(mx_json_get_i64(json.root, "absent", 0, 9, &i, &err), &err);
    MX_CHECK_OK(mx_json_get_i64(json.root, "n", 0, 9, &i, &err), &err);
    MX_CHECK_I64(i, 5);
    MX_CHECK_OK(mx_json_get_i64(json.root, "i", -3, 9, &i, &err), &err);
    MX_CHECK_I64(i, -3);
    MX_CHECK_OK(mx_json_get_i64(json.root, "e", 0, 10000, &i, &err), &err);
    MX_CHECK_I64(i, 10000);
    MX_CHECK_OK(mx_json_get_f64(json.root, "d", &d, &err), &err);
    MX_CHECK(d == 2.0);
    MX_CHECK_OK(mx_json_get_bool(json.root, "b", &b, &err), &err);
    MX_CHECK(!b);
    MX_CHECK_OK(mx_json_get_str(json.root, "n", &s, &err), &err);
    MX_CHECK_STR(s, MX_STR("default"));
    MX_CHECK_OK(mx_json_get_str(json.root, "s", &s, &err), &err);
    MX_CHECK_STR(s, ((mx_str){"a\0b", 3}));
    MX_CHECK_OK(mx_json_get_obj(json.root, "o", &obj, &err), &err);
    MX_CHECK(yyjson_obj_size(obj) == 1);
    MX_CHECK_OK(mx_json_get_obj(json.root, "n", &obj, &err), &err);
    MX_CHECK(obj == NULL);
    MX_CHECK_OK(mx_json_get_i64(obj, "x", 0, 1, &i, &err), &err); /* NULL counts as empty */
    MX_CHECK_OK(mx_json_get_arr(json.root, "a", &arr, &err), &err);
    MX_CHECK(yyjson_arr_size(arr) == 1);
    mx_json_close(&json);
    mx_json_close(&json);
}

MX_TEST(a_wrong_type_is_told_with_the_key)
{
    int64_t i = 5;
    double d = 0;
    bool b = true;
    mx_str s = {0};
    yyjson_val *val = NULL;
    MX_CHECK_OK(mx_json_parse(MX_STR("{\"i\": 1.5, \"big\": 18446744073709551615, \"huge\": 1e300, \"s\": \"x\"}"), "x",
                              &json, &err),
                &err);
    MX_CHECK_FAILS(mx_json_get_i64(json.root, "i", 0, 9, &i, &err), MX_FORMAT, &err, "\"i\" must be a whole number");
    MX_CHECK_FAILS(mx_json_get_i64(json.root, "big", 0, INT64_MAX, &i, &err), MX_FORMAT, &err, "\"big\" is too large");
    MX_CHECK_FAILS(mx_json_get_i64(json.root, "huge", 0, 9, &i, &err), MX_FORMAT, &err, "\"huge\" must be a whole");
    MX_CHECK_FAILS(mx_json_get_i64(json.root, "s", 0, 9, &i, &err), MX_FORMAT, &err, "\"s\" must be a whole number");
    MX_CHECK_I64(i, 5);
    MX_CHECK_FAILS(mx_json_get_f64(json.root, "s", &d, &err), MX_FORMAT, &err, "\"s\" must be a number");
    MX_CHECK_FAILS(mx_json_get_bool(json.root, "s", &b, &err), MX_FORMAT, &err, "\"s\" must be true or false");
    MX_CHECK_FAILS(mx_json_get_str(json.root, "i", &s, &err), MX_FORMAT, &err, "\"i\" must be a string");
    MX_CHECK_FAILS(mx_json_get_obj(json.root, "s", &val, &err), MX_FORMAT, &err, "\"s\" must be an object");
    MX_CHECK_FAILS(mx_json_get_arr(json.root, "s", &val, &err), MX_FORMAT, &err, "\"s\" must be an array");
    mx_json_close(&json);
}

MX_TEST(a_number_out_of_range_is_told_with_the_range)
{
    int64_t i = 0;
    MX_CHECK_OK(mx_json_parse(MX_STR("{\"i\": 10}"), "x", &json, &err), &err);
    MX_CHECK_FAILS(mx_json_get_i64(json.root, "i", 0, 9, &i, &err), MX_FORMAT, &err, "is 10, must be from 0 to 9");
    mx_json_close(&json);
}

MX_TEST(strings_are_written_with_the_fewest_escapes)
{
    mx_buf out = {.max = 100};
    MX_CHECK_OK(mx_json_append_str(&out, MX_STR("a\"\\\n\t\x01/\xC3\xA9\xFF"), &err), &err);
    MX_CHECK_STR(mx_buf_view(&out), MX_STR("\"a\\\"\\\\\\n\\t\\u0001/\xC3\xA9\xEF\xBF\xBD\""));
    mx_buf_deinit(&out);
    MX_CHECK_OK(mx_json_append_str(&out, (mx_str){0}, &err), &err);
    MX_CHECK_STR(mx_buf_view(&out), MX_STR("\"\""));
    mx_buf_deinit(&out);
}

MX_TEST(deep_documents_are_read_without_recursion)
{
    enum { DEPTH = 100000 };
    static char text[2 * DEPTH];
    memset(text, '[', DEPTH);
    memset(text + DEPTH, ']', DEPTH);
    MX_CHECK_OK(mx_json_parse((mx_str){text, sizeof text}, "x", &json, &err), &err);
    mx_json_close(&json);
}

MX_TEST(each_failing_allocation_is_reported)
{
    mx_status st = MX_NO_MEMORY;
    for (int64_t n = 1; st != MX_OK && n < 20; n++) {
        mx_mem_fail_at(n);
        st = mx_json_parse(MX_STR("{\"a\": [1, 2, {\"b\": \"c\"}]}"), "x", &json, &err);
        mx_mem_fail_at(0);
        MX_CHECK(st == MX_OK || st == MX_NO_MEMORY);
        mx_json_close(&json);
    }
    MX_CHECK_I64(st, MX_OK);
}

MX_TEST(long_numbers_are_kept_as_written_where_that_is_asked_for)
{
    if (MX_CHECK_OK(mx_json_parse_exact(MX_STR("[123456789012345678901, 7]"), "x", &json, &err), &err)) {
        yyjson_val *first = yyjson_arr_get(json.root, 0);
        MX_CHECK(yyjson_is_raw(first));
        MX_CHECK_STR(((mx_str){yyjson_get_raw(first), yyjson_get_len(first)}), MX_STR("123456789012345678901"));
        MX_CHECK_I64(yyjson_get_sint(yyjson_arr_get(json.root, 1)), 7);
    }
    mx_json_close(&json);
}

MX_TEST_MAIN(MX_CASE(long_numbers_are_kept_as_written_where_that_is_asked_for),
             MX_CASE(a_fault_is_told_with_line_and_column), MX_CASE(getters_read_members_and_keep_defaults),
             MX_CASE(a_wrong_type_is_told_with_the_key), MX_CASE(a_number_out_of_range_is_told_with_the_range),
             MX_CASE(strings_are_written_with_the_fewest_escapes), MX_CASE(deep_documents_are_read_without_recursion),
             MX_CASE(each_failing_allocation_is_reported))
