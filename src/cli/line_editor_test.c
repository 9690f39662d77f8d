#include "cli/line_editor.h"

#include "tests/test.h"
#include "tests/tmpdir.h"

static mx_line_editor editor;
static mx_error err;

static mx_line_event type(const char *keys)
{
    mx_line_event event;
    size_t n_used;
    MX_CHECK_OK(mx_line_editor_feed(&editor, keys, strlen(keys), &n_used, &event, &err), &err);
    return event;
}

/* A new line: the keys, and the text that is there then, with the cursor as '|'. */
static void check_typed(const char *keys, const char *wanted)
{
    char found[200];
    mx_line_editor_begin(&editor);
    MX_CHECK(type(keys) == MX_LINE_GOES_ON);
    (void)snprintf(found, sizeof found, "%.*s|%.*s", (int)editor.cursor, editor.text.data ? editor.text.data : "",
                   (int)(editor.text.len - editor.cursor), editor.text.data ? editor.text.data + editor.cursor : "");
    MX_CHECK_CSTR(found, wanted);
}

MX_TEST(keys_edit_the_line)
{
    mx_line_editor_init(&editor);
    check_typed("abc", "abc|");
    check_typed("abc\x1b[D\x1b[DX", "aX|bc");
    check_typed("abc\x01X\x05Y", "XabcY|");
    check_typed("abc\x7f\x08", "a|");
    check_typed("abc\x1b[H\x1b[3~\x04", "|c");
    check_typed("one two  \x17", "one |");
    check_typed("one two\x02\x02\x0b", "one t|");
    check_typed("one two\x02\x02\x15", "|wo");
    check_typed("a\x1bOD\x1bOC\x1b[4~\x1b[1~", "|a");
    check_typed("a\x1b[1;5Cb\x1b[Zc", "abc|"); /* keys that are not known do nothing */
    check_typed("a\tb", "a    b|");
    check_typed("\x7f\x1b[D\x1b[C\x17\x0b", "|");
    mx_line_editor_deinit(&editor);
}

MX_TEST(characters_are_whole)
{
    mx_line_editor_init(&editor);
    check_typed("\xc3\xa4\xe4\xb8\x96\xf0\x9f\x98\x80\x1b[D\x7f", "\xc3\xa4|\xf0\x9f\x98\x80");
    check_typed("a\xff"
                "b",
                "a\xef\xbf\xbd"
                "b|");
    mx_line_editor_begin(&editor);
    (void)type("\xe4");
    (void)type("\xb8");
    MX_CHECK_I64(editor.text.len, 0);
    (void)type("\x96");
    MX_CHECK_I64(editor.text.len, 3);
    (void)type("\x1b");
    (void)type("[");
    (void)type("D");
    MX_CHECK_I64(editor.cursor, 0);
    mx_line_editor_deinit(&editor);
}

MX_TEST(enter_ends_and_alt_enter_goes_on)
{
    mx_line_editor_init(&editor);
    mx_line_editor_begin(&editor);
    MX_CHECK(type("a\r") == MX_LINE_IS_DONE);
    check_typed("a\x1b\rb\x1b\nc", "a\nb\nc|");
    check_typed("\x1b[200~a\rb\x1b[201~", "a\nb|");
    mx_line_editor_begin(&editor);
    MX_CHECK(type("a\x03") == MX_LINE_IS_GIVEN_UP);
    mx_line_editor_begin(&editor);
    MX_CHECK(type("\x04") == MX_LINE_INPUT_ENDS);
    mx_line_editor_deinit(&editor);
}

MX_TEST(history_is_walked_and_the_new_line_comes_back)
{
    mx_line_editor_init(&editor);
    MX_CHECK_OK(mx_line_editor_remember(&editor, MX_STR("one"), &err), &err);
    MX_CHECK_OK(mx_line_editor_remember(&editor, MX_STR("two"), &err), &err);
    MX_CHECK_OK(mx_line_editor_remember(&editor, MX_STR("two"), &err), &err);
    MX_CHECK_I64(editor.n_history, 2);
    check_typed("new\x1b[A", "two|");
    check_typed("new\x1b[A\x1b[A\x1b[A", "one|");
    check_typed("new\x10\x10\x0e\x0e\x0e", "new|");
    for (int i = 0; i < MX_LINE_MAX_HISTORY + 10; i++) {
        char line[16];
        (void)snprintf(line, sizeof line, "line %d", i);
        MX_CHECK_OK(mx_line_editor_remember(&editor, mx_str_from(line), &err), &err);
    }
    MX_CHECK_I64(editor.n_history, MX_LINE_MAX_HISTORY);
    MX_CHECK_CSTR(editor.history[0], "line 10");
    mx_line_editor_deinit(&editor);
}

MX_TEST(history_outlives_the_program)
{
    mx_tmpdir dir;
    mx_tmpdir_open(&dir);
    mx_line_editor_init(&editor);
    const char *path = mx_tmpdir_path(&dir, "history");
    MX_CHECK_OK(mx_line_editor_load(&editor, path, &err), &err);
    MX_CHECK_OK(mx_line_editor_remember(&editor, MX_STR("a\nb\\n"), &err), &err);
    MX_CHECK_OK(mx_line_editor_save(&editor, path, &err), &err);
    mx_line_editor_deinit(&editor);
    mx_line_editor_init(&editor);
    MX_CHECK_OK(mx_line_editor_load(&editor, path, &err), &err);
    MX_CHECK_I64(editor.n_history, 1);
    MX_CHECK_CSTR(editor.history[0], "a\nb\\n");
    mx_line_editor_deinit(&editor);
    mx_tmpdir_close(&dir);
}

static void check_drawn(const char *keys, int32_t width, const char *wanted)
{
    mx_buf out = {.max = 1000};
    mx_line_editor_begin(&editor);
    (void)type(keys);
    MX_CHECK_OK(mx_line_editor_draw(&editor, "> ", width, &out, &err), &err);
    MX_CHECK_STR(mx_buf_view(&out), mx_str_from(wanted));
    mx_buf_deinit(&out);
}

MX_TEST(the_picture_fits_the_terminal)
{
    mx_line_editor_init(&editor);
    check_drawn("", 80, "\r> \x1b[K\r\x1b[2C");
    check_drawn("abc\x02", 80, "\r> abc\x1b[K\r\x1b[4C");
    check_drawn("a\x1b\nb", 80,
                "\r> a\xe2\x8f\x8e"
                "b\x1b[K\r\x1b[5C");
    check_drawn("\xe4\xb8\x96", 80, "\r> \xe4\xb8\x96\x1b[K\r\x1b[4C"); /* two columns */
    check_drawn("0123456789abc", 12, "\r> 56789abc\x1b[K\r\x1b[10C");
    check_drawn("0123456789abc\x01", 12, "\r> 012345678\x1b[K\r\x1b[2C");
    mx_line_editor_deinit(&editor);
}

MX_TEST_MAIN(MX_CASE(keys_edit_the_line), MX_CASE(characters_are_whole), MX_CASE(enter_ends_and_alt_enter_goes_on),
             MX_CASE(history_is_walked_and_the_new_line_comes_back), MX_CASE(history_outlives_the_program),
             MX_CASE(the_picture_fits_the_terminal))
