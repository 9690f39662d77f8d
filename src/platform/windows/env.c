/* env.c - the wide environment. */
#include "platform/env.h"

#include <windows.h>

#include "base/mem.h"
#include "platform/windows/wide.h"

const char *mx_env_get(mx_arena *arena, const char *name)
{
    wchar_t *wide_name = NULL;
    wchar_t *value = NULL;
    const char *copy = NULL;
    if (mx_wide_from_utf8(mx_str_from(name), &wide_name, NULL) != MX_OK) {
        return NULL;
    }
    const DWORD cap = GetEnvironmentVariableW(wide_name, NULL, 0); /* with terminator; 0 where not set */
    if (cap > 0) {
        value = mx_malloc(cap * sizeof *value);
    }
    if (value && GetEnvironmentVariableW(wide_name, value, cap) < cap) {
        copy = mx_wide_copy_utf8(arena, value).ptr;
    }
    mx_free(value);
    mx_free(wide_name);
    return copy;
}
