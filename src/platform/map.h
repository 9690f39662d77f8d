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
 * A file that shrinks while it is mapped makes later reads fault, as with every mapping. */
mx_status mx_map_open(const char *path, mx_map *out, mx_error *err) MX_NODISCARD;

/* Unmaps. A zeroed object is fine. */
void mx_map_close(mx_map *map);

#endif
