/* packed_neon_impl.h - products with packed weights by NEON.
 *
 * Included by packed_neon.c and packed_dotprod.c, which define
 *     int32x4_t add_products(int32x4_t sum, int8x16_t w, int8x16_t x)   sum[i] += the products of bytes 4i to 4i + 3
 * A vector is a quarter of a tile's: a quad of 4 rows. Products are of signed bytes: 8-bit codes are taken 128 lower,
 * and the activations' sum of codes makes up for it.
 */
#include <arm_neon.h>
#include <string.h>

#include "backend/cpu/kernels.h"
#include "base/compiler.h"

typedef uint8x16_t mx_v8;

#define N_QUARTERS    4
#define QUARTER_BYTES 16
#define CODE_OFFSET   128 /* of 8-bit codes */

static MX_FORCE_INLINE mx_v8 v8_load(const uint8_t *src)
{
    return vld1q_u8(src);
}

static MX_FORCE_INLINE mx_v8 v8_and(mx_v8 v, uint8_t byte)
{
    return vandq_u8(v, vdupq_n_u8(byte));
}

static MX_FORCE_INLINE mx_v8 v8_or(mx_v8 a, mx_v8 b)
{
    return vorrq_u8(a, b);
}

static MX_FORCE_INLINE mx_v8 v8_shl(mx_v8 v, int n)
{
    return vshlq_u8(v, vdupq_n_s8((int8_t)n));
}

static MX_FORCE_INLINE mx_v8 v8_shr(mx_v8 v, int n)
{
    return vshlq_u8(v, vdupq_n_s8((int8_t)-n));
}

static MX_FORCE_INLINE mx_v8 v8_lookup(mx_v8 v, const uint8_t table[16])
{
    return vqtbl1q_u8(vld1q_u8(table), v);
}

#include "backend/cpu/isa/unpack_impl.h"

static MX_FORCE_INLINE float32x4_t load_4_scales(mx_dtype dtype, const uint8_t *src)
{
    if (dtype == MX_DTYPE_F32) {
        return vreinterpretq_f32_u8(vld1q_u8(src));
    }
    const uint16x4_t raw = vreinterpret_u16_u8(vld1_u8(src));
    return dtype == MX_DTYPE_F16 ? vcvt_f32_f16(vreinterpret_f16_u16(raw))
                                 : vreinterpretq_f32_u32(vshll_n_u16(raw, 16));
}

/* Scales and biases of a group; returns the place behind them. */
static MX_FORCE_INLINE const uint8_t *load_scales(const mx_packed *w, mx_pack_code code, const uint8_t *src,
                                                  float32x4_t s[N_QUARTERS], float32x4_t b[N_QUARTERS])
{
    const mx_dtype dtype = code == MX_CODE_E2M1 ? MX_DTYPE_BF16 : w->scale_dtype;
    const int n_bytes = dtype == MX_DTYPE_F32 ? 16 : 8; /* of 4 scales */
    for (int h = 0; h < N_QUARTERS; h++) {
        s[h] = load_4_scales(dtype, src + h * n_bytes);
        b[h] =
            code == MX_CODE_E2M1 ? vmulq_n_f32(s[h], -12.0f) : load_4_scales(dtype, src + (N_QUARTERS + h) * n_bytes);
    }
    return src + (code == MX_CODE_E2M1 ? 1 : 2) * N_QUARTERS * n_bytes;
}

static MX_FORCE_INLINE int8x16_t broadcast_quad(const uint8_t *src)
{
    int32_t quad;
    memcpy(&quad, src, sizeof quad);
    return vreinterpretq_s8_s32(vdupq_n_s32(quad));
}

static MX_FORCE_INLINE int8x16_t signed_codes(mx_pack_code code, mx_v8 v)
{
    return vreinterpretq_s8_u8(code == MX_CODE_U8 ? veorq_u8(v, vdupq_n_u8(CODE_OFFSET)) : v);
}

/* One row ---------------------------------------------------------------------------------------------------------- */

static MX_FORCE_INLINE void dot(const mx_packed *w, mx_pack_code code, int n_parts, int n_quads, const uint8_t *src,
                                const mx_acts *x, float *y)
{
    const uint8_t *codes = x->codes;
    const int n_x_groups = w->group / x->x_group;
    const int n_blocks = x->x_group / (4 * n_quads);
    const int64_t n_groups = w->n_cols / w->group;
    int64_t i_x_group = 0;
    float32x4_t sum[N_QUARTERS];
    for (int h = 0; h < N_QUARTERS; h++) {
        sum[h] = vdupq_n_f32(0.0f);
    }
    for (int64_t g = 0; g < n_groups; g++) {
        float32x4_t s[N_QUARTERS];
        float32x4_t b[N_QUARTERS];
        float32x4_t part[N_QUARTERS];
        src = load_scales(w, code, src, s, b);
        for (int h = 0; h < N_QUARTERS; h++) {
            part[h] = vdupq_n_f32(0.0f);
        }
        for (int i = 0; i < n_x_groups; i++, i_x_group++) {
            int32x4_t high[N_QUARTERS];
            int32x4_t low[N_QUARTERS];
            for (int h = 0; h < N_QUARTERS; h++) {
                high[h] = vdupq_n_s32(0);
                low[h] = vdupq_n_s32(code == MX_CODE_U8 ? CODE_OFFSET * x->code_sums[i_x_group] : 0);
            }
            for (int block = 0; block < n_blocks; block++) {
                for (int h = 0; h < N_QUARTERS; h++) {
                    mx_v8 quads[8];
                    unpack_block(code, src + h * QUARTER_BYTES, quads, n_quads);
                    for (int q = 0; q < n_quads; q++) {
                        const int8x16_t weights = signed_codes(code, quads[q]);
                        high[h] = add_products(high[h], weights, broadcast_quad(codes + 4 * n_parts * q));
                        if (n_parts == 2) {
                            low[h] = add_products(low[h], weights, broadcast_quad(codes + 8 * q + 4));
                        }
                    }
                }
                prefetch_block(src, block_bytes(code, n_quads));
                src += block_bytes(code, n_quads);
                codes += 4 * n_parts * n_quads;
            }
            for (int h = 0; h < N_QUARTERS; h++) {
                const int32x4_t total = vaddq_s32(n_parts == 2 ? vshlq_n_s32(high[h], 8) : high[h], low[h]);
                part[h] = vfmaq_n_f32(part[h], vcvtq_f32_s32(total), x->scales[i_x_group]);
            }
        }
        for (int h = 0; h < N_QUARTERS; h++) {
            sum[h] = vfmaq_f32(sum[h], part[h], s[h]);
            sum[h] = vfmaq_n_f32(sum[h], b[h], x->sums[g]);
        }
    }
    for (int h = 0; h < N_QUARTERS; h++) {
        vst1q_f32(y + 4 * h, vmulq_n_f32(sum[h], w->factor));
    }
}

/* Panels ----------------------------------------------------------------------------------------------------------- */

static MX_FORCE_INLINE void expand(const mx_packed *w, mx_pack_code code, int n_quads, const uint8_t *src,
                                   int64_t n_groups, uint8_t *panel)
{
    const int n_blocks = w->group / (4 * n_quads);
    for (int64_t g = 0; g < n_groups; g++) {
        float32x4_t s[N_QUARTERS];
        float32x4_t b[N_QUARTERS];
        src = load_scales(w, code, src, s, b);
        for (int h = 0; h < N_QUARTERS; h++) {
            vst1q_u8(panel + 16 * h, vreinterpretq_u8_f32(s[h]));
            vst1q_u8(panel + 64 + 16 * h, vreinterpretq_u8_f32(b[h]));
        }
        panel += MX_PANEL_HEAD_BYTES;
        for (int block = 0; block < n_blocks; block++) {
            for (int h = 0; h < N_QUARTERS; h++) {
                mx_v8 quads[8];
                unpack_block(code, src + h * QUARTER_BYTES, quads, n_quads);
                for (int q = 0; q < n_quads; q++) {
                    const int8x16_t weights = signed_codes(code, quads[q]);
                    vst1q_u8(panel + q * VECTOR + h * QUARTER_BYTES, vreinterpretq_u8_s8(weights));
                }
            }
            src += block_bytes(code, n_quads);
            panel += n_quads * VECTOR;
        }
    }
}

/* Sums of one x group: totals[t][h] += the panel's quads times those of the tokens; both move on. */
static MX_FORCE_INLINE void add_x_group(int n_tokens, int n_parts, int n_quads, const uint8_t **panel,
                                        const uint8_t **codes, int32x4_t totals[][N_QUARTERS])
{
    int32x4_t high[2][N_QUARTERS];
    for (int i = 0; i < n_tokens * N_QUARTERS; i++) {
        high[i / N_QUARTERS][i % N_QUARTERS] = vdupq_n_s32(0);
    }
    for (int q = 0; q < n_quads; q++) {
        int8x16_t weights[N_QUARTERS];
        for (int h = 0; h < N_QUARTERS; h++) {
            weights[h] = vreinterpretq_s8_u8(vld1q_u8(*panel + h * QUARTER_BYTES));
        }
        for (int t = 0; t < n_tokens; t++) {
            const int8x16_t x_high = broadcast_quad(*codes + 4 * n_parts * t);
            const int8x16_t x_low = broadcast_quad(*codes + 4 * n_parts * t + 4 * (n_parts - 1));
            for (int h = 0; h < N_QUARTERS; h++) {
                high[t][h] = add_products(high[t][h], weights[h], x_high);
                if (n_parts == 2) {
                    totals[t][h] = add_products(totals[t][h], weights[h], x_low);
                }
            }
        }
        *panel += VECTOR;
        *codes += 4 * n_parts * n_tokens;
    }
    for (int t = 0; t < n_tokens; t++) {
        for (int h = 0; h < N_QUARTERS; h++) {
            totals[t][h] = vaddq_s32(totals[t][h], n_parts == 2 ? vshlq_n_s32(high[t][h], 8) : high[t][h]);
        }
    }
}

static MX_FORCE_INLINE void panel_product(const mx_packed *w, int n_tokens, int n_parts, const uint8_t *panel,
                                          int64_t first_group, int64_t n_groups, const mx_acts *x, float *y)
{
    const int n_x_groups = w->group / x->x_group;
    const uint8_t *codes = x->codes + first_group * (w->group / 4) * 4 * n_parts * n_tokens;
    const float *x_scale = x->scales + first_group * n_x_groups * n_tokens;
    const float *x_sum = x->sums + first_group * n_tokens;
    const int32_t *code_sum = x->code_sums + first_group * n_x_groups * n_tokens;
    float32x4_t sum[2][N_QUARTERS];
    for (int i = 0; i < n_tokens * N_QUARTERS; i++) {
        sum[i / N_QUARTERS][i % N_QUARTERS] = vld1q_f32(y + 4 * i);
    }
    for (int64_t g = 0; g < n_groups; g++) {
        const uint8_t *head = panel;
        float32x4_t part[2][N_QUARTERS];
        panel += MX_PANEL_HEAD_BYTES;
        for (int i = 0; i < n_tokens * N_QUARTERS; i++) {
            part[i / N_QUARTERS][i % N_QUARTERS] = vdupq_n_f32(0.0f);
        }
        for (int i = 0; i < n_x_groups; i++) {
            int32x4_t totals[2][N_QUARTERS];
            for (int j = 0; j < n_tokens * N_QUARTERS; j++) {
                totals[j / N_QUARTERS][j % N_QUARTERS] =
                    vdupq_n_s32(w->code == MX_CODE_U8 ? CODE_OFFSET * code_sum[j / N_QUARTERS] : 0);
            }
            add_x_group(n_tokens, n_parts, x->x_group / 4, &panel, &codes, totals);
            for (int j = 0; j < n_tokens * N_QUARTERS; j++) {
                const int t = j / N_QUARTERS;
                const int h = j % N_QUARTERS;
                part[t][h] = vfmaq_n_f32(part[t][h], vcvtq_f32_s32(totals[t][h]), x_scale[t]);
            }
            x_scale += n_tokens;
            code_sum += n_tokens;
        }
        for (int j = 0; j < n_tokens * N_QUARTERS; j++) {
            const int t = j / N_QUARTERS;
            const int h = j % N_QUARTERS;
            sum[t][h] = vfmaq_f32(sum[t][h], part[t][h], vreinterpretq_f32_u8(vld1q_u8(head + 16 * h)));
            sum[t][h] = vfmaq_n_f32(sum[t][h], vreinterpretq_f32_u8(vld1q_u8(head + 64 + 16 * h)), x_sum[t]);
        }
        x_sum += n_tokens;
    }
    for (int i = 0; i < n_tokens * N_QUARTERS; i++) {
        vst1q_f32(y + 4 * i, sum[i / N_QUARTERS][i % N_QUARTERS]);
    }
}

/* f32 -------------------------------------------------------------------------------------------------------------- */

/* 4 of the 16 values of a column. */
static MX_FORCE_INLINE float32x4_t load_quarter_column(mx_pack_code code, const uint8_t *src)
{
    if (code == MX_CODE_E4M3) { /* the bits of an f16 with another exponent bias */
        uint32_t raw;
        memcpy(&raw, src, sizeof raw);
        const uint16x4_t wide = vget_low_u16(vmovl_u8(vcreate_u8(raw)));
        const uint16x4_t sign = vshl_n_u16(vand_u16(wide, vdup_n_u16(0x80)), 8);
        const uint16x4_t rest = vshl_n_u16(vand_u16(wide, vdup_n_u16(0x7f)), 7);
        return vmulq_n_f32(vcvt_f32_f16(vreinterpret_f16_u16(vorr_u16(sign, rest))), 256.0f);
    }
    return load_4_scales(code == MX_CODE_F32 ? MX_DTYPE_F32 : code == MX_CODE_F16 ? MX_DTYPE_F16 : MX_DTYPE_BF16, src);
}

static MX_FORCE_INLINE void dense_product(const mx_packed *w, mx_pack_code code, int n_tokens, const uint8_t *src,
                                          const mx_acts *x, float *y)
{
    const int n_quarter_bytes = code == MX_CODE_F32 ? 16 : code == MX_CODE_E4M3 ? 4 : 8;
    const bool has_scales = code == MX_CODE_E4M3;
    const int64_t n_group_cols = has_scales ? w->group : w->n_cols;
    const float *values = (const float *)(const void *)x->codes;
    float32x4_t sum[2][N_QUARTERS];
    float32x4_t part[2][N_QUARTERS];
    for (int i = 0; i < n_tokens * N_QUARTERS; i++) {
        sum[i / N_QUARTERS][i % N_QUARTERS] = vdupq_n_f32(0.0f);
    }
    for (int64_t first = 0; first < w->n_cols; first += n_group_cols) {
        const uint8_t *scales = src;
        src += has_scales ? 32 : 0;
        for (int i = 0; i < n_tokens * N_QUARTERS; i++) {
            part[i / N_QUARTERS][i % N_QUARTERS] = vdupq_n_f32(0.0f);
        }
        for (int64_t c = 0; c < n_group_cols; c++) {
            MX_PREFETCH(src + PREFETCH_AHEAD);
            for (int h = 0; h < N_QUARTERS; h++) {
                const float32x4_t column = load_quarter_column(code, src);
                for (int t = 0; t < n_tokens; t++) {
                    part[t][h] = vfmaq_n_f32(part[t][h], column, values[t]);
                }
                src += n_quarter_bytes;
            }
            values += n_tokens;
        }
        for (int i = 0; i < n_tokens * N_QUARTERS; i++) {
            const int t = i / N_QUARTERS;
            const int h = i % N_QUARTERS;
            sum[t][h] = has_scales ? vfmaq_f32(sum[t][h], part[t][h], load_4_scales(MX_DTYPE_BF16, scales + 8 * h))
                                   : part[t][h];
        }
    }
    for (int i = 0; i < n_tokens * N_QUARTERS; i++) {
        vst1q_f32(y + 4 * i, sum[i / N_QUARTERS][i % N_QUARTERS]);
    }
}

#define MX_PACKED_MAX_TOKENS 2
#include "backend/cpu/isa/packed_table_impl.h"
