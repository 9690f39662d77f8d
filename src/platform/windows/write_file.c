/* write_file.c - handles for appending, and a lock on a file's first byte. */
#include "platform/write_file.h"

#include <windows.h>

#include "base/mem.h"
#include "platform/os_error.h"
#include "platform/windows/io.h"
#include "platform/windows/wide.h"

static mx_status open_at(const char *path, DWORD share, HANDLE *out, mx_error *err)
{
    wchar_t *wide = NULL;
    MX_TRY(mx_wide_from_path(path, &wide, err));
    *out = CreateFileW(wide, GENERIC_READ | GENERIC_WRITE, share, NULL, OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
    const mx_status st = *out == INVALID_HANDLE_VALUE ? mx_fail_os(err, "create", path) : MX_OK;
    mx_free(wide);
    return st;
}

mx_status mx_write_file_open(const char *path, mx_write_file *out, mx_error *err)
{
    HANDLE file;
    LARGE_INTEGER end;
    *out = (mx_write_file){0};
    MX_TRY(open_at(path, FILE_SHARE_READ, &file, err));
    if (!SetFilePointerEx(file, (LARGE_INTEGER){.QuadPart = 0}, &end, FILE_END)) {
        const mx_status st = mx_fail_os(err, "find the end of", path);
        CloseHandle(file);
        return st;
    }
    *out = (mx_write_file){.handle = (intptr_t)file, .path = path, .n_bytes = end.QuadPart};
    return MX_OK;
}

mx_status mx_write_file_append(mx_write_file *file, mx_str bytes, mx_error *err)
{
    const mx_status st = mx_io_write_all((HANDLE)file->handle, file->path, bytes, err);
    if (st == MX_OK) {
        file->n_bytes += (int64_t)bytes.len;
    }
    return st;
}

mx_status mx_write_file_truncate(mx_write_file *file, int64_t n_bytes, mx_error *err)
{
    const LARGE_INTEGER end = {.QuadPart = n_bytes};
    if (!SetFilePointerEx((HANDLE)file->handle, end, NULL, FILE_BEGIN) || !SetEndOfFile((HANDLE)file->handle)) {
        return mx_fail_os(err, "cut", file->path);
    }
    file->n_bytes = n_bytes;
    return MX_OK;
}

mx_status mx_write_file_sync(mx_write_file *file, mx_error *err)
{
    return FlushFileBuffers((HANDLE)file->handle) ? MX_OK : mx_fail_os(err, "write to", file->path);
}

void mx_write_file_close(mx_write_file *file)
{
    if (file->path) {
        CloseHandle((HANDLE)file->handle);
    }
    *file = (mx_write_file){0};
}

bool mx_disk_is_full(const mx_error *err)
{
    return err->native == ERROR_DISK_FULL || err->native == ERROR_HANDLE_DISK_FULL ||
           err->native == 1295; /* ERROR_DISK_QUOTA_EXCEEDED, which older headers lack */
}

mx_status mx_file_lock_take(const char *path, mx_file_lock *out, mx_error *err)
{
    HANDLE file;
    OVERLAPPED at = {0};
    *out = (mx_file_lock){0};
    MX_TRY(open_at(path, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, &file, err));
    if (!LockFileEx(file, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)) {
        const DWORD code = GetLastError();
        const mx_status st = code == ERROR_LOCK_VIOLATION || code == ERROR_IO_PENDING
                                 ? mx_fail(err, MX_BUSY, "%s: another process has the lock", path)
                                 : mx_fail_os(err, "lock", path);
        CloseHandle(file);
        return st;
    }
    *out = (mx_file_lock){.handle = (intptr_t)file, .is_held = true};
    return MX_OK;
}

void mx_file_lock_release(mx_file_lock *lock)
{
    if (lock->is_held) {
        CloseHandle((HANDLE)lock->handle);
    }
    *lock = (mx_file_lock){0};
}
