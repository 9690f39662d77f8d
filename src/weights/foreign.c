/* foreign.c - translating other tools' weights, one at a time. */
#include "weights/foreign.h"

#include <stdio.h>

#include "base/bytes.h"
#include "base/mem.h"

#define MAX_NAME 512

/* Suffixes of a weight's tensors; the first of a list tells that the weight is one of the tool's, and all of
 * them leave the table. */
static const char *const packed_rows[] = {".qweight", ".qzeros", ".scales", ".g_idx", NULL};
static const char *const compressed[] = {
    ".weight_packed", ".weight_scale",       ".weight_zero_point", ".weight_global_scale",
    ".weight_shape",  ".input_global_scale", ".weight_g_idx",      NULL};
static const char *const ternary[] = {".weight_scale", ".weight", NULL};
static const char *const *const layouts[] = {
    [MX_FOREIGN_AWQ] = packed_rows,       [MX_FOREIGN_GPTQ] = packed_rows, [MX_FOREIGN_GPTQ_V2] = packed_rows,
    [MX_FOREIGN_COMPRESSED] = compressed, [MX_FOREIGN_BITNET] = ternary,   [MX_FOREIGN_BITNET_DIV] = ternary,
};

/* A weight [n_rows, n_cols] of integers with a scale and a zero point for each of n_groups groups of a row. */
typedef struct foreign_weight {
    mx_foreign tool;
    mx_quant quant;
    mx_str path;
    const mx_tensor *values;
    const mx_tensor *scales;
    const mx_tensor *zeros; /* NULL: half of the range, as in symmetric quantisation */
    int64_t n_rows, n_cols, n_groups;
} foreign_weight;

typedef struct translation {
    const mx_checkpoint *checkpoint;
    const mx_quant_config *config;
    mx_arena *arena;
    uint8_t *at; /* free part of the block */
    mx_tensors *out;
} translation;

static mx_str join_name(mx_str path, const char *suffix, char name[MAX_NAME])
{
    const int n = snprintf(name, MAX_NAME, "%.*s%s", MX_STR_ARG(path), suffix);
    return (mx_str){name, n > 0 && n < MAX_NAME ? (size_t)n : 0};
}

static const mx_tensor *find_part(const mx_checkpoint *checkpoint, mx_str path, const char *suffix)
{
    char name[MAX_NAME];
    return mx_checkpoint_find(checkpoint, join_name(path, suffix, name));
}

/* The path of the weight that this tensor is a part of (the i-th in the layout); ptr NULL for other tensors. */
static mx_str split_name(const mx_checkpoint *checkpoint, mx_foreign tool, const mx_tensor *t, size_t *i_part)
{
    const char *const *suffixes = layouts[tool];
    for (size_t i = 0; suffixes[i]; i++) {
        const mx_str suffix = mx_str_from(suffixes[i]);
        if (mx_str_ends_with(t->name, suffix)) {
            const mx_str path = mx_str_slice(t->name, 0, t->name.len - suffix.len);
            *i_part = i;
            return find_part(checkpoint, path, suffixes[0]) ? path : (mx_str){0};
        }
    }
    return (mx_str){0};
}

static mx_status fail_part(mx_error *err, const mx_tensor *t, const char *wanted)
{
    return mx_fail(err, MX_FORMAT, "%s: tensor \"%.*s\" (%s, %d dimensions) does not fit its weight: wanted %s",
                   t->path, MX_STR_ARG(t->name), mx_dtype_name(t->dtype), (int)t->n_dims, wanted);
}

static bool is_matrix(const mx_tensor *t, mx_dtype dtype, int64_t n_rows, int64_t n_cols)
{
    return t->dtype == dtype && t->n_dims == 2 && t->shape[0] == n_rows && t->shape[1] == n_cols;
}

/* GPTQ may order columns by activation; column k then belongs to group g_idx[k]. Only the plain order has an equal in
 * MLX. */
static mx_status check_group_index(const mx_tensor *t, const foreign_weight *w, mx_error *err)
{
    if (!t) {
        return MX_OK;
    }
    if (t->dtype != MX_DTYPE_I32 || t->n_dims != 1 || t->shape[0] != w->n_cols) {
        return fail_part(err, t, "one I32 for each input");
    }
    for (int64_t k = 0; k < w->n_cols; k++) {
        if (mx_load_le32(t->data + 4 * k) != (uint32_t)(k / w->quant.group_size)) {
            return mx_fail(err, MX_UNSUPPORTED,
                           "%s: tensor \"%.*s\": columns ordered by activation (desc_act) are not read; use an MLX "
                           "conversion of this model",
                           t->path, MX_STR_ARG(t->name));
        }
    }
    return MX_OK;
}

/* Finds the parts of an integer weight and checks their shapes against each other. */
static mx_status read_integer_weight(const translation *tr, mx_str path, foreign_weight *w, mx_error *err)
{
    const mx_foreign tool = tr->config->foreign;
    const bool is_compressed = tool == MX_FOREIGN_COMPRESSED;
    *w = (foreign_weight){
        .tool = tool,
        .quant = tr->config->global,
        .path = path,
        .values = find_part(tr->checkpoint, path, layouts[tool][0]),
        .scales = find_part(tr->checkpoint, path, is_compressed ? ".weight_scale" : ".scales"),
        .zeros = find_part(tr->checkpoint, path, is_compressed ? ".weight_zero_point" : ".qzeros"),
    };
    const mx_tensor *t = w->values;
    const int64_t n_packed = 32 / w->quant.bits; /* values of a word */
    if (t->dtype != MX_DTYPE_I32 || t->n_dims != 2 || (tool == MX_FOREIGN_AWQ && w->quant.bits != 4)) {
        return fail_part(err, t, "a matrix of I32 words");
    }
    if (t->n_bytes == 0) { /* beside a dimension of 0 the other one may be of any size */
        return fail_part(err, t, "whole groups and words");
    }
    const int64_t words = tool == MX_FOREIGN_GPTQ || tool == MX_FOREIGN_GPTQ_V2 ? t->shape[0] : t->shape[1];
    const int64_t others = (int64_t)(t->n_bytes / 4) / words;
    w->n_rows = tool == MX_FOREIGN_AWQ ? words * n_packed : others;
    w->n_cols = tool == MX_FOREIGN_AWQ ? others : words * n_packed;
    if (w->n_cols % w->quant.group_size != 0 || w->n_rows % n_packed != 0) {
        return fail_part(err, t, "whole groups and words");
    }
    w->n_groups = w->n_cols / w->quant.group_size;
    const int64_t n_zero_words = w->n_rows / n_packed;
    if (!w->scales || !mx_dtype_is_weight_float(w->scales->dtype) ||
        !is_matrix(w->scales, w->scales->dtype, is_compressed ? w->n_rows : w->n_groups,
                   is_compressed ? w->n_groups : w->n_rows)) {
        return fail_part(err, w->scales ? w->scales : t, "a float scale for each group");
    }
    if (w->zeros && !is_matrix(w->zeros, MX_DTYPE_I32, is_compressed ? n_zero_words : w->n_groups,
                               is_compressed ? w->n_groups : n_zero_words)) {
        return fail_part(err, w->zeros, "a packed zero point for each group");
    }
    return check_group_index(find_part(tr->checkpoint, path, is_compressed ? ".weight_g_idx" : ".g_idx"), w, err);
}

/* Where in its word AutoAWQ puts the j-th of eight neighbours. */
static const uint8_t awq_place[8] = {0, 4, 1, 5, 2, 6, 3, 7};

static uint32_t load_word(const mx_tensor *t, int64_t row, int64_t col)
{
    return mx_load_le32(t->data + 4 * (row * t->shape[1] + col));
}

static int32_t load_zero(const foreign_weight *w, int64_t row, int64_t group)
{
    const int32_t bits = w->quant.bits;
    const int64_t n_packed = 32 / bits;
    if (!w->zeros) {
        return 1 << (bits - 1);
    }
    const uint32_t word = w->tool == MX_FOREIGN_COMPRESSED ? load_word(w->zeros, row / n_packed, group)
                                                           : load_word(w->zeros, group, row / n_packed);
    const int64_t place = w->tool == MX_FOREIGN_AWQ ? awq_place[row % 8] : row % n_packed;
    const uint32_t value = word >> (place * bits) & ((1u << bits) - 1u);
    return (int32_t)value + (w->tool == MX_FOREIGN_GPTQ);
}

static void store_le32(uint8_t *dst, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        dst[i] = (uint8_t)(value >> (8 * i));
    }
}

/* Eight words of AutoAWQ, one a column of ours, hold eight rows: word j of `out` becomes columns 0..7 of row j. */
static void transpose_awq(const uint32_t in[8], uint32_t out[8])
{
    for (int row = 0; row < 8; row++) {
        uint32_t word = 0;
        for (int col = 0; col < 8; col++) {
            word |= (in[col] >> (4 * awq_place[row]) & 15u) << (4 * col);
        }
        out[row] = word;
    }
}

/* dst [n_rows, n_cols * bits / 32] words in MLX's order. */
static void write_values(const foreign_weight *w, uint8_t *dst)
{
    const int64_t n_words = w->n_cols * w->quant.bits / 32;
    for (int64_t c = 0; c < n_words; c++) {
        if (w->tool != MX_FOREIGN_AWQ) { /* GPTQ's word is ours, at the transposed place */
            for (int64_t r = 0; r < w->n_rows; r++) {
                store_le32(dst + 4 * (r * n_words + c), load_word(w->values, c, r));
            }
            continue;
        }
        for (int64_t r = 0; r < w->n_rows; r += 8) {
            uint32_t in[8];
            uint32_t out[8];
            for (int64_t k = 0; k < 8; k++) {
                in[k] = load_word(w->values, 8 * c + k, r / 8);
            }
            transpose_awq(in, out);
            for (int64_t k = 0; k < 8; k++) {
                store_le32(dst + 4 * ((r + k) * n_words + c), out[k]);
            }
        }
    }
}

/* scales and biases [n_rows, n_groups] F32 */
static void write_scales(const foreign_weight *w, uint8_t *scales, uint8_t *biases)
{
    const int64_t size = (int64_t)mx_dtype_size(w->scales->dtype);
    for (int64_t r = 0; r < w->n_rows; r++) {
        for (int64_t g = 0; g < w->n_groups; g++) {
            const int64_t at = w->tool == MX_FOREIGN_COMPRESSED ? r * w->n_groups + g : g * w->n_rows + r;
            float scale;
            mx_dtype_to_f32(&scale, w->scales->data + at * size, w->scales->dtype, 1);
            store_le32(scales + 4 * (r * w->n_groups + g), mx_f32_bits(scale));
            store_le32(biases + 4 * (r * w->n_groups + g), mx_f32_bits(-scale * (float)load_zero(w, r, g)));
        }
    }
}

static mx_tensor matrix_of(const mx_tensor *from, mx_dtype dtype, int64_t n_rows, int64_t n_cols, const uint8_t *data)
{
    return (mx_tensor){
        .path = from->path,
        .dtype = dtype,
        .n_dims = 2,
        .shape = {n_rows, n_cols},
        .data = data,
        .n_bytes = (size_t)n_rows * (size_t)n_cols * mx_dtype_size(dtype),
    };
}

/* The next bytes of the block, which has been measured to hold all. */
static uint8_t *take(translation *tr, int64_t n_bytes)
{
    uint8_t *taken = tr->at;
    tr->at += n_bytes;
    return taken;
}

/* Adds `<path><suffix>` to the table. */
static mx_status emit(translation *tr, mx_str path, const char *suffix, mx_tensor t, mx_error *err)
{
    char name[MAX_NAME];
    t.name = mx_arena_copy_str(tr->arena, join_name(path, suffix, name));
    if (!t.name.ptr) {
        return mx_fail_no_memory(err, path.len, "the name of a tensor");
    }
    tr->out->items[tr->out->n++] = t;
    return MX_OK;
}

static size_t integer_bytes(const foreign_weight *w)
{
    const int64_t n_values = w->tool == MX_FOREIGN_COMPRESSED ? 0 : w->n_cols * w->quant.bits / 8;
    return (size_t)(w->n_rows * (n_values + 2 * 4 * w->n_groups));
}

static mx_status translate_integer(translation *tr, mx_str path, mx_error *err)
{
    foreign_weight w;
    MX_TRY(read_integer_weight(tr, path, &w, err));
    const int64_t n_words = w.n_cols * w.quant.bits / 32;
    const uint8_t *values = w.values->data;
    if (w.tool != MX_FOREIGN_COMPRESSED) {
        uint8_t *made = take(tr, 4 * w.n_rows * n_words);
        write_values(&w, made);
        values = made;
    }
    uint8_t *scales = take(tr, 4 * w.n_rows * w.n_groups);
    uint8_t *biases = take(tr, 4 * w.n_rows * w.n_groups);
    write_scales(&w, scales, biases);
    MX_TRY(emit(tr, path, ".weight", matrix_of(w.values, MX_DTYPE_U32, w.n_rows, n_words, values), err));
    MX_TRY(emit(tr, path, ".scales", matrix_of(w.scales, MX_DTYPE_F32, w.n_rows, w.n_groups, scales), err));
    return emit(tr, path, ".biases", matrix_of(w.scales, MX_DTYPE_F32, w.n_rows, w.n_groups, biases), err);
}

/* compressed-tensors' fp4 has MLX's layout of values and scales; its factor of all is the inverse of MLX's. */
static mx_status translate_fp4(translation *tr, mx_str path, mx_error *err)
{
    const mx_quant quant = tr->config->global;
    const mx_tensor *values = find_part(tr->checkpoint, path, ".weight_packed");
    const mx_tensor *scales = find_part(tr->checkpoint, path, ".weight_scale");
    const mx_tensor *factor = find_part(tr->checkpoint, path, ".weight_global_scale");
    const mx_dtype scale_dtype = quant.mode == MX_QUANT_NVFP4 ? MX_DTYPE_F8_E4M3 : MX_DTYPE_U8;
    if (values->dtype != MX_DTYPE_U8 || values->n_dims != 2 || values->n_bytes == 0 ||
        values->shape[1] * 2 % quant.group_size != 0) {
        return fail_part(err, values, "a matrix of U8 with whole groups");
    }
    const int64_t n_rows = values->shape[0];
    const int64_t n_groups = values->shape[1] * 2 / quant.group_size;
    if (!scales || !is_matrix(scales, scale_dtype, n_rows, n_groups)) {
        return fail_part(err, scales ? scales : values, "a scale for each group");
    }
    const mx_tensor words = matrix_of(values, MX_DTYPE_U32, n_rows, values->shape[1] / 4, values->data);
    MX_TRY(emit(tr, path, ".weight", words, err));
    MX_TRY(emit(tr, path, ".scales", matrix_of(scales, MX_DTYPE_U8, n_rows, n_groups, scales->data), err));
    if (quant.mode != MX_QUANT_NVFP4 || !factor) {
        return MX_OK;
    }
    if (factor->dtype != MX_DTYPE_F32 || factor->n_bytes != 4) {
        return fail_part(err, factor, "one F32 value");
    }
    uint8_t *made = take(tr, 4);
    store_le32(made, mx_f32_bits(2688.0f / mx_f32_from_bits(mx_load_le32(factor->data))));
    return emit(tr, path, ".global_scale", matrix_of(factor, MX_DTYPE_F32, 1, 1, made), err);
}

/* A matrix of -1, 0 and 1. */
typedef struct ternary_weight {
    const mx_tensor *values; /* U8 [n_rows / 4, n_cols]: bits 2k of byte [j, c] are row k * n_rows / 4 + j */
    float scale;
    int64_t n_rows, n_cols;
    int32_t group; /* of MLX's format */
} ternary_weight;

/* The group of the configuration where it divides the columns: it is what a reader of the format tries first. */
static int32_t pick_group(int32_t wanted, int64_t n_cols)
{
    if (wanted >= 32 && n_cols % wanted == 0) {
        return wanted;
    }
    return n_cols % 128 == 0 ? 128 : n_cols % 64 == 0 ? 64 : 32;
}

static mx_status read_ternary(const translation *tr, mx_str path, ternary_weight *w, mx_error *err)
{
    const mx_tensor *t = find_part(tr->checkpoint, path, ".weight");
    const mx_tensor *scale = find_part(tr->checkpoint, path, ".weight_scale");
    if (!t || t->dtype != MX_DTYPE_U8 || t->n_dims != 2 || t->n_bytes == 0 || t->shape[1] % 32 != 0) {
        return fail_part(err, t ? t : scale, "a matrix of U8 whose columns are a multiple of 32");
    }
    if (!mx_dtype_is_weight_float(scale->dtype) || scale->n_bytes != mx_dtype_size(scale->dtype)) {
        return fail_part(err, scale, "one float");
    }
    *w = (ternary_weight){.values = t, .n_rows = 4 * t->shape[0], .n_cols = t->shape[1]};
    w->group = pick_group(tr->config->global.group_size, w->n_cols);
    mx_dtype_to_f32(&w->scale, scale->data, scale->dtype, 1);
    w->scale = tr->config->foreign == MX_FOREIGN_BITNET_DIV ? 1.0f / w->scale : w->scale;
    return MX_OK;
}

bool mx_foreign_has_ternary(const mx_checkpoint *checkpoint)
{
    for (size_t i = 0; i < mx_checkpoint_n_tensors(checkpoint); i++) {
        const mx_tensor *t = mx_checkpoint_at(checkpoint, i);
        const mx_str suffix = MX_STR(".weight_scale");
        if (mx_str_ends_with(t->name, suffix)) {
            const mx_tensor *values =
                find_part(checkpoint, mx_str_slice(t->name, 0, t->name.len - suffix.len), ".weight");
            return values && values->dtype == MX_DTYPE_U8 && values->n_dims == 2;
        }
    }
    return false;
}

static size_t ternary_bytes(const ternary_weight *w)
{
    return (size_t)(w->n_rows * (w->n_cols / 4 + 2 * 4 * (w->n_cols / w->group)));
}

/* dst [n_rows, n_cols / 16] words: 16 bytes of a stored row give a word of each of its four rows. */
static void write_ternary(const ternary_weight *w, uint8_t *dst)
{
    const int64_t n_words = w->n_cols / 16;
    const int64_t n_stored = w->n_rows / 4;
    for (int64_t j = 0; j < n_stored; j++) {
        for (int64_t i = 0; i < n_words; i++) {
            uint32_t words[4] = {0};
            for (int32_t c = 0; c < 16; c++) {
                const uint32_t byte = w->values->data[j * w->n_cols + 16 * i + c];
                for (int32_t k = 0; k < 4; k++) {
                    words[k] |= (byte >> (2 * k) & 3u) << (2 * c);
                }
            }
            for (int32_t k = 0; k < 4; k++) {
                store_le32(dst + 4 * ((k * n_stored + j) * n_words + i), words[k]);
            }
        }
    }
}

static mx_status translate_ternary(translation *tr, mx_str path, mx_error *err)
{
    ternary_weight w;
    MX_TRY(read_ternary(tr, path, &w, err));
    const int64_t n_groups = w.n_cols / w.group;
    uint8_t *values = take(tr, w.n_rows * w.n_cols / 4);
    uint8_t *scales = take(tr, 4 * w.n_rows * n_groups);
    uint8_t *biases = take(tr, 4 * w.n_rows * n_groups);
    write_ternary(&w, values);
    for (int64_t i = 0; i < w.n_rows * n_groups; i++) {
        store_le32(scales + 4 * i, mx_f32_bits(w.scale));
        store_le32(biases + 4 * i, mx_f32_bits(-w.scale));
    }
    MX_TRY(emit(tr, path, ".weight", matrix_of(w.values, MX_DTYPE_U32, w.n_rows, w.n_cols / 16, values), err));
    MX_TRY(emit(tr, path, ".scales", matrix_of(w.values, MX_DTYPE_F32, w.n_rows, n_groups, scales), err));
    return emit(tr, path, ".biases", matrix_of(w.values, MX_DTYPE_F32, w.n_rows, n_groups, biases), err);
}

static bool is_ternary(const mx_quant_config *config)
{
    return config->foreign == MX_FOREIGN_BITNET || config->foreign == MX_FOREIGN_BITNET_DIV;
}

static mx_status translate_one(translation *tr, mx_str path, mx_error *err)
{
    if (is_ternary(tr->config)) {
        return translate_ternary(tr, path, err);
    }
    return tr->config->global.mode == MX_QUANT_AFFINE ? translate_integer(tr, path, err) : translate_fp4(tr, path, err);
}

/* Bytes to be made, and room in the table. */
static mx_status measure(const translation *tr, size_t *n_bytes, size_t *n_tensors, mx_error *err)
{
    *n_bytes = 0;
    *n_tensors = mx_checkpoint_n_tensors(tr->checkpoint);
    for (size_t i = 0; i < mx_checkpoint_n_tensors(tr->checkpoint); i++) {
        size_t i_part = 0;
        const mx_str path =
            split_name(tr->checkpoint, tr->config->foreign, mx_checkpoint_at(tr->checkpoint, i), &i_part);
        if (!path.ptr || i_part != 0) {
            continue;
        }
        *n_tensors += 3;
        if (is_ternary(tr->config)) {
            ternary_weight ternary_one;
            MX_TRY(read_ternary(tr, path, &ternary_one, err));
            *n_bytes += ternary_bytes(&ternary_one); /* at most three times the file's */
            continue;
        }
        if (tr->config->global.mode != MX_QUANT_AFFINE) {
            *n_bytes += 4;
            continue;
        }
        foreign_weight w;
        MX_TRY(read_integer_weight(tr, path, &w, err));
        *n_bytes += integer_bytes(&w); /* at most nine times the file's */
    }
    return MX_OK;
}

mx_status mx_foreign_translate(const mx_checkpoint *checkpoint, const mx_quant_config *config, mx_arena *arena,
                               mx_block *block, mx_tensors *out, mx_error *err)
{
    translation tr = {.checkpoint = checkpoint, .config = config, .arena = arena, .out = out};
    size_t n_bytes = 0;
    size_t n_tensors = 0;
    *block = (mx_block){0};
    MX_TRY(measure(&tr, &n_bytes, &n_tensors, err));
    MX_TRY(mx_block_alloc(n_bytes, block, err));
    tr.at = block->ptr;
    *out = (mx_tensors){.items = mx_arena_array(arena, mx_tensor, n_tensors)};
    if (!out->items) {
        return mx_fail_no_memory(err, n_tensors * sizeof *out->items, "the table of tensors");
    }
    for (size_t i = 0; i < mx_checkpoint_n_tensors(checkpoint); i++) {
        const mx_tensor *t = mx_checkpoint_at(checkpoint, i);
        size_t i_part = 0;
        const mx_str path = split_name(checkpoint, config->foreign, t, &i_part);
        if (!path.ptr) {
            out->items[out->n++] = *t;
        } else if (i_part == 0) {
            MX_TRY(translate_one(&tr, path, err));
        }
    }
    return MX_OK;
}
