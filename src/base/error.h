/* error.h - a status to branch on, an object to read.
 *
 * Every fallible function returns mx_status and takes an optional mx_error last. The status tells a program what to do
 * (a server answers 404 or 503), the object tells a person: one sentence that names the thing, what was expected and
 * what was found. An error is made once, where it is known best, and then returned or logged, once.
 */
#ifndef MX_BASE_ERROR_H
#define MX_BASE_ERROR_H

#include <stdarg.h>
#include <stdint.h>

#include "base/compiler.h"

/* name, HTTP answer, text: one row feeds the enum, the names and the server */
#define MX_STATUS_LIST(X)                                         \
    X(OK, 200, "ok")                                              \
    X(INVALID, 400, "the request is not valid")                   \
    X(NOT_FOUND, 404, "no such file, tensor or model")            \
    X(NO_MEMORY, 503, "out of memory")                            \
    X(FORMAT, 500, "a file is not what it claims")                \
    X(BUSY, 503, "all places are taken")                          \
    X(CANCELLED, 499, "the work was cancelled")                   \
    X(IO, 500, "reading or writing failed")                       \
    X(UNSUPPORTED, 501, "not supported by this build or version") \
    X(DEVICE, 500, "the compute device failed")                   \
    X(TOO_LONG, 400, "the prompt does not fit the context")

typedef enum mx_status {
#define X(name, http, text) MX_##name,
    MX_STATUS_LIST(X)
#undef X
} mx_status;

typedef struct mx_error {
    mx_status status;
    int64_t native;   /* errno, GetLastError() or a driver's code; 0 where there is none */
    const char *file; /* our source file; static */
    int line;
    char message[480]; /* one sentence, UTF-8, always terminated */
} mx_error;

/* Fills *err (if not NULL) with a formatted sentence and returns `status`, so failing is one line. */
#define mx_fail(err, status, ...) mx_fail_native((err), (status), 0, __VA_ARGS__)

/* The same with the operating system's or driver's own error number. The analyzer does not see into mx_fail_at, and
 * would follow paths on which a failure returns MX_OK. */
#ifdef __clang_analyzer__
#define mx_fail_native(err, status, native, ...) \
    (mx_fail_at((err), (status), (native), __FILE__, __LINE__, __VA_ARGS__), (status))
#else
#define mx_fail_native(err, status, native, ...) mx_fail_at((err), (status), (native), __FILE__, __LINE__, __VA_ARGS__)
#endif

mx_status mx_fail_at(mx_error *err, mx_status status, int64_t native, const char *file, int line, const char *fmt, ...)
    MX_PRINTF(6, 7);

/* Puts "<prefix>: " before the sentence that err already holds; whoever knows more adds it once. Returns err's status,
 * or `status` where err is NULL. */
mx_status mx_error_prefix(mx_error *err, mx_status status, const char *fmt, ...) MX_PRINTF(3, 4);

/* "FORMAT", and "a file is not what it claims". Static strings. */
const char *mx_status_name(mx_status status);
const char *mx_status_text(mx_status status);

/* The HTTP answer that fits the status. */
int mx_status_http(mx_status status);

#define MX_TRY(call)                         \
    do {                                     \
        const mx_status mx_try_st_ = (call); \
        if (mx_try_st_ != MX_OK) {           \
            return mx_try_st_;               \
        }                                    \
    } while (0)

#define MX_TRY_OR(label, st, call) \
    do {                           \
        (st) = (call);             \
        if ((st) != MX_OK) {       \
            goto label;            \
        }                          \
    } while (0)

#endif
