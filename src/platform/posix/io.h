/* io.h - descriptors read and written to the end. Private to platform/posix. */
#ifndef MX_PLATFORM_POSIX_IO_H
#define MX_PLATFORM_POSIX_IO_H

#include "base/buf.h"

/* Opens a regular file for reading; *n_bytes (may be NULL) is its size. Waits for nothing: a pipe that nobody writes to
 * is refused like any other thing that is no regular file (MX_IO). MX_NOT_FOUND. */
mx_status mx_io_open_regular(const char *path, int *fd, int64_t *n_bytes, mx_error *err) MX_NODISCARD;

/* MX_IO: what lies at path and is no regular file, as its st_mode says. */
mx_status mx_io_fail_kind(const char *path, unsigned mode, mx_error *err);

/* Appends all that comes from fd. `too_large` is the status when that is more than out->max allows; name is for
 * messages. */
mx_status mx_io_read_all(int fd, const char *name, mx_status too_large, mx_buf *out, mx_error *err) MX_NODISCARD;

mx_status mx_io_write_all(int fd, const char *name, mx_str bytes, mx_error *err) MX_NODISCARD;

#endif
