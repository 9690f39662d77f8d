/* cpu_linux.c - processors counted by affinity mask, sysfs topology and control groups. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "platform/cpu_detect.h"
#include "platform/posix/cgroup.h"

#define MAX_CPUS 8192

static int32_t count_allowed(void)
{
    cpu_set_t *mask = CPU_ALLOC(MAX_CPUS); /* the fixed cpu_set_t ends at 1024 */
    if (!mask) {
        return 0;
    }
    const size_t n_bytes = CPU_ALLOC_SIZE(MAX_CPUS);
    CPU_ZERO_S(n_bytes, mask);
    const int32_t n = sched_getaffinity(0, n_bytes, mask) == 0 ? CPU_COUNT_S(n_bytes, mask) : 0;
    CPU_FREE(mask);
    return n;
}

static int32_t read_number(int32_t cpu, const char *file)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", (int)cpu, file);
    FILE *stream = fopen(path, "re");
    int value = -1;
    if (stream) {
        if (fscanf(stream, "%d", &value) != 1) {
            value = -1;
        }
        fclose(stream);
    }
    return value;
}

static int compare_i64(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Different pairs of package and core; 0 where sysfs does not tell. */
static int32_t count_physical(int32_t n_logical)
{
    int64_t *cores = mx_calloc((size_t)n_logical, sizeof *cores);
    int32_t n_cores = 0;
    int32_t n_different = 0;
    for (int32_t cpu = 0; cores && cpu < n_logical; cpu++) {
        const int32_t package = read_number(cpu, "physical_package_id");
        const int32_t core = read_number(cpu, "core_id");
        if (core >= 0) {
            cores[n_cores++] = ((int64_t)MX_MAX(package, 0) << 32) | core;
        }
    }
    if (n_cores > 0) {
        qsort(cores, (size_t)n_cores, sizeof *cores, compare_i64);
    }
    for (int32_t i = 0; i < n_cores; i++) {
        n_different += i == 0 || cores[i] != cores[i - 1];
    }
    mx_free(cores);
    return n_different;
}

void mx_cpu_detect_counts(mx_cpu_info *info)
{
    info->n_logical = (int32_t)MX_MIN(MX_MAX(sysconf(_SC_NPROCESSORS_ONLN), 1), MAX_CPUS);
    info->n_allowed = count_allowed();
    info->n_physical = count_physical(info->n_logical);
    info->quota = mx_cgroup_cpu_quota("");
}
