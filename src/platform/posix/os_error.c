/* os_error.c - errno as a sentence. */
#include "platform/os_error.h"

#include <errno.h>
#include <string.h>

mx_status mx_fail_os_at(mx_error *err, const char *verb, const char *thing, const char *file, int line)
{
    const int code = errno;
    mx_status status = MX_IO;
    if (code == ENOENT || code == ENOTDIR) {
        status = MX_NOT_FOUND;
    } else if (code == ENOMEM || code == EAGAIN) {
        status = MX_NO_MEMORY;
    }
    return mx_fail_at(err, status, code, file, line, "cannot %s %s: %s", verb, thing, strerror(code));
}
