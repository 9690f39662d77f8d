/* attend_impl.h - attend.h on vectors of any width.
 *
 * Included once by each attend_*.c behind the simd_*.h of its instruction set: VF_WIDTH floats in a `vf`, and
 * VF_QUERIES rows whose scores of a page fit the registers. MX_ATTEND_FILL names the function that fills a table.
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/attend.h"
#include "backend/cpu/isa/lanes.h"
#include "backend/cpu/kernels.h"
#include "program/batch.h"

#define PAGE        MX_PAGE_TOKENS
#define N_VECTORS   (PAGE / VF_WIDTH) /* of a row's scores, or of the columns of v that are taken at once */
#define NOT_VISIBLE (-1e30f)          /* a score below all others; exp is then set to 0, so no infinity meets another */

/* scores[row] = q . k for the 32 positions of a page. q [k_dim, n_rows]; keys [k_dim, PAGE]. */
static MX_FORCE_INLINE void score_rows(int n_rows, bool is_f16, const float *q, const void *keys, int32_t k_dim,
                                       float scores[][PAGE])
{
    vf sum[VF_QUERIES][N_VECTORS];
    for (int r = 0; r < n_rows; r++) {
        for (int i = 0; i < N_VECTORS; i++) {
            sum[r][i] = vf_set(0.0f);
        }
    }
    for (int32_t d = 0; d < k_dim; d++) {
        vf k[N_VECTORS];
        for (int i = 0; i < N_VECTORS; i++) {
            k[i] = is_f16 ? vf_load_f16((const uint16_t *)keys + d * PAGE + i * VF_WIDTH)
                          : vf_load((const float *)keys + d * PAGE + i * VF_WIDTH);
        }
        for (int r = 0; r < n_rows; r++) {
            const vf broadcast = vf_set(q[d * n_rows + r]);
            for (int i = 0; i < N_VECTORS; i++) {
                sum[r][i] = vf_fma(broadcast, k[i], sum[r][i]);
            }
        }
    }
    for (int r = 0; r < n_rows; r++) {
        for (int i = 0; i < N_VECTORS; i++) {
            vf_store(&scores[r][i * VF_WIDTH], sum[r][i]);
        }
    }
}

/* o[row] = o[row] * shrink[row] + p[row] . v. values [PAGE, v_dim]; rows of o are n_o_cols apart, a whole number of
 * PAGE: columns past v_dim are computed from whatever follows and never used. */
static MX_FORCE_INLINE void weigh_rows(int n_rows, bool is_f16, float *o, int32_t n_o_cols, const float *shrink,
                                       const float p[][PAGE], const void *values, int32_t v_dim)
{
    for (int32_t c = 0; c < n_o_cols; c += PAGE) {
        vf sum[VF_QUERIES][N_VECTORS];
        for (int r = 0; r < n_rows; r++) {
            for (int i = 0; i < N_VECTORS; i++) {
                sum[r][i] = vf_mul(vf_load(o + r * n_o_cols + c + i * VF_WIDTH), vf_set(shrink[r]));
            }
        }
        for (int32_t slot = 0; slot < PAGE; slot++) {
            vf v[N_VECTORS];
            for (int i = 0; i < N_VECTORS; i++) {
                const int32_t at = slot * v_dim + c + i * VF_WIDTH;
                v[i] = is_f16 ? vf_load_f16((const uint16_t *)values + at) : vf_load((const float *)values + at);
            }
            for (int r = 0; r < n_rows; r++) {
                const vf broadcast = vf_set(p[r][slot]);
                for (int i = 0; i < N_VECTORS; i++) {
                    sum[r][i] = vf_fma(broadcast, v[i], sum[r][i]);
                }
            }
        }
        for (int r = 0; r < n_rows; r++) {
            for (int i = 0; i < N_VECTORS; i++) {
                vf_store(o + r * n_o_cols + c + i * VF_WIDTH, sum[r][i]);
            }
        }
    }
}

/* Scores of a page become exponentials in place; m and l are carried on. Positions [from, to) of the page are visible.
 * Returns exp(m - m'). */
static float fold_page(float s[PAGE], int32_t from, int32_t to, float softcap, float *m, float *l)
{
    float largest[LANES];
    float lanes[LANES];
    if (softcap > 0.0f) {
        for (int32_t i = 0; i < PAGE; i++) {
            s[i] = softcap * tanh_near(s[i] / softcap);
        }
    }
    for (int32_t i = 0; i < PAGE; i++) {
        s[i] = i >= from && i < to ? s[i] : NOT_VISIBLE;
    }
    for (int32_t i = 0; i < LANES; i++) {
        largest[i] = s[i] > s[i + LANES] ? s[i] : s[i + LANES];
    }
    float new_m = *m;
    for (int32_t i = 0; i < LANES; i++) {
        new_m = largest[i] > new_m ? largest[i] : new_m;
    }
    for (int32_t i = 0; i < PAGE; i++) {
        const float e = exp_near(s[i] - new_m);
        s[i] = i >= from && i < to ? e : 0.0f;
    }
    for (int32_t i = 0; i < LANES; i++) {
        lanes[i] = s[i] + s[i + LANES];
    }
    const float shrink = exp_near(*m - new_m);
    *l = *l * shrink + join_lanes(lanes);
    *m = new_m;
    return shrink;
}

/* A page for rows [first_row, first_row + n_rows), n_rows constant after inlining. */
static MX_FORCE_INLINE void attend_rows(int n_rows, bool is_f16, const mx_attend *a, int32_t first_row, int32_t i_page,
                                        const float *q, const void *keys, const void *values, float *o,
                                        int32_t n_o_cols, float *m, float *l)
{
    float scores[VF_QUERIES][PAGE];
    float shrink[VF_QUERIES];
    score_rows(n_rows, is_f16, q, keys, a->k_dim, scores);
    for (int r = 0; r < n_rows; r++) {
        const int32_t from = a->first[first_row + r] - i_page * PAGE;
        const int32_t to = a->last[first_row + r] + 1 - i_page * PAGE;
        shrink[r] = fold_page(scores[r], from, to, a->softcap, &m[first_row + r], &l[first_row + r]);
    }
    weigh_rows(n_rows, is_f16, o + (int64_t)first_row * n_o_cols, n_o_cols, shrink, (const float(*)[PAGE])scores,
               values, a->v_dim);
}

static int32_t rows_at_once(int32_t n_left)
{
    int32_t n = VF_QUERIES;
    while (n > n_left) {
        n /= 2;
    }
    return n;
}

static MX_FORCE_INLINE void attend_page(bool is_f16, const mx_attend *a, int32_t i_page, const float *q,
                                        const void *keys, const void *values, float *o, int32_t n_o_cols, float *m,
                                        float *l)
{
    int32_t n_rows;
    for (int32_t row = 0; row < a->n_queries; row += n_rows, q += (int64_t)n_rows * a->k_dim) {
        n_rows = rows_at_once(a->n_queries - row);
        switch (n_rows) {
#if VF_QUERIES >= 8
        case 8: attend_rows(8, is_f16, a, row, i_page, q, keys, values, o, n_o_cols, m, l); break;
        case 4: attend_rows(4, is_f16, a, row, i_page, q, keys, values, o, n_o_cols, m, l); break;
#endif
        case 2: attend_rows(2, is_f16, a, row, i_page, q, keys, values, o, n_o_cols, m, l); break;
        default: attend_rows(1, is_f16, a, row, i_page, q, keys, values, o, n_o_cols, m, l); break;
        }
    }
}

static void widen(float *dst, const uint16_t *src, int32_t n)
{
    for (int32_t i = 0; i < n; i += VF_WIDTH) {
        vf_store(dst + i, vf_load_f16(src + i));
    }
}

static void narrow(uint16_t *dst, const float *src, int32_t n)
{
    int32_t i = 0;
    for (; i + VF_WIDTH <= n; i += VF_WIDTH) {
        float clamped[VF_WIDTH];
        for (int32_t j = 0; j < VF_WIDTH; j++) {
            const float x = src[i + j];
            clamped[j] = x > 65504.0f ? 65504.0f : x < -65504.0f ? -65504.0f : x;
        }
        vf_store_f16(dst + i, vf_load(clamped));
    }
    for (; i < n; i++) {
        dst[i] = mx_f16_from_f32(src[i] > 65504.0f ? 65504.0f : src[i] < -65504.0f ? -65504.0f : src[i]);
    }
}

/* Rows of q side by side, in the groups that attend_page takes. */
static void transpose_queries(const mx_attend *a, float *dst)
{
    int32_t n_rows;
    for (int32_t row = 0; row < a->n_queries; row += n_rows) {
        n_rows = rows_at_once(a->n_queries - row);
        for (int32_t d = 0; d < a->k_dim; d++) {
            for (int32_t r = 0; r < n_rows; r++) {
                *dst++ = a->q[row + r][d];
            }
        }
    }
}

/* values [PAGE, v_dim] from the last v_dim columns of keys [k_dim, PAGE]. */
static void transpose_values(const mx_attend *a, const float *keys, float *values)
{
    const float *src = keys + (int64_t)(a->k_dim - a->v_dim) * PAGE;
    for (int32_t d = 0; d < a->v_dim; d++) {
        for (int32_t slot = 0; slot < PAGE; slot++) {
            values[slot * a->v_dim + d] = src[d * PAGE + slot];
        }
    }
}

static void attend(const mx_attend *a)
{
    const int32_t n_o_cols = (a->v_dim + PAGE - 1) / PAGE * PAGE;
    const int32_t n_value_cols = a->v_dim * PAGE; /* of a page */
    const bool is_f16 = a->kv_type == MX_KV_F16;
    /* Whole vectors of the last position would reach into the next head, which another thread may be writing. */
    const bool is_ragged = a->v_dim % PAGE != 0;
    /* More rows than one group would convert a page again for each group. */
    const bool is_latent = !a->values;
    const bool widens = is_f16 && (is_ragged || a->n_queries > VF_QUERIES);
    float m[MX_ATTEND_MAX_QUERIES];
    float l[MX_ATTEND_MAX_QUERIES];
    float *q = a->work;
    float *o = q + MX_ATTEND_MAX_QUERIES * a->k_dim;
    float *wide_keys = o + MX_ATTEND_MAX_QUERIES * n_o_cols;
    float *wide_values = wide_keys + PAGE * a->k_dim;
    int32_t first_page = INT32_MAX;
    int32_t last_page = 0;
    for (int32_t r = 0; r < a->n_queries; r++) {
        const bool has_sink = a->sinks[r] > NOT_VISIBLE;
        m[r] = has_sink ? a->sinks[r] : NOT_VISIBLE;
        l[r] = has_sink ? 1.0f : 0.0f;
        first_page = MX_MIN(first_page, a->first[r] / PAGE);
        last_page = MX_MAX(last_page, a->last[r] / PAGE);
    }
    memset(o, 0, (size_t)a->n_queries * (size_t)n_o_cols * sizeof(float));
    transpose_queries(a, q);
    for (int32_t i = first_page; i <= last_page; i++) {
        const void *keys = a->keys + (size_t)a->pages[i] * a->key_stride;
        const void *values = is_latent ? NULL : a->values + (size_t)a->pages[i] * a->value_stride;
        if (is_latent) {
            if (is_f16) {
                widen(wide_keys, (const uint16_t *)keys, PAGE * a->k_dim);
                keys = wide_keys;
            }
            transpose_values(a, keys, wide_values);
            attend_page(false, a, i, q, keys, wide_values, o, n_o_cols, m, l);
        } else if (widens) {
            widen(wide_keys, (const uint16_t *)keys, PAGE * a->k_dim);
            widen(wide_values, (const uint16_t *)values, n_value_cols);
            attend_page(false, a, i, q, wide_keys, wide_values, o, n_o_cols, m, l);
        } else if (is_f16) {
            attend_page(true, a, i, q, keys, values, o, n_o_cols, m, l);
        } else {
            if (is_ragged) {
                memcpy(wide_values, values, (size_t)n_value_cols * sizeof(float));
                values = wide_values;
            }
            attend_page(false, a, i, q, keys, values, o, n_o_cols, m, l);
        }
    }
    for (int32_t r = 0; r < a->n_queries; r++) {
        const float inverse = 1.0f / l[r];
        for (int32_t d = 0; d < a->v_dim; d++) {
            a->y[r][d] = o[r * n_o_cols + d] * inverse;
        }
    }
}

void MX_ATTEND_FILL(mx_cpu_kernels *k)
{
    k->attend = attend;
    k->narrow = narrow;
}
