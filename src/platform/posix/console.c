/* console.c - the three standard descriptors. */
#include "platform/console.h"

#include <errno.h>
#include <unistd.h>

#include "platform/posix/io.h"

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
