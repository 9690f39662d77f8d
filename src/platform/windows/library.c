/* library.c - LoadLibrary. */
#include "platform/library.h"

#include <windows.h>

#include "base/mem.h"
#include "platform/os_error.h"
#include "platform/path.h"
#include "platform/windows/wide.h"

mx_status mx_library_open(const char *name, mx_library *out, mx_error *err)
{
    *out = (mx_library){0};
    wchar_t *wide = NULL;
    MX_TRY(mx_wide_from_utf8(mx_str_from(name), &wide, err));
    /* A bare name is looked for beside the program and in the system's folder, not in the current folder, where anyone
     * may have put a file. */
    const bool is_path = mx_path_base(mx_str_from(name)).len != strlen(name);
    const DWORD flags =
        is_path ? LOAD_WITH_ALTERED_SEARCH_PATH : LOAD_LIBRARY_SEARCH_APPLICATION_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32;
    HMODULE module = LoadLibraryExW(wide, NULL, flags);
    const mx_status st = module ? MX_OK : mx_fail_os(err, "open the library", name);
    mx_free(wide);
    out->handle = (void *)module;
    return st;
}

void mx_library_close(mx_library *library)
{
    if (library->handle) {
        FreeLibrary((HMODULE)library->handle);
    }
    *library = (mx_library){0};
}

mx_library_function mx_library_symbol(const mx_library *library, const char *name)
{
    return (mx_library_function)GetProcAddress((HMODULE)library->handle, name);
}
