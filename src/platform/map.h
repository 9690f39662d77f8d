/* map.h - files mapped into memory, read only. */
#ifndef MX_PLATFORM_MAP_H
#define MX_PLATFORM_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct mx_map {
    const uint8_t *data; /* owned mapping; not NULL once open, also for an empty file */
    size_t n_bytes;
} mx_map;

/* Maps a regular file of any size. MX_NOT_FOUND, MX_IO, MX_NO_MEMORY (no address space left).
 * A file that shrinks while it is mapped, or whose disk fails, makes later reads fault, as with every mapping; Windows
 * lets nobody cut a mapped file. See mx_map_report_faults. */
mx_status mx_map_open(const char *path, mx_map *out, mx_error *err) MX_NODISCARD;

/* Unmaps. A zeroed object is fine. */
void mx_map_close(mx_map *map);

/* For programs, not for libraries: a read from a mapped file that cannot be done ends the process with this exit code
 * and, on standard error, a sentence behind `prefix` that names the file; else the system ends it without a word. Does
 * nothing on Windows. Call it once, before the first mapping is opened; prefix stays valid. */
void mx_map_report_faults(const char *prefix, int exit_code);

#endif
