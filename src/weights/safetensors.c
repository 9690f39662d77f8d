/* safetensors.c - reading and checking one file's header.
 *
 * The JSON tree is dropped at the end: names are copied into the arena, so that a header of several megabytes is not
 * kept beside the table made from it.
 */
#include "weights/safetensors.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/strmap.h"

#define MAX_HEADER ((uint64_t)100000000) /* as in the official library */

/* The header as text. */
static mx_status find_header(const uint8_t *data, size_t n_bytes, const char *path, mx_str *header, mx_error *err)
{
    static const char git_lfs[] = "version https://git-lfs";
    const mx_str whole = {(const char *)data, n_bytes};
    if (mx_str_starts_with(whole, mx_str_from(git_lfs))) {
        return mx_fail(err, MX_FORMAT,
                       "%s: this is a Git LFS pointer, not the file itself; fetch it with 'git lfs pull'", path);
    }
    if (n_bytes < 8) {
        return mx_fail(err, MX_FORMAT, "%s: %zu bytes, a safetensors file has at least 8", path, n_bytes);
    }
    const uint64_t n_header = mx_load_le64(data);
    if (n_header > MAX_HEADER) {
        return mx_fail(err, MX_FORMAT,
                       "%s: header says %llu bytes, at most %llu are allowed; is it a safetensors file?", path,
                       (unsigned long long)n_header, (unsigned long long)MAX_HEADER);
    }
    if (n_header > n_bytes - 8) {
        return mx_fail(err, MX_FORMAT, "%s: header says %llu bytes, the file has %zu after it; is it downloaded whole?",
                       path, (unsigned long long)n_header, n_bytes - 8);
    }
    *header = mx_str_slice(whole, 8, 8 + (size_t)n_header);
    if (header->len == 0 || header->ptr[0] != '{') {
        return mx_fail(err, MX_FORMAT, "%s: the header does not start with '{'", path);
    }
    return MX_OK;
}

static mx_status check_metadata(yyjson_val *metadata, const char *path, mx_error *err)
{
    if (!yyjson_is_obj(metadata)) {
        return mx_fail(err, MX_FORMAT, "%s: \"__metadata__\" must be an object, found %s", path,
                       mx_json_kind(metadata));
    }
    yyjson_obj_iter iter = yyjson_obj_iter_with(metadata);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter)) != NULL;) {
        if (!yyjson_is_str(yyjson_obj_iter_get_val(key))) {
            return mx_fail(err, MX_FORMAT, "%s: \"__metadata__\" holds %s under \"%s\", must be a string", path,
                           mx_json_kind(yyjson_obj_iter_get_val(key)), yyjson_get_str(key));
        }
    }
    return MX_OK;
}

/* A member that must be an array of `n_max` or fewer non-negative whole numbers. */
static mx_status read_numbers(yyjson_val *entry, const char *key, const mx_tensor *t, size_t n_max, int64_t *out,
                              size_t *n, mx_error *err)
{
    yyjson_val *list = yyjson_obj_get(entry, key);
    if (!yyjson_is_arr(list)) {
        return mx_fail(err, MX_FORMAT, "%s: tensor \"%.*s\" has no array \"%s\"", t->path, MX_STR_ARG(t->name), key);
    }
    if (yyjson_arr_size(list) > n_max) {
        return mx_fail(err, MX_UNSUPPORTED, "%s: tensor \"%.*s\" has %zu numbers in \"%s\", at most %zu are read",
                       t->path, MX_STR_ARG(t->name), yyjson_arr_size(list), key, n_max);
    }
    *n = 0;
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (yyjson_val *val; (val = yyjson_arr_iter_next(&iter)) != NULL;) {
        if (!yyjson_is_uint(val) || yyjson_get_uint(val) > INT64_MAX) {
            return mx_fail(err, MX_FORMAT, "%s: tensor \"%.*s\" has a \"%s\" with something else than whole numbers",
                           t->path, MX_STR_ARG(t->name), key);
        }
        out[(*n)++] = (int64_t)yyjson_get_uint(val);
    }
    return MX_OK;
}

/* Fills dtype, shape, and place of a tensor whose name and path are set. */
static mx_status read_entry(yyjson_val *entry, const uint8_t *payload, size_t n_payload, mx_tensor *t, mx_error *err)
{
    int64_t offsets[2] = {0};
    size_t n_offsets = 0;
    size_t n_dims = 0;
    const mx_str dtype = mx_json_view_str(yyjson_obj_get(entry, "dtype"));
    if (!dtype.ptr) {
        return mx_fail(err, MX_FORMAT, "%s: tensor \"%.*s\" has no \"dtype\"", t->path, MX_STR_ARG(t->name));
    }
    if (!mx_dtype_from_name(dtype, &t->dtype)) {
        return mx_fail(err, MX_UNSUPPORTED, "%s: tensor \"%.*s\" has the unknown dtype \"%.*s\"", t->path,
                       MX_STR_ARG(t->name), MX_STR_ARG(dtype));
    }
    MX_TRY(read_numbers(entry, "shape", t, MX_TENSOR_MAX_DIMS, t->shape, &n_dims, err));
    MX_TRY(read_numbers(entry, "data_offsets", t, 2, offsets, &n_offsets, err));
    t->n_dims = (int32_t)n_dims;

    int64_t n_wanted = (int64_t)mx_dtype_size(t->dtype);
    bool fits = true;
    for (size_t i = 0; i < n_dims && fits; i++) {
        fits = mx_mul_i64(n_wanted, t->shape[i], &n_wanted);
    }
    if (!fits) {
        return mx_fail(err, MX_FORMAT, "%s: tensor \"%.*s\" has a shape whose size overflows", t->path,
                       MX_STR_ARG(t->name));
    }
    if (n_offsets != 2 || offsets[1] < offsets[0]) {
        return mx_fail(err, MX_FORMAT, "%s: tensor \"%.*s\" has \"data_offsets\" that are not a begin and an end",
                       t->path, MX_STR_ARG(t->name));
    }
    if ((uint64_t)offsets[1] > n_payload) {
        return mx_fail(err, MX_FORMAT,
                       "%s: tensor \"%.*s\" ends at byte %lld of the data, the file has %zu; is it downloaded whole?",
                       t->path, MX_STR_ARG(t->name), (long long)offsets[1], n_payload);
    }
    if (offsets[1] - offsets[0] != n_wanted) {
        return mx_fail(err, MX_FORMAT, "%s: tensor \"%.*s\" has %lld bytes, its dtype and shape ask for %lld", t->path,
                       MX_STR_ARG(t->name), (long long)(offsets[1] - offsets[0]), (long long)n_wanted);
    }
    t->data = payload + offsets[0];
    t->n_bytes = (size_t)n_wanted;
    return MX_OK;
}

static int compare_places(const void *a, const void *b)
{
    const mx_tensor *x = a;
    const mx_tensor *y = b;
    if (x->data != y->data) {
        return x->data < y->data ? -1 : 1;
    }
    return (x->n_bytes > y->n_bytes) - (x->n_bytes < y->n_bytes); /* an empty tensor comes before the one it touches */
}

/* Sorted by place, each tensor starts where the one before ended, and the last ends with the file. */
static mx_status check_cover(const mx_tensors *tensors, const uint8_t *payload, size_t n_payload, const char *path,
                             mx_error *err)
{
    size_t at = 0;
    for (size_t i = 0; i < tensors->n; i++) {
        const mx_tensor *t = &tensors->items[i];
        const size_t begin = (size_t)(t->data - payload);
        if (begin < at) {
            return mx_fail(err, MX_FORMAT, "%s: tensor \"%.*s\" overlaps tensor \"%.*s\"", path, MX_STR_ARG(t->name),
                           MX_STR_ARG(tensors->items[i - 1].name));
        }
        if (begin > at) {
            return mx_fail(err, MX_FORMAT, "%s: %zu bytes before tensor \"%.*s\" belong to no tensor", path, begin - at,
                           MX_STR_ARG(t->name));
        }
        at = begin + t->n_bytes;
    }
    if (at != n_payload) {
        return mx_fail(err, MX_FORMAT, "%s: %zu bytes after the last tensor belong to no tensor", path, n_payload - at);
    }
    return MX_OK;
}

/* The table of all entries of the header, in its order. */
static mx_status read_entries(mx_arena *arena, yyjson_val *root, const uint8_t *payload, size_t n_payload,
                              const char *path, mx_strmap *names, mx_tensors *out, mx_error *err)
{
    const size_t n_max = yyjson_obj_size(root);
    bool has_metadata = false;
    out->n = 0;
    out->items = mx_arena_array(arena, mx_tensor, n_max);
    if (!out->items) {
        return mx_fail_no_memory(err, n_max * sizeof *out->items, path);
    }
    MX_TRY(mx_strmap_reserve(names, n_max, err));
    yyjson_obj_iter iter = yyjson_obj_iter_with(root);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter)) != NULL;) {
        yyjson_val *entry = yyjson_obj_iter_get_val(key);
        const mx_str name = mx_json_view_str(key);
        bool was_there = false;
        if (mx_str_eq_cstr(name, "__metadata__") && !has_metadata) {
            has_metadata = true;
            MX_TRY(check_metadata(entry, path, err));
            continue;
        }
        mx_tensor *t = &out->items[out->n];
        t->name = mx_arena_copy_str(arena, name);
        t->path = path;
        if (!t->name.ptr) {
            return mx_fail_no_memory(err, name.len, path);
        }
        MX_TRY(mx_strmap_put(names, t->name, (int32_t)out->n, &was_there, err));
        if (was_there || mx_str_eq_cstr(name, "__metadata__")) {
            return mx_fail(err, MX_FORMAT, "%s: \"%.*s\" occurs twice in the header", path, MX_STR_ARG(name));
        }
        if (!yyjson_is_obj(entry)) {
            return mx_fail(err, MX_FORMAT, "%s: tensor \"%.*s\" must be an object, found %s", path, MX_STR_ARG(name),
                           mx_json_kind(entry));
        }
        MX_TRY(read_entry(entry, payload, n_payload, t, err));
        out->n++;
    }
    return MX_OK;
}

mx_status mx_safetensors_parse(mx_arena *arena, const uint8_t *data, size_t n_bytes, const char *path, mx_tensors *out,
                               mx_error *err)
{
    mx_status st = MX_OK;
    mx_json json = {0};
    mx_strmap names = {0};
    mx_str header = {0};

    *out = (mx_tensors){0};
    MX_TRY_OR(done, st, find_header(data, n_bytes, path, &header, err));
    MX_TRY_OR(done, st, mx_json_parse(header, path, &json, err));
    const uint8_t *payload = data + 8 + header.len;
    const size_t n_payload = n_bytes - 8 - header.len;
    MX_TRY_OR(done, st, read_entries(arena, json.root, payload, n_payload, path, &names, out, err));
    if (out->n > 0) {
        qsort(out->items, out->n, sizeof *out->items, compare_places);
    }
    MX_TRY_OR(done, st, check_cover(out, payload, n_payload, path, err));
done:
    mx_strmap_deinit(&names);
    mx_json_close(&json);
    return st;
}
