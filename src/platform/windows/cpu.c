/* cpu.c - processors counted over all groups, and the rate limit of a job object. */
#include <stddef.h>
#include <string.h>
#include <windows.h>

#include "base/mem.h"
#include "platform/cpu_detect.h"

static int32_t count_cores(void)
{
    DWORD n_bytes = 0;
    GetLogicalProcessorInformationEx(RelationProcessorCore, NULL, &n_bytes);
    uint8_t *list = n_bytes > 0 ? mx_malloc(n_bytes) : NULL;
    int32_t n = 0;
    if (list && GetLogicalProcessorInformationEx(RelationProcessorCore,
                                                 (SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX *)(void *)list, &n_bytes)) {
        for (DWORD at = 0; at < n_bytes; n++) {
            DWORD size; /* entries differ in size */
            memcpy(&size, list + at + offsetof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX, Size), sizeof size);
            at += MX_MAX(size, 1);
        }
    }
    mx_free(list);
    return n;
}

/* A mask holds one group of 64; a process that spans several groups has all of them. */
static int32_t count_allowed(int32_t n_logical)
{
    DWORD_PTR process = 0;
    DWORD_PTR system = 0;
    if (GetActiveProcessorGroupCount() > 1 || !GetProcessAffinityMask(GetCurrentProcess(), &process, &system)) {
        return n_logical;
    }
    int32_t n = 0;
    for (; process != 0; process &= process - 1) {
        n++;
    }
    return n;
}

/* As JOBOBJECT_CPU_RATE_CONTROL_INFORMATION, which some header sets lack. */
typedef struct rate_control {
    DWORD flags;
    DWORD rate; /* hundredths of a percent of the whole machine */
} rate_control;
#define JOB_CPU_RATE_CLASS 15
#define RATE_ENABLED       0x1u
#define RATE_WEIGHT_BASED  0x2u
#define RATE_MIN_MAX       0x10u

static double job_quota(int32_t n_logical)
{
    rate_control control = {0};
    if (!QueryInformationJobObject(NULL, (JOBOBJECTINFOCLASS)JOB_CPU_RATE_CLASS, &control, sizeof control, NULL) ||
        !(control.flags & RATE_ENABLED) || (control.flags & RATE_WEIGHT_BASED)) {
        return 0;
    }
    const DWORD rate = control.flags & RATE_MIN_MAX ? control.rate >> 16 : control.rate;
    return (double)n_logical * (double)rate / 10000.0;
}

void mx_cpu_detect_counts(mx_cpu_info *info)
{
    info->n_logical = (int32_t)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    info->n_physical = count_cores();
    info->n_allowed = count_allowed(info->n_logical);
    info->quota = job_quota(info->n_logical);
}
