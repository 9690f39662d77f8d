/* arena.h - memory that lives and dies together.
 *
 *     [ block: used | free ] <- [ block: full ] <- [ block: full ]
 *
 * Allocation moves a mark; nothing is freed alone. One thread at a time.
 */
#ifndef MX_BASE_ARENA_H
#define MX_BASE_ARENA_H

#include <stddef.h>

#include "base/compiler.h"
#include "base/str.h"

typedef struct mx_arena_block mx_arena_block;

typedef struct mx_arena {
    mx_arena_block *last; /* owned chain; newest first */
    size_t n_bytes;       /* taken from the heap so far */
    size_t max_bytes;     /* cap on n_bytes */
} mx_arena;

/* An empty arena that may take max_bytes from the heap. Allocates nothing. */
static inline void mx_arena_init(mx_arena *arena, size_t max_bytes)
{
    *arena = (mx_arena){.max_bytes = max_bytes};
}

/* Frees everything; the arena is then empty and usable again. A zeroed arena is fine. */
void mx_arena_deinit(mx_arena *arena);

/* Forgets everything but keeps the newest block for use again. */
void mx_arena_reset(mx_arena *arena);

/* Zeroed memory aligned for any type; NULL when out of memory or past the cap. */
void *mx_arena_alloc(mx_arena *arena, size_t n_bytes) MX_NODISCARD;

/* The same for n_items of item_size bytes, overflow checked. */
void *mx_arena_calloc(mx_arena *arena, size_t n_items, size_t item_size) MX_NODISCARD;

#define mx_arena_new(arena, type)      ((type *)mx_arena_alloc((arena), sizeof(type)))
#define mx_arena_array(arena, type, n) ((type *)mx_arena_calloc((arena), (size_t)(n), sizeof(type)))

/* A copy of s that is followed by a zero byte; ptr is NULL when out of memory. */
mx_str mx_arena_copy_str(mx_arena *arena, mx_str s);

/* A formatted string, zero terminated; NULL when out of memory. */
const char *mx_arena_printf(mx_arena *arena, const char *fmt, ...) MX_PRINTF(2, 3);

#endif
