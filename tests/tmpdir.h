/* tmpdir.h - a folder of its own for a test.
 *
 *     mx_tmpdir dir;
 *     mx_tmpdir_open(&dir);
 *     const char *path = mx_tmpdir_path(&dir, "model.safetensors");
 *     ...
 *     mx_tmpdir_close(&dir);
 *
 * The folder lies in the system's temporary folder and is removed with all that is in it. A test without a folder
 * cannot go on, so failing here ends the program.
 */
#ifndef MX_TESTS_TMPDIR_H
#define MX_TESTS_TMPDIR_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "platform/clock.h"
#include "platform/file.h"
#include "platform/path.h"

typedef struct mx_tmpdir {
    const char *path; /* in the arena */
    mx_arena arena;   /* owned; free to use for what lives as long */
} mx_tmpdir;

static inline void mx_tmpdir_must(bool is_done, const char *what)
{
    if (!is_done) {
        printf("cannot make or remove a temporary folder: %s\n", what);
        exit(1);
    }
}

static inline void mx_tmpdir_open(mx_tmpdir *dir)
{
    mx_error err = {0};
    mx_arena_init(&dir->arena, (size_t)1 << 30);
    const char *root = mx_path_temp_dir(&dir->arena);
    for (int i = 0; i < 100; i++) { /* the clock may stand still between two programs */
        const char *name = mx_arena_printf(&dir->arena, "mlxcel-test-%" PRIx64 "-%d", (uint64_t)mx_clock_ns(), i);
        mx_tmpdir_must(name != NULL, "out of memory");
        dir->path = mx_path_join(&dir->arena, root, mx_str_from(name));
        if (dir->path && mx_dir_create(dir->path, &err) == MX_OK) {
            return;
        }
    }
    mx_tmpdir_must(false, err.message);
}

/* The path of a name in the folder; lives until the folder is closed. */
static inline const char *mx_tmpdir_path(mx_tmpdir *dir, const char *name)
{
    const char *path = mx_path_join(&dir->arena, dir->path, mx_str_from(name));
    mx_tmpdir_must(path != NULL, "out of memory");
    return path;
}

/* Writes a file into the folder and gives its path. */
static inline const char *mx_tmpdir_write(mx_tmpdir *dir, const char *name, mx_str bytes)
{
    mx_error err = {0};
    const char *path = mx_tmpdir_path(dir, name);
    mx_tmpdir_must(mx_file_write(path, bytes, &err) == MX_OK, err.message);
    return path;
}

static inline void mx_tmpdir_remove_tree(mx_arena *arena, const char *path)
{
    mx_error err = {0};
    const mx_str *names;
    size_t n_names;
    mx_tmpdir_must(mx_dir_list(arena, path, &names, &n_names, &err) == MX_OK, err.message);
    for (size_t i = 0; i < n_names; i++) {
        const char *entry = mx_path_join(arena, path, names[i]);
        mx_tmpdir_must(entry != NULL, "out of memory");
        if (mx_file_kind_at(entry) == MX_FILE_DIR) {
            mx_tmpdir_remove_tree(arena, entry);
        } else {
            mx_tmpdir_must(mx_file_remove(entry, &err) == MX_OK, err.message);
        }
    }
    mx_tmpdir_must(mx_dir_remove(path, &err) == MX_OK, err.message);
}

static inline void mx_tmpdir_close(mx_tmpdir *dir)
{
    mx_tmpdir_remove_tree(&dir->arena, dir->path);
    mx_arena_deinit(&dir->arena);
}

#endif
