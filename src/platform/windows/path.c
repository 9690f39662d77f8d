/* path.c - separators and folders on Windows. */
#include "platform/path.h"

#include <windows.h>

#include "platform/env.h"
#include "platform/windows/wide.h"

bool mx_path_is_separator(char c)
{
    return c == '/' || c == '\\';
}

const char *mx_path_temp_dir(mx_arena *arena)
{
    wchar_t folder[MAX_PATH + 2];
    const DWORD n = GetTempPathW((DWORD)MX_COUNTOF(folder), folder);
    return mx_wide_copy_utf8(arena, n > 0 && n < MX_COUNTOF(folder) ? folder : L".").ptr;
}

const char *mx_path_cache_dir(mx_arena *arena)
{
    const char *folder = mx_env_get(arena, "MLXCEL_CACHE_DIR");
    if (folder && folder[0]) {
        return folder;
    }
    folder = mx_env_get(arena, "LOCALAPPDATA");
    return folder && folder[0] ? mx_path_join(arena, folder, MX_STR("mlxcel")) : NULL;
}
