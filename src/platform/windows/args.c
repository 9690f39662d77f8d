/* args.c - the wide command line, split as Windows splits it. */
#include "platform/args.h"

#include <windows.h>

#include <shellapi.h>

#include "base/mem.h"
#include "platform/os_error.h"
#include "platform/windows/wide.h"

mx_status mx_args_get(mx_arena *arena, int *argc, char ***argv, mx_error *err)
{
    int n = 0;
    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &n);
    if (!wide) {
        return mx_fail_os(err, "read", "the command line");
    }
    mx_status st = MX_OK;
    char **list = mx_arena_array(arena, char *, n + 1);
    for (int i = 0; list && i < n; i++) {
        list[i] = (char *)(uintptr_t)mx_wide_copy_utf8(arena, wide[i]).ptr; /* the arena's memory may be written */
        if (!list[i]) {
            list = NULL;
        }
    }
    if (list) {
        *argc = n;
        *argv = list;
    } else {
        st = mx_fail(err, MX_NO_MEMORY, "out of memory for %d arguments", n);
    }
    LocalFree(wide);
    return st;
}
