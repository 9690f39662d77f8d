/* safetensors_writer.c - headers, files and the index. */
#include "weights/safetensors_writer.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "platform/file.h"
#include "platform/path.h"

#define MAX_TENSORS      ((size_t)1 << 24)
#define MAX_HEADER_BYTES ((size_t)100 << 20)
#define MAX_PATH_BYTES   ((size_t)1 << 20)

mx_status mx_st_plan_add(mx_st_plan *plan, const char *name, mx_dtype dtype, const int64_t *shape, int32_t n_dims,
                         mx_error *err)
{
    mx_st_item *grown = mx_array_grow(plan->items, &plan->cap, plan->n + 1, sizeof *grown, MAX_TENSORS);
    if (!grown) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for a list of %zu tensors", plan->n);
    }
    plan->items = grown;
    mx_st_item item = {.name = name, .dtype = dtype, .n_dims = n_dims, .n_bytes = (int64_t)mx_dtype_size(dtype)};
    for (int32_t i = 0; i < n_dims; i++) {
        item.shape[i] = shape[i];
        if (!mx_mul_i64(item.n_bytes, shape[i], &item.n_bytes)) {
            return mx_fail(err, MX_FORMAT, "%s: its size does not fit 64 bits", name);
        }
    }
    plan->items[plan->n++] = item;
    return MX_OK;
}

void mx_st_plan_deinit(mx_st_plan *plan)
{
    mx_free(plan->items);
    *plan = (mx_st_plan){0};
}

/* The place behind the last item that goes into the same file as item `from`. */
static size_t shard_end(const mx_st_plan *plan, size_t from, int64_t max_shard_bytes)
{
    int64_t n_bytes = 0;
    size_t i = from;
    while (i < plan->n && (i == from || n_bytes + plan->items[i].n_bytes <= max_shard_bytes)) {
        n_bytes += plan->items[i++].n_bytes;
    }
    return i;
}

static size_t count_shards(const mx_st_plan *plan, int64_t max_shard_bytes)
{
    size_t n = 0;
    for (size_t at = 0; at < plan->n; n++) {
        at = shard_end(plan, at, max_shard_bytes);
    }
    return n;
}

static void name_shard(size_t i, size_t n_shards, char out[64])
{
    if (n_shards == 1) {
        (void)snprintf(out, 64, "model.safetensors");
    } else {
        (void)snprintf(out, 64, "model-%05zu-of-%05zu.safetensors", i + 1, n_shards);
    }
}

/* Length and JSON, padded with spaces to a multiple of 8. */
static mx_status make_header(const mx_st_plan *plan, size_t from, size_t to, mx_buf *out, mx_error *err)
{
    int64_t at = 0;
    out->len = 0;
    MX_TRY(mx_buf_append(out, MX_STR("\0\0\0\0\0\0\0\0{\"__metadata__\":{\"format\":\"mlx\"}"), err));
    for (size_t i = from; i < to; i++) {
        const mx_st_item *item = &plan->items[i];
        MX_TRY(mx_buf_append_char(out, ',', err));
        MX_TRY(mx_json_append_str(out, mx_str_from(item->name), err));
        MX_TRY(mx_buf_printf(out, err, ":{\"dtype\":\"%s\",\"shape\":[", mx_dtype_name(item->dtype)));
        for (int32_t d = 0; d < item->n_dims; d++) {
            MX_TRY(mx_buf_printf(out, err, "%s%" PRId64, d ? "," : "", item->shape[d]));
        }
        MX_TRY(mx_buf_printf(out, err, "],\"data_offsets\":[%" PRId64 ",%" PRId64 "]}", at, at + item->n_bytes));
        at += item->n_bytes;
    }
    MX_TRY(mx_buf_append_char(out, '}', err));
    while (out->len % 8 != 0) {
        MX_TRY(mx_buf_append_char(out, ' ', err));
    }
    for (int i = 0; i < 8; i++) {
        out->data[i] = (char)((uint64_t)(out->len - 8) >> 8 * i & 255);
    }
    return MX_OK;
}

static mx_status write_shard(const mx_st_plan *plan, size_t from, size_t to, const char *path, mx_st_produce produce,
                             void *arg, mx_error *err)
{
    mx_write_file file = {0};
    mx_buf header = {.max = MAX_HEADER_BYTES};
    mx_status st;
    MX_TRY_OR(done, st, make_header(plan, from, to, &header, err));
    MX_TRY_OR(done, st, mx_write_file_open(path, &file, err));
    MX_TRY_OR(done, st, mx_write_file_truncate(&file, 0, err));
    MX_TRY_OR(done, st, mx_write_file_append(&file, mx_buf_view(&header), err));
    for (size_t i = from; i < to; i++) {
        MX_TRY_OR(done, st, produce(arg, i, &file, err));
    }
    st = mx_write_file_sync(&file, err);
done:
    mx_write_file_close(&file);
    mx_buf_deinit(&header);
    return st;
}

static mx_status write_index(const mx_st_plan *plan, const char *path, int64_t max_shard_bytes, size_t n_shards,
                             mx_error *err)
{
    mx_buf text = {.max = MAX_HEADER_BYTES};
    int64_t total = 0;
    size_t i_shard = 0;
    mx_status st;
    for (size_t i = 0; i < plan->n; i++) {
        total += plan->items[i].n_bytes;
    }
    MX_TRY_OR(
        done, st,
        mx_buf_printf(&text, err, "{\n  \"metadata\": {\"total_size\": %" PRId64 "},\n  \"weight_map\": {", total));
    for (size_t at = 0; at < plan->n; i_shard++) {
        char name[64];
        const size_t end = shard_end(plan, at, max_shard_bytes);
        name_shard(i_shard, n_shards, name);
        for (const size_t first = at; at < end; at++) {
            MX_TRY_OR(done, st, mx_buf_printf(&text, err, "%s\n    ", first + at > 0 ? "," : ""));
            MX_TRY_OR(done, st, mx_json_append_str(&text, mx_str_from(plan->items[at].name), err));
            MX_TRY_OR(done, st, mx_buf_printf(&text, err, ": \"%s\"", name));
        }
    }
    MX_TRY_OR(done, st, mx_buf_append(&text, MX_STR("\n  }\n}\n"), err));
    st = mx_file_write(path, mx_buf_view(&text), err);
done:
    mx_buf_deinit(&text);
    return st;
}

mx_status mx_st_plan_write(const mx_st_plan *plan, const char *dir, int64_t max_shard_bytes, mx_st_produce produce,
                           void *arg, mx_error *err)
{
    mx_arena arena;
    mx_status st = MX_OK;
    const size_t n_shards = count_shards(plan, max_shard_bytes);
    mx_arena_init(&arena, MAX_PATH_BYTES);
    for (size_t i = 0, at = 0; st == MX_OK && i < n_shards; i++) {
        char name[64];
        name_shard(i, n_shards, name);
        const char *path = mx_path_join(&arena, dir, mx_str_from(name));
        const size_t end = shard_end(plan, at, max_shard_bytes);
        st = path ? write_shard(plan, at, end, path, produce, arg, err)
                  : mx_fail(err, MX_NO_MEMORY, "%s: no memory for a path", dir);
        at = end;
        mx_arena_reset(&arena);
    }
    if (st == MX_OK && n_shards > 1) {
        const char *path = mx_path_join(&arena, dir, MX_STR("model.safetensors.index.json"));
        st = path ? write_index(plan, path, max_shard_bytes, n_shards, err)
                  : mx_fail(err, MX_NO_MEMORY, "%s: no memory for a path", dir);
    }
    mx_arena_deinit(&arena);
    return st;
}
