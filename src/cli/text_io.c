/* text_io.c - the console as the commands use it. */
#include "cli/text_io.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "platform/console.h"
#include "platform/file.h"

#define MAX_TEXT_BYTES ((size_t)64 << 20)

/* Names and values in a message may come from a model's files: they must not move the cursor or colour the terminal. */
static void print_error(const char *message)
{
    char safe[sizeof((mx_error *)0)->message];
    size_t n = 0;
    for (; message[n] && n + 1 < sizeof safe; n++) {
        const unsigned char c = (unsigned char)message[n];
        safe[n] = c < 0x20 || c == 0x7F ? ' ' : (char)c;
        if (n > 0 && (unsigned char)message[n - 1] == 0xC2 && c >= 0x80 && c < 0xA0) {
            safe[n - 1] = safe[n] = ' '; /* U+0080 to U+009F, controls in two bytes */
        }
    }
    safe[n] = '\0';
    mx_cli_note("mlxcel: %s\n", safe);
}

int mx_cli_fail(const mx_error *err)
{
    print_error(err->message);
    return err->status == MX_INVALID ? MX_EXIT_USAGE : MX_EXIT_FAILED;
}

int mx_cli_fail_api(const mlxcel_error *err)
{
    print_error(err->message);
    return MX_EXIT_FAILED;
}

void mx_cli_note(const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n > 0) {
        mx_str whole = {text, MX_MIN((size_t)n, sizeof text - 1)};
        whole.len -= mx_utf8_incomplete_tail(whole);
        const mx_status st = mx_console_write(MX_STDERR, whole, NULL);
        (void)st; /* there is no place left to say it */
    }
}

int mx_cli_print(mx_str text)
{
    mx_error err;
    if (mx_console_write(MX_STDOUT, text, &err) == MX_OK || mx_console_is_closed(&err)) {
        return MX_EXIT_OK;
    }
    print_error(err.message);
    return MX_EXIT_FAILED;
}

static mx_status read_stdin(const mx_cli_options *options, mx_buf *out, mx_error *err)
{
    if (!options->prompt && mx_console_is_terminal(MX_STDIN)) {
        return mx_fail(err, MX_INVALID, "there is no text: give -p TEXT or -f FILE, or pipe it in");
    }
    return mx_console_read_all(MAX_TEXT_BYTES, out, err);
}

mx_status mx_cli_read_text(const mx_cli_options *options, mx_buf *out, mx_error *err)
{
    *out = (mx_buf){0};
    if (options->prompt && options->file) {
        return mx_fail(err, MX_INVALID, "-p and -f both give the text: choose one");
    }
    if (options->prompt && strcmp(options->prompt, "-") != 0) {
        mx_buf_init(out, MAX_TEXT_BYTES);
        MX_TRY(mx_buf_append(out, mx_str_from(options->prompt), err));
    } else {
        MX_TRY(options->file ? mx_file_read_any(options->file, MAX_TEXT_BYTES, out, err)
                             : read_stdin(options, out, err));
        if (out->len > 0 && out->data[out->len - 1] == '\n') {
            out->len -= out->len > 1 && out->data[out->len - 2] == '\r' ? 2 : 1;
        }
    }
    const char *from = options->file                                          ? options->file
                       : options->prompt && strcmp(options->prompt, "-") != 0 ? "-p"
                                                                              : "standard input";
    if (out->len == 0) {
        return mx_fail(err, MX_INVALID, "the text is empty (%s): there is nothing to work on", from);
    }
    if (!mx_utf8_is_valid(mx_buf_view(out))) {
        return mx_fail(err, MX_INVALID, "the text is not UTF-8 (%s): convert it first", from);
    }
    return MX_OK;
}

mx_status mx_cli_need_model(const mx_cli_options *options, mx_error *err)
{
    if (!options->model || !*options->model) {
        return mx_fail(err, MX_INVALID, "no model is given: -m MODEL, or the variable MLXCEL_MODEL");
    }
    return MX_OK;
}
