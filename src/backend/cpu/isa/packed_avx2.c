/* packed_avx2.c - products with packed weights by AVX2 with FMA and F16C.
 *
 * One row of activations: vpmaddubsw multiplies 32 unsigned bytes (a quad of 8 rows) by a broadcast quad of signed ones
 * and adds pairs into 16 bits. Sums stay in 16 bits for as many products as cannot overflow (max_chain) and are then
 * widened. Int16 activations are two such products, of high and low bytes; 8-bit codes would overflow, so they are
 * widened to 16 bits and multiplied by int16 activations with vpmaddwd.
 * Panels: all codes go by vpmaddwd, 16 products an instruction and no overflow, with activations paired to match the
 * even and the odd bytes of a quad.
 */
#include <immintrin.h>
#include <string.h>

#include "backend/cpu/kernels.h"
#include "base/compiler.h"

typedef __m256i mx_v8; /* rows 0 to 7, or 8 to 15 */

#define N_HALVES   2
#define HALF_BYTES 32

static MX_FORCE_INLINE mx_v8 v8_load(const uint8_t *src)
{
    return _mm256_loadu_si256((const __m256i *)src);
}

static MX_FORCE_INLINE mx_v8 v8_and(mx_v8 v, uint8_t byte)
{
    return _mm256_and_si256(v, _mm256_set1_epi8((char)byte));
}

static MX_FORCE_INLINE mx_v8 v8_or(mx_v8 a, mx_v8 b)
{
    return _mm256_or_si256(a, b);
}

static MX_FORCE_INLINE mx_v8 v8_shl(mx_v8 v, int n)
{
    return _mm256_slli_epi16(v, n);
}

static MX_FORCE_INLINE mx_v8 v8_shr(mx_v8 v, int n)
{
    return _mm256_srli_epi16(v, n);
}

static MX_FORCE_INLINE mx_v8 v8_lookup(mx_v8 v, const uint8_t table[16])
{
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)table)), v);
}

#include "backend/cpu/isa/unpack_impl.h"

static MX_FORCE_INLINE __m256 load_8_scales(mx_dtype dtype, const uint8_t *src)
{
    if (dtype == MX_DTYPE_F32) {
        return _mm256_loadu_ps((const float *)(const void *)src);
    }
    const __m128i raw = _mm_loadu_si128((const __m128i *)src);
    return dtype == MX_DTYPE_F16 ? _mm256_cvtph_ps(raw)
                                 : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(raw), 16));
}

/* Scales and biases of a group; returns the place behind them. */
static MX_FORCE_INLINE const uint8_t *load_scales(const mx_packed *w, mx_pack_code code, const uint8_t *src,
                                                  __m256 s[N_HALVES], __m256 b[N_HALVES])
{
    const mx_dtype dtype = code == MX_CODE_E2M1 ? MX_DTYPE_BF16 : w->scale_dtype;
    const int n_bytes = dtype == MX_DTYPE_F32 ? 32 : 16; /* of 8 scales */
    for (int h = 0; h < N_HALVES; h++) {
        s[h] = load_8_scales(dtype, src + h * n_bytes);
        b[h] = code == MX_CODE_E2M1 ? _mm256_mul_ps(s[h], _mm256_set1_ps(-12.0f))
                                    : load_8_scales(dtype, src + (2 + h) * n_bytes);
    }
    return src + (code == MX_CODE_E2M1 ? 2 : 4) * n_bytes;
}

static MX_FORCE_INLINE __m256i broadcast_32(const uint8_t *src)
{
    int32_t bits;
    memcpy(&bits, src, sizeof bits);
    return _mm256_set1_epi32(bits);
}

/* One row ---------------------------------------------------------------------------------------------------------- */

/* Products of codes with activations between -128 and 127 whose pairs' sums fit int16: 32767 / (2 * 128 * code). */
static MX_FORCE_INLINE int max_chain(mx_pack_code code)
{
    return code == MX_CODE_U6 ? 2 : code == MX_CODE_U5 || code == MX_CODE_E2M1 ? 4 : 8;
}

/* total += the sums over the block's quads, of the 8 rows at src. */
static MX_FORCE_INLINE __m256i add_block(__m256i total, mx_pack_code code, int n_parts, int n_quads, const uint8_t *src,
                                         const uint8_t *codes)
{
    mx_v8 quads[8];
    unpack_block(code, src, quads, n_quads);
    for (int first = 0; first < n_quads; first += max_chain(code)) {
        __m256i high = _mm256_setzero_si256();
        __m256i low = _mm256_setzero_si256();
        for (int q = first; q < first + max_chain(code) && q < n_quads; q++) {
            const uint8_t *x = codes + 4 * n_parts * q;
            high = _mm256_add_epi16(high, _mm256_maddubs_epi16(quads[q], broadcast_32(x)));
            if (n_parts == 2) {
                low = _mm256_add_epi16(low, _mm256_maddubs_epi16(quads[q], broadcast_32(x + 4)));
            }
        }
        total = _mm256_add_epi32(total, _mm256_madd_epi16(high, _mm256_set1_epi16(n_parts == 2 ? 256 : 1)));
        if (n_parts == 2) {
            total = _mm256_add_epi32(total, _mm256_madd_epi16(low, _mm256_set1_epi16(1)));
        }
    }
    return total;
}

/* The same for 8-bit codes; x: four int16 a quad, in the order 0, 2, 1, 3. */
static MX_FORCE_INLINE __m256i add_block_of_bytes(__m256i total, const uint8_t *src, const uint8_t *codes)
{
    for (int q = 0; q < 8; q++) {
        const __m256i quad = v8_load(src + q * VECTOR);
        const __m256i even = _mm256_and_si256(quad, _mm256_set1_epi16(0xff));
        const __m256i odd = _mm256_srli_epi16(quad, 8);
        total = _mm256_add_epi32(total, _mm256_madd_epi16(even, broadcast_32(codes + 8 * q)));
        total = _mm256_add_epi32(total, _mm256_madd_epi16(odd, broadcast_32(codes + 8 * q + 4)));
    }
    return total;
}

static MX_FORCE_INLINE void dot(const mx_packed *w, mx_pack_code code, int n_parts, int n_quads, const uint8_t *src,
                                const mx_acts *x, float *y)
{
    const uint8_t *codes = x->codes;
    const int n_x_groups = w->group / x->x_group;
    const int n_blocks = x->x_group / (4 * n_quads);
    const int64_t n_groups = w->n_cols / w->group;
    const float *x_scale = x->scales;
    __m256 sum[N_HALVES] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
    for (int64_t g = 0; g < n_groups; g++) {
        __m256 s[N_HALVES];
        __m256 b[N_HALVES];
        __m256 part[N_HALVES] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
        src = load_scales(w, code, src, s, b);
        for (int i = 0; i < n_x_groups; i++) {
            __m256i total[N_HALVES] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
            for (int block = 0; block < n_blocks; block++) {
                for (int h = 0; h < N_HALVES; h++) {
                    total[h] = code == MX_CODE_U8
                                   ? add_block_of_bytes(total[h], src + h * HALF_BYTES, codes)
                                   : add_block(total[h], code, n_parts, n_quads, src + h * HALF_BYTES, codes);
                }
                prefetch_block(src, block_bytes(code, n_quads));
                src += block_bytes(code, n_quads);
                codes += (code == MX_CODE_U8 ? 8 : 4 * n_parts) * n_quads;
            }
            const __m256 x_scale_8 = _mm256_set1_ps(*x_scale++);
            for (int h = 0; h < N_HALVES; h++) {
                part[h] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(total[h]), x_scale_8, part[h]);
            }
        }
        for (int h = 0; h < N_HALVES; h++) {
            sum[h] = _mm256_fmadd_ps(part[h], s[h], sum[h]);
            sum[h] = _mm256_fmadd_ps(_mm256_set1_ps(x->sums[g]), b[h], sum[h]);
        }
    }
    for (int h = 0; h < N_HALVES; h++) {
        _mm256_storeu_ps(y + 8 * h, _mm256_mul_ps(sum[h], _mm256_set1_ps(w->factor)));
    }
}

/* Panels ----------------------------------------------------------------------------------------------------------- */

static MX_FORCE_INLINE void expand(const mx_packed *w, mx_pack_code code, int n_quads, const uint8_t *src,
                                   int64_t n_groups, uint8_t *panel)
{
    const int n_blocks = w->group / (4 * n_quads);
    for (int64_t g = 0; g < n_groups; g++) {
        __m256 s[N_HALVES];
        __m256 b[N_HALVES];
        src = load_scales(w, code, src, s, b);
        float *head = (float *)(void *)panel;
        for (int h = 0; h < N_HALVES; h++) {
            _mm256_storeu_ps(head + 8 * h, s[h]);
            _mm256_storeu_ps(head + MX_TILE_ROWS + 8 * h, b[h]);
        }
        panel += MX_PANEL_HEAD_BYTES;
        for (int block = 0; block < n_blocks; block++) {
            for (int h = 0; h < N_HALVES; h++) {
                mx_v8 quads[8];
                unpack_block(code, src + h * HALF_BYTES, quads, n_quads);
                for (int q = 0; q < n_quads; q++) {
                    _mm256_storeu_si256((__m256i *)(void *)(panel + q * VECTOR + h * HALF_BYTES), quads[q]);
                }
            }
            src += block_bytes(code, n_quads);
            panel += n_quads * VECTOR;
        }
    }
}

static MX_FORCE_INLINE void panel_product(const mx_packed *w, int n_tokens, int n_parts, const uint8_t *panel,
                                          int64_t first_group, int64_t n_groups, const mx_acts *x, float *y)
{
    (void)n_parts; /* paired activations have two bytes in both modes */
    const int n_x_groups = w->group / x->x_group;
    const int n_quads = x->x_group / 4;
    const uint8_t *codes = x->codes + first_group * (w->group / 4) * 8 * n_tokens;
    const float *x_scale = x->scales + first_group * n_x_groups * n_tokens;
    const float *x_sum = x->sums + first_group * n_tokens;
    __m256 sum[4][N_HALVES];
    for (int i = 0; i < n_tokens * N_HALVES; i++) {
        sum[i / N_HALVES][i % N_HALVES] = _mm256_loadu_ps(y + 8 * i);
    }
    for (int64_t g = 0; g < n_groups; g++) {
        const float *head = (const float *)(const void *)panel;
        __m256 part[4][N_HALVES];
        panel += MX_PANEL_HEAD_BYTES;
        for (int i = 0; i < n_tokens * N_HALVES; i++) {
            part[i / N_HALVES][i % N_HALVES] = _mm256_setzero_ps();
        }
        for (int i = 0; i < n_x_groups; i++) {
            __m256i total[4][N_HALVES];
            for (int j = 0; j < n_tokens * N_HALVES; j++) {
                total[j / N_HALVES][j % N_HALVES] = _mm256_setzero_si256();
            }
            for (int q = 0; q < n_quads; q++) {
                for (int odd = 0; odd < 2; odd++) {
                    __m256i weights[N_HALVES];
                    for (int h = 0; h < N_HALVES; h++) {
                        const __m256i quad = v8_load(panel + h * HALF_BYTES);
                        weights[h] = odd ? _mm256_srli_epi16(quad, 8) : _mm256_and_si256(quad, _mm256_set1_epi16(0xff));
                    }
                    for (int t = 0; t < n_tokens; t++) {
                        const __m256i pair = broadcast_32(codes + 8 * t + 4 * odd);
                        for (int h = 0; h < N_HALVES; h++) {
                            total[t][h] = _mm256_add_epi32(total[t][h], _mm256_madd_epi16(weights[h], pair));
                        }
                    }
                }
                panel += VECTOR;
                codes += 8 * n_tokens;
            }
            for (int t = 0; t < n_tokens; t++) {
                const __m256 scale = _mm256_set1_ps(*x_scale++);
                for (int h = 0; h < N_HALVES; h++) {
                    part[t][h] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(total[t][h]), scale, part[t][h]);
                }
            }
        }
        for (int t = 0; t < n_tokens; t++) {
            const __m256 x_sum_8 = _mm256_set1_ps(*x_sum++);
            for (int h = 0; h < N_HALVES; h++) {
                sum[t][h] = _mm256_fmadd_ps(part[t][h], _mm256_loadu_ps(head + 8 * h), sum[t][h]);
                sum[t][h] = _mm256_fmadd_ps(x_sum_8, _mm256_loadu_ps(head + MX_TILE_ROWS + 8 * h), sum[t][h]);
            }
        }
    }
    for (int i = 0; i < n_tokens * N_HALVES; i++) {
        _mm256_storeu_ps(y + 8 * i, sum[i / N_HALVES][i % N_HALVES]);
    }
}

/* f32 -------------------------------------------------------------------------------------------------------------- */

/* 8 of the 16 values of a column. */
static MX_FORCE_INLINE __m256 load_half_column(mx_pack_code code, const uint8_t *src)
{
    switch (code) {
    case MX_CODE_F16: return load_8_scales(MX_DTYPE_F16, src);
    case MX_CODE_BF16: return load_8_scales(MX_DTYPE_BF16, src);
    case MX_CODE_E4M3: { /* the bits of an f16 with another exponent bias */
        const __m128i wide = _mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)(const void *)src));
        const __m128i sign = _mm_and_si128(_mm_slli_epi16(wide, 8), _mm_set1_epi16((short)0x8000));
        const __m128i rest = _mm_slli_epi16(_mm_and_si128(wide, _mm_set1_epi16(0x7f)), 7);
        return _mm256_mul_ps(_mm256_cvtph_ps(_mm_or_si128(sign, rest)), _mm256_set1_ps(256.0f));
    }
    default: return load_8_scales(MX_DTYPE_F32, src);
    }
}

static MX_FORCE_INLINE void dense_product(const mx_packed *w, mx_pack_code code, int n_tokens, const uint8_t *src,
                                          const mx_acts *x, float *y)
{
    const int n_half_bytes = code == MX_CODE_F32 ? 32 : code == MX_CODE_E4M3 ? 8 : 16;
    const bool has_scales = code == MX_CODE_E4M3;
    const int64_t n_group_cols = has_scales ? w->group : w->n_cols;
    const float *values = (const float *)(const void *)x->codes;
    __m256 sum[4][N_HALVES];
    __m256 part[4][N_HALVES];
    for (int i = 0; i < n_tokens * N_HALVES; i++) {
        sum[i / N_HALVES][i % N_HALVES] = _mm256_setzero_ps();
    }
    for (int64_t first = 0; first < w->n_cols; first += n_group_cols) {
        const uint8_t *scales = src;
        src += has_scales ? 32 : 0;
        for (int i = 0; i < n_tokens * N_HALVES; i++) {
            part[i / N_HALVES][i % N_HALVES] = _mm256_setzero_ps();
        }
        for (int64_t c = 0; c < n_group_cols; c++) {
            MX_PREFETCH(src + PREFETCH_AHEAD);
            for (int h = 0; h < N_HALVES; h++) {
                const __m256 column = load_half_column(code, src);
                for (int t = 0; t < n_tokens; t++) {
                    part[t][h] = _mm256_fmadd_ps(column, _mm256_set1_ps(values[t]), part[t][h]);
                }
                src += n_half_bytes;
            }
            values += n_tokens;
        }
        for (int i = 0; i < n_tokens * N_HALVES; i++) {
            const int t = i / N_HALVES;
            const int h = i % N_HALVES;
            sum[t][h] = has_scales
                            ? _mm256_fmadd_ps(part[t][h], load_8_scales(MX_DTYPE_BF16, scales + 16 * h), sum[t][h])
                            : part[t][h];
        }
    }
    for (int i = 0; i < n_tokens * N_HALVES; i++) {
        _mm256_storeu_ps(y + 8 * i, sum[i / N_HALVES][i % N_HALVES]);
    }
}

#define MX_PACKED_MAX_TOKENS 4
#include "backend/cpu/isa/packed_table_impl.h"

static mx_act_form choose_form(mx_pack_code code, bool is_fast, bool is_one)
{
    if (code >= MX_CODE_FIRST_DENSE) {
        return MX_ACT_F32;
    }
    if (!is_one || code == MX_CODE_U8) {
        return MX_ACT_PAIRED;
    }
    return is_fast ? MX_ACT_INT8 : MX_ACT_SPLIT;
}

void mx_cpu_kernels_fill_packed_avx2(mx_cpu_kernels *k)
{
    fill_table(k);
    k->choose_form = choose_form;
}
