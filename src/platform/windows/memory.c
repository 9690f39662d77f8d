/* memory.c - VirtualAlloc; totals, and the limit of a job object (which is how containers are limited). Blocks count
 * against the system's commit limit as a whole, though physical memory is taken page by page. */
#include "platform/memory.h"

#include <windows.h>

#include <psapi.h>

#include "base/mem.h"

#define HUGE_PAGE ((size_t)2 << 20)

/* Large pages proper need a privilege that users do not have, so alignment is all that is done for them. */
mx_status mx_block_alloc(size_t n_bytes, mx_block *out, mx_error *err)
{
    *out = (mx_block){0};
    if (n_bytes > SIZE_MAX / 2) {
        return mx_fail_no_memory(err, n_bytes, "a block");
    }
    const size_t n = MX_MAX((n_bytes + 4095) / 4096 * 4096, 4096);
    void *ptr = NULL;
    /* Reserve with slack, free, and take the aligned part again; another thread may snatch it, so a few tries. */
    for (int i = 0; i < 8 && !ptr && n >= HUGE_PAGE; i++) {
        uint8_t *raw = VirtualAlloc(NULL, n + HUGE_PAGE, MEM_RESERVE, PAGE_READWRITE);
        if (!raw) {
            break;
        }
        uint8_t *aligned = raw + (HUGE_PAGE - (uintptr_t)raw % HUGE_PAGE) % HUGE_PAGE;
        VirtualFree(raw, 0, MEM_RELEASE);
        ptr = VirtualAlloc(aligned, n, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    }
    if (!ptr) {
        ptr = VirtualAlloc(NULL, n, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    }
    if (!ptr) {
        return mx_fail_no_memory(err, n_bytes, "a block");
    }
    *out = (mx_block){.ptr = ptr, .n_bytes = n};
    return MX_OK;
}

void mx_block_free(mx_block *block)
{
    if (block->ptr) {
        VirtualFree(block->ptr, 0, MEM_RELEASE);
    }
    *block = (mx_block){0};
}

static int64_t job_limit(void)
{
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION info;
    if (!QueryInformationJobObject(NULL, JobObjectExtendedLimitInformation, &info, sizeof info, NULL)) {
        return INT64_MAX;
    }
    int64_t limit = INT64_MAX;
    if (info.BasicLimitInformation.LimitFlags & JOB_OBJECT_LIMIT_JOB_MEMORY) {
        limit = MX_MIN(limit, (int64_t)info.JobMemoryLimit);
    }
    if (info.BasicLimitInformation.LimitFlags & JOB_OBJECT_LIMIT_PROCESS_MEMORY) {
        limit = MX_MIN(limit, (int64_t)info.ProcessMemoryLimit);
    }
    return limit;
}

int64_t mx_memory_total(void)
{
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    const int64_t machine = GlobalMemoryStatusEx(&status) ? (int64_t)status.ullTotalPhys : INT64_MAX;
    const int64_t job = job_limit();
    return MX_MIN(machine, job);
}

/* What this process has of its job's memory; others of the job are not seen. */
static int64_t own_bytes(void)
{
    PROCESS_MEMORY_COUNTERS counters = {.cb = sizeof counters};
    return K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters) ? (int64_t)counters.PagefileUsage
                                                                                    : 0;
}

int64_t mx_memory_available(void)
{
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    int64_t machine = INT64_MAX;
    if (GlobalMemoryStatusEx(&status)) {
        machine = (int64_t)MX_MIN(status.ullAvailPhys, status.ullAvailPageFile);
    }
    const int64_t limit = job_limit();
    const int64_t job = limit == INT64_MAX ? limit : MX_MAX(limit - own_bytes(), 0);
    return MX_MIN(machine, job);
}
