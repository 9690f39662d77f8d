/* cgroup.c - reading the groups' files.
 *
 * /proc/self/cgroup names our group; limits hold from it up to the root. Inside a container the named folder is often
 * not mounted, and the root of the mount is the container's own group, so the walk always ends there.
 */
#include "platform/posix/cgroup.h"

#include <stdio.h>
#include <stdlib.h>

#include "platform/file.h"

#define MAX_FILE 65536
#define MAX_PATH 4096

/* The file as terminated text; false where it cannot be read. */
static bool read_text(const char *root, const char *folder, const char *file, char *text, size_t cap)
{
    char path[MAX_PATH + 256];
    mx_buf buf = {0};
    snprintf(path, sizeof path, "%s%s%s", root, folder, file);
    const bool is_read = mx_file_read(path, MAX_FILE, &buf, NULL) == MX_OK;
    const size_t n = MX_MIN(buf.len, cap - 1);
    if (n > 0) {
        memcpy(text, buf.data, n);
    }
    text[n] = '\0';
    mx_buf_deinit(&buf);
    return is_read;
}

/* The path of our group behind the line that names `controller` ("" is version 2's only line); "" where absent. */
static void find_group(const char *root, const char *controller, char path[MAX_PATH])
{
    static const char file[] = "/proc/self/cgroup";
    char text[MAX_FILE];
    path[0] = '\0';
    if (!read_text(root, "", file, text, sizeof text)) {
        return;
    }
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *names = strchr(line, ':');
        char *group = names ? strchr(names + 1, ':') : NULL;
        if (!group) {
            continue;
        }
        *group++ = '\0';
        names++;
        const mx_str list = mx_str_from(names);
        const size_t n = strlen(controller);
        bool is_ours = n == 0 && list.len == 0;
        for (size_t at = 0; n > 0 && (at = mx_str_find(list, mx_str_from(controller), at)) != MX_STR_NPOS; at += n) {
            is_ours |= (at == 0 || names[at - 1] == ',') && (names[at + n] == '\0' || names[at + n] == ',');
        }
        if (is_ours) {
            snprintf(path, MAX_PATH, "%s", strcmp(group, "/") == 0 ? "" : group);
            return;
        }
    }
}

typedef struct cgroup_walk {
    const char *root;
    double quota;
    int64_t memory_limit;
    int64_t memory_used;
} cgroup_walk;

typedef void (*cgroup_visit)(cgroup_walk *walk, const char *folder);

/* Calls visit for mount/group and every parent up to the mount itself. */
static void visit_upwards(cgroup_walk *walk, const char *mount, const char *controller, cgroup_visit visit)
{
    char group[MAX_PATH];
    char folder[MAX_PATH + 64];
    find_group(walk->root, controller, group);
    for (;;) {
        snprintf(folder, sizeof folder, "%s%s", mount, group);
        visit(walk, folder);
        char *slash = strrchr(group, '/');
        if (!slash) {
            return;
        }
        *slash = '\0';
    }
}

static void lower_quota(cgroup_walk *walk, double quota_us, double period_us)
{
    if (quota_us > 0 && period_us > 0 && (walk->quota == 0 || quota_us / period_us < walk->quota)) {
        walk->quota = quota_us / period_us;
    }
}

static void visit_cpu_v2(cgroup_walk *walk, const char *folder)
{
    char text[128];
    char *end;
    if (read_text(walk->root, folder, "/cpu.max", text, sizeof text)) {
        const double quota = strtod(text, &end); /* "max 100000" gives 0 */
        lower_quota(walk, quota, strtod(end, NULL));
    }
}

static void visit_cpu_v1(cgroup_walk *walk, const char *folder)
{
    char quota[64];
    char period[64];
    if (read_text(walk->root, folder, "/cpu.cfs_quota_us", quota, sizeof quota) &&
        read_text(walk->root, folder, "/cpu.cfs_period_us", period, sizeof period)) {
        lower_quota(walk, strtod(quota, NULL), strtod(period, NULL));
    }
}

static int64_t stat_field(const char *text, const char *name)
{
    const char *line = strstr(text, name);
    return line ? strtoll(line + strlen(name), NULL, 10) : 0;
}

static void visit_memory(cgroup_walk *walk, const char *folder, const char *limit_file, const char *usage_file)
{
    char limit[64];
    char usage[64];
    char stat[MAX_FILE];
    if (!read_text(walk->root, folder, limit_file, limit, sizeof limit) ||
        !read_text(walk->root, folder, usage_file, usage, sizeof usage)) {
        return;
    }
    const int64_t value = strtoll(limit, NULL, 10); /* "max" gives 0; version 1 says about 2^63 for no limit */
    if (value <= 0 || value >= INT64_MAX / 2 || value >= walk->memory_limit) {
        return;
    }
    read_text(walk->root, folder, "/memory.stat", stat, sizeof stat);
    walk->memory_limit = value;
    walk->memory_used = MX_MAX(strtoll(usage, NULL, 10) - stat_field(stat, "\ninactive_file "), 0);
}

static void visit_memory_v2(cgroup_walk *walk, const char *folder)
{
    visit_memory(walk, folder, "/memory.max", "/memory.current");
}

static void visit_memory_v1(cgroup_walk *walk, const char *folder)
{
    visit_memory(walk, folder, "/memory.limit_in_bytes", "/memory.usage_in_bytes");
}

double mx_cgroup_cpu_quota(const char *root)
{
    cgroup_walk walk = {.root = root};
    visit_upwards(&walk, "/sys/fs/cgroup", "", visit_cpu_v2);
    visit_upwards(&walk, "/sys/fs/cgroup/cpu", "cpu", visit_cpu_v1);
    return walk.quota;
}

void mx_cgroup_memory(const char *root, int64_t *limit, int64_t *used)
{
    cgroup_walk walk = {.root = root, .memory_limit = INT64_MAX};
    visit_upwards(&walk, "/sys/fs/cgroup", "", visit_memory_v2);
    visit_upwards(&walk, "/sys/fs/cgroup/memory", "memory", visit_memory_v1);
    *limit = walk.memory_limit;
    *used = walk.memory_used;
}
