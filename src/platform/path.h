/* path.h - paths as text, and the folders that the system and the user have set aside.
 *
 * Paths are UTF-8. '/' separates everywhere; on Windows '\' does too.
 */
#ifndef MX_PLATFORM_PATH_H
#define MX_PLATFORM_PATH_H

#include "base/arena.h"
#include "base/str.h"

/* "folder/name" in the arena; `name` alone where folder is empty. NULL when out of memory. */
const char *mx_path_join(mx_arena *arena, const char *folder, mx_str name);

/* The part behind the last separator, borrowed from path: "b" of "a/b" and of "a/b/". */
mx_str mx_path_base(mx_str path);

bool mx_path_is_separator(char c);

/* The folder for temporary files. NULL when out of memory. */
const char *mx_path_temp_dir(mx_arena *arena);

/* The folder where models and converted files are kept: MLXCEL_CACHE_DIR where set, else mlxcel in the user's cache
 * folder. It may not exist yet. NULL when out of memory or when the user has no home. */
const char *mx_path_cache_dir(mx_arena *arena);

#endif
