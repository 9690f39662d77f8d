/* io.c - read and write until everything has gone through. */
#include "platform/posix/io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/os_error.h"
#include "platform/signal.h"

mx_status mx_io_fail_kind(const char *path, unsigned mode, mx_error *err)
{
    const char *kind = S_ISDIR(mode)    ? "a folder"
                       : S_ISFIFO(mode) ? "a pipe"
                       : S_ISSOCK(mode) ? "a socket"
                                        : "a device";
    return mx_fail(err, MX_IO, "%s is not a regular file but %s", path, kind);
}

mx_status mx_io_open_regular(const char *path, int *fd, int64_t *n_bytes, mx_error *err)
{
    struct stat info;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0) {
        return mx_fail_os(err, "open", path);
    }
    mx_status st = MX_OK;
    if (fstat(*fd, &info) != 0) {
        st = mx_fail_os(err, "look at", path);
    } else if (!S_ISREG(info.st_mode)) {
        st = mx_io_fail_kind(path, info.st_mode, err);
    } else if (n_bytes) {
        *n_bytes = (int64_t)info.st_size;
    }
    if (st != MX_OK) {
        close(*fd);
        *fd = -1;
    }
    return st;
}

/* Whether the last call is to be made again: it waited in vain, or could not wait. A program that shares our standard
 * streams may have made them non-blocking, for us as well. */
static bool must_retry(int fd, short event)
{
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
        struct pollfd wait = {.fd = fd, .events = event};
        return poll(&wait, 1, -1) >= 0 || errno == EINTR;
    }
    return errno == EINTR;
}

/* Goes on after a signal that is nobody's wish to stop. */
static ssize_t read_some(int fd, void *dst, size_t n_bytes)
{
    for (;;) {
        const ssize_t n = read(fd, dst, n_bytes);
        if (n >= 0 || !must_retry(fd, POLLIN)) {
            return n;
        }
        if (mx_signal_is_interrupted()) {
            errno = EINTR;
            return -1;
        }
    }
}

mx_status mx_io_read_all(int fd, const char *name, mx_status too_large, mx_buf *out, mx_error *err)
{
    for (;;) {
        char beyond; /* one byte past the cap tells whether the file ends there */
        const size_t room = MX_MIN(out->max - out->len, MX_MAX(out->len, (size_t)65536));
        if (room > 0) {
            MX_TRY(mx_buf_reserve(out, room, err));
        }
        const ssize_t n = room > 0 ? read_some(fd, out->data + out->len, room) : read_some(fd, &beyond, 1);
        if (n < 0 && errno == EINTR) {
            return mx_fail(err, MX_CANCELLED, "reading %s was interrupted", name);
        }
        if (n < 0) {
            return mx_fail_os(err, "read", name);
        }
        if (n == 0) {
            return MX_OK;
        }
        if (room == 0) {
            return mx_fail(err, too_large, "%s: larger than the %zu bytes that are allowed", name, out->max);
        }
        out->len += (size_t)n;
    }
}

mx_status mx_io_write_all(int fd, const char *name, mx_str bytes, mx_error *err)
{
    while (bytes.len > 0) {
        const ssize_t n = write(fd, bytes.ptr, bytes.len);
        if (n < 0 && !must_retry(fd, POLLOUT)) {
            return mx_fail_os(err, "write to", name);
        }
        if (n > 0) {
            bytes = mx_str_slice(bytes, (size_t)n, bytes.len);
        }
    }
    return MX_OK;
}
