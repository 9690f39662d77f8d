/* map.c - file mappings. The view keeps file and mapping alive, so both handles are closed at once. */
#include "platform/map.h"

#include <windows.h>

#include "platform/os_error.h"
#include "platform/windows/io.h"

static const uint8_t empty_file[1];

static mx_status map_handle(HANDLE file, const char *path, mx_map *out, mx_error *err)
{
    LARGE_INTEGER size;
    if (!GetFileSizeEx(file, &size)) {
        return mx_fail_os(err, "look at", path);
    }
    if (size.QuadPart == 0) {
        out->data = empty_file; /* Windows refuses to map nothing */
        return MX_OK;
    }
    HANDLE mapping = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
    if (!mapping) {
        return mx_fail_os(err, "map", path);
    }
    const uint8_t *data = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
    const mx_status st = data ? MX_OK : mx_fail_os(err, "map", path);
    CloseHandle(mapping);
    if (data) {
        *out = (mx_map){.data = data, .n_bytes = (size_t)size.QuadPart};
    }
    return st;
}

mx_status mx_map_open(const char *path, mx_map *out, mx_error *err)
{
    *out = (mx_map){0};
    HANDLE file;
    MX_TRY(mx_io_open_regular(path, FILE_SHARE_READ | FILE_SHARE_DELETE, FILE_ATTRIBUTE_NORMAL, &file, err));
    const mx_status st = map_handle(file, path, out, err);
    CloseHandle(file);
    return st;
}

void mx_map_close(mx_map *map)
{
    if (map->n_bytes > 0) {
        UnmapViewOfFile(map->data);
    }
    *map = (mx_map){0};
}

void mx_map_report_faults(const char *prefix, int exit_code)
{
    (void)prefix;
    (void)exit_code;
}
