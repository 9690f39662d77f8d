/* checkpoint_files.c - choosing a folder's weight files, with or without an index that may be stale. */
#include "weights/checkpoint_files.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "platform/file.h"
#include "platform/path.h"

#define INDEX_NAME "model.safetensors.index.json"
#define MAX_INDEX  ((size_t)256 << 20)
#define MAX_SHARDS 100000

static const mx_str single_name = MX_STR_INIT("model.safetensors");
static const mx_str suffix = MX_STR_INIT(".safetensors");

typedef struct name_list {
    const mx_str *names; /* in bytewise order */
    size_t n;
} name_list;

static bool has_name(const name_list *list, mx_str name)
{
    for (size_t i = 0; i < list->n; i++) {
        if (mx_str_eq(list->names[i], name)) {
            return true;
        }
    }
    return false;
}

/* The names that start so and end with ".safetensors". */
static mx_status select_names(mx_arena *arena, const name_list *all, mx_str prefix, name_list *out, mx_error *err)
{
    mx_str *names = mx_arena_array(arena, mx_str, all->n);
    out->names = names;
    out->n = 0;
    if (!names) {
        return mx_fail_no_memory(err, all->n * sizeof *names, "a list of files");
    }
    for (size_t i = 0; i < all->n; i++) {
        if (mx_str_starts_with(all->names[i], prefix) && mx_str_ends_with(all->names[i], suffix)) {
            names[out->n++] = all->names[i];
        }
    }
    return MX_OK;
}

/* Five or more digits at `at`; the place behind them, or 0. */
static size_t read_digits(mx_str s, size_t at, int64_t *value)
{
    const size_t start = at;
    *value = 0;
    for (; at < s.len && s.ptr[at] >= '0' && s.ptr[at] <= '9' && at - start < 9; at++) {
        *value = *value * 10 + (s.ptr[at] - '0');
    }
    return at - start >= 5 ? at : 0;
}

/* The N of "model-00001-of-0000N.safetensors"; 0 for other names. */
static int64_t shard_total(mx_str name)
{
    int64_t i;
    int64_t n;
    const mx_str prefix = MX_STR("model-");
    const size_t dash = mx_str_starts_with(name, prefix) ? read_digits(name, prefix.len, &i) : 0;
    if (dash == 0 || !mx_str_starts_with(mx_str_slice(name, dash, name.len), MX_STR("-of-"))) {
        return 0;
    }
    const size_t end = read_digits(name, dash + 4, &n);
    const bool is_shard = end > 0 && mx_str_eq(mx_str_slice(name, end, name.len), suffix);
    return is_shard && i >= 1 && i <= n && n <= MAX_SHARDS ? n : 0;
}

/* Without an index the names alone tell whether a set is whole. */
static mx_status check_shards(mx_arena *arena, const char *dir, const name_list *shards, int64_t n_total, mx_error *err)
{
    for (int64_t i = 1; i <= n_total; i++) {
        const char *wanted =
            mx_arena_printf(arena, "model-%05lld-of-%05lld.safetensors", (long long)i, (long long)n_total);
        if (!wanted) {
            return mx_fail_no_memory(err, 64, "a file name");
        }
        if (!has_name(shards, mx_str_from(wanted))) {
            return mx_fail(err, MX_NOT_FOUND, "%s: %s is missing (%zu of %lld parts are there); download it again", dir,
                           wanted, shards->n, (long long)n_total);
        }
    }
    return MX_OK;
}

/* The weights that the folder has whatever an index says; n is 0 where there are none. */
static mx_status list_without_index(mx_arena *arena, const char *dir, const name_list *all, name_list *out,
                                    mx_error *err)
{
    if (has_name(all, single_name)) {
        return select_names(arena, all, single_name, out, err);
    }
    MX_TRY(select_names(arena, all, MX_STR("model"), out, err));
    int64_t n_total = 0;
    bool is_one_set = out->n > 0;
    for (size_t i = 0; i < out->n; i++) {
        const int64_t n = shard_total(out->names[i]);
        is_one_set &= n > 0 && (i == 0 || n == n_total);
        n_total = n;
    }
    if (is_one_set) {
        return check_shards(arena, dir, out, n_total, err);
    }
    return out->n > 0 ? MX_OK : select_names(arena, all, MX_STR("weights"), out, err);
}

static int compare_names(const void *a, const void *b)
{
    return mx_str_compare(*(const mx_str *)a, *(const mx_str *)b);
}

/* The different files that the index names, sorted. */
static mx_status read_weight_map(mx_arena *arena, yyjson_val *root, const char *path, mx_strmap *seen, name_list *out,
                                 mx_error *err)
{
    yyjson_val *map = yyjson_obj_get(root, "weight_map");
    if (!yyjson_is_obj(map)) {
        return mx_fail(err, MX_FORMAT, "%s: has no object \"weight_map\"", path);
    }
    mx_str *names = NULL;
    size_t cap = 0;
    mx_status st = MX_OK;
    out->n = 0;
    yyjson_obj_iter iter = yyjson_obj_iter_with(map);
    for (yyjson_val *key; st == MX_OK && (key = yyjson_obj_iter_next(&iter)) != NULL;) {
        const mx_str file = mx_json_view_str(yyjson_obj_iter_get_val(key));
        int32_t unused;
        if (!file.ptr || file.len == 0 || file.len > 255 || memchr(file.ptr, '/', file.len) ||
            memchr(file.ptr, '\\', file.len) || memchr(file.ptr, ':', file.len) || memchr(file.ptr, '\0', file.len) ||
            !mx_str_ends_with(file, suffix)) {
            st = mx_fail(err, MX_FORMAT, "%s: \"%s\" does not lie in a safetensors file of this folder", path,
                         yyjson_get_str(key));
        } else if (!mx_strmap_get(seen, file, &unused)) {
            mx_str *grown = mx_array_grow(names, &cap, out->n + 1, sizeof *names, MAX_SHARDS);
            const mx_str copy = mx_arena_copy_str(arena, file);
            names = grown ? grown : names;
            if (!grown || !copy.ptr) {
                st = mx_fail(err, MX_NO_MEMORY, "%s: names too many files", path);
            } else {
                names[out->n++] = copy;
                st = mx_strmap_put(seen, copy, 0, NULL, err);
            }
        }
    }
    mx_str *kept = st == MX_OK ? mx_arena_array(arena, mx_str, out->n) : NULL;
    if (st == MX_OK && !kept) {
        st = mx_fail_no_memory(err, out->n * sizeof *kept, path);
    }
    if (kept && out->n > 0) {
        memcpy(kept, names, out->n * sizeof *kept);
        qsort(kept, out->n, sizeof *kept, compare_names);
    }
    out->names = kept;
    mx_free(names);
    return st;
}

static mx_status read_index(mx_arena *arena, const char *path, name_list *out, mx_error *err)
{
    mx_status st = MX_OK;
    mx_buf text = {0};
    mx_json json = {0};
    mx_strmap seen = {0};
    MX_TRY_OR(done, st, mx_file_read(path, MAX_INDEX, &text, err));
    MX_TRY_OR(done, st, mx_json_parse(mx_buf_view(&text), path, &json, err));
    MX_TRY_OR(done, st, read_weight_map(arena, json.root, path, &seen, out, err));
done:
    mx_strmap_deinit(&seen);
    mx_json_close(&json);
    mx_buf_deinit(&text);
    return st;
}

static mx_status list_with_index(mx_arena *arena, const char *dir, const name_list *all, name_list *out, mx_error *err)
{
    name_list present = {0};
    const char *path = mx_path_join(arena, dir, MX_STR(INDEX_NAME));
    if (!path) {
        return mx_fail_no_memory(err, strlen(dir), "a path");
    }
    MX_TRY(read_index(arena, path, out, err));
    size_t n_present = 0;
    mx_str missing = {0};
    for (size_t i = 0; i < out->n; i++) {
        const bool is_there = has_name(all, out->names[i]);
        n_present += is_there;
        missing = !is_there && !missing.ptr ? out->names[i] : missing;
    }
    if (n_present == out->n && out->n > 0) {
        return MX_OK;
    }
    /* A set that lacks parts is not stale but incomplete, unless it has been packed anew into one file. */
    if (n_present == 0 || has_name(all, single_name)) {
        MX_TRY(list_without_index(arena, dir, all, &present, err));
        if (present.n > 0) {
            *out = present;
            return MX_OK;
        }
    }
    if (out->n == 0) {
        return mx_fail(err, MX_FORMAT, "%s: names no files", path);
    }
    return mx_fail(err, MX_NOT_FOUND,
                   "%s: %.*s is missing (%zu of %zu files that %s names are there); download it again", dir,
                   MX_STR_ARG(missing), n_present, out->n, INDEX_NAME);
}

/* A sentence for a folder without safetensors, which knows the other formats that people try. */
static mx_status fail_no_weights(const char *dir, const name_list *all, mx_error *err)
{
    static const struct {
        const char *suffix;
        const char *remedy;
    } others[] = {
        {".gguf", "`mlxcel convert` makes a model of it"}, {".bin", "look for safetensors of this model"},
        {".pth", "look for safetensors of this model"},    {".pt", "look for safetensors of this model"},
        {".npz", "look for safetensors of this model"},
    };
    for (size_t i = 0; i < all->n; i++) {
        for (size_t k = 0; k < MX_COUNTOF(others); k++) {
            if (mx_str_ends_with(all->names[i], mx_str_from(others[k].suffix))) {
                return mx_fail(err, MX_NOT_FOUND, "%s: has no model.safetensors; %.*s is of another format: %s", dir,
                               MX_STR_ARG(all->names[i]), others[k].remedy);
            }
        }
    }
    return mx_fail(err, MX_NOT_FOUND, "%s: has no model.safetensors; is it a model's folder, downloaded whole?", dir);
}

mx_status mx_checkpoint_list_files(mx_arena *arena, const char *dir, const mx_str **names, size_t *n_names,
                                   mx_error *err)
{
    name_list all = {0};
    name_list chosen = {0};
    MX_TRY(mx_dir_list(arena, dir, &all.names, &all.n, err));
    if (has_name(&all, MX_STR(INDEX_NAME))) {
        MX_TRY(list_with_index(arena, dir, &all, &chosen, err));
    } else {
        MX_TRY(list_without_index(arena, dir, &all, &chosen, err));
    }
    if (chosen.n == 0) {
        return fail_no_weights(dir, &all, err);
    }
    *names = chosen.names;
    *n_names = chosen.n;
    return MX_OK;
}
