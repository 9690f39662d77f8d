/* packed_generic.c - products with packed weights in plain C: the definition of the layout for readers, and what runs
 * on a processor that no file of isa/ knows.
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/kernels.h"
#include "base/bytes.h"

#define VECTOR    64
#define MAX_GROUP 128

size_t mx_panel_bytes(const mx_packed *w, int64_t n_groups)
{
    return (size_t)n_groups * (MX_PANEL_HEAD_BYTES + (size_t)w->group * MX_TILE_ROWS);
}

/* Code of column c (of a block of 32 or of a half) of row r. */
static uint8_t unpack_code(mx_pack_code code, const uint8_t *block, int32_t r, int32_t c)
{
    static const uint8_t e2m1[16] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};
    const int32_t q = c / 4;
    const uint8_t *at = block + 4 * r + c % 4;
    const int32_t two = at[q / 4 * VECTOR] >> q % 4 * 2 & 3;
    const int32_t four = code == MX_CODE_U2 || code == MX_CODE_U3 ? 0 : at[q / 2 * VECTOR] >> q % 2 * 4 & 15;
    switch (code) {
    case MX_CODE_U2: return (uint8_t)two;
    case MX_CODE_U3: return (uint8_t)(two | (at[2 * VECTOR] >> q & 1) << 2);
    case MX_CODE_U4: return (uint8_t)four;
    case MX_CODE_U5: return (uint8_t)(four | (at[4 * VECTOR] >> q & 1) << 4);
    case MX_CODE_U6: return (uint8_t)(four | (at[(4 + q / 4) * VECTOR] >> q % 4 * 2 & 3) << 4);
    case MX_CODE_U8: return at[q * VECTOR];
    case MX_CODE_E2M1: return e2m1[four];
    default: return 0;
    }
}

/* 16 scales and 16 biases of a group as f32; returns the place behind them. */
static const uint8_t *load_scales(const mx_packed *w, const uint8_t *src, float scales[2 * MX_TILE_ROWS])
{
    const size_t size = mx_dtype_size(w->scale_dtype);
    mx_dtype_to_f32(scales, src, w->scale_dtype, MX_TILE_ROWS);
    if (w->code == MX_CODE_E2M1 || w->code == MX_CODE_E4M3) {
        for (int32_t r = 0; r < MX_TILE_ROWS; r++) {
            scales[MX_TILE_ROWS + r] = -12.0f * scales[r];
        }
        return src + MX_TILE_ROWS * size;
    }
    mx_dtype_to_f32(scales + MX_TILE_ROWS, src + MX_TILE_ROWS * size, w->scale_dtype, MX_TILE_ROWS);
    return src + 2 * MX_TILE_ROWS * size;
}

/* Unpacks one group into the head and codes of a panel; returns the place behind it in the tile. */
static const uint8_t *expand_group(const mx_packed *w, const uint8_t *src, uint8_t *panel)
{
    static const uint8_t bits[MX_CODE_COUNT] = {
#define X(name, n) [MX_CODE_##name] = (n),
        MX_PACK_CODE_LIST(X)
#undef X
    };
    const int32_t n_block_cols = w->group < 32 ? w->group : 32;
    float scales[2 * MX_TILE_ROWS];
    src = load_scales(w, src, scales);
    memcpy(panel, scales, sizeof scales);
    panel += MX_PANEL_HEAD_BYTES;
    for (int32_t b = 0; b < w->group / n_block_cols; b++) {
        for (int32_t i = 0; i < n_block_cols * MX_TILE_ROWS; i++) {
            panel[i] = unpack_code(w->code, src, i % VECTOR / 4, i / VECTOR * 4 + i % 4);
        }
        panel += n_block_cols * MX_TILE_ROWS;
        src += n_block_cols * MX_TILE_ROWS * bits[w->code] / 8;
    }
    return src;
}

static void expand(const mx_packed *w, const uint8_t *src, int64_t n_groups, uint8_t *panel)
{
    for (int64_t g = 0; g < n_groups; g++) {
        src = expand_group(w, src, panel);
        panel += MX_PANEL_HEAD_BYTES + (int64_t)w->group * MX_TILE_ROWS;
    }
}

/* Activation code of column c of token t. */
static int32_t act_code(const mx_acts *x, int64_t c, int32_t t)
{
    static const int8_t paired_place[4] = {0, 2, 1, 3};
    const int64_t quad = c / 4 * x->n_tokens + t;
    int16_t wide;
    switch (x->form) {
    case MX_ACT_SPLIT: return 256 * (int8_t)x->codes[quad * 8 + c % 4] + (int8_t)x->codes[quad * 8 + 4 + c % 4];
    case MX_ACT_INT8: return (int8_t)x->codes[quad * 4 + c % 4];
    case MX_ACT_PAIRED: memcpy(&wide, x->codes + quad * 8 + 2 * paired_place[c % 4], sizeof wide); return wide;
    case MX_ACT_F32: break;
    }
    return 0;
}

/* Adds group g's part to y [n_tokens, 16]. */
static void add_group(const mx_packed *w, const uint8_t *panel, const mx_acts *x, int64_t g, float *y)
{
    const int32_t n_x_groups = w->group / x->x_group;
    float scales[2 * MX_TILE_ROWS];
    memcpy(scales, panel, sizeof scales);
    panel += MX_PANEL_HEAD_BYTES;
    for (int32_t i = 0; i < x->n_tokens * MX_TILE_ROWS; i++) {
        const int32_t t = i / MX_TILE_ROWS;
        const int32_t r = i % MX_TILE_ROWS;
        float sum = 0.0f;
        for (int32_t xg = 0; xg < n_x_groups; xg++) {
            int32_t codes = 0;
            for (int32_t c = xg * x->x_group; c < (xg + 1) * x->x_group; c++) {
                codes += panel[c / 4 * VECTOR + 4 * r + c % 4] * act_code(x, g * w->group + c, t);
            }
            sum = fmaf((float)codes, x->scales[(g * n_x_groups + xg) * x->n_tokens + t], sum);
        }
        y[i] = fmaf(sum, scales[r], y[i]);
        y[i] = fmaf(x->sums[g * x->n_tokens + t], scales[MX_TILE_ROWS + r], y[i]);
    }
}

static void panel_product(const mx_packed *w, const uint8_t *panel, int64_t first_group, int64_t n_groups,
                          const mx_acts *x, float *y)
{
    for (int64_t g = first_group; g < first_group + n_groups; g++) {
        add_group(w, panel, x, g, y);
        panel += MX_PANEL_HEAD_BYTES + (int64_t)w->group * MX_TILE_ROWS;
    }
}

static void dot(const mx_packed *w, const uint8_t *tile, const mx_acts *x, float *y)
{
    uint8_t panel[MX_PANEL_HEAD_BYTES + MAX_GROUP * MX_TILE_ROWS];
    memset(y, 0, MX_TILE_ROWS * sizeof(float));
    for (int64_t g = 0; g < w->n_cols / w->group; g++) {
        tile = expand_group(w, tile, panel);
        add_group(w, panel, x, g, y);
    }
    for (int32_t r = 0; r < MX_TILE_ROWS; r++) {
        y[r] *= w->factor;
    }
}

static float dense_value(mx_pack_code code, const uint8_t *column, int32_t r)
{
    float value;
    uint16_t half;
    switch (code) {
    case MX_CODE_F32: memcpy(&value, column + 4 * r, sizeof value); return value;
    case MX_CODE_F16: memcpy(&half, column + 2 * r, sizeof half); return mx_f16_to_f32(half);
    case MX_CODE_BF16: memcpy(&half, column + 2 * r, sizeof half); return mx_bf16_to_f32(half);
    default: /* e4m3: the bits of an f16 with another exponent bias */
        half = (uint16_t)((column[r] & 0x80) << 8 | (column[r] & 0x7f) << 7);
        return mx_f16_to_f32(half) * 256.0f;
    }
}

static void dense(const mx_packed *w, const uint8_t *tile, const mx_acts *x, float *y)
{
    static const uint8_t value_bytes[MX_CODE_COUNT] = {
        [MX_CODE_E4M3] = 1, [MX_CODE_F16] = 2, [MX_CODE_BF16] = 2, [MX_CODE_F32] = 4};
    const int64_t n_group_cols = w->group ? w->group : w->n_cols;
    const float *values = (const float *)x->codes;
    memset(y, 0, (size_t)x->n_tokens * MX_TILE_ROWS * sizeof(float));
    for (int64_t g = 0; g < w->n_cols / n_group_cols; g++) {
        float scales[2 * MX_TILE_ROWS];
        tile = w->group ? load_scales(w, tile, scales) : tile;
        for (int32_t i = 0; i < x->n_tokens * MX_TILE_ROWS; i++) {
            const int32_t t = i / MX_TILE_ROWS;
            const int32_t r = i % MX_TILE_ROWS;
            float sum = 0.0f;
            for (int64_t c = 0; c < n_group_cols; c++) {
                const float value = dense_value(w->code, tile + c * MX_TILE_ROWS * value_bytes[w->code], r);
                sum = fmaf(value, values[(g * n_group_cols + c) * x->n_tokens + t], sum);
            }
            y[i] = w->group ? fmaf(sum, scales[r], y[i]) : sum;
        }
        tile += n_group_cols * MX_TILE_ROWS * value_bytes[w->code];
    }
}

static mx_act_form choose_form(mx_pack_code code, bool is_fast, bool is_one)
{
    (void)is_one;
    return code >= MX_CODE_FIRST_DENSE ? MX_ACT_F32 : is_fast ? MX_ACT_INT8 : MX_ACT_SPLIT;
}

void mx_cpu_kernels_fill_packed_generic(mx_cpu_kernels *k)
{
    k->max_block_tokens = 4;
    k->choose_form = choose_form;
    k->panel = panel_product;
    for (int32_t code = 0; code < MX_CODE_COUNT; code++) {
        if (code < MX_CODE_FIRST_DENSE) {
            k->dot[code] = dot;
            k->expand[code] = expand;
        } else {
            k->dense[code] = dense;
        }
    }
}
