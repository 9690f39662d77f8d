/* model_dir.c - whether a folder holds a whole model. */
#include "base/json.h"
#include "hub/store.h"
#include "platform/file.h"
#include "platform/path.h"
#include "weights/checkpoint.h"

#define MAX_DIR_BYTES      ((size_t)1 << 20)
#define MAX_MANIFEST_BYTES ((size_t)16 << 20)

static mx_status check_file(mx_arena *arena, const char *dir, mx_str name, int64_t n_bytes, mx_error *err)
{
    int64_t found = -1;
    const char *path = mx_path_join(arena, dir, name);
    if (!path) {
        return mx_fail(err, MX_NO_MEMORY, "%s: no memory for a path", dir);
    }
    if (mx_file_kind_at(path) != MX_FILE_REGULAR) {
        return mx_fail(err, MX_NOT_FOUND, "%s: %.*s is missing", dir, MX_STR_ARG(name));
    }
    MX_TRY(mx_file_size(path, &found, err));
    if (n_bytes >= 0 && found != n_bytes) {
        return mx_fail(err, MX_FORMAT, "%s: has %lld bytes, was downloaded with %lld", path, (long long)found,
                       (long long)n_bytes);
    }
    return MX_OK;
}

static mx_status check_manifest_files(mx_arena *arena, const char *dir, yyjson_val *root, const char *path,
                                      mx_error *err)
{
    yyjson_val *files;
    MX_TRY(mx_json_get_arr(root, "files", &files, err));
    size_t i;
    size_t n;
    yyjson_val *file;
    yyjson_arr_foreach(files, i, n, file)
    {
        mx_str name = {0};
        int64_t n_bytes = -1;
        MX_TRY(mx_json_get_str(file, "name", &name, err));
        MX_TRY(mx_json_get_i64(file, "bytes", 0, INT64_MAX, &n_bytes, err));
        if (!name.ptr) {
            return mx_fail(err, MX_FORMAT, "%s: a file has no name", path);
        }
        MX_TRY(check_file(arena, dir, name, n_bytes, err));
    }
    return MX_OK;
}

/* Folders that are not ours have none. */
static mx_status check_manifest(mx_arena *arena, const char *dir, mx_error *err)
{
    const char *path = mx_path_join(arena, dir, MX_STR(MX_MANIFEST_NAME));
    mx_buf text = {0};
    mx_json json = {0};
    mx_status st = MX_OK;
    if (!path || mx_file_kind_at(path) != MX_FILE_REGULAR) {
        return path ? MX_OK : mx_fail(err, MX_NO_MEMORY, "%s: no memory for a path", dir);
    }
    MX_TRY_OR(done, st, mx_file_read(path, MAX_MANIFEST_BYTES, &text, err));
    MX_TRY_OR(done, st, mx_json_parse(mx_buf_view(&text), path, &json, err));
    st = check_manifest_files(arena, dir, json.root, path, err);
done:
    mx_json_close(&json);
    mx_buf_deinit(&text);
    return st;
}

static mx_status check_tokenizer(mx_arena *arena, const char *dir, mx_error *err)
{
    static const char *const names[] = {"tokenizer.json", "tokenizer.model", "tiktoken.model", "vocab.json"};
    for (size_t i = 0; i < MX_COUNTOF(names); i++) {
        if (check_file(arena, dir, mx_str_from(names[i]), -1, NULL) == MX_OK) {
            return MX_OK;
        }
    }
    return check_file(arena, dir, MX_STR("tokenizer.json"), -1, err);
}

mx_status mx_model_dir_check(const char *dir, mx_error *err)
{
    mx_arena arena;
    mx_checkpoint *checkpoint = NULL;
    mx_status st;
    mx_arena_init(&arena, MAX_DIR_BYTES);
    MX_TRY_OR(done, st, check_file(&arena, dir, MX_STR("config.json"), -1, err));
    MX_TRY_OR(done, st, check_tokenizer(&arena, dir, err));
    MX_TRY_OR(done, st, check_manifest(&arena, dir, err));
    st = mx_checkpoint_open(dir, &checkpoint, err);
done:
    mx_checkpoint_close(checkpoint);
    mx_arena_deinit(&arena);
    return st;
}
