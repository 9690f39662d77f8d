/* io.c - ReadFile and WriteFile until everything has gone through. */
#include "platform/windows/io.h"

#include "base/mem.h"
#include "platform/os_error.h"
#include "platform/windows/wide.h"

#define MAX_PART ((size_t)1 << 20) /* a call's count is 32 bits, and pipes dislike large ones */

static bool is_folder(const wchar_t *wide)
{
    const DWORD attributes = GetFileAttributesW(wide);
    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY);
}

mx_status mx_io_open_regular(const char *path, DWORD share, DWORD flags, HANDLE *out, mx_error *err)
{
    wchar_t *wide = NULL;
    mx_status st = MX_OK;
    *out = INVALID_HANDLE_VALUE;
    MX_TRY(mx_wide_from_path(path, &wide, err));
    *out = CreateFileW(wide, GENERIC_READ, share, NULL, OPEN_EXISTING, flags, NULL);
    if (*out == INVALID_HANDLE_VALUE) {
        const DWORD code = GetLastError();
        if (is_folder(wide)) { /* which the system calls a lack of rights */
            st = mx_fail(err, MX_IO, "%s is not a regular file but a folder", path);
        } else {
            SetLastError(code);
            st = mx_fail_os(err, "open", path);
        }
    } else if (GetFileType(*out) != FILE_TYPE_DISK) {
        st = mx_fail(err, MX_IO, "%s is not a regular file but a pipe or a device", path);
        CloseHandle(*out);
        *out = INVALID_HANDLE_VALUE;
    }
    mx_free(wide);
    return st;
}

mx_status mx_io_read_all(HANDLE handle, const char *name, mx_status too_large, mx_buf *out, mx_error *err)
{
    for (;;) {
        char beyond; /* one byte past the cap tells whether the file ends there */
        const size_t room = MX_MIN(out->max - out->len, MAX_PART);
        if (room > 0) {
            MX_TRY(mx_buf_reserve(out, room, err));
        }
        DWORD n = 0;
        if (!ReadFile(handle, room > 0 ? out->data + out->len : &beyond, room > 0 ? (DWORD)room : 1, &n, NULL)) {
            return GetLastError() == ERROR_BROKEN_PIPE ? MX_OK : mx_fail_os(err, "read", name);
        }
        if (n == 0) {
            return MX_OK;
        }
        if (room == 0) {
            return mx_fail(err, too_large, "%s: larger than the %zu bytes that are allowed", name, out->max);
        }
        out->len += n;
    }
}

mx_status mx_io_write_all(HANDLE handle, const char *name, mx_str bytes, mx_error *err)
{
    while (bytes.len > 0) {
        DWORD n = 0;
        if (!WriteFile(handle, bytes.ptr, (DWORD)MX_MIN(bytes.len, MAX_PART), &n, NULL)) {
            return mx_fail_os(err, "write to", name);
        }
        bytes = mx_str_slice(bytes, n, bytes.len);
    }
    return MX_OK;
}
