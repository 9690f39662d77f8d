/* memory_linux.c - anonymous mappings with huge-page advice; totals from /proc and control groups. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "platform/memory.h"
#include "platform/os_error.h"
#include "platform/posix/cgroup.h"

#define HUGE_PAGE ((size_t)2 << 20)

mx_status mx_block_alloc(size_t n_bytes, mx_block *out, mx_error *err)
{
    *out = (mx_block){0};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (n_bytes > SIZE_MAX / 2) {
        return mx_fail_no_memory(err, n_bytes, "a block");
    }
    const size_t n = MX_MAX((n_bytes + page - 1) / page * page, page);
    const size_t slack = n >= HUGE_PAGE ? HUGE_PAGE : 0; /* mapped to find an aligned start, then given back */
    uint8_t *raw = mmap(NULL, n + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED) {
        return mx_fail_no_memory(err, n_bytes, "a block");
    }
    uint8_t *ptr = raw;
    if (slack > 0) {
        const size_t before = (HUGE_PAGE - (uintptr_t)raw % HUGE_PAGE) % HUGE_PAGE;
        ptr = raw + before;
        if (before > 0) {
            munmap(raw, before);
        }
        if (slack > before) {
            munmap(ptr + n, slack - before);
        }
        (void)madvise(ptr, n, MADV_HUGEPAGE);
    }
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

/* A line of /proc/meminfo in bytes, INT64_MAX where absent. */
static int64_t meminfo(const char *format)
{
    FILE *stream = fopen("/proc/meminfo", "re");
    char line[256];
    long long n_kib = INT64_MAX / 1024;
    while (stream && fgets(line, (int)sizeof line, stream)) {
        if (sscanf(line, format, &n_kib) == 1) {
            break;
        }
    }
    if (stream) {
        fclose(stream);
    }
    return (int64_t)n_kib * 1024;
}

int64_t mx_memory_total(void)
{
    int64_t limit;
    int64_t used;
    mx_cgroup_memory("", &limit, &used);
    const int64_t machine = meminfo("MemTotal: %lld");
    return MX_MIN(machine, limit);
}

int64_t mx_memory_available(void)
{
    int64_t limit;
    int64_t used;
    mx_cgroup_memory("", &limit, &used);
    const int64_t machine = meminfo("MemAvailable: %lld");
    const int64_t group = limit == INT64_MAX ? INT64_MAX : MX_MAX(limit - used, 0);
    return MX_MIN(machine, group);
}
