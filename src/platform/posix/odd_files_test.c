/* odd_files_test.c - files that are none, and files that change while they are in use. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/map.h"
#include "tests/test.h"
#include "tests/tmpdir.h"

MX_TEST(a_pipe_or_a_device_is_refused_without_waiting)
{
    mx_tmpdir dir;
    mx_error err;
    mx_buf buf;
    mx_map map;
    mx_tmpdir_open(&dir);
    const char *pipe_path = mx_tmpdir_path(&dir, "pipe");
    MX_CHECK(mkfifo(pipe_path, 0600) == 0);
    MX_CHECK_FAILS(mx_file_read(pipe_path, 100, &buf, &err), MX_IO, &err, "pipe is not a regular file but a pipe");
    MX_CHECK_FAILS(mx_map_open(pipe_path, &map, &err), MX_IO, &err, "not a regular file but a pipe");
    MX_CHECK_FAILS(mx_file_read("/dev/zero", 100, &buf, &err), MX_IO, &err, "/dev/zero is not a regular file but a d");
    MX_CHECK_FAILS(mx_map_open("/dev/zero", &map, &err), MX_IO, &err, "a device");
    mx_tmpdir_close(&dir);
}

MX_TEST(what_may_be_anything_is_read_to_its_end)
{
    mx_tmpdir dir;
    mx_error err;
    mx_buf buf;
    mx_tmpdir_open(&dir);
    const char *pipe_path = mx_tmpdir_path(&dir, "pipe");
    MX_CHECK(mkfifo(pipe_path, 0600) == 0);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const int fd = open(pipe_path, O_WRONLY);
        _exit(write(fd, "hello", 5) == 5 ? 0 : 1);
    }
    if (MX_CHECK_OK(mx_file_read_any(pipe_path, 100, &buf, &err), &err)) {
        MX_CHECK_STR(mx_buf_view(&buf), MX_STR("hello"));
    }
    mx_buf_deinit(&buf);
    int status;
    MX_CHECK(waitpid(child, &status, 0) == child);
    mx_tmpdir_close(&dir);
}

/* Maps a file in a process of its own, cuts it and reads past its end; returns how that ended. */
static int read_past_a_cut(const char *path, bool has_reports, int to)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        mx_map map;
        mx_map other;
        dup2(to, STDERR_FILENO);
        signal(SIGBUS, SIG_DFL);
        if (has_reports) {
            mx_map_report_faults("prefix: ", 9);
        }
        if (mx_map_open(path, &other, NULL) != MX_OK || mx_map_open(path, &map, NULL) != MX_OK) {
            _exit(1);
        }
        mx_map_close(&other);
        if (truncate(path, 10) != 0) {
            _exit(1);
        }
        const volatile uint8_t *last = map.data + map.n_bytes - 1;
        _exit(*last == 0 ? 2 : 3);
    }
    int status = 0;
    MX_CHECK(waitpid(child, &status, 0) == child);
    return status;
}

MX_TEST(a_mapped_file_that_is_cut_is_named)
{
    enum { N_BYTES = 1 << 20 };
    static char bytes[N_BYTES];
    mx_tmpdir dir;
    int pipe_ends[2];
    char said[1000] = "";
    mx_tmpdir_open(&dir);
    MX_CHECK(pipe(pipe_ends) == 0);
    mx_tmpdir_write(&dir, "weights", (mx_str){bytes, N_BYTES});
    int status = read_past_a_cut(mx_tmpdir_path(&dir, "weights"), true, pipe_ends[1]);
    MX_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 9);
    close(pipe_ends[1]);
    MX_CHECK(read(pipe_ends[0], said, sizeof said - 1) > 0);
    MX_CHECK(strncmp(said, "prefix: ", 8) == 0 && strstr(said, "weights cannot be read any more: it was cut short"));
    close(pipe_ends[0]);
    mx_tmpdir_write(&dir, "weights", (mx_str){bytes, N_BYTES});
    status = read_past_a_cut(mx_tmpdir_path(&dir, "weights"), false, STDERR_FILENO);
    MX_CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    mx_tmpdir_close(&dir);
}

MX_TEST_MAIN(MX_CASE(a_pipe_or_a_device_is_refused_without_waiting), MX_CASE(what_may_be_anything_is_read_to_its_end),
             MX_CASE(a_mapped_file_that_is_cut_is_named))
