/* write_file.c - descriptors for appending, and flock. */
#include "platform/write_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "platform/os_error.h"
#include "platform/posix/io.h"

mx_status mx_write_file_open(const char *path, mx_write_file *out, mx_error *err)
{
    *out = (mx_write_file){0};
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) {
        return mx_fail_os(err, "create", path);
    }
    const off_t end = lseek(fd, 0, SEEK_END);
    if (end < 0) {
        const mx_status st = mx_fail_os(err, "find the end of", path);
        close(fd);
        return st;
    }
    *out = (mx_write_file){.handle = fd, .path = path, .n_bytes = (int64_t)end};
    return MX_OK;
}

mx_status mx_write_file_append(mx_write_file *file, mx_str bytes, mx_error *err)
{
    const mx_status st = mx_io_write_all((int)file->handle, file->path, bytes, err);
    if (st == MX_OK) {
        file->n_bytes += (int64_t)bytes.len;
    }
    return st;
}

mx_status mx_write_file_truncate(mx_write_file *file, int64_t n_bytes, mx_error *err)
{
    if (ftruncate((int)file->handle, (off_t)n_bytes) != 0 || lseek((int)file->handle, (off_t)n_bytes, SEEK_SET) < 0) {
        return mx_fail_os(err, "cut", file->path);
    }
    file->n_bytes = n_bytes;
    return MX_OK;
}

mx_status mx_write_file_sync(mx_write_file *file, mx_error *err)
{
    return fsync((int)file->handle) == 0 ? MX_OK : mx_fail_os(err, "write to", file->path);
}

void mx_write_file_close(mx_write_file *file)
{
    if (file->path) {
        close((int)file->handle);
    }
    *file = (mx_write_file){0};
}

bool mx_disk_is_full(const mx_error *err)
{
    return err->native == ENOSPC || err->native == EDQUOT;
}

mx_status mx_file_lock_take(const char *path, mx_file_lock *out, mx_error *err)
{
    *out = (mx_file_lock){0};
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) {
        return mx_fail_os(err, "create", path);
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        const mx_status st = errno == EWOULDBLOCK ? mx_fail(err, MX_BUSY, "%s: another process has the lock", path)
                                                  : mx_fail_os(err, "lock", path);
        close(fd);
        return st;
    }
    *out = (mx_file_lock){.handle = fd, .is_held = true};
    return MX_OK;
}

void mx_file_lock_release(mx_file_lock *lock)
{
    if (lock->is_held) {
        close((int)lock->handle);
    }
    *lock = (mx_file_lock){0};
}
