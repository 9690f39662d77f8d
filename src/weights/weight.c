/* weight.c - finding a weight's tensors, checking them against each other, and the f32 definition of every format.
 *
 * The tensors have the last word about the format: config.json is asked only where they leave a choice. Published
 * checkpoints do carry wrong per-layer entries, and mlx-lm too derives width and group from the shapes.
 */
#include "weights/weight.h"

#include <stdio.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "weights/checkpoint.h"
#include "weights/minifloat.h"
#include "weights/quant.h"

#define MAX_NAME 512

/* The tensor "<path><suffix>"; NULL when there is none. */
static const mx_tensor *find_part(const mx_checkpoint *checkpoint, mx_str path, const char *suffix)
{
    char name[MAX_NAME];
    const mx_str tail = mx_str_from(suffix);
    if (path.len > sizeof name - tail.len) {
        return NULL;
    }
    memcpy(name, path.ptr, path.len);
    memcpy(name + path.len, tail.ptr, tail.len);
    return mx_checkpoint_find(checkpoint, (mx_str){name, path.len + tail.len});
}

/* "[2, 3]" */
static const char *format_shape(const mx_tensor *t, char text[192])
{
    int n = snprintf(text, 192, "[");
    for (int32_t i = 0; i < t->n_dims && n < 160; i++) {
        n += snprintf(text + n, 192 - (size_t)n, "%s%lld", i ? ", " : "", (long long)t->shape[i]);
    }
    snprintf(text + n, 192 - (size_t)n, "]");
    return text;
}

static mx_status fail_shape(mx_error *err, const mx_tensor *t, const char *wanted)
{
    char text[192];
    return mx_fail(err, MX_FORMAT, "%s: tensor \"%.*s\" has shape %s, wanted %s", t->path, MX_STR_ARG(t->name),
                   format_shape(t, text), wanted);
}

/* A weight that other tools store under other names. */
static mx_status fail_missing(const mx_checkpoint *checkpoint, mx_str path, mx_error *err)
{
    static const struct {
        const char *suffix;
        const char *how;
    } foreign[] = {
        {".qweight", "by AWQ or GPTQ, which the configuration does not say"},
        {".weight_packed", "by compressed-tensors, which the configuration does not say"},
    };
    for (size_t i = 0; i < MX_COUNTOF(foreign); i++) {
        if (find_part(checkpoint, path, foreign[i].suffix)) {
            return mx_fail(err, MX_UNSUPPORTED, "%s: \"%.*s\" is stored %s", mx_checkpoint_dir(checkpoint),
                           MX_STR_ARG(path), foreign[i].how);
        }
    }
    const bool is_bias = mx_str_ends_with(path, MX_STR(".bias")); /* which is a tensor's whole name */
    return mx_fail(err, MX_NOT_FOUND, "%s: has no tensor \"%.*s%s\"", mx_checkpoint_dir(checkpoint), MX_STR_ARG(path),
                   is_bias ? "" : ".weight");
}

/* Takes 0 to 3 dimensions apart into experts, rows and columns. */
static mx_status split_shape(const mx_tensor *t, mx_weight *out, mx_error *err)
{
    int32_t n_ones = 0; /* dimensions in front that say nothing, of those that are too many */
    while (t->n_dims - n_ones > 3 && t->shape[n_ones] == 1) {
        n_ones++;
    }
    const int64_t *shape = t->shape + n_ones;
    const int32_t n_dims = t->n_dims - n_ones;
    if (n_dims > 3) {
        return fail_shape(err, t, "at most 3 dimensions");
    }
    out->n_cols = n_dims > 0 ? shape[n_dims - 1] : 1;
    out->n_rows = n_dims > 1 ? shape[n_dims - 2] : 1;
    out->n_experts = n_dims > 2 ? shape[0] : 1;
    if (out->n_cols == 0 || out->n_rows == 0 || out->n_experts == 0) {
        return fail_shape(err, t, "no dimension of 0");
    }
    return MX_OK;
}

static mx_status resolve_dense(const mx_tensor *t, mx_weight *out, mx_error *err)
{
    if (!mx_dtype_is_weight_float(t->dtype)) {
        return mx_fail(err, MX_UNSUPPORTED, "%s: tensor \"%.*s\" is %s and has no scales; F32, F16 and BF16 are read",
                       t->path, MX_STR_ARG(t->name), mx_dtype_name(t->dtype));
    }
    MX_TRY(split_shape(t, out, err));
    out->dtype = t->dtype;
    out->data = t->data;
    return MX_OK;
}

/* Mode, width and group of a weight whose packed row and whose scales stand in the given ratio: bits * group_size. */
static mx_status infer_quant(const mx_tensor *scales, int64_t ratio, mx_quant wanted, mx_quant *out, mx_error *err)
{
    static const mx_quant float_modes[] = {{MX_QUANT_NVFP4, 4, 16}, {MX_QUANT_MXFP4, 4, 32}, {MX_QUANT_MXFP8, 8, 32}};
    if (scales->dtype == MX_DTYPE_U8) {
        for (size_t i = 0; i < MX_COUNTOF(float_modes); i++) {
            if (ratio == (int64_t)float_modes[i].bits * float_modes[i].group_size) {
                *out = float_modes[i];
                return MX_OK;
            }
        }
        return mx_fail(err, MX_FORMAT, "%s: tensor \"%.*s\" has U8 scales for %lld bits each, no float mode has that",
                       scales->path, MX_STR_ARG(scales->name), (long long)ratio);
    }
    if (wanted.mode == MX_QUANT_AFFINE && ratio == (int64_t)wanted.bits * wanted.group_size) {
        *out = wanted;
        return MX_OK;
    }
    /* The configuration is silent or wrong. Its group is kept if that gives a width (layers of one model differ in
     * width, seldom in group), then MLX's default of 64, then whatever fits. */
    const int32_t groups[] = {wanted.mode == MX_QUANT_AFFINE ? wanted.group_size : 64, 64, 32, 128};
    for (size_t i = 0; i < MX_COUNTOF(groups); i++) {
        const mx_quant quant = {MX_QUANT_AFFINE, (int32_t)(ratio / groups[i]), groups[i]};
        if (ratio % groups[i] == 0 && ratio / groups[i] <= 8 && mx_quant_is_valid(quant)) {
            *out = quant;
            return MX_OK;
        }
    }
    return mx_fail(err, MX_FORMAT, "%s: tensor \"%.*s\" has a scale for every %lld bits, no width and group give that",
                   scales->path, MX_STR_ARG(scales->name), (long long)ratio);
}

static bool is_same_shape(const mx_tensor *a, const mx_tensor *b)
{
    return a->n_dims == b->n_dims && memcmp(a->shape, b->shape, (size_t)a->n_dims * sizeof a->shape[0]) == 0;
}

static mx_status check_biases(const mx_tensor *scales, const mx_tensor *biases, const mx_weight *w, mx_error *err)
{
    char text[192];
    if (w->quant.mode != MX_QUANT_AFFINE) {
        return !biases ? MX_OK
                       : mx_fail(err, MX_FORMAT, "%s: tensor \"%.*s\" should not be there: mode %s has no biases",
                                 biases->path, MX_STR_ARG(biases->name), mx_quant_mode_name(w->quant.mode));
    }
    if (!biases) {
        return mx_fail(err, MX_FORMAT, "%s: \"%.*s\" has scales but no \"%.*s.biases\"", scales->path,
                       MX_STR_ARG(w->name), MX_STR_ARG(w->name));
    }
    if (biases->dtype != scales->dtype || !is_same_shape(scales, biases)) {
        return mx_fail(err, MX_FORMAT, "%s: tensor \"%.*s\" is %s of shape %s, which its scales are not", biases->path,
                       MX_STR_ARG(biases->name), mx_dtype_name(biases->dtype), format_shape(biases, text));
    }
    return MX_OK;
}

/* The factor that nvfp4 may have beside its scales: MLX stores amax and means amax / (448 * 6). */
static mx_status read_global_scale(const mx_checkpoint *checkpoint, mx_weight *w, mx_error *err)
{
    const mx_tensor *t = find_part(checkpoint, w->name, ".global_scale");
    if (!t) {
        return MX_OK;
    }
    if (w->quant.mode != MX_QUANT_NVFP4 || t->dtype != MX_DTYPE_F32 || t->n_bytes != 4) {
        return mx_fail(err, MX_UNSUPPORTED, "%s: tensor \"%.*s\" is read only for nvfp4, as one F32 value", t->path,
                       MX_STR_ARG(t->name));
    }
    w->global_scale = mx_f32_from_bits(mx_load_le32(t->data)) / 2688.0f;
    return MX_OK;
}

static mx_status resolve_quantized(const mx_checkpoint *checkpoint, const mx_quant_config *config, const mx_tensor *t,
                                   const mx_tensor *scales, mx_weight *out, mx_error *err)
{
    const mx_tensor *biases = find_part(checkpoint, out->name, ".biases");
    const mx_quant wanted = mx_quant_config_find(config, out->name);
    if (t->dtype != MX_DTYPE_U32) {
        return mx_fail(err, MX_UNSUPPORTED, "%s: tensor \"%.*s\" has scales but is %s; packed weights are U32", t->path,
                       MX_STR_ARG(t->name), mx_dtype_name(t->dtype));
    }
    if (scales->dtype != MX_DTYPE_U8 && !mx_dtype_is_weight_float(scales->dtype)) {
        return mx_fail(err, MX_UNSUPPORTED, "%s: tensor \"%.*s\" is %s; scales are F32, F16, BF16 or U8", scales->path,
                       MX_STR_ARG(scales->name), mx_dtype_name(scales->dtype));
    }
    MX_TRY(split_shape(t, out, err));
    mx_weight groups = {0};
    MX_TRY(split_shape(scales, &groups, err));
    if (t->n_dims < 2 || scales->n_dims != t->n_dims || groups.n_rows != out->n_rows ||
        groups.n_experts != out->n_experts) {
        char text[192];
        return mx_fail(err, MX_FORMAT, "%s: tensor \"%.*s\" has shape %s, which does not fit its weight", scales->path,
                       MX_STR_ARG(scales->name), format_shape(scales, text));
    }
    const int64_t n_row_bits = out->n_cols * 32; /* cannot overflow: the file has an eighth as many bytes */
    if (n_row_bits % groups.n_cols != 0) {
        return fail_shape(err, t, "whole groups for its scales");
    }
    MX_TRY(infer_quant(scales, n_row_bits / groups.n_cols, wanted, &out->quant, err));
    out->n_cols = groups.n_cols * out->quant.group_size;
    out->dtype = scales->dtype;
    MX_TRY(check_biases(scales, biases, out, err));
    out->data = t->data;
    out->scales = scales->data;
    out->biases = biases ? biases->data : NULL;
    return read_global_scale(checkpoint, out, err);
}

/* GPT-OSS's own layout of mxfp4, whose bytes are those of MLX: blocks [n_experts, n_rows, n_groups, 16] U8 and scales
 * [n_experts, n_rows, n_groups] U8. */
static mx_status resolve_blocks(const mx_checkpoint *checkpoint, const mx_tensor *blocks, mx_weight *out, mx_error *err)
{
    const mx_tensor *scales = find_part(checkpoint, out->name, "_scales");
    if (blocks->n_dims != 4 || blocks->dtype != MX_DTYPE_U8 || blocks->shape[3] != 16) {
        return fail_shape(err, blocks, "U8 [experts, rows, groups, 16]");
    }
    if (!scales || scales->dtype != MX_DTYPE_U8 || scales->n_dims != 3 ||
        memcmp(scales->shape, blocks->shape, 3 * sizeof scales->shape[0]) != 0) {
        return mx_fail(err, MX_FORMAT, "%s: tensor \"%.*s\" has no \"_scales\" in U8 that fit it", blocks->path,
                       MX_STR_ARG(blocks->name));
    }
    MX_TRY(split_shape(scales, out, err));
    out->n_cols *= 32;
    out->quant = (mx_quant){MX_QUANT_MXFP4, 4, 32};
    out->dtype = MX_DTYPE_U8;
    out->data = blocks->data;
    out->scales = scales->data;
    return MX_OK;
}

mx_status mx_weight_resolve(const mx_checkpoint *checkpoint, const mx_quant_config *quant, mx_str path, mx_weight *out,
                            mx_error *err)
{
    *out = (mx_weight){.name = path, .global_scale = 1.0f};
    const mx_tensor *t = find_part(checkpoint, path, ".weight");
    if (!t) {
        t = mx_checkpoint_find(checkpoint, path);
        const mx_tensor *blocks = find_part(checkpoint, path, "_blocks");
        return t        ? resolve_dense(t, out, err)
               : blocks ? resolve_blocks(checkpoint, blocks, out, err)
                        : fail_missing(checkpoint, path, err);
    }
    const mx_tensor *scales = find_part(checkpoint, path, ".scales");
    return scales ? resolve_quantized(checkpoint, quant, t, scales, out, err) : resolve_dense(t, out, err);
}

bool mx_weight_exists(const mx_checkpoint *checkpoint, mx_str path)
{
    return find_part(checkpoint, path, ".weight") || mx_checkpoint_find(checkpoint, path) ||
           find_part(checkpoint, path, "_blocks");
}

mx_weight mx_weight_slice_rows(const mx_weight *w, int64_t from, int64_t n)
{
    mx_weight part = *w;
    part.n_rows = n;
    part.expert_rows = w->expert_rows ? w->expert_rows : w->n_rows;
    if (w->run_rows) {
        part.first_row += from;
        return part;
    }
    part.data = mx_weight_row(w, from);
    part.scales = w->scales ? w->scales + mx_weight_row_scales(w, from) : NULL;
    part.biases = w->biases ? w->biases + mx_weight_row_scales(w, from) : NULL;
    return part;
}

mx_weight mx_weight_slice_runs(const mx_weight *w, int64_t from, int64_t n_runs, int64_t run_rows, int64_t run_step)
{
    mx_weight part = mx_weight_slice_rows(w, from, n_runs * run_rows);
    part.run_rows = run_rows;
    part.run_step = run_step;
    return part;
}

mx_weight mx_weight_transpose(const mx_weight *w)
{
    mx_weight turned = *w;
    turned.n_rows = w->n_cols;
    turned.n_cols = w->n_rows;
    turned.col_step = w->n_cols;
    return turned;
}

mx_weight mx_weight_slice_cols(const mx_weight *w, int64_t from, int64_t n)
{
    mx_weight part = *w;
    part.n_cols = n;
    part.n_pitch_cols = w->n_pitch_cols ? w->n_pitch_cols : w->n_cols;
    part.data = w->data + mx_weight_value_bytes(w, w->col_step ? from * w->col_step : from);
    part.scales = w->scales ? w->scales + mx_weight_scale_bytes(w, from) : NULL;
    part.biases = w->biases ? w->biases + mx_weight_scale_bytes(w, from) : NULL;
    return part;
}

static void copy_row(const mx_weight *w, int64_t row, uint8_t *dst)
{
    const size_t n_bytes = (size_t)mx_weight_value_bytes(w, w->col_step ? 1 : w->n_cols);
    const uint8_t *src = mx_weight_row(w, row);
    memcpy(dst, src, n_bytes);
    for (int64_t c = 1; w->col_step && c < w->n_cols; c++) {
        memcpy(dst + c * (int64_t)n_bytes, src + c * mx_weight_value_bytes(w, w->col_step), n_bytes);
    }
}

void mx_weight_gather(const mx_weight *w, uint8_t *data, uint8_t *scales, uint8_t *biases)
{
    const int64_t scale_bytes = mx_weight_scale_bytes(w, w->n_cols);
    for (int64_t r = 0; r < w->n_rows; r++) {
        copy_row(w, r, data + r * mx_weight_value_bytes(w, w->n_cols));
        if (w->scales) {
            memcpy(scales + r * scale_bytes, w->scales + mx_weight_row_scales(w, r), (size_t)scale_bytes);
        }
        if (w->biases) {
            memcpy(biases + r * scale_bytes, w->biases + mx_weight_row_scales(w, r), (size_t)scale_bytes);
        }
    }
}

int64_t mx_weight_bytes(const mx_weight *w)
{
    const mx_weight one = mx_weight_expert(w, 0);
    const int64_t n_scale_parts = one.biases ? 2 : 1;
    return w->n_experts * w->n_rows *
           (mx_weight_value_bytes(&one, w->n_cols) + n_scale_parts * mx_weight_scale_bytes(&one, w->n_cols));
}

/* Bits [i*bits, (i+1)*bits) of a byte string; a value of up to 8 bits touches two bytes at most. */
static uint8_t unpack(const uint8_t *row, int64_t i, int32_t bits)
{
    const int64_t at = i * bits;
    const uint8_t *p = row + at / 8;
    const int32_t shift = (int32_t)(at % 8);
    uint32_t value = (uint32_t)p[0] >> shift;
    if (shift + bits > 8) {
        value |= (uint32_t)p[1] << (8 - shift);
    }
    return (uint8_t)(value & ((1u << bits) - 1u));
}

static void dequantize_affine(const mx_weight *w, int64_t row, float *out)
{
    const uint8_t *data = mx_weight_row(w, row);
    const uint8_t *scales = w->scales + mx_weight_row_scales(w, row);
    const uint8_t *biases = w->biases + mx_weight_row_scales(w, row);
    const int64_t step = (int64_t)mx_dtype_size(w->dtype);
    for (int64_t g = 0; g < w->n_cols / w->quant.group_size; g++) {
        float scale;
        float bias;
        mx_dtype_to_f32(&scale, scales + g * step, w->dtype, 1);
        mx_dtype_to_f32(&bias, biases + g * step, w->dtype, 1);
        for (int64_t c = g * w->quant.group_size; c < (g + 1) * w->quant.group_size; c++) {
            const float product = scale * (float)unpack(data, c, w->quant.bits);
            out[c] = product + bias;
        }
    }
}

static void dequantize_float_mode(const mx_weight *w, int64_t row, float *out)
{
    const uint8_t *data = mx_weight_row(w, row);
    const uint8_t *scales = w->scales + mx_weight_row_scales(w, row);
    for (int64_t c = 0; c < w->n_cols; c++) {
        const uint8_t code = unpack(data, c, w->quant.bits);
        const uint8_t scale_code = scales[c / w->quant.group_size];
        const float value = w->quant.mode == MX_QUANT_MXFP8 ? mx_e4m3_to_f32(code) : mx_e2m1_to_f32(code);
        const float scale =
            w->quant.mode == MX_QUANT_NVFP4 ? mx_e4m3_to_f32(scale_code) * w->global_scale : mx_e8m0_to_f32(scale_code);
        out[c] = value * scale;
    }
}

static void read_dense(const mx_weight *w, int64_t row, float *out)
{
    const uint8_t *src = mx_weight_row(w, row);
    if (!w->col_step) {
        mx_dtype_to_f32(out, src, w->dtype, w->n_cols);
        return;
    }
    for (int64_t c = 0; c < w->n_cols; c++) {
        mx_dtype_to_f32(out + c, src + mx_weight_value_bytes(w, c * w->col_step), w->dtype, 1);
    }
}

void mx_weight_dequantize_row(const mx_weight *w, int64_t expert, int64_t row, float *out)
{
    const mx_weight one = mx_weight_expert(w, expert);
    switch (one.quant.mode) {
    case MX_QUANT_NONE: read_dense(&one, row, out); return;
    case MX_QUANT_AFFINE: dequantize_affine(&one, row, out); return;
    case MX_QUANT_MXFP4:
    case MX_QUANT_NVFP4:
    case MX_QUANT_MXFP8: dequantize_float_mode(&one, row, out); return;
    }
}
