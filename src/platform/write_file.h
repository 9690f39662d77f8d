/* write_file.h - a file that grows at its end, and locks between processes.
 *
 * Paths are UTF-8; errors name the path.
 */
#ifndef MX_PLATFORM_WRITE_FILE_H
#define MX_PLATFORM_WRITE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

typedef struct mx_write_file {
    intptr_t handle;  /* owned; valid while path is not NULL */
    const char *path; /* borrowed from the caller */
    int64_t n_bytes;  /* where the next byte goes */
} mx_write_file;

/* Opens a file for writing behind its present bytes; makes it where it is missing. MX_NOT_FOUND (no such folder),
 * MX_IO. */
mx_status mx_write_file_open(const char *path, mx_write_file *out, mx_error *err) MX_NODISCARD;

/* Appends. MX_IO, with mx_disk_is_full(err) true where the disk has no room. */
mx_status mx_write_file_append(mx_write_file *file, mx_str bytes, mx_error *err) MX_NODISCARD;

/* Cuts the file to n_bytes; the next byte goes there. */
mx_status mx_write_file_truncate(mx_write_file *file, int64_t n_bytes, mx_error *err) MX_NODISCARD;

/* Waits until the bytes are on the disk itself, and would be there after a power failure. */
mx_status mx_write_file_sync(mx_write_file *file, mx_error *err) MX_NODISCARD;

/* A zeroed object is fine. */
void mx_write_file_close(mx_write_file *file);

/* Whether an error says that the disk, or the user's share of it, is full. */
bool mx_disk_is_full(const mx_error *err);

/* A lock that one process has; the system gives it back when that process ends, however it ends. */
typedef struct mx_file_lock {
    intptr_t handle;
    bool is_held;
} mx_file_lock;

/* Takes the lock of the file at `path`, which is made where it is missing and stays. Does not wait: MX_BUSY where
 * another process, or another lock object of this one, has it. MX_IO, MX_NOT_FOUND. */
mx_status mx_file_lock_take(const char *path, mx_file_lock *out, mx_error *err) MX_NODISCARD;

/* Gives it back. A zeroed object is fine. */
void mx_file_lock_release(mx_file_lock *lock);

#endif
