/* console.c - the standard handles. A console gets wide characters, so its code page does not matter; files and pipes
 * get the bytes as they are. */
#include "platform/console.h"

#include <stdlib.h>
#include <windows.h>

#include "base/mem.h"
#include "platform/os_error.h"
#include "platform/signal.h"
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
        size_t n_part = MX_MIN(n - at, 8192);
        n_part -= n_part < n - at && (wide[at + n_part] & 0xfc00) == 0xdc00; /* both halves of a character go at once */
        if (!WriteConsoleW(console, wide + at, (DWORD)n_part, &n_written, NULL) || n_written == 0) {
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

int32_t mx_console_width(mx_console_stream stream)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    return GetConsoleScreenBufferInfo(handle_of(stream), &info) ? info.srWindow.Right - info.srWindow.Left + 1 : 0;
}

bool mx_console_takes_escapes(mx_console_stream stream)
{
    DWORD mode;
    const HANDLE handle = handle_of(stream);
    return GetConsoleMode(handle, &mode) && SetConsoleMode(handle, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

/* Appends UTF-16 units as UTF-8. A surrogate waits in *high for its second half. */
static mx_status append_unit(mx_buf *out, wchar_t unit, wchar_t *high, mx_error *err)
{
    char bytes[8];
    wchar_t units[2] = {*high ? *high : unit, unit};
    if (unit >= 0xd800 && unit < 0xdc00) {
        *high = unit;
        return MX_OK;
    }
    const int n = WideCharToMultiByte(CP_UTF8, 0, units, *high ? 2 : 1, bytes, (int)sizeof bytes, NULL, NULL);
    *high = 0;
    return mx_buf_append(out, (mx_str){bytes, (size_t)MX_MAX(n, 0)}, err);
}

/* The next unit of a line; false at the end of the input. */
static bool read_unit(HANDLE handle, bool is_console, wchar_t *unit)
{
    char byte;
    DWORD n = 0;
    if (is_console) {
        return ReadConsoleW(handle, unit, 1, &n, NULL) && n == 1 && *unit != 26; /* Ctrl-Z */
    }
    const bool is_read = ReadFile(handle, &byte, 1, &n, NULL) && n == 1;
    *unit = is_read ? (wchar_t)(unsigned char)byte : 0;
    return is_read;
}

/* Not through the bytes of a code page: the console would keep it after our end, and old ones give zeros for what is
 * not ASCII. Ctrl-Z ends the input. */
static mx_status read_all_units(HANDLE console, mx_buf *out, mx_error *err)
{
    wchar_t high = 0;
    wchar_t unit;
    while (read_unit(console, true, &unit)) {
        if (unit == L'\r') {
            continue; /* each line ends with both */
        }
        if (out->len + 4 > out->max) {
            return mx_fail(err, MX_INVALID, "%s: larger than the %zu bytes that are allowed", streams[MX_STDIN].name,
                           out->max);
        }
        MX_TRY(append_unit(out, unit, &high, err));
    }
    return mx_signal_is_interrupted() ? mx_fail(err, MX_CANCELLED, "reading standard input was interrupted") : MX_OK;
}

mx_status mx_console_read_all(size_t max_bytes, mx_buf *out, mx_error *err)
{
    const HANDLE handle = handle_of(MX_STDIN);
    mx_buf_init(out, max_bytes);
    return mx_console_is_terminal(MX_STDIN) ? read_all_units(handle, out, err)
                                            : mx_io_read_all(handle, streams[MX_STDIN].name, MX_INVALID, out, err);
}

mx_status mx_console_read_line(size_t max_bytes, mx_buf *out, bool *is_end, mx_error *err)
{
    const HANDLE handle = handle_of(MX_STDIN);
    const bool is_console = mx_console_is_terminal(MX_STDIN);
    wchar_t high = 0;
    wchar_t unit;
    mx_buf_init(out, max_bytes);
    *is_end = false;
    for (;;) {
        if (!read_unit(handle, is_console, &unit)) {
            *is_end = out->len == 0;
            return mx_signal_is_interrupted() ? mx_fail(err, MX_CANCELLED, "reading standard input was interrupted")
                                              : MX_OK;
        }
        if (unit == L'\n') {
            out->len -= out->len > 0 && out->data[out->len - 1] == '\r';
            return MX_OK;
        }
        MX_TRY(is_console ? append_unit(out, unit, &high, err) : mx_buf_append_char(out, (char)unit, err));
    }
}

static DWORD cooked; /* what raw mode is left to */
static bool is_raw;

bool mx_console_raw_begin(void)
{
    const HANDLE handle = handle_of(MX_STDIN);
    is_raw = mx_console_takes_escapes(MX_STDOUT) && GetConsoleMode(handle, &cooked) &&
             SetConsoleMode(handle, ENABLE_WINDOW_INPUT);
    return is_raw;
}

void mx_console_raw_end(void)
{
    if (is_raw) {
        SetConsoleMode(handle_of(MX_STDIN), cooked);
        is_raw = false;
    }
}

/* Keys that are no characters, as xterm sends them. */
static const struct {
    WORD key;
    const char *sequence;
} key_sequences[] = {
    {VK_UP, "\x1b[A"},   {VK_DOWN, "\x1b[B"}, {VK_RIGHT, "\x1b[C"},   {VK_LEFT, "\x1b[D"},
    {VK_HOME, "\x1b[H"}, {VK_END, "\x1b[F"},  {VK_DELETE, "\x1b[3~"},
};

/* Appends what a key gives; nothing for keys like Shift. */
static mx_status append_key(mx_buf *out, const KEY_EVENT_RECORD *key, wchar_t *high, mx_error *err)
{
    if (!key->bKeyDown) {
        return MX_OK;
    }
    if (key->uChar.UnicodeChar) {
        const bool is_alt_enter = key->uChar.UnicodeChar == L'\r' && key->dwControlKeyState & LEFT_ALT_PRESSED;
        if (is_alt_enter) {
            MX_TRY(mx_buf_append_char(out, '\x1b', err));
        }
        return append_unit(out, key->uChar.UnicodeChar, high, err);
    }
    for (size_t i = 0; i < MX_COUNTOF(key_sequences); i++) {
        if (key_sequences[i].key == key->wVirtualKeyCode) {
            return mx_buf_append(out, mx_str_from(key_sequences[i].sequence), err);
        }
    }
    return MX_OK;
}

mx_status mx_console_read_keys(char *bytes, size_t cap, size_t *n, mx_error *err)
{
    mx_buf out = {.max = cap};
    wchar_t high = 0;
    mx_status st = MX_OK;
    while (st == MX_OK && (out.len == 0 || high)) {
        INPUT_RECORD record;
        DWORD n_read = 0;
        if (!ReadConsoleInputW(handle_of(MX_STDIN), &record, 1, &n_read)) {
            st = mx_fail_os(err, "read", streams[MX_STDIN].name);
        } else if (n_read == 1 && record.EventType == KEY_EVENT) {
            st = append_key(&out, &record.Event.KeyEvent, &high, err);
        }
    }
    *n = st == MX_OK ? out.len : 0;
    if (*n > 0) {
        memcpy(bytes, out.data, *n);
    }
    mx_buf_deinit(&out);
    return st;
}
