/* console.c - the standard handles. A console gets wide characters, so its code page does not matter; files and pipes
 * get the bytes as they are. */
#include "platform/console.h"

#include <windows.h>

#include "base/mem.h"
#include "platform/os_error.h"
#include "platform/windows/io.h"
#include "platform/windows/wide.h"

static const struct {
    DWORD id;
    const char *name;
} streams[] = {
    {STD_INPUT_HANDLE, "standard input"},
    {STD_OUTPUT_HANDLE, "standard output"},
    {STD_ERROR_HANDLE, "standard error"},
};

static HANDLE handle_of(mx_console_stream stream)
{
    return GetStdHandle(streams[stream].id);
}

bool mx_console_is_terminal(mx_console_stream stream)
{
    DWORD mode;
    return GetConsoleMode(handle_of(stream), &mode) != 0;
}

static mx_status write_wide(HANDLE console, const char *name, mx_str bytes, mx_error *err)
{
    wchar_t *wide = NULL;
    MX_TRY(mx_wide_from_utf8(bytes, &wide, err));
    mx_status st = MX_OK;
    const size_t n = wcslen(wide);
    for (size_t at = 0; at < n;) {
        DWORD n_written = 0;
        if (!WriteConsoleW(console, wide + at, (DWORD)MX_MIN(n - at, 8192), &n_written, NULL) || n_written == 0) {
            st = mx_fail_os(err, "write to", name);
            break;
        }
        at += n_written;
    }
    mx_free(wide);
    return st;
}

mx_status mx_console_write(mx_console_stream stream, mx_str bytes, mx_error *err)
{
    const HANDLE handle = handle_of(stream);
    if (mx_console_is_terminal(stream)) {
        return write_wide(handle, streams[stream].name, bytes, err);
    }
    return mx_io_write_all(handle, streams[stream].name, bytes, err);
}

bool mx_console_is_closed(const mx_error *err)
{
    return err->native == ERROR_BROKEN_PIPE || err->native == ERROR_NO_DATA ||
           err->native == ERROR_PIPE_NOT_CONNECTED; /* what Wine says */
}

mx_status mx_console_read_all(size_t max_bytes, mx_buf *out, mx_error *err)
{
    mx_buf_init(out, max_bytes);
    if (mx_console_is_terminal(MX_STDIN)) {
        SetConsoleCP(CP_UTF8);
    }
    return mx_io_read_all(handle_of(MX_STDIN), streams[MX_STDIN].name, MX_INVALID, out, err);
}
