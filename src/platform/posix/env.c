/* env.c - getenv, copied so that a later change of the environment does not matter. */
#include "platform/env.h"

#include <stdlib.h>

const char *mx_env_get(mx_arena *arena, const char *name)
{
    const char *value = getenv(name);
    return value ? mx_arena_copy_str(arena, mx_str_from(value)).ptr : NULL;
}
