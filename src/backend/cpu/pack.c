/* pack.c - from the rows of a file to tiles of 16 rows. */
#include "backend/cpu/pack.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/compiler.h"

#define BLOCK_COLS 32
#define VECTOR     64 /* bytes */
#define BYTES_X(n) (0x01010101u * (n))

static const int32_t code_bits[] = {
#define X(name, bits) [MX_CODE_##name] = (bits),
    MX_PACK_CODE_LIST(X)
#undef X
};

static mx_pack_code choose_code(const mx_weight *w)
{
    static const mx_pack_code affine[] = {
        [2] = MX_CODE_U2, [3] = MX_CODE_U3, [4] = MX_CODE_U4, [5] = MX_CODE_U5, [6] = MX_CODE_U6, [8] = MX_CODE_U8};
    switch (w->quant.mode) {
    case MX_QUANT_NONE:
        return w->dtype == MX_DTYPE_F16 ? MX_CODE_F16 : w->dtype == MX_DTYPE_BF16 ? MX_CODE_BF16 : MX_CODE_F32;
    case MX_QUANT_AFFINE: return affine[w->quant.bits];
    case MX_QUANT_MXFP4:
    case MX_QUANT_NVFP4: return MX_CODE_E2M1;
    case MX_QUANT_MXFP8: return MX_CODE_E4M3;
    }
    return MX_CODE_F32;
}

mx_packed mx_pack_plan(const mx_weight *w)
{
    const bool is_affine = w->quant.mode == MX_QUANT_AFFINE;
    mx_packed packed = {
        .code = choose_code(w),
        .scale_dtype = is_affine ? w->dtype : MX_DTYPE_BF16,
        .group = w->quant.group_size,
        .n_experts = w->n_experts,
        .n_rows = w->n_rows,
        .n_cols = w->n_cols,
        .n_tiles = (w->n_rows + MX_TILE_ROWS - 1) / MX_TILE_ROWS,
        .factor = w->quant.mode == MX_QUANT_NVFP4 ? w->global_scale : 1.0f,
    };
    const int64_t n_groups = packed.group ? w->n_cols / packed.group : 0;
    const int64_t scale_bytes = MX_TILE_ROWS * (int64_t)mx_dtype_size(packed.scale_dtype) * (is_affine ? 2 : 1);
    packed.group_bytes = packed.group ? scale_bytes + packed.group * code_bits[packed.code] * MX_TILE_ROWS / 8 : 0;
    packed.tile_bytes =
        packed.group ? n_groups * packed.group_bytes : w->n_cols * code_bits[packed.code] * MX_TILE_ROWS / 8;
    packed.tile_bytes = (packed.tile_bytes + VECTOR - 1) / VECTOR * VECTOR;
    return packed;
}

int64_t mx_packed_bytes(const mx_packed *packed)
{
    return packed->n_experts * packed->n_tiles * packed->tile_bytes;
}

/* Codes ---------------------------------------------------------------------------------------------------------------
 */

/* The 8 quads of a block of one row, a code a byte. */
static void read_block(uint32_t quads[8], const uint8_t *src, int32_t bits)
{
    const uint64_t mask = (1u << bits) - 1;
    for (int32_t i = 0; i < 4; i++) { /* 8 codes are `bits` bytes */
        uint64_t packed = 0;
        for (int32_t j = 0; j < bits; j++) {
            packed |= (uint64_t)src[i * bits + j] << 8 * j;
        }
        for (int32_t q = 0; q < 2; q++) {
            uint32_t quad = 0;
            for (int32_t j = 0; j < 4; j++) {
                quad |= (uint32_t)(packed >> (4 * q + j) * bits & mask) << 8 * j;
            }
            quads[2 * i + q] = quad;
        }
    }
}

/* The same for 4 bits, the width that most models have: nibbles are spread to bytes four at a time. */
static void read_block_of_nibbles(uint32_t quads[8], const uint8_t *src)
{
    for (int32_t i = 0; i < 8; i++) {
        uint32_t n = mx_load_le16(src + 2 * i);
        n = (n | n << 8) & 0x00ff00ff;
        quads[i] = (n | n << 4) & BYTES_X(15);
    }
}

static void store_le32(uint8_t *dst, uint32_t value)
{
    dst[0] = (uint8_t)value;
    dst[1] = (uint8_t)(value >> 8);
    dst[2] = (uint8_t)(value >> 16);
    dst[3] = (uint8_t)(value >> 24);
}

/* `bits` bits of each code from bit `low` on, 8 / bits quads in a vector. Returns the place behind. */
static uint8_t *write_plane(uint8_t *dst, const uint32_t quads[8], int32_t row, int32_t low, int32_t bits)
{
    const int32_t n_in_vector = 8 / bits;
    const uint32_t mask = BYTES_X((1u << bits) - 1);
    for (int32_t v = 0; v < 8 / n_in_vector; v++) {
        uint32_t word = 0;
        for (int32_t i = 0; i < n_in_vector; i++) {
            word |= (quads[v * n_in_vector + i] >> low & mask) << i * bits;
        }
        store_le32(dst + v * VECTOR + 4 * row, word);
    }
    return dst + 8 / n_in_vector * VECTOR;
}

static void write_block(uint8_t *dst, const uint32_t quads[8], int32_t row, mx_pack_code code)
{
    switch (code) {
    case MX_CODE_U2: (void)write_plane(dst, quads, row, 0, 2); break;
    case MX_CODE_U3: (void)write_plane(write_plane(dst, quads, row, 0, 2), quads, row, 2, 1); break;
    case MX_CODE_U5: (void)write_plane(write_plane(dst, quads, row, 0, 4), quads, row, 4, 1); break;
    case MX_CODE_U6: (void)write_plane(write_plane(dst, quads, row, 0, 4), quads, row, 4, 2); break;
    case MX_CODE_U8: (void)write_plane(dst, quads, row, 0, 8); break;
    default: (void)write_plane(dst, quads, row, 0, 4); break;
    }
}

/* Scales --------------------------------------------------------------------------------------------------------------
 */

/* 2^(b - 127) / 2 for e8m0, e4m3 / 2: exact in bf16. mxfp8's codes are not halves. */
static uint16_t float_mode_scale(const mx_weight *w, uint8_t byte)
{
    float scale = 0.0f;
    if (w->quant.mode == MX_QUANT_NVFP4) {
        const int32_t exponent = byte >> 3 & 15;
        const float mantissa = (float)(byte & 7);
        scale = exponent ? mx_f32_from_bits((uint32_t)(exponent - 7 + 127) << 23) * (1.0f + mantissa / 8.0f)
                         : mantissa / 512.0f;
        scale = (byte & 127) == 127 ? NAN : byte & 128 ? -scale : scale;
    } else {
        scale = byte == 255 ? NAN : byte == 0 ? mx_f32_from_bits(0x00400000u) : mx_f32_from_bits((uint32_t)byte << 23);
    }
    return mx_bf16_from_f32(w->quant.mode == MX_QUANT_MXFP8 ? scale : scale * 0.5f);
}

/* Whether a group of mxfp8 codes has one that is no number. The kernels do not look for those: they read 480 there. */
static bool has_nan_code(const mx_weight *w, int64_t source_row, int64_t first, int32_t n)
{
    const uint8_t *codes = mx_weight_row(w, source_row) + first;
    for (int32_t i = 0; i < n; i++) {
        if ((codes[i] & 127) == 127) {
            return true;
        }
    }
    return false;
}

/* The scales and biases of group g of row `row`; returns the place where the group's codes start. */
static uint8_t *write_scales(const mx_packed *packed, const mx_weight *w, uint8_t *dst, int64_t source_row, int64_t g,
                             int32_t row)
{
    const int64_t at = mx_weight_row_scales(w, source_row) + mx_weight_scale_bytes(w, g * packed->group);
    const size_t size = mx_dtype_size(packed->scale_dtype);
    if (w->quant.mode == MX_QUANT_AFFINE) {
        memcpy(dst + (size_t)row * size, w->scales + at, size);
        memcpy(dst + (size_t)(MX_TILE_ROWS + row) * size, w->biases + at, size);
        return dst + 2 * MX_TILE_ROWS * size;
    }
    uint16_t scale = float_mode_scale(w, w->scales[at]);
    if (w->quant.mode == MX_QUANT_MXFP8 && has_nan_code(w, source_row, g * packed->group, packed->group)) {
        scale = mx_bf16_from_f32(NAN); /* products with this row are none either way */
    }
    memcpy(dst + (size_t)row * size, &scale, size);
    return dst + MX_TILE_ROWS * size;
}

/* Tiles ---------------------------------------------------------------------------------------------------------------
 */

/* nvfp4's group is half a block: its two vectors are the first two of a block whose other codes are zero. */
static void pack_code_row(const mx_packed *packed, const mx_weight *w, uint8_t *tile, int64_t source_row, int32_t row)
{
    const int32_t bits = code_bits[packed->code];
    const int64_t n_groups = w->n_cols / packed->group;
    const int64_t group_bytes = (int64_t)packed->group * bits * MX_TILE_ROWS / 8;
    const uint8_t *src = mx_weight_row(w, source_row);
    uint8_t *dst = tile;
    for (int64_t g = 0; g < n_groups; g++) {
        dst = write_scales(packed, w, dst, source_row, g, row);
        for (int32_t c = 0; c < packed->group; c += BLOCK_COLS) {
            uint32_t quads[8];
            if (packed->group < BLOCK_COLS) {
                uint8_t half[16] = {0};
                memcpy(half, src, 8);
                read_block_of_nibbles(quads, half);
                for (int32_t v = 0; v < 2; v++) {
                    store_le32(dst + v * VECTOR + 4 * row, quads[2 * v] | quads[2 * v + 1] << 4);
                }
                continue;
            }
            if (bits == 4) {
                read_block_of_nibbles(quads, src + c * bits / 8);
            } else {
                read_block(quads, src + c * bits / 8, bits);
            }
            write_block(dst + (int64_t)c * bits * MX_TILE_ROWS / 8, quads, row, packed->code);
        }
        dst += group_bytes;
        src += packed->group * bits / 8;
    }
}

static void pack_dense_row(const mx_packed *packed, const mx_weight *w, uint8_t *tile, int64_t source_row, int32_t row)
{
    const int64_t size = code_bits[packed->code] / 8;
    const int64_t col_bytes = w->col_step ? w->col_step * size : size;
    const uint8_t *src = mx_weight_row(w, source_row);
    uint8_t *dst = tile;
    for (int64_t c = 0; c < w->n_cols; c++) {
        if (packed->group && c % packed->group == 0) {
            dst = write_scales(packed, w, dst, source_row, c / packed->group, row);
        }
        memcpy(dst + row * size, src + c * col_bytes, (size_t)size);
        dst += MX_TILE_ROWS * size;
    }
}

void mx_pack_tile(const mx_packed *packed, const mx_weight *w, int64_t expert, int64_t i_tile)
{
    const mx_weight one = mx_weight_expert(w, expert);
    uint8_t *tile = mx_packed_tile(packed, expert, i_tile);
    const int64_t first = i_tile * MX_TILE_ROWS;
    if (first + MX_TILE_ROWS > w->n_rows) {
        memset(tile, 0, (size_t)packed->tile_bytes);
    }
    for (int32_t row = 0; row < MX_TILE_ROWS && first + row < w->n_rows; row++) {
        if (packed->code >= MX_CODE_FIRST_DENSE) {
            pack_dense_row(packed, &one, tile, first + row, row);
        } else {
            pack_code_row(packed, &one, tile, first + row, row);
        }
    }
}
