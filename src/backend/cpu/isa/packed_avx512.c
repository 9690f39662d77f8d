/* packed_avx512.c - products with packed weights by AVX-512 with VNNI.
 *
 * vpdpbusd multiplies 64 unsigned bytes (a quad of 16 rows) by a broadcast quad of activations and adds each four
 * products to the row's 32-bit sum, without saturation. Int16 activations are two such products, of their high and low
 * bytes. One row of activations: two sums each for high and low, so that four chains hide the latency. A panel: up to 8
 * rows share each vector of weights, 16 sums in registers.
 */
#include <immintrin.h>
#include <string.h>

#include "backend/cpu/kernels.h"
#include "base/compiler.h"

typedef __m512i mx_v8;

/* Sums have the type of 16 integers: with __m512i, gcc 12 copies a register or two around each vpdpbusd. */
typedef __v16si sum16;

static MX_FORCE_INLINE sum16 add_products(sum16 sum, mx_v8 weights, const uint8_t *quad)
{
    int32_t four;
    memcpy(&four, quad, sizeof four);
    return (sum16)_mm512_dpbusd_epi32((__m512i)sum, weights, _mm512_set1_epi32(four));
}

static MX_FORCE_INLINE mx_v8 v8_load(const uint8_t *src)
{
    return _mm512_loadu_si512(src);
}

static MX_FORCE_INLINE mx_v8 v8_and(mx_v8 v, uint8_t byte)
{
    return _mm512_and_si512(v, _mm512_set1_epi8((char)byte));
}

static MX_FORCE_INLINE mx_v8 v8_or(mx_v8 a, mx_v8 b)
{
    return _mm512_or_si512(a, b);
}

static MX_FORCE_INLINE mx_v8 v8_shl(mx_v8 v, int n)
{
    return _mm512_slli_epi16(v, (unsigned)n);
}

static MX_FORCE_INLINE mx_v8 v8_shr(mx_v8 v, int n)
{
    return _mm512_srli_epi16(v, (unsigned)n);
}

static MX_FORCE_INLINE mx_v8 v8_lookup(mx_v8 v, const uint8_t table[16])
{
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)table)), v);
}

#include "backend/cpu/isa/unpack_impl.h"

/* Scales and biases of a group; returns the place behind them. */
static MX_FORCE_INLINE const uint8_t *load_scales(const mx_packed *w, mx_pack_code code, const uint8_t *src, __m512 *s,
                                                  __m512 *b)
{
    if (code == MX_CODE_E2M1) {
        const __m256i raw = _mm256_loadu_si256((const __m256i *)src);
        *s = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(raw), 16));
        *b = _mm512_mul_ps(*s, _mm512_set1_ps(-12.0f));
        return src + 32;
    }
    if (w->scale_dtype == MX_DTYPE_F32) {
        *s = _mm512_loadu_ps(src);
        *b = _mm512_loadu_ps(src + 64);
        return src + 128;
    }
    const __m256i raw_s = _mm256_loadu_si256((const __m256i *)src);
    const __m256i raw_b = _mm256_loadu_si256((const __m256i *)(src + 32));
    if (w->scale_dtype == MX_DTYPE_F16) {
        *s = _mm512_cvtph_ps(raw_s);
        *b = _mm512_cvtph_ps(raw_b);
    } else {
        *s = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(raw_s), 16));
        *b = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(raw_b), 16));
    }
    return src + 64;
}

/* One row ---------------------------------------------------------------------------------------------------------- */

static MX_FORCE_INLINE void dot(const mx_packed *w, mx_pack_code code, int n_parts, int n_quads, const uint8_t *src,
                                const mx_acts *x, float *y)
{
    const uint8_t *codes = x->codes;
    const int n_x_groups = w->group / x->x_group;
    const int n_blocks = x->x_group / (4 * n_quads);
    const int64_t n_groups = w->n_cols / w->group;
    const float *x_scale = x->scales;
    __m512 sum = _mm512_setzero_ps();
    for (int64_t g = 0; g < n_groups; g++) {
        __m512 s;
        __m512 b;
        __m512 t = _mm512_setzero_ps();
        src = load_scales(w, code, src, &s, &b);
        for (int i = 0; i < n_x_groups; i++) {
            sum16 high[2] = {{0}, {0}};
            sum16 low[2] = {{0}, {0}};
            for (int block = 0; block < n_blocks; block++) {
                mx_v8 quads[8];
                unpack_block(code, src, quads, n_quads);
                for (int q = 0; q < n_quads; q++) {
                    high[q % 2] = add_products(high[q % 2], quads[q], codes + 4 * n_parts * q);
                    if (n_parts == 2) {
                        low[q % 2] = add_products(low[q % 2], quads[q], codes + 8 * q + 4);
                    }
                }
                prefetch_block(src, block_bytes(code, n_quads));
                src += block_bytes(code, n_quads);
                codes += 4 * n_parts * n_quads;
            }
            const sum16 total = n_parts == 2 ? (high[0] + high[1]) * 256 + low[0] + low[1] : high[0] + high[1];
            t = _mm512_fmadd_ps(_mm512_cvtepi32_ps((__m512i)total), _mm512_set1_ps(*x_scale++), t);
        }
        sum = _mm512_fmadd_ps(t, s, sum);
        sum = _mm512_fmadd_ps(_mm512_set1_ps(x->sums[g]), b, sum);
    }
    _mm512_storeu_ps(y, _mm512_mul_ps(sum, _mm512_set1_ps(w->factor)));
}

/* Panels ----------------------------------------------------------------------------------------------------------- */

static MX_FORCE_INLINE void expand(const mx_packed *w, mx_pack_code code, int n_quads, const uint8_t *src,
                                   int64_t n_groups, uint8_t *panel)
{
    const int n_blocks = w->group / (4 * n_quads);
    for (int64_t g = 0; g < n_groups; g++) {
        __m512 s;
        __m512 b;
        src = load_scales(w, code, src, &s, &b);
        _mm512_storeu_ps(panel, s);
        _mm512_storeu_ps(panel + 64, b);
        panel += MX_PANEL_HEAD_BYTES;
        for (int block = 0; block < n_blocks; block++) {
            mx_v8 quads[8];
            unpack_block(code, src, quads, n_quads);
            for (int q = 0; q < n_quads; q++) {
                _mm512_storeu_si512(panel + q * VECTOR, quads[q]);
            }
            src += block_bytes(code, n_quads);
            panel += n_quads * VECTOR;
        }
    }
}

static MX_FORCE_INLINE void panel_product(const mx_packed *w, int n_tokens, int n_parts, const uint8_t *panel,
                                          int64_t first_group, int64_t n_groups, const mx_acts *x, float *y)
{
    const int n_x_groups = w->group / x->x_group;
    const int n_quads = x->x_group / 4;
    const uint8_t *codes = x->codes + first_group * (w->group / 4) * 4 * n_parts * n_tokens;
    const float *x_scale = x->scales + first_group * n_x_groups * n_tokens;
    const float *x_sum = x->sums + first_group * n_tokens;
    __m512 sum[MX_MAX_BLOCK_TOKENS];
    for (int t = 0; t < n_tokens; t++) {
        sum[t] = _mm512_loadu_ps(y + t * MX_TILE_ROWS);
    }
    for (int64_t g = 0; g < n_groups; g++) {
        const __m512 s = _mm512_loadu_ps(panel);
        const __m512 b = _mm512_loadu_ps(panel + 64);
        __m512 part[MX_MAX_BLOCK_TOKENS];
        panel += MX_PANEL_HEAD_BYTES;
        for (int t = 0; t < n_tokens; t++) {
            part[t] = _mm512_setzero_ps();
        }
        for (int i = 0; i < n_x_groups; i++) {
            sum16 high[MX_MAX_BLOCK_TOKENS];
            sum16 low[MX_MAX_BLOCK_TOKENS];
            for (int t = 0; t < n_tokens; t++) {
                high[t] = (sum16){0};
                low[t] = (sum16){0};
            }
            for (int q = 0; q < n_quads; q++) {
                const __m512i weights = _mm512_loadu_si512(panel);
                for (int t = 0; t < n_tokens; t++) {
                    high[t] = add_products(high[t], weights, codes + 4 * n_parts * t);
                    if (n_parts == 2) {
                        low[t] = add_products(low[t], weights, codes + 8 * t + 4);
                    }
                }
                panel += VECTOR;
                codes += 4 * n_parts * n_tokens;
            }
            for (int t = 0; t < n_tokens; t++) {
                const sum16 total = n_parts == 2 ? high[t] * 256 + low[t] : high[t];
                part[t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps((__m512i)total), _mm512_set1_ps(*x_scale++), part[t]);
            }
        }
        for (int t = 0; t < n_tokens; t++) {
            sum[t] = _mm512_fmadd_ps(part[t], s, sum[t]);
            sum[t] = _mm512_fmadd_ps(_mm512_set1_ps(*x_sum++), b, sum[t]);
        }
    }
    for (int t = 0; t < n_tokens; t++) {
        _mm512_storeu_ps(y + t * MX_TILE_ROWS, sum[t]);
    }
}

/* f32 -------------------------------------------------------------------------------------------------------------- */

static MX_FORCE_INLINE __m512 load_column(mx_pack_code code, const uint8_t *src)
{
    switch (code) {
    case MX_CODE_F16: return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)src));
    case MX_CODE_BF16:
        return _mm512_castsi512_ps(
            _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)src)), 16));
    case MX_CODE_E4M3: { /* the bits of an f16 with another exponent bias */
        const __m256i wide = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)src));
        const __m256i sign = _mm256_and_si256(_mm256_slli_epi16(wide, 8), _mm256_set1_epi16((short)0x8000));
        const __m256i rest = _mm256_slli_epi16(_mm256_and_si256(wide, _mm256_set1_epi16(0x7f)), 7);
        return _mm512_mul_ps(_mm512_cvtph_ps(_mm256_or_si256(sign, rest)), _mm512_set1_ps(256.0f));
    }
    default: return _mm512_loadu_ps(src);
    }
}

static MX_FORCE_INLINE void dense_product(const mx_packed *w, mx_pack_code code, int n_tokens, const uint8_t *src,
                                          const mx_acts *x, float *y)
{
    const int n_column_bytes = code == MX_CODE_F32 ? 64 : code == MX_CODE_E4M3 ? 16 : 32;
    const bool has_scales = code == MX_CODE_E4M3;
    const int64_t n_group_cols = has_scales ? w->group : w->n_cols;
    const float *values = (const float *)x->codes;
    __m512 sum[MX_MAX_BLOCK_TOKENS];
    __m512 part[MX_MAX_BLOCK_TOKENS];
    for (int t = 0; t < n_tokens; t++) {
        sum[t] = _mm512_setzero_ps();
    }
    for (int64_t first = 0; first < w->n_cols; first += n_group_cols) {
        __m512 s = _mm512_setzero_ps();
        if (has_scales) {
            s = _mm512_castsi512_ps(
                _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)src)), 16));
            src += 32;
        }
        for (int t = 0; t < n_tokens; t++) {
            part[t] = _mm512_setzero_ps();
        }
        for (int64_t c = 0; c < n_group_cols; c++) {
            MX_PREFETCH(src + PREFETCH_AHEAD);
            const __m512 column = load_column(code, src);
            for (int t = 0; t < n_tokens; t++) {
                part[t] = _mm512_fmadd_ps(column, _mm512_set1_ps(values[t]), part[t]);
            }
            src += n_column_bytes;
            values += n_tokens;
        }
        for (int t = 0; t < n_tokens; t++) {
            sum[t] = has_scales ? _mm512_fmadd_ps(part[t], s, sum[t]) : part[t];
        }
    }
    for (int t = 0; t < n_tokens; t++) {
        _mm512_storeu_ps(y + t * MX_TILE_ROWS, sum[t]);
    }
}

#define MX_PACKED_MAX_TOKENS 8
#include "backend/cpu/isa/packed_table_impl.h"

void mx_cpu_kernels_fill_packed_avx512(mx_cpu_kernels *k)
{
    fill_table(k);
}
