/* io.h - descriptors read and written to the end. Private to platform/posix. */
#ifndef MX_PLATFORM_POSIX_IO_H
#define MX_PLATFORM_POSIX_IO_H

#include "base/buf.h"

/* Appends all that comes from fd. `too_large` is the status when that is more than out->max allows; name is for
 * messages. */
mx_status mx_io_read_all(int fd, const char *name, mx_status too_large, mx_buf *out, mx_error *err) MX_NODISCARD;

mx_status mx_io_write_all(int fd, const char *name, mx_str bytes, mx_error *err) MX_NODISCARD;

#endif
