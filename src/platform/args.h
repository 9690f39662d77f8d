/* args.h - the command line as UTF-8. */
#ifndef MX_PLATFORM_ARGS_H
#define MX_PLATFORM_ARGS_H

#include "base/arena.h"
#include "base/error.h"

/* Replaces what main was given by UTF-8 strings: on Windows by the wide command line, copied into the arena; elsewhere
 * nothing changes. *argv ends with NULL. MX_NO_MEMORY, MX_INVALID (an argument is not Unicode). */
mx_status mx_args_get(mx_arena *arena, int *argc, char ***argv, mx_error *err) MX_NODISCARD;

#endif
