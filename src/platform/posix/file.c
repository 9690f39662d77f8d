/* file.c - files and folders on POSIX. */
#include "platform/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "platform/os_error.h"
#include "platform/posix/io.h"

#define MAX_DIR_ENTRIES ((size_t)1 << 22)

mx_file_kind mx_file_kind_at(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        return MX_FILE_MISSING;
    }
    return S_ISREG(info.st_mode) ? MX_FILE_REGULAR : S_ISDIR(info.st_mode) ? MX_FILE_DIR : MX_FILE_OTHER;
}

mx_status mx_file_size(const char *path, int64_t *n_bytes, mx_error *err)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        return mx_fail_os(err, "look at", path);
    }
    if (!S_ISREG(info.st_mode)) {
        return mx_io_fail_kind(path, info.st_mode, err);
    }
    *n_bytes = (int64_t)info.st_size;
    return MX_OK;
}

mx_status mx_file_read(const char *path, size_t max_bytes, mx_buf *out, mx_error *err)
{
    int fd;
    mx_buf_init(out, max_bytes);
    MX_TRY(mx_io_open_regular(path, &fd, NULL, err));
    const mx_status st = mx_io_read_all(fd, path, MX_FORMAT, out, err);
    close(fd);
    return st;
}

mx_status mx_file_read_any(const char *path, size_t max_bytes, mx_buf *out, mx_error *err)
{
    mx_buf_init(out, max_bytes);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return mx_fail_os(err, "open", path);
    }
    const mx_status st = mx_io_read_all(fd, path, MX_FORMAT, out, err);
    close(fd);
    return st;
}

/* mode 0600: also where the file is there already, with another one. */
static mx_status write_with_mode(const char *path, mode_t mode, mx_str bytes, mx_error *err)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    if (fd < 0) {
        return mx_fail_os(err, "create", path);
    }
    mx_status st = mode == 0600 && fchmod(fd, mode) != 0 ? mx_fail_os(err, "make private", path) : MX_OK;
    st = st == MX_OK ? mx_io_write_all(fd, path, bytes, err) : st;
    if (close(fd) != 0 && st == MX_OK) {
        st = mx_fail_os(err, "write to", path);
    }
    return st;
}

mx_status mx_file_write(const char *path, mx_str bytes, mx_error *err)
{
    return write_with_mode(path, 0666, bytes, err);
}

mx_status mx_file_write_private(const char *path, mx_str bytes, mx_error *err)
{
    return write_with_mode(path, 0600, bytes, err);
}

mx_status mx_file_remove(const char *path, mx_error *err)
{
    return unlink(path) == 0 ? MX_OK : mx_fail_os(err, "remove", path);
}

mx_status mx_dir_create(const char *path, mx_error *err)
{
    return mkdir(path, 0777) == 0 ? MX_OK : mx_fail_os(err, "create the folder", path);
}

mx_status mx_dir_remove(const char *path, mx_error *err)
{
    return rmdir(path) == 0 ? MX_OK : mx_fail_os(err, "remove the folder", path);
}

mx_status mx_file_rename(const char *from, const char *to, mx_error *err)
{
    return rename(from, to) == 0 ? MX_OK : mx_fail_os(err, "rename to", to);
}

bool mx_file_is_link(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

int64_t mx_file_modified_s(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (int64_t)info.st_mtime : 0;
}

void mx_file_touch(const char *path)
{
    const int unused = utimensat(AT_FDCWD, path, NULL, 0);
    (void)unused;
}

int64_t mx_disk_free(const char *path)
{
    struct statvfs info;
    if (statvfs(path, &info) != 0) {
        return INT64_MAX;
    }
    int64_t n_bytes;
    return mx_mul_i64((int64_t)info.f_bavail, (int64_t)info.f_frsize, &n_bytes) ? n_bytes : INT64_MAX;
}

static int compare_names(const void *a, const void *b)
{
    return mx_str_compare(*(const mx_str *)a, *(const mx_str *)b);
}

mx_status mx_dir_list(mx_arena *arena, const char *path, const mx_str **names, size_t *n_names, mx_error *err)
{
    mx_status st = MX_OK;
    mx_str *list = NULL; /* grows on the heap, then moves into the arena */
    size_t cap = 0;
    size_t n = 0;
    DIR *dir = opendir(path);
    if (!dir) {
        return mx_fail_os(err, "open the folder", path);
    }
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry && errno != 0) {
            st = mx_fail_os(err, "read the folder", path);
            goto done;
        }
        if (!entry) {
            break;
        }
        const mx_str name = mx_str_from(entry->d_name);
        if (mx_str_eq_cstr(name, ".") || mx_str_eq_cstr(name, "..")) {
            continue;
        }
        mx_str *grown = mx_array_grow(list, &cap, n + 1, sizeof *list, MAX_DIR_ENTRIES);
        const mx_str copy = mx_arena_copy_str(arena, name);
        list = grown ? grown : list;
        if (!grown || !copy.ptr) {
            st = mx_fail(err, MX_NO_MEMORY, "%s: out of memory after %zu names of the folder", path, n);
            goto done;
        }
        list[n++] = copy;
    }
    mx_str *kept = mx_arena_array(arena, mx_str, n);
    if (!kept) {
        st = mx_fail_no_memory(err, n * sizeof *kept, path);
        goto done;
    }
    if (n > 0) {
        memcpy(kept, list, n * sizeof *kept);
        qsort(kept, n, sizeof *kept, compare_names);
    }
    *names = kept;
    *n_names = n;
done:
    mx_free(list);
    closedir(dir);
    return st;
}
