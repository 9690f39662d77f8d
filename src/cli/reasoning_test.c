#include "cli/reasoning.h"

#include "base/buf.h"
#include "tests/test.h"

typedef struct parts {
    mx_buf texts[2]; /* answer, reasoning */
} parts;

static mx_status write_part(void *arg, bool is_reasoning, mx_str text, mx_error *err)
{
    return mx_buf_append(&((parts *)arg)->texts[is_reasoning], text, err);
}

/* Feeds the text in pieces of every size and compares what is told apart. */
static void check(const char *prompt, const char *text, const char *reasoning, const char *answer)
{
    mx_error err = {0};
    const size_t len = strlen(text);
    for (size_t piece = 1; piece <= len + 1; piece++) {
        parts p = {.texts = {{.max = 1000}, {.max = 1000}}};
        mx_reasoning r = {.write = write_part, .arg = &p};
        mx_reasoning_begin(&r, mx_str_from(prompt));
        for (size_t at = 0; at < len; at += piece) {
            MX_CHECK_OK(mx_reasoning_feed(&r, mx_str_slice((mx_str){text, len}, at, at + piece), &err), &err);
        }
        MX_CHECK_OK(mx_reasoning_end(&r, &err), &err);
        MX_CHECK_STR(mx_buf_view(&p.texts[1]), mx_str_from(reasoning));
        MX_CHECK_STR(mx_buf_view(&p.texts[0]), mx_str_from(answer));
        mx_buf_deinit(&p.texts[0]);
        mx_buf_deinit(&p.texts[1]);
    }
}

MX_TEST(thinking_is_told_from_the_answer)
{
    check("assistant\n", "<think>\nhm</think>\n\nYes.", "hm", "Yes.");
    check("", "[THINK]a[b[/THINK]c", "a[b", "c");
    check("", "Plain <think>text</think>", "", "Plain <think>text</think>");
    check("", "<b>bold</b>", "", "<b>bold</b>");
    check("", "<think>a</thin</think>b</think>", "a</thin", "b</think>");
    check("", "<think>a</seed:think></think>b", "a</seed:think>", "b");
}

MX_TEST(the_prompt_may_have_opened_it)
{
    check("<|assistant|>\n<think>\n", "hm</think>Yes.", "hm", "Yes.");
    check("<think>\n\n</think>\n", "Yes.", "", "Yes.");
}

MX_TEST(thinking_that_never_ends_is_no_answer)
{
    check("", "<think>on and on</thi", "on and on</thi", "");
    check("<think>", "on", "on", "");
    check("", "<thin", "", "<thin");
}

MX_TEST_MAIN(MX_CASE(thinking_is_told_from_the_answer), MX_CASE(the_prompt_may_have_opened_it),
             MX_CASE(thinking_that_never_ends_is_no_answer))
