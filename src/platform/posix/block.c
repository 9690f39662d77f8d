/* block.c - anonymous mappings, aligned for huge pages. */
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "platform/memory.h"

#define HUGE_PAGE ((size_t)2 << 20)

/* Aligned by mapping more and giving back both ends. */
static uint8_t *map_aligned(size_t n_bytes, size_t align)
{
    uint8_t *raw = mmap(NULL, n_bytes + align, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) {
        return NULL;
    }
    const size_t before = align ? (align - (uintptr_t)raw % align) % align : 0;
    if (before > 0) {
        munmap(raw, before);
    }
    if (align > before) {
        munmap(raw + before + n_bytes, align - before);
    }
    return raw + before;
}

mx_status mx_block_alloc(size_t n_bytes, mx_block *out, mx_error *err)
{
    *out = (mx_block){0};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (n_bytes > SIZE_MAX / 2) {
        return mx_fail_no_memory(err, n_bytes, "a block");
    }
    const size_t n = MX_MAX((n_bytes + page - 1) / page * page, page);
    uint8_t *ptr = map_aligned(n, n >= HUGE_PAGE ? HUGE_PAGE : 0);
    if (!ptr) {
        return mx_fail_no_memory(err, n_bytes, "a block");
    }
#ifdef MADV_HUGEPAGE
    if (n >= HUGE_PAGE) {
        (void)madvise(ptr, n, MADV_HUGEPAGE);
    }
#endif
    *out = (mx_block){.ptr = ptr, .n_bytes = n};
    return MX_OK;
}

void mx_block_free(mx_block *block)
{
    if (block->ptr) {
        munmap(block->ptr, block->n_bytes);
    }
    *block = (mx_block){0};
}
