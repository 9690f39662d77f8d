/* map.c - mmap. */
#include "platform/map.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/os_error.h"

static const uint8_t empty_file[1];

mx_status mx_map_open(const char *path, mx_map *out, mx_error *err)
{
    *out = (mx_map){0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return mx_fail_os(err, "open", path);
    }
    mx_status st = MX_OK;
    struct stat info;
    if (fstat(fd, &info) != 0) {
        st = mx_fail_os(err, "look at", path);
    } else if (!S_ISREG(info.st_mode)) {
        st = mx_fail(err, MX_IO, "%s is not a regular file", path);
    } else if (info.st_size == 0) {
        out->data = empty_file; /* mmap refuses a length of zero */
    } else if ((uint64_t)info.st_size > SIZE_MAX) {
        st = mx_fail(err, MX_NO_MEMORY, "%s: %lld bytes do not fit this machine's address space", path,
                     (long long)info.st_size);
    } else {
        void *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (data == MAP_FAILED) {
            st = mx_fail_os(err, "map", path);
        } else {
            *out = (mx_map){.data = data, .n_bytes = (size_t)info.st_size};
        }
    }
    close(fd);
    return st;
}

void mx_map_close(mx_map *map)
{
    if (map->n_bytes > 0) {
        munmap((void *)(uintptr_t)map->data, map->n_bytes);
    }
    *map = (mx_map){0};
}
