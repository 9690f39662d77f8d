/* arena.c - a chain of blocks. Blocks double up to 1 MiB, so a small arena stays small and a large one has few. */
#include "base/arena.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "base/mem.h"

#define ARENA_ALIGN     16
#define ARENA_MIN_BLOCK 1024
#define ARENA_MAX_BLOCK ((size_t)1 << 20)

struct mx_arena_block {
    mx_arena_block *previous; /* owned */
    size_t used;
    size_t cap;
    size_t reserved; /* the padding to ARENA_ALIGN, spelled out */
};
_Static_assert(sizeof(mx_arena_block) % ARENA_ALIGN == 0, "data follows the header aligned");

static uint8_t *block_data(mx_arena_block *block)
{
    return (uint8_t *)(block + 1);
}

static mx_arena_block *add_block(mx_arena *arena, size_t n_bytes)
{
    size_t cap = arena->last ? MX_MIN(arena->last->cap * 2, ARENA_MAX_BLOCK) : ARENA_MIN_BLOCK;
    cap = MX_MAX(cap, n_bytes);
    const size_t left = arena->max_bytes - arena->n_bytes;
    if (cap > left) {
        cap = n_bytes; /* near the cap a block is no larger than it must be */
    }
    if (cap > left || cap > SIZE_MAX - sizeof(mx_arena_block)) {
        return NULL;
    }
    mx_arena_block *block = mx_malloc(sizeof *block + cap);
    if (!block) {
        return NULL;
    }
    *block = (mx_arena_block){.previous = arena->last, .cap = cap};
    arena->last = block;
    arena->n_bytes += cap;
    return block;
}

static void free_chain(mx_arena_block *block)
{
    while (block) {
        mx_arena_block *previous = block->previous;
        mx_free(block);
        block = previous;
    }
}

void mx_arena_deinit(mx_arena *arena)
{
    free_chain(arena->last);
    *arena = (mx_arena){.max_bytes = arena->max_bytes};
}

void mx_arena_reset(mx_arena *arena)
{
    if (!arena->last) {
        return;
    }
    free_chain(arena->last->previous);
    arena->last->previous = NULL;
    arena->last->used = 0;
    arena->n_bytes = arena->last->cap;
}

void *mx_arena_alloc(mx_arena *arena, size_t n_bytes)
{
    if (n_bytes > SIZE_MAX - ARENA_ALIGN) {
        return NULL;
    }
    const size_t n = (n_bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    mx_arena_block *block = arena->last;
    if (!block || n > block->cap - block->used) {
        block = add_block(arena, n);
        if (!block) {
            return NULL;
        }
    }
    void *ptr = block_data(block) + block->used;
    block->used += n;
    return memset(ptr, 0, n);
}

void *mx_arena_calloc(mx_arena *arena, size_t n_items, size_t item_size)
{
    size_t n_bytes = 0;
    return mx_mul_size(n_items, item_size, &n_bytes) ? mx_arena_alloc(arena, n_bytes) : NULL;
}

mx_str mx_arena_copy_str(mx_arena *arena, mx_str s)
{
    char *copy = s.len < SIZE_MAX ? mx_arena_alloc(arena, s.len + 1) : NULL;
    if (copy && s.len) {
        memcpy(copy, s.ptr, s.len);
    }
    return (mx_str){copy, copy ? s.len : 0};
}

const char *mx_arena_printf(mx_arena *arena, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    va_list again;
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *text = n >= 0 ? mx_arena_alloc(arena, (size_t)n + 1) : NULL;
    if (text) {
        vsnprintf(text, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    return text;
}
