/* io.h - handles read and written to the end. Private to platform/windows. */
#ifndef MX_PLATFORM_WINDOWS_IO_H
#define MX_PLATFORM_WINDOWS_IO_H

#include <windows.h>

#include "base/buf.h"

/* Opens a file on a disk for reading, with these FILE_SHARE_ and FILE_FLAG_ values. MX_IO for a folder, a pipe or a
 * device; MX_NOT_FOUND. */
mx_status mx_io_open_regular(const char *path, DWORD share, DWORD flags, HANDLE *out, mx_error *err) MX_NODISCARD;

/* Appends all that comes from the handle. `too_large` is the status when that is more than out->max allows; name is for
 * messages. */
mx_status mx_io_read_all(HANDLE handle, const char *name, mx_status too_large, mx_buf *out, mx_error *err) MX_NODISCARD;

mx_status mx_io_write_all(HANDLE handle, const char *name, mx_str bytes, mx_error *err) MX_NODISCARD;

#endif
