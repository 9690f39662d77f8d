/* test.h - a test program in one header.
 *
 *     MX_TEST(rejects_a_header_longer_than_the_file)
 *     {
 *         mx_error err;
 *         MX_CHECK_FAILS(mx_st_open(path, &st, &err), MX_FORMAT, &err, "header says");
 *     }
 *     MX_TEST_MAIN(MX_CASE(rejects_a_header_longer_than_the_file), MX_CASE(...))
 *
 * A test's name is a sentence. A failed check prints where and what, and the test goes on; a test with a failed check
 * fails. The program's arguments choose the tests whose names contain one of them. It ends with one line
 * "N passed, N failed" (and ", N skipped" where tests were), and its exit code is 0 only if none failed and one ran.
 */
#ifndef MX_TESTS_TEST_H
#define MX_TESTS_TEST_H

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"

typedef struct mx_test_case {
    const char *name;
    void (*run)(void);
} mx_test_case;

static int mx_test_n_failed_checks;
static const char *mx_test_skip_reason;

#define MX_TEST(name) static void name(void)
#define MX_CASE(name) \
    {                 \
#name, name   \
    }

#define MX_TEST_FAIL(...) \
    (mx_test_n_failed_checks++, printf("  %s:%d: ", __FILE__, __LINE__), printf(__VA_ARGS__), printf("\n"))

/* Marks the running test as skipped; return from it afterwards. */
#define MX_TEST_SKIP(reason) (mx_test_skip_reason = (reason))

#define MX_CHECK(cond) ((cond) ? (void)0 : (void)MX_TEST_FAIL("%s", #cond))

#define MX_CHECK_I64(found, wanted) mx_test_check_i64((int64_t)(found), (int64_t)(wanted), #found, __FILE__, __LINE__)
#define MX_CHECK_STR(found, wanted) mx_test_check_str((found), (wanted), #found, __FILE__, __LINE__)
#define MX_CHECK_CSTR(found, wanted) \
    mx_test_check_str(mx_str_from(found), mx_str_from(wanted), #found, __FILE__, __LINE__)

/* |found - wanted| <= tolerance, and both are finite. */
#define MX_CHECK_NEAR(found, wanted, tolerance) \
    mx_test_check_near((double)(found), (double)(wanted), (double)(tolerance), #found, __FILE__, __LINE__)

/* The call gives MX_OK; else the error's message (err is a mx_error *) is printed. */
#define MX_CHECK_OK(call, err) mx_test_check_ok((call), (err), #call, __FILE__, __LINE__)

/* The call gives this status, and the message contains the piece. */
#define MX_CHECK_FAILS(call, wanted, err, piece) \
    mx_test_check_fails((call), (wanted), (err), (piece), #call, __FILE__, __LINE__)

static inline bool mx_test_check_i64(int64_t found, int64_t wanted, const char *what, const char *file, int line)
{
    if (found == wanted) {
        return true;
    }
    mx_test_n_failed_checks++;
    printf("  %s:%d: %s is %" PRId64 ", wanted %" PRId64 "\n", file, line, what, found, wanted);
    return false;
}

static inline bool mx_test_check_str(mx_str found, mx_str wanted, const char *what, const char *file, int line)
{
    if (mx_str_eq(found, wanted)) {
        return true;
    }
    mx_test_n_failed_checks++;
    printf("  %s:%d: %s is \"%.*s\" (%zu bytes), wanted \"%.*s\" (%zu bytes)\n", file, line, what, MX_STR_ARG(found),
           found.len, MX_STR_ARG(wanted), wanted.len);
    return false;
}

static inline bool mx_test_check_near(double found, double wanted, double tolerance, const char *what, const char *file,
                                      int line)
{
    if (isfinite(found) && isfinite(wanted) && fabs(found - wanted) <= tolerance) {
        return true;
    }
    mx_test_n_failed_checks++;
    printf("  %s:%d: %s is %.9g, wanted %.9g within %.3g\n", file, line, what, found, wanted, tolerance);
    return false;
}

static inline bool mx_test_check_ok(mx_status found, const mx_error *err, const char *what, const char *file, int line)
{
    if (found == MX_OK) {
        return true;
    }
    mx_test_n_failed_checks++;
    printf("  %s:%d: %s failed with %s: %s\n", file, line, what, mx_status_name(found), err ? err->message : "");
    return false;
}

static inline bool mx_test_check_fails(mx_status found, mx_status wanted, const mx_error *err, const char *piece,
                                       const char *what, const char *file, int line)
{
    const char *message = found != MX_OK && err ? err->message : "";
    if (found == wanted && strstr(message, piece)) {
        return true;
    }
    mx_test_n_failed_checks++;
    printf("  %s:%d: %s gave %s \"%s\", wanted %s with \"%s\"\n", file, line, what, mx_status_name(found), message,
           mx_status_name(wanted), piece);
    return false;
}

static inline bool mx_test_is_chosen(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strstr(name, argv[i])) {
            return true;
        }
    }
    return argc < 2;
}

static inline int mx_test_main(int argc, char **argv, const mx_test_case *cases, size_t n_cases)
{
    int n_passed = 0;
    int n_failed = 0;
    int n_skipped = 0;
    for (size_t i = 0; i < n_cases; i++) {
        if (!mx_test_is_chosen(cases[i].name, argc, argv)) {
            continue;
        }
        const int n_before = mx_test_n_failed_checks;
        mx_test_skip_reason = NULL;
        cases[i].run();
        if (mx_test_n_failed_checks != n_before) {
            printf("failed: %s\n", cases[i].name);
            n_failed++;
        } else if (mx_test_skip_reason) {
            printf("skipped: %s: %s\n", cases[i].name, mx_test_skip_reason);
            n_skipped++;
        } else {
            n_passed++;
        }
        fflush(stdout);
    }
    printf("%d passed, %d failed", n_passed, n_failed);
    if (n_skipped) {
        printf(", %d skipped", n_skipped);
    }
    printf("\n");
    return n_failed == 0 && n_passed + n_skipped > 0 ? 0 : 1;
}

#define MX_TEST_MAIN(...)                                          \
    int main(int argc, char **argv)                                \
    {                                                              \
        static const mx_test_case cases[] = {__VA_ARGS__};         \
        return mx_test_main(argc, argv, cases, MX_COUNTOF(cases)); \
    }

#endif
