/* path.c - separators and folders on POSIX. */
#include "platform/path.h"

#include "platform/env.h"

bool mx_path_is_separator(char c)
{
    return c == '/';
}

/* The variable's value where it is set and not empty. */
static const char *get_folder(mx_arena *arena, const char *name)
{
    const char *value = mx_env_get(arena, name);
    return value && value[0] ? value : NULL;
}

const char *mx_path_temp_dir(mx_arena *arena)
{
    const char *folder = get_folder(arena, "TMPDIR");
    return folder ? folder : "/tmp";
}

const char *mx_path_cache_dir(mx_arena *arena)
{
    const char *folder = get_folder(arena, "MLXCEL_CACHE_DIR");
    if (folder) {
        return folder;
    }
    folder = get_folder(arena, "XDG_CACHE_HOME");
    if (folder) {
        return mx_path_join(arena, folder, MX_STR("mlxcel"));
    }
    folder = get_folder(arena, "HOME");
    return folder ? mx_path_join(arena, folder, MX_STR(".cache/mlxcel")) : NULL;
}
