/* repo_info_fuzz.c - any bytes as a hub's answer: every file that is accepted has a name that stays in its folder. */
#include <stdlib.h>
#include <string.h>

#include "hub/repo_info.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    mx_arena arena;
    mx_error err;
    mx_repo_info info;
    mx_arena_init(&arena, (size_t)64 << 20);
    if (mx_repo_info_parse(&arena, (mx_str){(const char *)data, n_bytes}, "a/b", &info, &err) == MX_OK) {
        for (size_t i = 0; i < info.n_files; i++) {
            const char *name = info.files[i].name;
            if (name[0] == '/' || name[0] == '.' || strstr(name, "..") == name || strstr(name, "/.") ||
                strchr(name, '\\') || strchr(name, ':') || info.files[i].n_bytes < -1) {
                abort();
            }
        }
    }
    mx_arena_deinit(&arena);
    return 0;
}
