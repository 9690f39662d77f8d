/* os_error.c - GetLastError as a sentence. */
#include "platform/os_error.h"

#include <windows.h>

static mx_status status_of(DWORD code)
{
    switch (code) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
    case ERROR_INVALID_DRIVE:
    case ERROR_BAD_NETPATH:
    case ERROR_BAD_NET_NAME:
    case ERROR_DIRECTORY: /* a file where a folder should be */
    case ERROR_MOD_NOT_FOUND: return MX_NOT_FOUND;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
    case ERROR_COMMITMENT_LIMIT: return MX_NO_MEMORY;
    default: return MX_IO;
    }
}

mx_status mx_fail_os_at(mx_error *err, const char *verb, const char *thing, const char *file, int line)
{
    const DWORD code = GetLastError();
    wchar_t wide[256];
    char text[3 * MX_COUNTOF(wide)];
    const DWORD n = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, code, 0, wide,
                                   (DWORD)MX_COUNTOF(wide) - 1, NULL);
    int n_text = WideCharToMultiByte(CP_UTF8, 0, wide, (int)n, text, (int)sizeof text - 1, NULL, NULL);
    while (n_text > 0 && (text[n_text - 1] == '\n' || text[n_text - 1] == '\r' || text[n_text - 1] == '.')) {
        n_text--;
    }
    text[n_text] = '\0';
    return mx_fail_at(err, status_of(code), (int64_t)code, file, line, "cannot %s %s: %s (error %lu)", verb, thing,
                      n_text > 0 ? text : "unknown reason", (unsigned long)code);
}
