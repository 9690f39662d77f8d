/* os_error.h - errors of the operating system as mx_error. Private to platform/. */
#ifndef MX_PLATFORM_OS_ERROR_H
#define MX_PLATFORM_OS_ERROR_H

#include "base/error.h"

/* The last error of this thread as a sentence: "cannot <verb> <thing>: <the system's text>". MX_NOT_FOUND, MX_NO_MEMORY
 * or MX_IO, as the error number says. */
#define mx_fail_os(err, verb, thing) mx_fail_os_at((err), (verb), (thing), __FILE__, __LINE__)

mx_status mx_fail_os_at(mx_error *err, const char *verb, const char *thing, const char *file, int line);

#endif
