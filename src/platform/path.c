/* path.c - joining and taking apart. */
#include "platform/path.h"

const char *mx_path_join(mx_arena *arena, const char *folder, mx_str name)
{
    const size_t n = strlen(folder);
    const char *separator = n == 0 || mx_path_is_separator(folder[n - 1]) ? "" : "/";
    return mx_arena_printf(arena, "%s%s%.*s", folder, separator, MX_STR_ARG(name));
}

mx_str mx_path_base(mx_str path)
{
    while (path.len > 1 && mx_path_is_separator(path.ptr[path.len - 1])) {
        path.len--;
    }
    size_t at = path.len;
    while (at > 0 && !mx_path_is_separator(path.ptr[at - 1])) {
        at--;
    }
    return at == path.len ? path : mx_str_slice(path, at, path.len);
}
