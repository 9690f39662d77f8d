/* file_tree.c - folders made and removed with what is above and in them. */
#include "platform/file.h"
#include "platform/path.h"

#define MAX_TREE_DEPTH 32
#define MAX_TREE_BYTES ((size_t)64 << 20)

mx_status mx_dir_create_all(const char *path, mx_error *err)
{
    mx_arena arena;
    mx_status st = MX_OK;
    if (mx_file_kind_at(path) == MX_FILE_DIR) {
        return MX_OK;
    }
    mx_arena_init(&arena, MAX_TREE_BYTES);
    char *part = (char *)mx_arena_alloc(&arena, strlen(path) + 1);
    if (!part) {
        st = mx_fail(err, MX_NO_MEMORY, "%s: no memory for the path", path);
    }
    for (size_t i = 0; st == MX_OK && path[i]; i++) {
        part[i] = path[i]; /* the arena's memory is zero behind it */
        const bool is_end = !path[i + 1] || mx_path_is_separator(path[i + 1]);
        if (!is_end || mx_path_is_separator(path[i]) || mx_file_kind_at(part) == MX_FILE_DIR) {
            continue;
        }
        /* Another process may be making it at the same moment. A share or drive that is not there fails at the end. */
        mx_error first;
        if (mx_dir_create(part, &first) != MX_OK && mx_file_kind_at(part) != MX_FILE_DIR && !path[i + 1]) {
            st = mx_fail_native(err, first.status, first.native, "%s", first.message);
        }
    }
    mx_arena_deinit(&arena);
    if (st == MX_OK && mx_file_kind_at(path) != MX_FILE_DIR) {
        st = mx_dir_create(path, err);
    }
    return st;
}

static mx_status remove_tree(mx_arena *arena, const char *path, int depth, mx_error *err)
{
    const mx_file_kind kind = mx_file_kind_at(path);
    if (mx_file_is_link(path)) {
        /* Windows has links that count as folders, and its call for files does not take them. */
        return kind == MX_FILE_DIR && mx_dir_remove(path, NULL) == MX_OK ? MX_OK : mx_file_remove(path, err);
    }
    if (kind == MX_FILE_MISSING) {
        return MX_OK;
    }
    if (kind != MX_FILE_DIR) {
        return mx_file_remove(path, err);
    }
    if (depth == MAX_TREE_DEPTH) {
        return mx_fail(err, MX_IO, "%s: folders lie too deep in each other", path);
    }
    const mx_str *names;
    size_t n_names;
    MX_TRY(mx_dir_list(arena, path, &names, &n_names, err));
    for (size_t i = 0; i < n_names; i++) {
        const char *entry = mx_path_join(arena, path, names[i]);
        if (!entry) {
            return mx_fail(err, MX_NO_MEMORY, "%s: no memory for its names", path);
        }
        MX_TRY(remove_tree(arena, entry, depth + 1, err));
    }
    return mx_dir_remove(path, err);
}

mx_status mx_file_remove_tree(const char *path, mx_error *err)
{
    mx_arena arena;
    mx_arena_init(&arena, MAX_TREE_BYTES);
    const mx_status st = remove_tree(&arena, path, 0, err);
    mx_arena_deinit(&arena);
    return st;
}
