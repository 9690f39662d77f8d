/* env.h - environment variables as UTF-8. */
#ifndef MX_PLATFORM_ENV_H
#define MX_PLATFORM_ENV_H

#include "base/arena.h"

/* A copy of the variable's value; NULL where it is not set (or there is no memory for the copy). */
const char *mx_env_get(mx_arena *arena, const char *name);

#endif
