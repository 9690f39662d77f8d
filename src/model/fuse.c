/* fuse.c - copies a checkpoint file by file. Merging changes neither names, nor shapes, nor dtypes, so headers are
 * copied too, and only the bytes of changed tensors are new. Files are written to a folder beside the new one, which
 * gets its name when it is whole.
 */
#include "model/fuse.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/json.h"
#include "base/mem.h"
#include "model/adapter.h"
#include "platform/file.h"
#include "platform/map.h"
#include "platform/path.h"
#include "platform/write_file.h"
#include "weights/checkpoint.h"
#include "weights/quant.h"
#include "weights/quantizer.h"

#define PART_SUFFIX     ".partial"
#define FUSE_MAX_ARENA  ((size_t)1 << 26)
#define FUSE_MAX_CONFIG ((size_t)16 << 20)

typedef struct fusing {
    mx_arena arena;
    mx_checkpoint *checkpoint;
    mx_quant_config quant;
    mx_adapter *adapter;
    const char *model_dir;
    const char *out_dir;
    const char *part_dir; /* where it is written; NULL until it is made */
    int32_t n_fused;
} fusing;

/* The bytes of one merged weight, as its tensors have them. */
typedef struct merged {
    uint8_t *values; /* owned, as are the next two */
    uint8_t *scales;
    uint8_t *biases;
    float *row;
} merged;

static void free_merged(merged *m)
{
    mx_free(m->values);
    mx_free(m->scales);
    mx_free(m->biases);
    mx_free(m->row);
}

static mx_status check_fit(const mx_weight *w, const mx_adaptation *a, mx_error *err)
{
    if (w->n_experts != 1 || a->a.n_cols != w->n_cols || a->b.n_rows != w->n_rows || a->a.n_rows != a->b.n_cols ||
        (a->factors.n_cols != 0 && a->factors.n_cols != w->n_rows)) {
        return mx_fail(err, MX_FORMAT, "tensor \"%.*s\" does not fit \"%.*s\", which has %lld inputs and %lld outputs",
                       MX_STR_ARG(a->a.name), MX_STR_ARG(w->name), (long long)w->n_cols, (long long)w->n_rows);
    }
    if (w->global_scale != 1.0f) {
        return mx_fail(err, MX_UNSUPPORTED, "\"%.*s\" has one scale for all its values, which is read but not written",
                       MX_STR_ARG(w->name));
    }
    return MX_OK;
}

static mx_status merge(const mx_weight *w, const mx_adaptation *a, merged *out, mx_error *err)
{
    const int64_t n_values = mx_weight_value_bytes(w, w->n_cols);
    const int64_t n_scales = mx_weight_scale_bytes(w, w->n_cols);
    out->values = mx_calloc((size_t)w->n_rows, (size_t)n_values);
    out->scales = mx_malloc((size_t)(w->n_rows * n_scales + 1));
    out->biases = mx_malloc((size_t)(w->n_rows * n_scales + 1));
    out->row = mx_malloc((size_t)w->n_cols * 2 * sizeof(float));
    if (!out->values || !out->scales || !out->biases || !out->row) {
        return mx_fail_no_memory(err, (size_t)(w->n_rows * n_values), "a merged weight");
    }
    for (int64_t n = 0; n < w->n_rows; n++) {
        mx_adapter_fuse_row(w, a, n, out->row);
        if (w->quant.mode == MX_QUANT_NONE) {
            for (int64_t c = 0; c < w->n_cols; c++) {
                mx_dtype_store(out->values + n * n_values + mx_weight_value_bytes(w, c), w->dtype, out->row[c]);
            }
        } else {
            mx_quantize(out->row, w->n_cols, w->quant, w->dtype, out->values + n * n_values, out->scales + n * n_scales,
                        out->biases + n * n_scales);
        }
    }
    return MX_OK;
}

/* The path of the weight that a tensor is a part of; i_part tells which. ptr NULL for other tensors. */
static mx_str split_name(mx_str name, int32_t *i_part)
{
    static const mx_str suffixes[] = {MX_STR_INIT(".weight"), MX_STR_INIT(".scales"), MX_STR_INIT(".biases")};
    for (*i_part = 0; *i_part < (int32_t)MX_COUNTOF(suffixes); ++*i_part) {
        if (mx_str_ends_with(name, suffixes[*i_part])) {
            return mx_str_slice(name, 0, name.len - suffixes[*i_part].len);
        }
    }
    return (mx_str){NULL, 0};
}

/* Whether every tensor of the adapter has its weight in the checkpoint, and fits it. */
static mx_status check_adapter(fusing *f, mx_error *err)
{
    for (size_t i = 0; i < mx_checkpoint_n_tensors(f->checkpoint); i++) {
        int32_t i_part = 0;
        bool found = false;
        mx_adaptation a;
        mx_weight w;
        const mx_str path = split_name(mx_checkpoint_at(f->checkpoint, i)->name, &i_part);
        if (path.ptr) {
            MX_TRY(mx_adapter_find(f->adapter, path, &a, &found, err));
        }
        if (found) {
            MX_TRY(mx_weight_resolve(f->checkpoint, &f->quant, path, &w, err));
            MX_TRY(check_fit(&w, &a, err));
        }
    }
    return mx_adapter_check_unused(f->adapter, err);
}

/* A tensor, merged where the adapter changes it. */
static mx_status write_tensor(fusing *f, const mx_tensor *t, mx_write_file *file, mx_error *err)
{
    int32_t i_part = 0;
    bool found = false;
    mx_adaptation a;
    mx_weight w;
    merged m = {0};
    const mx_str path = split_name(t->name, &i_part);
    if (path.ptr) {
        MX_TRY(mx_adapter_find(f->adapter, path, &a, &found, err));
    }
    if (!found) {
        return mx_write_file_append(file, (mx_str){(const char *)t->data, t->n_bytes}, err);
    }
    mx_status st;
    MX_TRY_OR(done, st, mx_weight_resolve(f->checkpoint, &f->quant, path, &w, err));
    MX_TRY_OR(done, st, merge(&w, &a, &m, err));
    const uint8_t *parts[] = {m.values, m.scales, m.biases};
    st = mx_write_file_append(file, (mx_str){(const char *)parts[i_part], t->n_bytes}, err);
    f->n_fused += i_part == 0;
done:
    free_merged(&m);
    return st;
}

/* Header and tensors from i_first on, up to the first of another file, whose number *i_next gets. */
static mx_status write_weights(fusing *f, size_t i_first, size_t *i_next, mx_error *err)
{
    const char *source = mx_checkpoint_at(f->checkpoint, i_first)->path;
    const char *target = mx_path_join(&f->arena, f->part_dir, mx_path_base(mx_str_from(source)));
    mx_map map = {0};
    mx_write_file file = {0};
    mx_status st;
    if (!target) {
        return mx_fail(err, MX_NO_MEMORY, "out of memory: the name of a file");
    }
    MX_TRY_OR(done, st, mx_map_open(source, &map, err));
    MX_TRY_OR(done, st, mx_write_file_open(target, &file, err));
    MX_TRY_OR(done, st, mx_write_file_truncate(&file, 0, err));
    const size_t n_header = 8 + (size_t)mx_load_le64(map.data); /* the checkpoint has checked it */
    MX_TRY_OR(done, st, mx_write_file_append(&file, (mx_str){(const char *)map.data, n_header}, err));
    size_t i = i_first;
    for (; i < mx_checkpoint_n_tensors(f->checkpoint); i++) {
        const mx_tensor *t = mx_checkpoint_at(f->checkpoint, i);
        if (strcmp(t->path, source) != 0) {
            break;
        }
        MX_TRY_OR(done, st, write_tensor(f, t, &file, err));
    }
    *i_next = i;
    st = mx_write_file_sync(&file, err);
done:
    mx_write_file_close(&file);
    mx_map_close(&map);
    return st;
}

static mx_status copy_file(fusing *f, mx_str name, mx_error *err)
{
    const char *source = mx_path_join(&f->arena, f->model_dir, name);
    const char *target = mx_path_join(&f->arena, f->part_dir, name);
    mx_map map = {0};
    mx_write_file file = {0};
    mx_status st;
    if (!source || !target) {
        return mx_fail(err, MX_NO_MEMORY, "out of memory: the name of a file");
    }
    if (mx_file_kind_at(source) != MX_FILE_REGULAR || mx_str_ends_with(name, MX_STR(".safetensors"))) {
        return MX_OK;
    }
    MX_TRY_OR(done, st, mx_map_open(source, &map, err));
    MX_TRY_OR(done, st, mx_write_file_open(target, &file, err));
    MX_TRY_OR(done, st, mx_write_file_truncate(&file, 0, err));
    st = mx_write_file_append(&file, (mx_str){(const char *)map.data, map.n_bytes}, err);
done:
    mx_write_file_close(&file);
    mx_map_close(&map);
    return st;
}

static mx_status open_source(fusing *f, const char *adapter_dir, mx_error *err)
{
    mx_buf text = {0};
    mx_json json = {0};
    mx_status st;
    const char *path = mx_path_join(&f->arena, f->model_dir, MX_STR("config.json"));
    if (!path) {
        return mx_fail(err, MX_NO_MEMORY, "out of memory: the name of a file");
    }
    MX_TRY_OR(done, st, mx_file_read(path, FUSE_MAX_CONFIG, &text, err));
    MX_TRY_OR(done, st, mx_json_parse(mx_buf_view(&text), path, &json, err));
    MX_TRY_OR(done, st, mx_quant_config_parse(json.root, path, &f->quant, err));
    if (f->quant.foreign != MX_FOREIGN_NONE) {
        st = mx_fail(err, MX_UNSUPPORTED, "%s: weights of another tool are not merged; use an MLX conversion", path);
        goto done;
    }
    MX_TRY_OR(done, st, mx_checkpoint_open(f->model_dir, &f->checkpoint, err));
    st = mx_adapter_open(adapter_dir, &f->adapter, err);
done:
    mx_json_close(&json);
    mx_buf_deinit(&text);
    return st;
}

/* The folder to write to. An empty one in the place of the new one goes, since no folder takes another's place. */
static mx_status make_folder(fusing *f, mx_error *err)
{
    const mx_str *names = NULL;
    size_t n_names = 0;
    const mx_str base = mx_path_base(mx_str_from(f->out_dir));
    const mx_str name = {f->out_dir, base.ptr ? (size_t)(base.ptr + base.len - f->out_dir) : 0}; /* "a" of "a/" */
    const char *out_dir = mx_arena_copy_str(&f->arena, name).ptr;
    char *part_dir = (char *)mx_arena_alloc(&f->arena, name.len + sizeof PART_SUFFIX);
    if (!out_dir || !part_dir) {
        return mx_fail(err, MX_NO_MEMORY, "out of memory: the name of a file");
    }
    (void)snprintf(part_dir, name.len + sizeof PART_SUFFIX, "%s" PART_SUFFIX, out_dir);
    const mx_file_kind kind = mx_file_kind_at(f->out_dir);
    if (kind == MX_FILE_DIR) {
        MX_TRY(mx_dir_list(&f->arena, f->out_dir, &names, &n_names, err));
    }
    if (base.len == 0 || n_names > 0 || (kind != MX_FILE_DIR && kind != MX_FILE_MISSING)) {
        return mx_fail(err, MX_INVALID, "\"%s\" is there already and is not empty; name a new folder", f->out_dir);
    }
    if (mx_file_kind_at(part_dir) != MX_FILE_MISSING) {
        return mx_fail(err, MX_INVALID, "%s is in the way, left over from work that was broken off: remove it",
                       part_dir);
    }
    if (kind == MX_FILE_DIR) {
        MX_TRY(mx_dir_remove(out_dir, err));
    }
    MX_TRY(mx_dir_create_all(part_dir, err));
    f->out_dir = out_dir;
    f->part_dir = part_dir;
    return MX_OK;
}

static mx_status fuse_all(fusing *f, const char *adapter_dir, mx_error *err)
{
    const mx_str *names = NULL;
    size_t n_names = 0;
    MX_TRY(open_source(f, adapter_dir, err));
    MX_TRY(check_adapter(f, err));
    MX_TRY(make_folder(f, err));
    for (size_t i = 0; i < mx_checkpoint_n_tensors(f->checkpoint);) {
        MX_TRY(write_weights(f, i, &i, err));
    }
    MX_TRY(mx_dir_list(&f->arena, f->model_dir, &names, &n_names, err));
    for (size_t i = 0; i < n_names; i++) {
        MX_TRY(copy_file(f, names[i], err));
    }
    return mx_file_rename(f->part_dir, f->out_dir, err);
}

mx_status mx_fuse(const char *model_dir, const char *adapter_dir, const char *out_dir, int32_t *n_fused, mx_error *err)
{
    fusing f = {.model_dir = model_dir, .out_dir = out_dir};
    mx_arena_init(&f.arena, FUSE_MAX_ARENA);
    const mx_status st = fuse_all(&f, adapter_dir, err);
    *n_fused = f.n_fused;
    if (st != MX_OK && f.part_dir) {
        const mx_status removed = mx_file_remove_tree(f.part_dir, NULL);
        (void)removed; /* the first failure is the one to tell */
    }
    mx_adapter_close(f.adapter);
    mx_checkpoint_close(f.checkpoint);
    mx_quant_config_close(&f.quant);
    mx_arena_deinit(&f.arena);
    return st;
}
