/* golden_folders.h - what the golden runners share: a folder that holds one folder a case, chosen by pieces of names.
 */
#ifndef MX_TESTS_GOLDEN_FOLDERS_H
#define MX_TESTS_GOLDEN_FOLDERS_H

#include <stdio.h>

#include "platform/file.h"
#include "platform/path.h"

typedef struct golden_tally {
    int n_passed;
    int n_failed;
} golden_tally;

/* Whether the name contains one of the words, or there are none. */
static inline bool golden_is_chosen(mx_str name, char *const *words, int n_words)
{
    for (int i = 0; i < n_words; i++) {
        if (mx_str_find(name, mx_str_from(words[i]), 0) != MX_STR_NPOS) {
            return true;
        }
    }
    return n_words == 0;
}

/* Runs each chosen folder of dir, in the order of their names, prints the sums and gives the program's exit code. */
static inline int golden_run(const char *dir, char *const *words, int n_words,
                             void (*run)(void *ctx, const char *folder, mx_str name, golden_tally *tally), void *ctx)
{
    mx_error err;
    mx_arena arena;
    const mx_str *names = NULL;
    size_t n_names = 0;
    golden_tally tally = {0};
    mx_arena_init(&arena, (size_t)64 << 20);
    if (mx_dir_list(&arena, dir, &names, &n_names, &err) != MX_OK) {
        printf("%s\n", err.message);
        tally.n_failed++;
    }
    for (size_t i = 0; i < n_names; i++) {
        const char *folder = mx_path_join(&arena, dir, names[i]);
        if (folder && golden_is_chosen(names[i], words, n_words) && mx_file_kind_at(folder) == MX_FILE_DIR) {
            run(ctx, folder, names[i], &tally);
            fflush(stdout);
        }
    }
    mx_arena_deinit(&arena);
    printf("%d passed, %d failed\n", tally.n_passed, tally.n_failed);
    return tally.n_failed == 0 && tally.n_passed > 0 ? 0 : 1;
}

#endif
