/* interrupt_test.c - signals that this program sends to itself. */
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/console.h"
#include "platform/signal.h"
#include "tests/test.h"

/* Who runs this test may have had them ignored. */
static void stop_ignoring(void)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

MX_TEST(an_interrupt_that_is_ignored_stays_so)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        stop_ignoring();
        signal(SIGINT, SIG_IGN);
        mx_signal_install();
        raise(SIGINT);
        const bool was_ignored = !mx_signal_is_interrupted();
        raise(SIGTERM);
        _exit(was_ignored && mx_signal_is_interrupted() ? 7 : 8);
    }
    int status = 0;
    MX_CHECK(waitpid(child, &status, 0) == child);
    MX_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

MX_TEST(the_first_interrupt_sets_the_flag)
{
    stop_ignoring();
    mx_signal_install();
    MX_CHECK(!mx_signal_is_interrupted());
    raise(SIGINT);
    MX_CHECK(mx_signal_is_interrupted());
    mx_signal_reset();
    MX_CHECK(!mx_signal_is_interrupted());
    raise(SIGTERM);
    MX_CHECK(mx_signal_is_interrupted());
    mx_signal_reset();
}

MX_TEST(the_second_interrupt_ends_the_process)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        stop_ignoring();
        mx_signal_install();
        raise(SIGINT);
        raise(SIGINT);
        _exit(0);
    }
    int status = 0;
    MX_CHECK(waitpid(child, &status, 0) == child);
    MX_CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
}

MX_TEST(a_reader_that_has_gone_away_is_an_error_and_not_the_end)
{
    mx_error err = {0};
    int pipe_ends[2];
    mx_signal_install();
    MX_CHECK(pipe(pipe_ends) == 0);
    close(pipe_ends[0]);
    const int kept = dup(STDERR_FILENO);
    dup2(pipe_ends[1], STDERR_FILENO);
    const mx_status st = mx_console_write(MX_STDERR, MX_STR("nobody reads this"), &err);
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(pipe_ends[1]);
    MX_CHECK_FAILS(st, MX_IO, &err, "cannot write to standard error");
}

MX_TEST(standard_input_is_read_to_its_end_or_cap)
{
    for (size_t cap = 4; cap <= 6; cap++) {
        mx_error err = {0};
        mx_buf buf;
        int pipe_ends[2];
        MX_CHECK(pipe(pipe_ends) == 0);
        MX_CHECK(write(pipe_ends[1], "hello", 5) == 5);
        close(pipe_ends[1]);
        const int kept = dup(STDIN_FILENO);
        dup2(pipe_ends[0], STDIN_FILENO);
        const mx_status st = mx_console_read_all(cap, &buf, &err);
        dup2(kept, STDIN_FILENO);
        close(kept);
        close(pipe_ends[0]);
        if (cap < 5) {
            MX_CHECK_FAILS(st, MX_INVALID, &err, "standard input: larger than the 4 bytes");
        } else if (MX_CHECK_OK(st, &err)) {
            MX_CHECK_STR(mx_buf_view(&buf), MX_STR("hello"));
        }
        mx_buf_deinit(&buf);
    }
}

/* The first tick is the interrupt; the others end a wait that began after it. */
static void on_tick(int number)
{
    static volatile sig_atomic_t n_ticks;
    (void)number;
    if (n_ticks++ == 0) {
        raise(SIGINT);
    }
}

MX_TEST(an_interrupt_ends_the_wait_for_input)
{
    int status = 0;
    int pipe_ends[2];
    fflush(stdout);
    MX_CHECK(pipe(pipe_ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        const struct itimerval every_10_ms = {{0, 10000}, {0, 10000}};
        struct sigaction action;
        mx_buf buf;
        memset(&action, 0, sizeof action);
        action.sa_handler = on_tick;
        sigaction(SIGALRM, &action, NULL);
        stop_ignoring();
        mx_signal_install();
        dup2(pipe_ends[0], STDIN_FILENO);
        setitimer(ITIMER_REAL, &every_10_ms, NULL);
        const mx_status st = mx_console_read_all(100, &buf, NULL);
        _exit(st == MX_CANCELLED ? 7 : 8);
    }
    MX_CHECK(waitpid(child, &status, 0) == child);
    MX_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

MX_TEST_MAIN(MX_CASE(an_interrupt_that_is_ignored_stays_so), MX_CASE(the_first_interrupt_sets_the_flag),
             MX_CASE(the_second_interrupt_ends_the_process),
             MX_CASE(a_reader_that_has_gone_away_is_an_error_and_not_the_end),
             MX_CASE(standard_input_is_read_to_its_end_or_cap), MX_CASE(an_interrupt_ends_the_wait_for_input))
