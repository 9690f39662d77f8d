/* file.h - files and folders by UTF-8 path.
 *
 * Everything here blocks on the disk and is safe from any thread. Windows paths go through the wide interface, with the
 * long-path prefix where they need it. Errors name the path: MX_NOT_FOUND for a missing file, MX_IO for the rest.
 */
#ifndef MX_PLATFORM_FILE_H
#define MX_PLATFORM_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

typedef enum mx_file_kind {
    MX_FILE_MISSING, /* or not reachable */
    MX_FILE_REGULAR,
    MX_FILE_DIR,
    MX_FILE_OTHER,
} mx_file_kind;

/* What lies at path; links are followed. */
mx_file_kind mx_file_kind_at(const char *path);

/* Bytes in a regular file. */
mx_status mx_file_size(const char *path, int64_t *n_bytes, mx_error *err) MX_NODISCARD;

/* Reads a whole file. *out is set to a new buffer, which the caller frees (also after a failure).
 * MX_FORMAT when the file has more than max_bytes, MX_NO_MEMORY, and as above: MX_IO, too, for what is no regular file,
 * since a pipe or a device might never come to an end. */
mx_status mx_file_read(const char *path, size_t max_bytes, mx_buf *out, mx_error *err) MX_NODISCARD;

/* The same for what a user names and may be anything: a pipe or a terminal is read to its end, if it takes for ever. */
mx_status mx_file_read_any(const char *path, size_t max_bytes, mx_buf *out, mx_error *err) MX_NODISCARD;

/* Makes or replaces a file with these bytes. */
mx_status mx_file_write(const char *path, mx_str bytes, mx_error *err) MX_NODISCARD;

/* The same for what nobody else is to read: a new file is the user's alone, and one that is there becomes so. On
 * Windows the folder decides. */
mx_status mx_file_write_private(const char *path, mx_str bytes, mx_error *err) MX_NODISCARD;

mx_status mx_file_remove(const char *path, mx_error *err) MX_NODISCARD;

/* Makes one folder, which must not exist yet; its parent must. */
mx_status mx_dir_create(const char *path, mx_error *err) MX_NODISCARD;

/* Makes a folder and those above it, as far as they are missing. */
mx_status mx_dir_create_all(const char *path, mx_error *err) MX_NODISCARD;

/* Removes an empty folder. */
mx_status mx_dir_remove(const char *path, mx_error *err) MX_NODISCARD;

/* Removes a file, a link, or a folder with all that is in it. Links are removed themselves, what they point to stays.
 * What is missing is no failure. */
mx_status mx_file_remove_tree(const char *path, mx_error *err) MX_NODISCARD;

/* Gives a file or folder another name on the same disk in one step. A file takes the place of one that is there; a
 * folder does not. */
mx_status mx_file_rename(const char *from, const char *to, mx_error *err) MX_NODISCARD;

/* True for a symbolic link, or a junction of Windows, whatever it points to. */
bool mx_file_is_link(const char *path);

/* When the file was last written, in seconds since 1970; 0 where unknown. */
int64_t mx_file_modified_s(const char *path);

/* Sets that time to now. What cannot be done is not done: it is a note for people. */
void mx_file_touch(const char *path);

/* Bytes that this user may still write on the disk of an existing folder; INT64_MAX where unknown. */
int64_t mx_disk_free(const char *path);

/* The names in a folder, without "." and "..", in bytewise order. Names and array live in the arena. */
mx_status mx_dir_list(mx_arena *arena, const char *path, const mx_str **names, size_t *n_names,
                      mx_error *err) MX_NODISCARD;

#endif
