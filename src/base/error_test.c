#include "base/error.h"

#include "tests/test.h"

MX_TEST(an_error_holds_status_place_and_sentence)
{
    mx_error err = {0};
    MX_CHECK_I64(mx_fail_native(&err, MX_IO, 5, "cannot read %s: %d", "a.bin", 7), MX_IO);
    MX_CHECK_I64(err.status, MX_IO);
    MX_CHECK_I64(err.native, 5);
    MX_CHECK_CSTR(err.message, "cannot read a.bin: 7");
    MX_CHECK(strstr(err.file, "error_test.c") != NULL && err.line > 0);
    MX_CHECK_I64(mx_fail(NULL, MX_FORMAT, "nobody listens"), MX_FORMAT);
}

MX_TEST(a_message_may_quote_the_one_before)
{
    mx_error err = {0};
    MX_CHECK_I64(mx_fail(&err, MX_IO, "first"), MX_IO);
    MX_CHECK_I64(mx_fail(&err, MX_FORMAT, "second, after %s", err.message), MX_FORMAT);
    MX_CHECK_CSTR(err.message, "second, after first");
}

MX_TEST(a_prefix_goes_before_the_sentence_and_keeps_the_status)
{
    mx_error err = {0};
    (void)mx_fail(&err, MX_NOT_FOUND, "no such key");
    MX_CHECK_I64(mx_error_prefix(&err, MX_IO, "%s line %d", "config.json", 3), MX_NOT_FOUND);
    MX_CHECK_CSTR(err.message, "config.json line 3: no such key");
    MX_CHECK_I64(mx_error_prefix(NULL, MX_IO, "x"), MX_IO);
}

MX_TEST(long_messages_are_cut_and_stay_terminated)
{
    mx_error err = {0};
    char text[1000];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    (void)mx_fail(&err, MX_IO, "%s", text);
    MX_CHECK_I64(strlen(err.message), sizeof err.message - 1);
    (void)mx_error_prefix(&err, MX_IO, "b");
    MX_CHECK_I64(strlen(err.message), sizeof err.message - 1);
    MX_CHECK(strncmp(err.message, "b: aaa", 6) == 0);
    (void)mx_error_prefix(&err, MX_IO, "%s", text);
    MX_CHECK_I64(strlen(err.message), sizeof err.message - 1);
}

MX_TEST(a_cut_message_ends_with_a_whole_character)
{
    mx_error err = {0};
    char text[1000];
    for (size_t i = 0; i + 2 < sizeof text; i += 3) {
        memcpy(text + i, "\xE6\xA8\xA1", 3);
    }
    text[999] = '\0';
    (void)mx_fail(&err, MX_IO, "ab%s", text);
    MX_CHECK(strlen(err.message) > sizeof err.message - 4);
    MX_CHECK_I64((strlen(err.message) - 2) % 3, 0);
    (void)mx_fail(&err, MX_IO, "abc%s", text);
    (void)mx_error_prefix(&err, MX_IO, "p");
    MX_CHECK_I64((strlen(err.message) - 6) % 3, 0);
}

MX_TEST(every_status_has_a_name_a_text_and_an_answer)
{
    MX_CHECK_CSTR(mx_status_name(MX_OK), "OK");
    MX_CHECK_CSTR(mx_status_name(MX_DEVICE), "DEVICE");
    MX_CHECK_CSTR(mx_status_text(MX_NO_MEMORY), "out of memory");
    MX_CHECK_I64(mx_status_http(MX_NOT_FOUND), 404);
    MX_CHECK_CSTR(mx_status_name((mx_status)99), "?");
    MX_CHECK_I64(mx_status_http((mx_status)99), 500);
}

static mx_status tried(mx_status inner, int *n_after)
{
    MX_TRY(inner);
    (*n_after)++;
    return MX_OK;
}

MX_TEST(try_returns_at_the_first_failure)
{
    int n_after = 0;
    MX_CHECK_I64(tried(MX_BUSY, &n_after), MX_BUSY);
    MX_CHECK_I64(n_after, 0);
    MX_CHECK_I64(tried(MX_OK, &n_after), MX_OK);
    MX_CHECK_I64(n_after, 1);
}

MX_TEST_MAIN(MX_CASE(an_error_holds_status_place_and_sentence), MX_CASE(a_message_may_quote_the_one_before),
             MX_CASE(a_prefix_goes_before_the_sentence_and_keeps_the_status),
             MX_CASE(long_messages_are_cut_and_stay_terminated), MX_CASE(a_cut_message_ends_with_a_whole_character),
             MX_CASE(every_status_has_a_name_a_text_and_an_answer), MX_CASE(try_returns_at_the_first_failure))
