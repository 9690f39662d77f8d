/* console.c - the three standard descriptors. */
#include "platform/console.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "platform/os_error.h"
#include "platform/posix/io.h"
#include "platform/signal.h"

static const char *const names[] = {"standard input", "standard output", "standard error"};

bool mx_console_is_terminal(mx_console_stream stream)
{
    return isatty((int)stream) == 1;
}

mx_status mx_console_write(mx_console_stream stream, mx_str bytes, mx_error *err)
{
    return mx_io_write_all((int)stream, names[stream], bytes, err);
}

bool mx_console_is_closed(const mx_error *err)
{
    return err->native == EPIPE;
}

mx_status mx_console_read_all(size_t max_bytes, mx_buf *out, mx_error *err)
{
    mx_buf_init(out, max_bytes);
    return mx_io_read_all(STDIN_FILENO, names[MX_STDIN], MX_INVALID, out, err);
}

int32_t mx_console_width(mx_console_stream stream)
{
    struct winsize size;
    return ioctl((int)stream, TIOCGWINSZ, &size) == 0 ? (int32_t)size.ws_col : 0;
}

bool mx_console_takes_escapes(mx_console_stream stream)
{
    const char *kind = getenv("TERM");
    return mx_console_is_terminal(stream) && kind && strcmp(kind, "dumb") != 0;
}

mx_status mx_console_read_line(size_t max_bytes, mx_buf *out, bool *is_end, mx_error *err)
{
    mx_buf_init(out, max_bytes);
    *is_end = false;
    for (;;) {
        char c; /* one by one: what is behind the line belongs to the next reader */
        const ssize_t n = read(STDIN_FILENO, &c, 1);
        if (n < 0 && errno == EINTR && !mx_signal_is_interrupted()) {
            continue;
        }
        if (n < 0) {
            return errno == EINTR ? mx_fail(err, MX_CANCELLED, "reading %s was interrupted", names[MX_STDIN])
                                  : mx_fail_os(err, "read", names[MX_STDIN]);
        }
        if (n == 0 || c == '\n') {
            *is_end = n == 0 && out->len == 0;
            return MX_OK;
        }
        MX_TRY(mx_buf_append_char(out, c, err));
    }
}

static struct termios cooked; /* what raw mode is left to */
static bool is_raw;

bool mx_console_raw_begin(void)
{
    if (!mx_console_takes_escapes(MX_STDOUT) || tcgetattr(STDIN_FILENO, &cooked) != 0) {
        return false;
    }
    struct termios raw = cooked;
    raw.c_iflag &= (tcflag_t) ~(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
    raw.c_lflag &= (tcflag_t) ~(ECHO | ICANON | IEXTEN | ISIG);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    is_raw = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
    return is_raw;
}

void mx_console_raw_end(void)
{
    if (is_raw) {
        const int unused = tcsetattr(STDIN_FILENO, TCSADRAIN, &cooked);
        (void)unused;
        is_raw = false;
    }
}

mx_status mx_console_read_keys(char *bytes, size_t cap, size_t *n, mx_error *err)
{
    const ssize_t n_read = read(STDIN_FILENO, bytes, cap);
    *n = n_read > 0 ? (size_t)n_read : 0;
    return n_read >= 0 || errno == EINTR ? MX_OK : mx_fail_os(err, "read", names[MX_STDIN]);
}
