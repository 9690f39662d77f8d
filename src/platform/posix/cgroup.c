/* cgroup.c - reading the groups' files.
 *
 * /proc/self/cgroup names our group; limits hold from it up to the root. Inside a container the named folder is often
 * not mounted, and the root of the mount is the container's own group, so the walk always ends there.
 */
#include "platform/posix/cgroup.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "platform/file.h"

#define MAX_FILE 65536
#define MAX_PATH 4096

/* The file as terminated text on the heap, which the caller frees; NULL where it cannot be read. */
static char *read_text(const char *root, const char *folder, const char *file)
{
    char path[2 * MAX_PATH];
    mx_buf buf = {0};
    const int n = snprintf(path, sizeof path, "%s%s%s", root, folder, file);
    const bool is_read = n > 0 && (size_t)n < sizeof path && mx_file_read(path, MAX_FILE, &buf, NULL) == MX_OK;
    buf.max = MAX_FILE + 1;
    if (!is_read || mx_buf_append_char(&buf, '\0', NULL) != MX_OK) {
        mx_buf_deinit(&buf);
        return NULL;
    }
    return buf.data;
}

/* Whether `names`, parted by commas, has this one; "" is in an empty list alone. */
static bool has_name(const char *names, const char *name)
{
    const mx_str list = mx_str_from(names);
    const size_t n = strlen(name);
    if (n == 0) {
        return list.len == 0;
    }
    for (size_t at = 0; (at = mx_str_find(list, mx_str_from(name), at)) != MX_STR_NPOS; at += n) {
        if ((at == 0 || names[at - 1] == ',') && (names[at + n] == '\0' || names[at + n] == ',')) {
            return true;
        }
    }
    return false;
}

/* The path of our group behind the line that names `controller` ("" is version 2's only line); "" where absent. */
static void find_group(const char *root, const char *controller, char path[MAX_PATH])
{
    char *text = read_text(root, "", "/proc/self/cgroup");
    char *rest = NULL;
    path[0] = '\0';
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest)) {
        char *names = strchr(line, ':');
        char *group = names ? strchr(names + 1, ':') : NULL;
        if (!group) {
            continue;
        }
        *group++ = '\0';
        if (has_name(names + 1, controller)) {
            snprintf(path, MAX_PATH, "%s", strcmp(group, "/") == 0 ? "" : group);
            break;
        }
    }
    mx_free(text);
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
    char *text = read_text(walk->root, folder, "/cpu.max");
    if (text) {
        char *end;
        const double quota = strtod(text, &end); /* "max 100000" gives 0 */
        lower_quota(walk, quota, strtod(end, NULL));
    }
    mx_free(text);
}

static void visit_cpu_v1(cgroup_walk *walk, const char *folder)
{
    char *quota = read_text(walk->root, folder, "/cpu.cfs_quota_us");
    char *period = read_text(walk->root, folder, "/cpu.cfs_period_us");
    if (quota && period) {
        lower_quota(walk, strtod(quota, NULL), strtod(period, NULL));
    }
    mx_free(quota);
    mx_free(period);
}

static int64_t stat_field(const char *text, const char *name)
{
    const char *line = text ? strstr(text, name) : NULL;
    return line ? strtoll(line + strlen(name), NULL, 10) : 0;
}

static void visit_memory(cgroup_walk *walk, const char *folder, const char *limit_file, const char *usage_file)
{
    char *limit = read_text(walk->root, folder, limit_file);
    char *usage = read_text(walk->root, folder, usage_file);
    const int64_t value = limit && usage ? strtoll(limit, NULL, 10) : 0;    /* "max" gives 0 */
    if (value > 0 && value < INT64_MAX / 2 && value < walk->memory_limit) { /* version 1 says about 2^63 for none */
        char *stat = read_text(walk->root, folder, "/memory.stat");
        walk->memory_limit = value;
        walk->memory_used = MX_MAX(strtoll(usage, NULL, 10) - stat_field(stat, "\ninactive_file "), 0);
        mx_free(stat);
    }
    mx_free(limit);
    mx_free(usage);
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
