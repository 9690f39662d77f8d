/* file.c - files and folders on Windows. */
#include "platform/file.h"

#include <stdlib.h>
#include <windows.h>

#include "base/mem.h"
#include "platform/os_error.h"
#include "platform/windows/io.h"
#include "platform/windows/wide.h"

#define MAX_DIR_ENTRIES ((size_t)1 << 22)

/* Attributes by path; false where nothing is there. */
static bool get_attributes(const wchar_t *wide, WIN32_FILE_ATTRIBUTE_DATA *data)
{
    return GetFileAttributesExW(wide, GetFileExInfoStandard, data) != 0;
}

mx_file_kind mx_file_kind_at(const char *path)
{
    WIN32_FILE_ATTRIBUTE_DATA data;
    wchar_t *wide = NULL;
    mx_file_kind kind = MX_FILE_MISSING;
    if (mx_wide_from_path(path, &wide, NULL) == MX_OK && get_attributes(wide, &data)) {
        const bool is_dir = (data.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
        const bool is_device = (data.dwFileAttributes & FILE_ATTRIBUTE_DEVICE) != 0;
        kind = is_dir ? MX_FILE_DIR : is_device ? MX_FILE_OTHER : MX_FILE_REGULAR;
    }
    mx_free(wide);
    return kind;
}

mx_status mx_file_size(const char *path, int64_t *n_bytes, mx_error *err)
{
    WIN32_FILE_ATTRIBUTE_DATA data;
    wchar_t *wide = NULL;
    MX_TRY(mx_wide_from_path(path, &wide, err));
    mx_status st = MX_OK;
    if (!get_attributes(wide, &data)) {
        st = mx_fail_os(err, "look at", path);
    } else if (data.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) {
        st = mx_fail(err, MX_IO, "%s is not a regular file but a folder", path);
    } else {
        *n_bytes = (int64_t)((uint64_t)data.nFileSizeHigh << 32 | data.nFileSizeLow);
    }
    mx_free(wide);
    return st;
}

mx_status mx_file_read(const char *path, size_t max_bytes, mx_buf *out, mx_error *err)
{
    HANDLE file;
    mx_buf_init(out, max_bytes);
    MX_TRY(mx_io_open_regular(path, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, FILE_FLAG_SEQUENTIAL_SCAN,
                              &file, err));
    const mx_status st = mx_io_read_all(file, path, MX_FORMAT, out, err);
    CloseHandle(file);
    return st;
}

mx_status mx_file_read_any(const char *path, size_t max_bytes, mx_buf *out, mx_error *err)
{
    wchar_t *wide = NULL;
    mx_buf_init(out, max_bytes);
    MX_TRY(mx_wide_from_path(path, &wide, err));
    HANDLE file = CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                              OPEN_EXISTING, FILE_FLAG_SEQUENTIAL_SCAN, NULL);
    mx_free(wide);
    if (file == INVALID_HANDLE_VALUE) {
        return mx_fail_os(err, "open", path);
    }
    const mx_status st = mx_io_read_all(file, path, MX_FORMAT, out, err);
    CloseHandle(file);
    return st;
}

mx_status mx_file_write(const char *path, mx_str bytes, mx_error *err)
{
    wchar_t *wide = NULL;
    MX_TRY(mx_wide_from_path(path, &wide, err));
    HANDLE file = CreateFileW(wide, GENERIC_WRITE, FILE_SHARE_READ, NULL, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
    mx_free(wide);
    if (file == INVALID_HANDLE_VALUE) {
        return mx_fail_os(err, "create", path);
    }
    const mx_status st = mx_io_write_all(file, path, bytes, err);
    CloseHandle(file);
    return st;
}

mx_status mx_file_write_private(const char *path, mx_str bytes, mx_error *err)
{
    return mx_file_write(path, bytes, err);
}

/* One call that takes a wide path and answers with non-zero for success. */
static mx_status with_path(const char *path, const char *verb, BOOL(WINAPI *call)(const wchar_t *), mx_error *err)
{
    wchar_t *wide = NULL;
    MX_TRY(mx_wide_from_path(path, &wide, err));
    const BOOL is_done = call(wide);
    const mx_status st = is_done ? MX_OK : mx_fail_os(err, verb, path);
    mx_free(wide);
    return st;
}

static BOOL WINAPI create_dir(const wchar_t *wide)
{
    return CreateDirectoryW(wide, NULL);
}

mx_status mx_file_remove(const char *path, mx_error *err)
{
    return with_path(path, "remove", DeleteFileW, err);
}

mx_status mx_dir_create(const char *path, mx_error *err)
{
    return with_path(path, "create the folder", create_dir, err);
}

mx_status mx_dir_remove(const char *path, mx_error *err)
{
    return with_path(path, "remove the folder", RemoveDirectoryW, err);
}

mx_status mx_file_rename(const char *from, const char *to, mx_error *err)
{
    wchar_t *wide_from = NULL;
    wchar_t *wide_to = NULL;
    mx_status st;
    MX_TRY_OR(done, st, mx_wide_from_path(from, &wide_from, err));
    MX_TRY_OR(done, st, mx_wide_from_path(to, &wide_to, err));
    if (!MoveFileExW(wide_from, wide_to, MOVEFILE_REPLACE_EXISTING)) {
        st = mx_fail_os(err, "rename to", to);
    }
done:
    mx_free(wide_from);
    mx_free(wide_to);
    return st;
}

bool mx_file_is_link(const char *path)
{
    wchar_t *wide = NULL;
    bool is_link = false;
    if (mx_wide_from_path(path, &wide, NULL) == MX_OK) {
        const DWORD attributes = GetFileAttributesW(wide);
        is_link = attributes != INVALID_FILE_ATTRIBUTES && attributes & FILE_ATTRIBUTE_REPARSE_POINT;
    }
    mx_free(wide);
    return is_link;
}

#define FILETIME_OF_1970 116444736000000000 /* Windows counts tenths of microseconds from 1601 */

int64_t mx_file_modified_s(const char *path)
{
    WIN32_FILE_ATTRIBUTE_DATA data;
    wchar_t *wide = NULL;
    int64_t seconds = 0;
    if (mx_wide_from_path(path, &wide, NULL) == MX_OK && get_attributes(wide, &data)) {
        const int64_t ticks =
            (int64_t)((uint64_t)data.ftLastWriteTime.dwHighDateTime << 32 | data.ftLastWriteTime.dwLowDateTime);
        seconds = (ticks - FILETIME_OF_1970) / 10000000;
    }
    mx_free(wide);
    return seconds;
}

void mx_file_touch(const char *path)
{
    wchar_t *wide = NULL;
    if (mx_wide_from_path(path, &wide, NULL) == MX_OK) {
        HANDLE file = CreateFileW(wide, FILE_WRITE_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                  NULL, OPEN_EXISTING, 0, NULL);
        if (file != INVALID_HANDLE_VALUE) {
            FILETIME now;
            GetSystemTimeAsFileTime(&now);
            SetFileTime(file, NULL, NULL, &now);
            CloseHandle(file);
        }
    }
    mx_free(wide);
}

int64_t mx_disk_free(const char *path)
{
    wchar_t *wide = NULL;
    ULARGE_INTEGER n_bytes = {.QuadPart = INT64_MAX};
    if (mx_wide_from_path(path, &wide, NULL) == MX_OK && !GetDiskFreeSpaceExW(wide, &n_bytes, NULL, NULL)) {
        n_bytes.QuadPart = INT64_MAX;
    }
    mx_free(wide);
    return (int64_t)MX_MIN(n_bytes.QuadPart, (uint64_t)INT64_MAX);
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
    wchar_t *wide = NULL;
    HANDLE find = INVALID_HANDLE_VALUE;
    WIN32_FIND_DATAW entry;

    const char *pattern = mx_arena_printf(arena, "%s/*", path);
    if (!pattern) {
        st = mx_fail_no_memory(err, strlen(path) + 3, path);
        goto done;
    }
    MX_TRY_OR(done, st, mx_wide_from_path(pattern, &wide, err));
    find = FindFirstFileW(wide, &entry);
    if (find == INVALID_HANDLE_VALUE) { /* of what is there, only the root of an empty disk has no entry at all */
        const DWORD code = GetLastError();
        if (code != ERROR_FILE_NOT_FOUND || mx_file_kind_at(path) != MX_FILE_DIR) {
            SetLastError(code);
            st = mx_fail_os(err, "open the folder", path);
        }
        *names = NULL;
        *n_names = 0;
        goto done;
    }
    do {
        if (wcscmp(entry.cFileName, L".") == 0 || wcscmp(entry.cFileName, L"..") == 0) {
            continue;
        }
        mx_str *grown = mx_array_grow(list, &cap, n + 1, sizeof *list, MAX_DIR_ENTRIES);
        const mx_str copy = mx_wide_copy_utf8(arena, entry.cFileName);
        list = grown ? grown : list;
        if (!grown || !copy.ptr) {
            st = mx_fail(err, MX_NO_MEMORY, "%s: out of memory after %zu names of the folder", path, n);
            goto done;
        }
        list[n++] = copy;
    } while (FindNextFileW(find, &entry));
    if (GetLastError() != ERROR_NO_MORE_FILES) {
        st = mx_fail_os(err, "read the folder", path);
        goto done;
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
    if (find != INVALID_HANDLE_VALUE) {
        FindClose(find);
    }
    mx_free(wide);
    mx_free(list);
    return st;
}
