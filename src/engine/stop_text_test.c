#include "engine/stop_text.h"

#include "base/mem.h"
#include "tests/test.h"

#define MAX_STOPS 4

/* The whole output when `text` comes in pieces of n_piece bytes; false when the text ran to its end. */
static bool run(const char *text, size_t n_piece, const char *const *stops, char *out, size_t n_out)
{
    mx_error err;
    mx_str views[MAX_STOPS];
    size_t n_stops = 0;
    for (; n_stops < MAX_STOPS && stops[n_stops]; n_stops++) {
        views[n_stops] = mx_str_from(stops[n_stops]);
    }
    mx_stop_text s;
    size_t len = 0;
    out[0] = '\0';
    if (MX_CHECK_OK(mx_stop_text_init(&s, views, n_stops, &err), &err)) {
        const mx_str all = mx_str_from(text);
        for (size_t at = 0; at < all.len; at += n_piece) {
            mx_str piece;
            MX_CHECK_OK(mx_stop_text_push(&s, mx_str_slice(all, at, at + n_piece), &piece, &err), &err);
            len += (size_t)snprintf(out + len, n_out - len, "%.*s", MX_STR_ARG(piece));
        }
        const mx_str rest = mx_stop_text_finish(&s);
        snprintf(out + len, n_out - len, "%.*s", MX_STR_ARG(rest));
    }
    const bool has_stopped = s.has_stopped;
    mx_stop_text_deinit(&s);
    return has_stopped;
}

MX_TEST(the_text_ends_before_the_first_complete_stop_whatever_the_pieces)
{
    static const struct {
        const char *text;
        const char *stops[MAX_STOPS + 1];
        const char *wanted;
        bool stops_at_all;
    } rows[] = {
        {"one two three", {"two"}, "one ", true},
        {"one two three", {"four"}, "one two three", false},
        {"one two three", {NULL}, "one two three", false},
        {"aab", {"ab"}, "a", true},
        {"aaaab", {"aab"}, "aa", true},
        {"xabcd", {"abcde", "bc"}, "xa", true}, /* bc is complete first */
        {"xabcd", {"bcd", "abcd"}, "x", true},  /* both end at d: the longest */
        {"xabcd", {"abcdef"}, "xabcd", false},  /* begun, never completed: comes out at the end */
        {"stop", {"stop"}, "", true},
        {"\n\nUser:", {"\nUser:", "User"}, "\n\n", true}, /* User is complete before \nUser: */
        {"abab", {"abac"}, "abab", false},
    };
    for (size_t i = 0; i < MX_COUNTOF(rows); i++) {
        for (size_t n_piece = 1; n_piece <= 13; n_piece++) {
            char out[64];
            const bool has_stopped = run(rows[i].text, n_piece, rows[i].stops, out, sizeof out);
            MX_CHECK_I64(has_stopped, rows[i].stops_at_all);
            MX_CHECK_CSTR(out, rows[i].wanted);
        }
    }
}

MX_TEST(only_what_may_begin_a_stop_is_held_back)
{
    mx_error err;
    const mx_str stop = MX_STR("###");
    mx_stop_text s;
    mx_str out;
    if (!MX_CHECK_OK(mx_stop_text_init(&s, &stop, 1, &err), &err)) {
        return;
    }
    MX_CHECK_OK(mx_stop_text_push(&s, MX_STR("hello #"), &out, &err), &err);
    MX_CHECK_STR(out, MX_STR("hello "));
    MX_CHECK_OK(mx_stop_text_push(&s, MX_STR("#"), &out, &err), &err);
    MX_CHECK_STR(out, MX_STR(""));
    MX_CHECK_OK(mx_stop_text_push(&s, MX_STR("a"), &out, &err), &err);
    MX_CHECK_STR(out, MX_STR("##a"));
    MX_CHECK_OK(mx_stop_text_push(&s, MX_STR("###more"), &out, &err), &err);
    MX_CHECK_STR(out, MX_STR(""));
    MX_CHECK(s.has_stopped);
    MX_CHECK_OK(mx_stop_text_push(&s, MX_STR("ignored"), &out, &err), &err);
    MX_CHECK_STR(out, MX_STR(""));
    MX_CHECK_STR(mx_stop_text_finish(&s), MX_STR(""));
    mx_stop_text_deinit(&s);
}

MX_TEST(bad_stop_strings_are_refused)
{
    static char long_text[MX_STOP_MAX_BYTES + 1];
    memset(long_text, 'x', sizeof long_text);
    mx_error err;
    mx_stop_text s;
    const mx_str empty = MX_STR("");
    const mx_str too_long = {long_text, sizeof long_text};
    const mx_str not_text = MX_STR("\xff");
    mx_str many[MX_STOP_MAX_STRINGS + 1];
    for (size_t i = 0; i < MX_COUNTOF(many); i++) {
        many[i] = MX_STR("x");
    }
    MX_CHECK_FAILS(mx_stop_text_init(&s, &empty, 1, &err), MX_INVALID, &err, "is empty");
    MX_CHECK_FAILS(mx_stop_text_init(&s, &too_long, 1, &err), MX_INVALID, &err, "1025 bytes");
    MX_CHECK_FAILS(mx_stop_text_init(&s, &not_text, 1, &err), MX_INVALID, &err, "not UTF-8");
    MX_CHECK_FAILS(mx_stop_text_init(&s, many, MX_COUNTOF(many), &err), MX_INVALID, &err, "65 stop strings");
}

MX_TEST(pieces_of_ordinary_size_allocate_nothing)
{
    mx_error err;
    const mx_str stop = MX_STR("never");
    mx_stop_text s;
    mx_str out;
    if (!MX_CHECK_OK(mx_stop_text_init(&s, &stop, 1, &err), &err)) {
        return;
    }
    mx_mem_fail_at(0);
    for (int i = 0; i < 1000; i++) {
        MX_CHECK_OK(mx_stop_text_push(&s, MX_STR("n neve some text of a token"), &out, &err), &err);
    }
    MX_CHECK_I64(mx_mem_count(), 0);
    mx_stop_text_deinit(&s);
}

MX_TEST_MAIN(MX_CASE(the_text_ends_before_the_first_complete_stop_whatever_the_pieces),
             MX_CASE(only_what_may_begin_a_stop_is_held_back), MX_CASE(bad_stop_strings_are_refused),
             MX_CASE(pieces_of_ordinary_size_allocate_nothing))
