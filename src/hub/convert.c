/* convert.c - a checkpoint of floats, quantised tensor by tensor. */
#include "hub/convert.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "hub/convert_config.h"
#include "hub/repo_info.h"
#include "model/model.h"
#include "platform/file.h"
#include "platform/path.h"
#include "text/tokenizer/tokenizer.h"
#include "weights/checkpoint.h"
#include "weights/quant.h"
#include "weights/quantizer.h"
#include "weights/safetensors_writer.h"

#define MAX_ARENA_BYTES ((size_t)1 << 30)
#define MAX_FILE_BYTES  ((size_t)1 << 30)
#define ROWS_AT_ONCE    64

enum part { PART_WHOLE, PART_WEIGHT, PART_SCALES, PART_BIASES };

/* Where the bytes of a planned tensor come from. */
typedef struct source {
    const mx_tensor *tensor;         /* the first of n_parts */
    const mx_tensor *const *experts; /* [n_parts] what is stacked to one tensor; NULL: the tensor alone */
    int64_t n_parts;
    mx_quant quant; /* MX_QUANT_NONE: copied */
    enum part part;
} source;

/* One call of mx_convert_checkpoint. */
typedef struct conversion {
    const mx_convert_options *options;
    mx_arena arena;
    mx_checkpoint *checkpoint;
    mx_convert_config config;
    mx_st_plan plan;
    source *sources; /* owned; one for each of the plan's items */
    size_t cap;
    mx_buf scales; /* of the matrix that was quantised last, and the next likewise */
    mx_buf biases;
} conversion;

static mx_status plan_item(conversion *c, mx_str name, mx_dtype dtype, const int64_t *shape, int32_t n_dims,
                           const source *from, mx_error *err)
{
    const char *copy = mx_arena_copy_str(&c->arena, name).ptr;
    source *grown = mx_array_grow(c->sources, &c->cap, c->plan.n + 1, sizeof *grown, (size_t)1 << 24);
    if (!copy || !grown) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for a list of tensors");
    }
    c->sources = grown;
    c->sources[c->plan.n] = *from;
    return mx_st_plan_add(&c->plan, copy, dtype, shape, n_dims, err);
}

/* weight, scales and, for affine, biases of the matrix at `path`. */
static mx_status plan_quantised(conversion *c, mx_str path, const int64_t *shape, int32_t n_dims, source from,
                                mx_error *err)
{
    static const char *const suffixes[] = {"", "weight", "scales", "biases"};
    const int64_t n_cols = shape[n_dims - 1];
    int64_t packed[MX_TENSOR_MAX_DIMS];
    const bool is_affine = from.quant.mode == MX_QUANT_AFFINE;
    for (int part = PART_WEIGHT; part <= (is_affine ? PART_BIASES : PART_SCALES); part++) {
        const char *name = mx_arena_printf(&c->arena, "%.*s.%s", MX_STR_ARG(path), suffixes[part]);
        if (!name) {
            return mx_fail(err, MX_NO_MEMORY, "no memory for a name");
        }
        memcpy(packed, shape, sizeof packed);
        packed[n_dims - 1] = part == PART_WEIGHT ? n_cols * from.quant.bits / 32 : n_cols / from.quant.group_size;
        from.part = (enum part)part;
        MX_TRY(plan_item(c, mx_str_from(name),
                         part == PART_WEIGHT ? MX_DTYPE_U32
                         : is_affine         ? from.tensor->dtype
                                             : MX_DTYPE_U8,
                         packed, n_dims, &from, err));
    }
    return MX_OK;
}

/* "a.experts.7.up_proj.weight": the prefix "a", the number and "up_proj"; false for other names. */
static bool split_expert(mx_str name, mx_str *prefix, int64_t *i_expert, mx_str *proj)
{
    const mx_str infix = MX_STR(".experts.");
    const size_t at = mx_str_find(name, infix, 0);
    size_t i = at == MX_STR_NPOS ? 0 : at + infix.len;
    const size_t digits = i;
    *i_expert = 0;
    for (; i < name.len && name.ptr[i] >= '0' && name.ptr[i] <= '9' && i - digits < 6; i++) {
        *i_expert = *i_expert * 10 + (name.ptr[i] - '0');
    }
    if (at == MX_STR_NPOS || i == digits || i >= name.len || name.ptr[i] != '.' ||
        !mx_str_ends_with(name, MX_STR(".weight")) || name.len < i + 9) {
        return false;
    }
    *prefix = mx_str_slice(name, 0, at);
    *proj = mx_str_slice(name, i + 1, name.len - 7);
    return memchr(proj->ptr, '.', proj->len) == NULL;
}

/* Experts that are tensors of their own become one, under MLX's names. Number 0 brings all; the others are passed over.
 */
static mx_status plan_experts(conversion *c, const mx_tensor *t, mx_str prefix, mx_str proj, mx_error *err)
{
    static const char *const names[][2] = {{"w1", "gate_proj"}, {"w2", "down_proj"}, {"w3", "up_proj"}};
    int64_t n = 0;
    const mx_tensor *found = t;
    const char *name = NULL;
    for (; found; n++) {
        name = mx_arena_printf(&c->arena, "%.*s.experts.%lld.%.*s.weight", MX_STR_ARG(prefix), (long long)n + 1,
                               MX_STR_ARG(proj));
        found = name ? mx_checkpoint_find(c->checkpoint, mx_str_from(name)) : NULL;
    }
    const mx_tensor **experts = mx_arena_array(&c->arena, const mx_tensor *, n);
    if (!experts || !name) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for a list of experts");
    }
    for (int64_t i = 0; i < n; i++) {
        name = mx_arena_printf(&c->arena, "%.*s.experts.%lld.%.*s.weight", MX_STR_ARG(prefix), (long long)i,
                               MX_STR_ARG(proj));
        experts[i] = name ? mx_checkpoint_find(c->checkpoint, mx_str_from(name)) : NULL;
        if (!experts[i] || experts[i]->dtype != t->dtype || experts[i]->n_dims != 2 ||
            memcmp(experts[i]->shape, t->shape, 2 * sizeof *t->shape) != 0) {
            return mx_fail(err, MX_FORMAT, "%.*s: expert %lld is missing or unlike the first", MX_STR_ARG(t->name),
                           (long long)i);
        }
    }
    for (size_t i = 0; i < MX_COUNTOF(names); i++) {
        proj = mx_str_eq_cstr(proj, names[i][0]) ? mx_str_from(names[i][1]) : proj;
    }
    const char *path = mx_arena_printf(&c->arena, "%.*s.switch_mlp.%.*s", MX_STR_ARG(prefix), MX_STR_ARG(proj));
    if (!path) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for a name");
    }
    const int64_t shape[MX_TENSOR_MAX_DIMS] = {n, t->shape[0], t->shape[1]};
    source from = {.tensor = t, .experts = experts, .n_parts = n};
    MX_TRY(mx_convert_choose(&c->config, mx_str_from(path), shape, 3, &from.quant, err));
    if (from.quant.mode != MX_QUANT_NONE) {
        return plan_quantised(c, mx_str_from(path), shape, 3, from, err);
    }
    name = mx_arena_printf(&c->arena, "%s.weight", path);
    return name ? plan_item(c, mx_str_from(name), t->dtype, shape, 3, &from, err)
                : mx_fail(err, MX_NO_MEMORY, "no memory for a name");
}

static mx_status plan_tensor(conversion *c, const mx_tensor *t, mx_error *err)
{
    const mx_str suffix = MX_STR(".weight");
    mx_str prefix;
    mx_str proj;
    int64_t i_expert;
    source from = {.tensor = t, .n_parts = 1};
    if (mx_convert_is_dropped(&c->config, t->name)) {
        return MX_OK;
    }
    if (t->n_dims == 2 && split_expert(t->name, &prefix, &i_expert, &proj)) {
        return i_expert == 0 ? plan_experts(c, t, prefix, proj, err) : MX_OK;
    }
    if (!mx_dtype_is_weight_float(t->dtype) && mx_str_ends_with(t->name, suffix)) {
        return mx_fail(err, MX_UNSUPPORTED, "%s: %.*s is %s: only checkpoints of floats can be converted", t->path,
                       MX_STR_ARG(t->name), mx_dtype_name(t->dtype));
    }
    if (mx_str_ends_with(t->name, suffix)) {
        const mx_str path = mx_str_slice(t->name, 0, t->name.len - suffix.len);
        MX_TRY(mx_convert_choose(&c->config, path, t->shape, t->n_dims, &from.quant, err));
        if (from.quant.mode != MX_QUANT_NONE) {
            return plan_quantised(c, path, t->shape, t->n_dims, from, err);
        }
    }
    return plan_item(c, t->name, t->dtype, t->shape, t->n_dims, &from, err);
}

/* ---- bytes ---- */

static mx_status quantise_rows(conversion *c, const source *from, const mx_tensor *t, mx_write_file *out, mx_error *err)
{
    const int64_t n_cols = t->shape[t->n_dims - 1];
    const int64_t n_values = (int64_t)(t->n_bytes / mx_dtype_size(t->dtype));
    const bool is_affine = from->quant.mode == MX_QUANT_AFFINE;
    const size_t n_item = is_affine ? mx_dtype_size(t->dtype) : 1;
    float *w = (float *)mx_calloc((size_t)(ROWS_AT_ONCE * n_cols), sizeof *w);
    uint8_t *packed = (uint8_t *)mx_calloc((size_t)(ROWS_AT_ONCE * n_cols), 1);
    mx_status st =
        w && packed ? MX_OK : mx_fail(err, MX_NO_MEMORY, "%.*s: no memory for its rows", MX_STR_ARG(t->name));
    for (int64_t at = 0; st == MX_OK && at < n_values; at += ROWS_AT_ONCE * n_cols) {
        const int64_t n = MX_MIN(ROWS_AT_ONCE * n_cols, n_values - at);
        const size_t n_scales = (size_t)(n / from->quant.group_size) * n_item;
        MX_TRY_OR(done, st, mx_buf_reserve(&c->scales, n_scales, err));
        MX_TRY_OR(done, st, mx_buf_reserve(&c->biases, n_scales, err));
        mx_dtype_to_f32(w, t->data + (size_t)at * mx_dtype_size(t->dtype), t->dtype, n);
        mx_quantize(w, n, from->quant, t->dtype, packed, (uint8_t *)c->scales.data + c->scales.len,
                    (uint8_t *)c->biases.data + c->biases.len);
        c->scales.len += n_scales;
        c->biases.len += is_affine ? n_scales : 0;
        st = mx_write_file_append(out, (mx_str){(const char *)packed, (size_t)(n * from->quant.bits / 8)}, err);
    }
done:
    mx_free(packed);
    mx_free(w);
    return st;
}

static mx_status produce(void *arg, size_t i_item, mx_write_file *out, mx_error *err)
{
    conversion *c = (conversion *)arg;
    const source *from = &c->sources[i_item];
    const mx_convert_options *o = c->options;
    if (o->should_stop && o->should_stop(o->arg)) {
        return mx_fail(err, MX_CANCELLED, "the conversion was interrupted; nothing is left of it");
    }
    if (from->part == PART_SCALES || from->part == PART_BIASES) {
        return mx_write_file_append(out, mx_buf_view(from->part == PART_SCALES ? &c->scales : &c->biases), err);
    }
    if (o->on_tensor) {
        o->on_tensor(o->arg, c->plan.items[i_item].name, i_item, c->plan.n);
    }
    c->scales.len = 0;
    c->biases.len = 0;
    for (int64_t i = 0; i < from->n_parts; i++) {
        const mx_tensor *t = from->experts ? from->experts[i] : from->tensor;
        MX_TRY(from->part == PART_WEIGHT ? quantise_rows(c, from, t, out, err)
                                         : mx_write_file_append(out, (mx_str){(const char *)t->data, t->n_bytes}, err));
    }
    return MX_OK;
}

/* ---- files ---- */

/* Tokenizer, template, generation settings: whatever belongs to a model and is not weights or config.json. */
static mx_status copy_files(conversion *c, const char *dir, const char *out, mx_error *err)
{
    const mx_str *names;
    size_t n_names;
    MX_TRY(mx_dir_list(&c->arena, dir, &names, &n_names, err));
    for (size_t i = 0; i < n_names; i++) {
        mx_buf text = {0};
        const char *from = mx_path_join(&c->arena, dir, names[i]);
        const char *to = mx_path_join(&c->arena, out, names[i]);
        if (!mx_repo_file_is_wanted(names[i]) || mx_str_ends_with(names[i], MX_STR(".safetensors")) ||
            mx_str_ends_with(names[i], MX_STR(".index.json")) || mx_str_eq_cstr(names[i], "config.json") ||
            names[i].ptr[0] == '.') {
            continue;
        }
        mx_status st = from && to ? mx_file_read(from, MAX_FILE_BYTES, &text, err)
                                  : mx_fail(err, MX_NO_MEMORY, "no memory for a path");
        st = st == MX_OK ? mx_file_write(to, mx_buf_view(&text), err) : st;
        mx_buf_deinit(&text);
        MX_TRY(st);
    }
    return MX_OK;
}

static mx_status convert_into(conversion *c, const char *dir, const char *out, mx_error *err)
{
    MX_TRY(mx_convert_config_open(dir, c->options, &c->config, err));
    MX_TRY(mx_checkpoint_open(dir, &c->checkpoint, err));
    for (size_t i = 0; i < mx_checkpoint_n_tensors(c->checkpoint); i++) {
        MX_TRY(plan_tensor(c, mx_checkpoint_at(c->checkpoint, i), err));
    }
    MX_TRY(mx_convert_config_check(&c->config, err));
    MX_TRY(mx_st_plan_write(&c->plan, out, MX_ST_SHARD_BYTES, produce, c, err));
    MX_TRY(mx_convert_config_write(&c->config, out, err));
    return copy_files(c, dir, out, err);
}

mx_status mx_convert_begin(mx_arena *arena, const char *out, const char **part, mx_error *err)
{
    *part = mx_arena_printf(arena, "%s.part", out);
    if (mx_file_kind_at(out) != MX_FILE_MISSING) {
        return mx_fail(err, MX_INVALID, "%s is there already: name a folder that is not", out);
    }
    if (!*part) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for a path");
    }
    /* It may be anybody's: what is removed after a failure is only what was made here. */
    if (mx_file_kind_at(*part) != MX_FILE_MISSING || mx_file_is_link(*part)) {
        return mx_fail(err, MX_INVALID,
                       "%s, where the model would be made, is there already: remove it if it was left behind by a "
                       "conversion, or name another folder",
                       *part);
    }
    return mx_dir_create_all(*part, err);
}

/* A folder without one is fine: the note about it was given. */
static mx_status try_tokenizer(mx_arena *arena, const char *part, mx_error *err)
{
    mx_buf text = {0};
    mx_tokenizer *tokenizer = NULL;
    const char *path = mx_path_join(arena, part, MX_STR("tokenizer.json"));
    if (!path || mx_file_kind_at(path) != MX_FILE_REGULAR) {
        return path ? MX_OK : mx_fail(err, MX_NO_MEMORY, "no memory for a path");
    }
    mx_status st = mx_file_read(path, MAX_FILE_BYTES, &text, err);
    st = st == MX_OK ? mx_tokenizer_open(mx_buf_view(&text), path, &tokenizer, err) : st;
    mx_tokenizer_close(tokenizer);
    mx_buf_deinit(&text);
    return st;
}

/* What was made must be a model: nothing is missing, nothing too much, and the family is known. */
static mx_status try_model(const char *part, mx_error *err)
{
    mx_arena arena;
    mx_model *model = NULL;
    mx_arena_init(&arena, 1 << 20);
    mx_status st = mx_model_open(part, NULL, &model, err);
    mx_model_close(model);
    st = st == MX_OK ? try_tokenizer(&arena, part, err) : st;
    mx_arena_deinit(&arena);
    return st == MX_OK ? st : mx_error_prefix(err, st, "what was made cannot be opened and is removed");
}

mx_status mx_convert_end(const char *part, const char *out, mx_status st, mx_error *err)
{
    st = st == MX_OK ? try_model(part, err) : st;
    st = st == MX_OK ? mx_file_rename(part, out, err) : st;
    if (st != MX_OK && mx_file_remove_tree(part, NULL) != MX_OK) {
        return mx_error_prefix(err, st, "%s could not be removed", part);
    }
    return st;
}

mx_status mx_convert_checkpoint(const char *dir, const char *out, const mx_convert_options *options, mx_error *err)
{
    conversion c = {.options = options, .scales = {.max = (size_t)1 << 36}, .biases = {.max = (size_t)1 << 36}};
    const char *part = NULL;
    mx_arena_init(&c.arena, MAX_ARENA_BYTES);
    mx_status st = mx_convert_begin(&c.arena, out, &part, err);
    if (st == MX_OK) {
        st = mx_convert_end(part, out, convert_into(&c, dir, part, err), err);
    }
    mx_buf_deinit(&c.scales);
    mx_buf_deinit(&c.biases);
    mx_free(c.sources);
    mx_st_plan_deinit(&c.plan);
    mx_convert_config_close(&c.config);
    mx_checkpoint_close(c.checkpoint);
    mx_arena_deinit(&c.arena);
    return st;
}
