/* memory_linux.c - totals from /proc, within what control groups allow. */
#include <stdio.h>

#include "base/compiler.h"
#include "platform/memory.h"
#include "platform/posix/cgroup.h"

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
