/* cgroup.h - what Linux's control groups, versions 1 and 2, allow this process. Private to platform/posix. */
#ifndef MX_PLATFORM_POSIX_CGROUP_H
#define MX_PLATFORM_POSIX_CGROUP_H

#include <stdint.h>

/* `root` goes before /proc and /sys: "" for the machine, a folder in tests. */

/* Processors' worth of time, the least of this group's and its parents'; 0 where nothing is set. */
double mx_cgroup_cpu_quota(const char *root);

/* The memory limit in bytes, and what is in use without caches that can be dropped. INT64_MAX and 0 where nothing is
 * set. */
void mx_cgroup_memory(const char *root, int64_t *limit, int64_t *used);

#endif
