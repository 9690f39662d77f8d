#include "base/buf.h"

#include "base/mem.h"
#include "tests/test.h"

MX_TEST(bytes_are_appended_in_order)
{
    mx_buf buf;
    mx_error err = {0};
    mx_buf_init(&buf, 100);
    MX_CHECK_OK(mx_buf_append(&buf, MX_STR("ab"), &err), &err);
    MX_CHECK_OK(mx_buf_append(&buf, (mx_str){0}, &err), &err);
    MX_CHECK_OK(mx_buf_append_char(&buf, '\0', &err), &err);
    MX_CHECK_OK(mx_buf_printf(&buf, &err, "%03d%s", 7, "!"), &err);
    MX_CHECK_STR(mx_buf_view(&buf), ((mx_str){"ab\0"
                                              "007!",
                                              7}));
    MX_CHECK_CSTR(mx_buf_view_cstr(&buf), "ab");
    MX_CHECK(mx_buf_view_cstr(&buf)[7] == '\0');
    mx_buf_deinit(&buf);
    mx_buf_deinit(&buf);
}

MX_TEST(the_cap_is_kept_and_a_refused_append_changes_nothing)
{
    mx_buf buf = {.max = 5};
    mx_error err = {0};
    MX_CHECK_OK(mx_buf_append(&buf, MX_STR("1234"), &err), &err);
    MX_CHECK_FAILS(mx_buf_append(&buf, MX_STR("56"), &err), MX_INVALID, &err, "limit of 5 bytes");
    MX_CHECK_FAILS(mx_buf_printf(&buf, &err, "%d", 56), MX_INVALID, &err, "limit of 5 bytes");
    MX_CHECK_FAILS(mx_buf_reserve(&buf, SIZE_MAX, &err), MX_INVALID, &err, "limit");
    MX_CHECK_STR(mx_buf_view(&buf), MX_STR("1234"));
    MX_CHECK_OK(mx_buf_printf(&buf, &err, "%d", 5), &err);
    MX_CHECK_CSTR(mx_buf_view_cstr(&buf), "12345");
    mx_buf_deinit(&buf);
    MX_CHECK_FAILS(mx_buf_append_char(&(mx_buf){0}, 'x', &err), MX_INVALID, &err, "limit of 0 bytes");
}

MX_TEST(an_empty_buffer_has_an_empty_text)
{
    mx_buf buf = {.max = 0};
    MX_CHECK_CSTR(mx_buf_view_cstr(&buf), "");
    mx_buf_deinit(&buf);
}

MX_TEST(growing_in_small_steps_moves_seldom)
{
    mx_buf buf = {.max = 1 << 20};
    mx_error err = {0};
    mx_mem_fail_at(0);
    for (int i = 0; i < 100000; i++) {
        MX_CHECK_OK(mx_buf_append_char(&buf, (char)i, &err), &err);
    }
    MX_CHECK(mx_mem_count() < 40);
    MX_CHECK(buf.data[99999] == (char)99999);
    mx_buf_deinit(&buf);
}

MX_TEST(each_failing_allocation_is_reported)
{
    mx_buf buf = {.max = 100};
    mx_error err = {0};
    mx_mem_fail_at(1);
    MX_CHECK_FAILS(mx_buf_append(&buf, MX_STR("abc"), &err), MX_NO_MEMORY, &err, "a text needs 3 bytes");
    mx_mem_fail_at(1);
    MX_CHECK_FAILS(mx_buf_printf(&buf, &err, "abc"), MX_NO_MEMORY, &err, "out of memory");
    mx_mem_fail_at(1);
    MX_CHECK(mx_buf_view_cstr(&buf) == NULL);
    mx_mem_fail_at(0);
    MX_CHECK(buf.len == 0);
    mx_buf_deinit(&buf);
}

MX_TEST_MAIN(MX_CASE(bytes_are_appended_in_order), MX_CASE(the_cap_is_kept_and_a_refused_append_changes_nothing),
             MX_CASE(an_empty_buffer_has_an_empty_text), MX_CASE(growing_in_small_steps_moves_seldom),
             MX_CASE(each_failing_allocation_is_reported))
