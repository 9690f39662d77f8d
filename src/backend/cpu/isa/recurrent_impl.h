/* recurrent_impl.h - recurrent_kernels.h on the vectors of simd_*.h and in plain C that compilers vectorise.
 *
 * Included once by each recurrent_*.c, after a simd_*.h; MX_RECURRENT_FILL names its table-filling function.
 */
#include <string.h>

#include "backend/cpu/isa/lanes.h"
#include "backend/cpu/kernels.h"

static MX_FORCE_INLINE void load_gated(float z[MX_CONV_LANES], const mx_conv_part *p, int64_t row)
{
    const float *x = p->x + row * p->x_stride;
    if (p->in_gate) {
        const float *gate = p->in_gate + row * p->in_stride;
        for (int32_t i = 0; i < p->n_channels; i++) {
            z[i] = x[i] * gate[i];
        }
    } else {
        memcpy(z, x, (size_t)p->n_channels * sizeof *z);
    }
}

/* Weights and the window of rows lie transposed, so that lanes are channels. */
static void convolve(const mx_conv_part *p)
{
    float w[8][MX_CONV_LANES] = {{0}};
    float z[8][MX_CONV_LANES] = {{0}};
    float bias[MX_CONV_LANES] = {0};
    const int32_t last = p->width - 1;
    for (int32_t i = 0; i < p->n_channels; i++) {
        bias[i] = p->bias ? p->bias[i] : 0.0f;
        for (int32_t j = 0; j < p->width; j++) {
            w[j][i] = p->w[i * p->width + j];
        }
        for (int32_t j = 0; j < last; j++) {
            z[j][i] = p->state[i * last + j];
        }
    }
    for (int64_t row = 0; row < p->n_rows; row++) {
        float sum[MX_CONV_LANES];
        load_gated(z[last], p, row);
        for (int32_t i = 0; i < MX_CONV_LANES; i++) {
            sum[i] = bias[i];
        }
        for (int32_t j = 0; j < p->width; j++) {
            for (int32_t i = 0; i < MX_CONV_LANES; i++) {
                sum[i] += w[j][i] * z[j][i];
            }
        }
        for (int32_t j = 0; j < last; j++) {
            memcpy(z[j], z[j + 1], sizeof z[j]);
        }
        for (int32_t i = 0; p->has_silu && i < MX_CONV_LANES; i++) {
            sum[i] = sum[i] / (1.0f + exp_near(-sum[i]));
        }
        float *y = p->y + row * p->y_stride;
        const float *gate = p->out_gate ? p->out_gate + row * p->out_stride : NULL;
        for (int32_t i = 0; i < p->n_channels; i++) {
            y[i] = gate ? sum[i] * gate[i] : sum[i];
        }
    }
    for (int32_t i = 0; i < p->n_channels; i++) {
        for (int32_t j = 0; j < last; j++) {
            p->state[i * last + j] = z[j][i];
        }
    }
}

/* n_rows (at most 4) rows of results, 2 * VF_WIDTH columns from j on. */
static MX_FORCE_INLINE void multiply_block(const mx_small_product *p, int32_t i, int32_t j, int32_t n_rows)
{
    vf sums[4][2];
    for (int32_t r = 0; r < n_rows; r++) {
        const float *y = p->y + (i + r) * p->y_row + j;
        sums[r][0] = p->adds ? vf_load(y) : vf_set(0.0f);
        sums[r][1] = p->adds ? vf_load(y + VF_WIDTH) : vf_set(0.0f);
    }
    const float *a = p->a + i * p->a_row;
    const float *b = p->b + j;
    for (int32_t k = 0; k < p->k; k++) {
        const vf b0 = vf_load(b);
        const vf b1 = vf_load(b + VF_WIDTH);
        for (int32_t r = 0; r < n_rows; r++) {
            const vf x = vf_set(a[r * p->a_row]);
            sums[r][0] = vf_fma(x, b0, sums[r][0]);
            sums[r][1] = vf_fma(x, b1, sums[r][1]);
        }
        a += p->a_col;
        b += p->b_row;
    }
    for (int32_t r = 0; r < n_rows; r++) {
        float *y = p->y + (i + r) * p->y_row + j;
        vf_store(y, sums[r][0]);
        vf_store(y + VF_WIDTH, sums[r][1]);
    }
}

static void multiply_rest(const mx_small_product *p, int32_t first_col)
{
    for (int32_t i = 0; i < p->m; i++) {
        for (int32_t j = first_col; j < p->n; j++) {
            float sum = p->adds ? p->y[i * p->y_row + j] : 0.0f;
            for (int32_t k = 0; k < p->k; k++) {
                sum += p->a[i * p->a_row + k * p->a_col] * p->b[k * p->b_row + j];
            }
            p->y[i * p->y_row + j] = sum;
        }
    }
}

#define PANEL_ROWS 128

/* Columns [j, j + 2 * VF_WIDTH) of PANEL_ROWS rows of b at most, from row k0 on, side by side: rows that lie a power of
 * two apart would push each other out of the first cache. */
static MX_FORCE_INLINE void multiply_panel(const mx_small_product *p, int32_t j, int32_t k0, int32_t n_k, float *panel)
{
    for (int32_t k = 0; k < n_k; k++) {
        const float *b = p->b + (k0 + k) * p->b_row + j;
        vf_store(panel + k * 2 * VF_WIDTH, vf_load(b));
        vf_store(panel + k * 2 * VF_WIDTH + VF_WIDTH, vf_load(b + VF_WIDTH));
    }
    mx_small_product part = *p;
    part.y += j;
    part.a += k0 * p->a_col;
    part.b = panel;
    part.b_row = 2 * VF_WIDTH;
    part.k = n_k;
    part.adds = p->adds || k0 > 0;
    int32_t i = 0;
    for (; i + 4 <= p->m; i += 4) {
        multiply_block(&part, i, 0, 4);
    }
    for (; i < p->m; i++) {
        multiply_block(&part, i, 0, 1);
    }
}

static void multiply(const mx_small_product *p)
{
    float panel[PANEL_ROWS * 2 * VF_WIDTH];
    int32_t j = 0;
    for (; j + 2 * VF_WIDTH <= p->n; j += 2 * VF_WIDTH) {
        if (p->m < 8 || p->k == 0) {
            for (int32_t i = 0; i < p->m; i++) {
                multiply_block(p, i, j, 1);
            }
            continue;
        }
        for (int32_t k0 = 0; k0 < p->k; k0 += PANEL_ROWS) {
            multiply_panel(p, j, k0, p->k - k0 < PANEL_ROWS ? p->k - k0 : PANEL_ROWS, panel);
        }
    }
    multiply_rest(p, j);
}

static void exponentials(float *y, const float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        y[i] = x[i] < -87.0f ? 0.0f : exp_near(x[i]);
    }
}

static void ssm_step(float *s, const float *x, const float *b, const float *c, float decay, float skip, int32_t n_rows,
                     int32_t n_cols, float *y)
{
    int32_t j = 0;
    for (; j + VF_WIDTH <= n_cols; j += VF_WIDTH) {
        const vf xs = vf_load(x + j);
        vf sum = vf_mul(vf_set(skip), xs);
        for (int32_t i = 0; i < n_rows; i++) {
            float *at = s + (int64_t)i * n_cols + j;
            const vf state = vf_fma(vf_set(b[i]), xs, vf_mul(vf_set(decay), vf_load(at)));
            vf_store(at, state);
            sum = vf_fma(vf_set(c[i]), state, sum);
        }
        vf_store(y + j, sum);
    }
    for (; j < n_cols; j++) {
        float sum = skip * x[j];
        for (int32_t i = 0; i < n_rows; i++) {
            float *at = s + (int64_t)i * n_cols + j;
            *at = decay * *at + b[i] * x[j];
            sum += c[i] * *at;
        }
        y[j] = sum;
    }
}

static float ssm_channel_step(float *s, const float *a, const float *b, const float *c, float dt, float x, int32_t n)
{
    float lanes[LANES] = {0};
    const float dx = dt * x;
    for (int32_t i = 0; i < n; i += LANES) {
        const int32_t n_here = n - i < LANES ? n - i : LANES;
        for (int32_t l = 0; l < n_here; l++) {
            const float e = dt * a[i + l];
            s[i + l] = (e < -87.0f ? 0.0f : exp_near(e)) * s[i + l] + dx * b[i + l];
            lanes[l] += c[i + l] * s[i + l];
        }
    }
    return join_lanes(lanes);
}

static void delta_step(float *s, const float *q, const float *k, const float *decay, const float *v, float beta,
                       int32_t n_rows, int32_t n_cols, float *change, float *y)
{
    int32_t j = 0;
    for (; j + VF_WIDTH <= n_cols; j += VF_WIDTH) {
        vf predicted = vf_set(0.0f);
        for (int32_t i = 0; i < n_rows; i++) {
            float *at = s + (int64_t)i * n_cols + j;
            const vf state = vf_mul(vf_set(decay[i]), vf_load(at));
            vf_store(at, state);
            predicted = vf_fma(vf_set(k[i]), state, predicted);
        }
        const vf delta = vf_mul(vf_set(beta), vf_fma(vf_set(-1.0f), predicted, vf_load(v + j)));
        vf sum = vf_set(0.0f);
        for (int32_t i = 0; i < n_rows; i++) {
            float *at = s + (int64_t)i * n_cols + j;
            const vf state = vf_fma(vf_set(k[i]), delta, vf_load(at));
            vf_store(at, state);
            sum = vf_fma(vf_set(q[i]), state, sum);
        }
        vf_store(y + j, sum);
    }
    for (; j < n_cols; j++) {
        float predicted = 0.0f;
        for (int32_t i = 0; i < n_rows; i++) {
            s[(int64_t)i * n_cols + j] *= decay[i];
            predicted += k[i] * s[(int64_t)i * n_cols + j];
        }
        change[j] = beta * (v[j] - predicted);
        float sum = 0.0f;
        for (int32_t i = 0; i < n_rows; i++) {
            s[(int64_t)i * n_cols + j] += k[i] * change[j];
            sum += q[i] * s[(int64_t)i * n_cols + j];
        }
        y[j] = sum;
    }
}

void MX_RECURRENT_FILL(mx_cpu_kernels *k)
{
    k->recurrent = (mx_recurrent_kernels){
        .convolve = convolve,
        .multiply = multiply,
        .exponentials = exponentials,
        .ssm_step = ssm_step,
        .ssm_channel_step = ssm_channel_step,
        .delta_step = delta_step,
    };
}
