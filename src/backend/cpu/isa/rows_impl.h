/* rows_impl.h - kernels on rows of f32, in plain C that compilers turn into vector code.
 *
 * Included once by each rows_*.c, which is compiled for its instruction set and names its table-filling function in
 * MX_ROWS_FILL. Sums over a row have 16 partial sums, joined in one fixed way, so that every instruction set gives the
 * same bits: no fused multiply-adds here (the build forbids contraction).
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/isa/lanes.h"
#include "backend/cpu/kernels.h"
#include "base/bytes.h"
#include "base/compiler.h"

static void rmsnorm_row(float *y, const float *x, const float *w, int64_t n_cols, float eps, float weight_offset)
{
    float lanes[LANES] = {0};
    int64_t c = 0;
    for (; c + LANES <= n_cols; c += LANES) {
        for (int32_t i = 0; i < LANES; i++) {
            lanes[i] += x[c + i] * x[c + i];
        }
    }
    for (int32_t i = 0; c + i < n_cols; i++) {
        lanes[i] += x[c + i] * x[c + i];
    }
    const float factor = 1.0f / sqrtf(join_lanes(lanes) / (float)n_cols + eps);
    if (w) {
        for (c = 0; c < n_cols; c++) {
            y[c] = x[c] * factor * (w[c] + weight_offset);
        }
    } else {
        for (c = 0; c < n_cols; c++) {
            y[c] = x[c] * factor;
        }
    }
}

static MX_FORCE_INLINE float sum_row(const float *x, int64_t n_cols)
{
    float lanes[LANES] = {0};
    int64_t c = 0;
    for (; c + LANES <= n_cols; c += LANES) {
        for (int32_t i = 0; i < LANES; i++) {
            lanes[i] += x[c + i];
        }
    }
    for (int32_t i = 0; c + i < n_cols; i++) {
        lanes[i] += x[c + i];
    }
    return join_lanes(lanes);
}

static void layernorm_row(float *y, const float *x, const float *w, const float *bias, int64_t n_cols, float eps,
                          float weight_offset)
{
    const float mean = sum_row(x, n_cols) / (float)n_cols;
    for (int64_t c = 0; c < n_cols; c++) {
        y[c] = x[c] - mean;
    }
    rmsnorm_row(y, y, w, n_cols, eps, weight_offset);
    for (int64_t c = 0; bias && c < n_cols; c++) {
        y[c] += bias[c];
    }
}

static void swiglu_oai_row(float *y, const float *gate, const float *up, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const float g = gate[i] < 7.0f ? gate[i] : 7.0f;
        const float u = up[i] < -7.0f ? -7.0f : up[i] > 7.0f ? 7.0f : up[i];
        y[i] = g / (1.0f + exp_near(-1.702f * g)) * (u + 1.0f);
    }
}

static MX_FORCE_INLINE float activate(float x, mx_activation act)
{
    const float positive = x > 0.0f ? x : 0.0f;
    switch (act) {
    case MX_ACT_SILU: return x / (1.0f + exp_near(-x));
    case MX_ACT_GELU: return x * 0.5f * (1.0f + erff(x * 0.707106781f));
    case MX_ACT_GELU_TANH: return x * 0.5f * (1.0f + tanh_near(0.797884561f * (x + 0.044715f * x * x * x)));
    case MX_ACT_GELU_QUICK: return x / (1.0f + exp_near(-1.702f * x));
    case MX_ACT_RELU: return positive;
    case MX_ACT_RELU2: return positive * positive;
    case MX_ACT_SIGMOID: return 1.0f / (1.0f + exp_near(-x));
    case MX_ACT_SWIGLU_OAI:
    case MX_ACT_COUNT: break;
    }
    return x;
}

/* With `act` and a NULL known to the compiler: one loop without a branch. */
static MX_FORCE_INLINE void gate_row(float *y, const float *x, const float *up, int64_t n, mx_activation act)
{
    for (int64_t i = 0; i < n; i++) {
        y[i] = up ? activate(x[i], act) * up[i] : activate(x[i], act);
    }
}

static void glu_row(float *y, const float *gate, const float *up, int64_t n, mx_activation act)
{
    switch (act) {
    case MX_ACT_SILU: gate_row(y, gate, up, n, MX_ACT_SILU); return;
    case MX_ACT_GELU: gate_row(y, gate, up, n, MX_ACT_GELU); return;
    case MX_ACT_GELU_TANH: gate_row(y, gate, up, n, MX_ACT_GELU_TANH); return;
    case MX_ACT_GELU_QUICK: gate_row(y, gate, up, n, MX_ACT_GELU_QUICK); return;
    case MX_ACT_RELU: gate_row(y, gate, up, n, MX_ACT_RELU); return;
    case MX_ACT_RELU2: gate_row(y, gate, up, n, MX_ACT_RELU2); return;
    case MX_ACT_SIGMOID: gate_row(y, gate, up, n, MX_ACT_SIGMOID); return;
    case MX_ACT_SWIGLU_OAI: swiglu_oai_row(y, gate, up, n); return;
    case MX_ACT_COUNT: return;
    }
}

static void act_row(float *y, const float *x, int64_t n, mx_activation act)
{
    switch (act) {
    case MX_ACT_SILU: gate_row(y, x, NULL, n, MX_ACT_SILU); return;
    case MX_ACT_GELU: gate_row(y, x, NULL, n, MX_ACT_GELU); return;
    case MX_ACT_GELU_TANH: gate_row(y, x, NULL, n, MX_ACT_GELU_TANH); return;
    case MX_ACT_GELU_QUICK: gate_row(y, x, NULL, n, MX_ACT_GELU_QUICK); return;
    case MX_ACT_RELU: gate_row(y, x, NULL, n, MX_ACT_RELU); return;
    case MX_ACT_RELU2: gate_row(y, x, NULL, n, MX_ACT_RELU2); return;
    case MX_ACT_SIGMOID: gate_row(y, x, NULL, n, MX_ACT_SIGMOID); return;
    case MX_ACT_SWIGLU_OAI:
    case MX_ACT_COUNT: return;
    }
}

static void rope_head(float *x, const float *cosines, const float *sines, int32_t n_pairs, bool is_interleaved)
{
    if (is_interleaved) {
        for (int32_t i = 0; i < n_pairs; i++) {
            const float a = x[2 * i];
            const float b = x[2 * i + 1];
            x[2 * i] = a * cosines[i] - b * sines[i];
            x[2 * i + 1] = b * cosines[i] + a * sines[i];
        }
        return;
    }
    float *second = x + n_pairs;
    for (int32_t i = 0; i < n_pairs; i++) {
        const float a = x[i];
        const float b = second[i];
        x[i] = a * cosines[i] - b * sines[i];
        second[i] = b * cosines[i] + a * sines[i];
    }
}

/* Codes of n columns, at most 128 and a multiple of 16; returns their scale. */
static MX_FORCE_INLINE float quantize_group(const float *x, int32_t n, float largest_code, int16_t *codes)
{
    float lanes[LANES] = {0};
    for (int32_t c = 0; c < n; c += LANES) {
        for (int32_t i = 0; i < LANES; i++) {
            const float a = fabsf(x[c + i]);
            lanes[i] = a > lanes[i] ? a : lanes[i];
        }
    }
    float largest = 0.0f;
    for (int32_t i = 0; i < LANES; i++) {
        largest = lanes[i] > largest ? lanes[i] : largest;
    }
    const float inverse = largest > 1e-30f ? largest_code / largest : 0.0f; /* below that the quotient overflows */
    for (int32_t c = 0; c < n; c++) {
        codes[c] = (int16_t)(mx_f32_bits(x[c] * inverse + ROUND_FROM) - mx_f32_bits(ROUND_FROM));
    }
    return largest / largest_code;
}

static MX_FORCE_INLINE float sum_group(const float *x, int32_t n)
{
    float lanes[LANES] = {0};
    for (int32_t c = 0; c < n; c += LANES) {
        for (int32_t i = 0; i < LANES; i++) {
            lanes[i] += x[c + i];
        }
    }
    return join_lanes(lanes);
}

/* Codes of n columns from first_col on, to where the form has them. */
static void write_codes(const mx_acts *block, int32_t i_token, int64_t first_col, const int16_t *codes, int32_t n)
{
    uint8_t low[128];
    uint8_t high[128];
    for (int32_t c = 0; c < n; c++) {
        low[c] = (uint8_t)codes[c];
        high[c] = (uint8_t)((codes[c] + 128) >> 8);
    }
    const int32_t n_quads = n / 4;
    const size_t quad_bytes = block->form == MX_ACT_INT8 ? 4 : 8;
    const size_t stride = quad_bytes * (size_t)block->n_tokens;
    uint8_t *dst = block->codes + (size_t)(first_col / 4) * stride + (size_t)i_token * quad_bytes;
    if (block->form == MX_ACT_INT8) {
        for (int32_t q = 0; q < n_quads; q++) {
            memcpy(dst + (size_t)q * stride, low + 4 * q, 4);
        }
    } else if (block->form == MX_ACT_SPLIT) {
        for (int32_t q = 0; q < n_quads; q++) {
            memcpy(dst + (size_t)q * stride, high + 4 * q, 4);
            memcpy(dst + (size_t)q * stride + 4, low + 4 * q, 4);
        }
    } else {
        for (int32_t q = 0; q < n_quads; q++) {
            const int16_t pairs[4] = {codes[4 * q], codes[4 * q + 2], codes[4 * q + 1], codes[4 * q + 3]};
            memcpy(dst + (size_t)q * stride, pairs, sizeof pairs);
        }
    }
}

static void quantize_row(const mx_acts *block, int32_t i_token, const float *x, bool is_fast)
{
    const int32_t n_tokens = block->n_tokens;
    if (block->form == MX_ACT_F32) {
        float *dst = (float *)block->codes;
        for (int64_t c = 0; c < block->n_cols; c++) {
            dst[c * n_tokens + i_token] = x[c];
        }
        return;
    }
    const int32_t x_group = block->x_group;
    for (int64_t g = 0; g < block->n_cols / x_group; g++) {
        int16_t codes[128];
        block->scales[g * n_tokens + i_token] =
            quantize_group(x + g * x_group, x_group, is_fast ? 127.0f : 32639.0f, codes);
        int32_t code_sum = 0;
        for (int32_t c = 0; c < x_group; c++) {
            code_sum += codes[c];
        }
        block->code_sums[g * n_tokens + i_token] = code_sum;
        write_codes(block, i_token, g * x_group, codes, x_group);
    }
    for (int64_t g = 0; g < block->n_cols / block->w_group; g++) {
        block->sums[g * n_tokens + i_token] = sum_group(x + g * block->w_group, block->w_group);
    }
}

void MX_ROWS_FILL(mx_cpu_kernels *k)
{
    k->quantize_row = quantize_row;
    k->rmsnorm_row = rmsnorm_row;
    k->layernorm_row = layernorm_row;
    k->act_row = act_row;
    k->glu_row = glu_row;
    k->rope_head = rope_head;
}
