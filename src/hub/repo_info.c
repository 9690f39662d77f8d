/* repo_info.c - the file list of a repository, checked and cut down to what a model needs. */
#include "hub/repo_info.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "hub/model_name.h"

#define MAX_FILES      20000
#define MAX_FILE_BYTES ((int64_t)1 << 46)

/* Patterns of wanted files: what a name begins and ends with, in the repository's own folder unless one is given. */
static const struct {
    mx_str folder, prefix, suffix;
} wanted[] = {
    {{0}, {0}, MX_STR_INIT(".safetensors")},
    {{0}, {0}, MX_STR_INIT(".json")},
    {{0}, {0}, MX_STR_INIT(".jinja")},
    {{0}, {0}, MX_STR_INIT(".model")}, /* sentencepiece */
    {{0}, {0}, MX_STR_INIT(".tiktoken")},
    {{0}, MX_STR_INIT("merges"), MX_STR_INIT(".txt")},
    {{0}, MX_STR_INIT("vocab"), MX_STR_INIT(".txt")},
    {{0}, MX_STR_INIT("LICENSE"), {0}},
    {MX_STR_INIT("additional_chat_templates"), {0}, MX_STR_INIT(".jinja")},
    {MX_STR_INIT("1_Pooling"), {0}, MX_STR_INIT(".json")},
};

/* Of those, what nobody reads: weights in another tool's names beside the ones that we read, adapters. */
static const mx_str unwanted_prefixes[] = {MX_STR_INIT("consolidated"), MX_STR_INIT("adapter"),
                                           MX_STR_INIT("training_args")};

bool mx_repo_file_is_wanted(mx_str name)
{
    mx_str folder = {0};
    for (size_t i = name.len; i > 0 && !folder.ptr; i--) {
        if (name.ptr[i - 1] == '/') {
            folder = mx_str_slice(name, 0, i - 1);
        }
    }
    const mx_str base = folder.ptr ? mx_str_slice(name, folder.len + 1, name.len) : name;
    for (size_t i = 0; i < MX_COUNTOF(unwanted_prefixes); i++) {
        if (mx_str_starts_with(base, unwanted_prefixes[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < MX_COUNTOF(wanted); i++) {
        if (mx_str_eq(folder, wanted[i].folder) && mx_str_starts_with(base, wanted[i].prefix) &&
            mx_str_ends_with(base, wanted[i].suffix)) {
            return true;
        }
    }
    return false;
}

/* Every part of the path must be safe as a name; that excludes "..", absolute paths and drives. Names of ours begin
 * with a dot, so the hub's may not. */
static bool is_safe_path(mx_str path)
{
    size_t start = 0;
    for (size_t i = 0; i <= path.len; i++) {
        if (i == path.len || path.ptr[i] == '/') {
            const mx_str part = mx_str_slice(path, start, i);
            if (!mx_file_name_is_safe(part) || part.ptr[0] == '.') {
                return false;
            }
            start = i + 1;
        }
    }
    return !mx_str_ends_with(path, MX_STR(".part"));
}

static mx_str copy_lower(mx_arena *arena, mx_str s)
{
    const mx_str copy = mx_arena_copy_str(arena, s);
    char *p = (char *)copy.ptr;
    for (size_t i = 0; p && i < copy.len; i++) {
        p[i] = p[i] >= 'A' && p[i] <= 'Z' ? (char)(p[i] + ('a' - 'A')) : p[i];
    }
    return copy;
}

static mx_status read_file(mx_arena *arena, yyjson_val *val, mx_str path, const char *name, mx_strmap *seen,
                           mx_repo_file *out, mx_error *err)
{
    mx_str hex = {0};
    yyjson_val *lfs;
    const mx_str key = copy_lower(arena, path);
    bool was_there = false;
    *out = (mx_repo_file){.name = mx_arena_copy_str(arena, path).ptr, .n_bytes = -1};
    if (!out->name || !key.ptr) {
        return mx_fail(err, MX_NO_MEMORY, "%s: no memory for its file names", name);
    }
    if (!is_safe_path(path)) {
        return mx_fail(err, MX_FORMAT, "%s: has a file \"%.*s\", and no file of this machine may be called so", name,
                       MX_STR_ARG(path));
    }
    MX_TRY(mx_strmap_put(seen, key, 0, &was_there, err));
    if (was_there) {
        return mx_fail(err, MX_FORMAT, "%s: has two files called \"%.*s\"", name, MX_STR_ARG(path));
    }
    MX_TRY(mx_json_get_i64(val, "size", 0, MAX_FILE_BYTES, &out->n_bytes, err));
    MX_TRY(mx_json_get_obj(val, "lfs", &lfs, err));
    MX_TRY(mx_json_get_i64(lfs, "size", 0, MAX_FILE_BYTES, &out->n_bytes, err));
    MX_TRY(mx_json_get_str(lfs, "sha256", &hex, err));
    if (!hex.ptr) {
        MX_TRY(mx_json_get_str(lfs, "oid", &hex, err));
    }
    if (hex.ptr) {
        out->has_sha256 = mx_sha256_from_hex(hex, &out->sha256);
        if (!out->has_sha256) {
            return mx_fail(err, MX_FORMAT, "%s: the hash of %s has not 64 hexadecimal digits", name, out->name);
        }
    }
    return MX_OK;
}

/* What else the repository has, where it has no safetensors. */
static mx_status fail_no_weights(const char *name, const mx_repo_info *info, bool has_gguf, mx_error *err)
{
    if (has_gguf) {
        return mx_fail(
            err, MX_NOT_FOUND,
            "%s: holds GGUF files, no safetensors: take the MLX version of this model, or fetch one file and "
            "convert it with `mlxcel convert`",
            name);
    }
    return mx_fail(err, MX_NOT_FOUND, "%s: has no safetensors among its %zu files: it is no model that can be run",
                   name, info->n_files + info->n_other);
}

static mx_status read_files(mx_arena *arena, yyjson_val *siblings, const char *name, mx_strmap *seen, mx_repo_info *out,
                            mx_error *err)
{
    size_t i;
    size_t n;
    yyjson_val *val;
    bool has_weights = false;
    bool has_gguf = false;
    if (yyjson_arr_size(siblings) > MAX_FILES) {
        return mx_fail(err, MX_FORMAT, "%s: has %zu files, more than %d", name, yyjson_arr_size(siblings), MAX_FILES);
    }
    out->files = mx_arena_array(arena, mx_repo_file, yyjson_arr_size(siblings));
    if (!out->files) {
        return mx_fail(err, MX_NO_MEMORY, "%s: no memory for its file names", name);
    }
    yyjson_arr_foreach(siblings, i, n, val)
    {
        mx_str path = {0};
        MX_TRY(mx_json_get_str(val, "rfilename", &path, err));
        has_gguf |= mx_str_ends_with(path, MX_STR(".gguf"));
        if (!path.ptr || !mx_repo_file_is_wanted(path)) {
            out->n_other++;
            continue;
        }
        MX_TRY(read_file(arena, val, path, name, seen, &out->files[out->n_files], err));
        has_weights |= mx_str_ends_with(path, MX_STR(".safetensors"));
        out->n_files++;
    }
    return has_weights ? MX_OK : fail_no_weights(name, out, has_gguf, err);
}

mx_status mx_repo_info_parse(mx_arena *arena, mx_str text, const char *name, mx_repo_info *out, mx_error *err)
{
    mx_json json = {0};
    mx_strmap seen = {0};
    mx_str commit = {0};
    yyjson_val *siblings;
    mx_status st;
    *out = (mx_repo_info){0};
    MX_TRY_OR(done, st, mx_json_parse(text, name, &json, err));
    if (!yyjson_is_obj(json.root)) {
        st = mx_fail(err, MX_FORMAT, "%s: the hub's answer is no JSON object", name);
        goto done;
    }
    MX_TRY_OR(done, st, mx_json_get_str(json.root, "sha", &commit, err));
    MX_TRY_OR(done, st, mx_json_get_arr(json.root, "siblings", &siblings, err));
    if (!commit.ptr || !mx_is_commit(commit) || !siblings) {
        st = mx_fail(err, MX_FORMAT, "%s: the hub's answer has no commit (\"sha\") or no file list (\"siblings\")",
                     name);
        goto done;
    }
    const mx_str lower = copy_lower(arena, commit);
    out->commit = lower.ptr;
    if (!lower.ptr) {
        st = mx_fail(err, MX_NO_MEMORY, "%s: no memory for its commit", name);
        goto done;
    }
    st = read_files(arena, siblings, name, &seen, out, err);
done:
    mx_strmap_deinit(&seen);
    mx_json_close(&json);
    return st;
}
