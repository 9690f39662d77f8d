#include "platform/posix/cgroup.h"

#include "tests/test.h"
#include "tests/tmpdir.h"

static mx_tmpdir dir;

/* Writes root/<folders>/<file>, making the folders on the way. */
static void put(const char *path, const char *text)
{
    mx_error err = {0};
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        const char *folder = mx_arena_printf(&dir.arena, "%s%.*s", dir.path, (int)(slash - path), path);
        if (mx_file_kind_at(folder) == MX_FILE_MISSING) {
            MX_CHECK_OK(mx_dir_create(folder, &err), &err);
        }
    }
    MX_CHECK_OK(mx_file_write(mx_arena_printf(&dir.arena, "%s%s", dir.path, path), mx_str_from(text), &err), &err);
}

static void check_memory(int64_t wanted_limit, int64_t wanted_used)
{
    int64_t limit;
    int64_t used;
    mx_cgroup_memory(dir.path, &limit, &used);
    MX_CHECK_I64(limit, wanted_limit);
    MX_CHECK_I64(used, wanted_used);
}

MX_TEST(a_machine_without_groups_has_no_limits)
{
    mx_tmpdir_open(&dir);
    MX_CHECK(mx_cgroup_cpu_quota(dir.path) == 0);
    check_memory(INT64_MAX, 0);
    mx_tmpdir_close(&dir);
}

MX_TEST(version_2_takes_the_least_of_the_group_and_its_parents)
{
    mx_tmpdir_open(&dir);
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    put("/sys/fs/cgroup/a/b/memory.max", "1000000\n");
    put("/sys/fs/cgroup/a/b/memory.current", "300000\n");
    put("/sys/fs/cgroup/a/b/memory.stat", "anon 5\nfile 7\ninactive_file 100000\nactive_file 9\n");
    put("/sys/fs/cgroup/a/memory.max", "max\n");
    put("/sys/fs/cgroup/a/memory.current", "900000\n");
    MX_CHECK(mx_cgroup_cpu_quota(dir.path) == 1.5);
    check_memory(1000000, 200000);
    mx_tmpdir_close(&dir);
}

MX_TEST(a_container_sees_its_group_as_the_root)
{
    mx_tmpdir_open(&dir);
    put("/proc/self/cgroup", "0::/not/mounted/here\n");
    put("/sys/fs/cgroup/cpu.max", "250000 100000\n");
    put("/sys/fs/cgroup/memory.max", "5000\n");
    put("/sys/fs/cgroup/memory.current", "6000\n");
    put("/sys/fs/cgroup/memory.stat", "\ninactive_file 9000\n");
    MX_CHECK(mx_cgroup_cpu_quota(dir.path) == 2.5);
    check_memory(5000, 0);
    mx_tmpdir_close(&dir);
}

MX_TEST(version_1_is_read_by_controller)
{
    mx_tmpdir_open(&dir);
    put("/proc/self/cgroup", "12:cpuset:/wrong\n4:cpu,cpuacct:/job\n3:memory:/job\n");
    put("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "300000\n");
    put("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4096000\n");
    put("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1000\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "2000\n");
    MX_CHECK(mx_cgroup_cpu_quota(dir.path) == 3.0);
    check_memory(4096000, 1000);
    mx_tmpdir_close(&dir);
}

MX_TEST_MAIN(MX_CASE(a_machine_without_groups_has_no_limits),
             MX_CASE(version_2_takes_the_least_of_the_group_and_its_parents),
             MX_CASE(a_container_sees_its_group_as_the_root), MX_CASE(version_1_is_read_by_controller))
