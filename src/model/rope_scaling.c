/* rope_scaling.c - one small function a kind of scaling; all start from the plain frequencies theta^(-2i / rot_dim). */
#include "model/rope_scaling.h"

#include <math.h>

#define PI 3.14159265358979323846

typedef struct table {
    const mx_rope_config *rope;
    int32_t n; /* rot_dim / 2 */
    int32_t n_ctx;
    int32_t max_n_ctx;
    float *inv_freq; /* [n] */
    double factor;
} table;

int32_t mx_rope_rot_dim(const mx_rope_config *rope)
{
    const double share = rope->kind == MX_ROPE_PROPORTIONAL ? 1 : rope->partial_factor;
    return (int32_t)(rope->head_dim * share) / 2 * 2;
}

int32_t mx_rope_max_ctx(const mx_rope_config *rope, int32_t n_ctx)
{
    double max = n_ctx;
    if (rope->kind == MX_ROPE_LINEAR || rope->kind == MX_ROPE_DYNAMIC) {
        max = n_ctx * rope->factor;
    } else if (rope->kind == MX_ROPE_YARN) {
        max = rope->original_n_ctx * rope->factor;
    }
    return (int32_t)MX_MIN(MX_MAX(max, (double)n_ctx), (double)MX_MAX_CTX);
}

static double plain(double theta, int32_t i, int32_t n)
{
    return pow(theta, -(double)i / n);
}

static void fill_default(table *t)
{
    for (int32_t i = 0; i < t->n; i++) {
        t->inv_freq[i] = (float)plain(t->rope->theta, i, t->n);
    }
}

static void fill_linear(table *t)
{
    for (int32_t i = 0; i < t->n; i++) {
        t->inv_freq[i] = (float)(plain(t->rope->theta, i, t->n) / t->rope->factor);
    }
}

/* NTK-aware: a larger base, so that the slowest column spans the longer context and the fastest keeps its pace. */
static void fill_dynamic(table *t)
{
    const double dim = 2.0 * t->n;
    const double length = MX_MAX(t->n_ctx, t->max_n_ctx);
    const double stretch = t->rope->factor * length / t->max_n_ctx - (t->rope->factor - 1);
    const double theta = t->rope->theta * pow(stretch, dim / (dim - 2));
    for (int32_t i = 0; i < t->n; i++) {
        t->inv_freq[i] = (float)plain(theta, i, t->n);
    }
}

static double yarn_mscale(double factor, double mscale)
{
    return factor <= 1 ? 1.0 : 0.1 * mscale * log(factor) + 1.0;
}

/* The column, as a real number, that turns n_turns times over the original context. */
static double yarn_column(const mx_rope_config *rope, double n_turns, int32_t n)
{
    return n * log(rope->original_n_ctx / (n_turns * 2 * PI)) / log(rope->theta);
}

/* Columns that turn often are left alone, those that turn less than once are slowed by the factor, with a ramp in
 * between. */
static void fill_yarn(table *t)
{
    const mx_rope_config *rope = t->rope;
    double low = yarn_column(rope, rope->beta_fast, t->n);
    double high = yarn_column(rope, rope->beta_slow, t->n);
    if (rope->truncate) {
        low = floor(low);
        high = ceil(high);
    }
    low = MX_MAX(low, 0);
    high = MX_MIN(high, 2.0 * t->n - 1);
    high = low == high ? high + 0.001 : high; /* the reference's guard against a ramp of no width */
    for (int32_t i = 0; i < t->n; i++) {
        const double ramp = MX_MIN(MX_MAX((i - low) / (high - low), 0), 1);
        const double freq = plain(rope->theta, i, t->n);
        t->inv_freq[i] = (float)(freq / rope->factor * ramp + freq * (1 - ramp));
    }
    if (rope->attention_factor > 0) {
        t->factor = rope->attention_factor;
    } else if (rope->mscale > 0 && rope->mscale_all_dim > 0) {
        t->factor = yarn_mscale(rope->factor, rope->mscale) / yarn_mscale(rope->factor, rope->mscale_all_dim);
    } else {
        t->factor = yarn_mscale(rope->factor, 1);
    }
}

static void fill_llama3(table *t)
{
    const mx_rope_config *rope = t->rope;
    for (int32_t i = 0; i < t->n; i++) {
        const double freq = plain(rope->theta, i, t->n);
        const double n_turns = rope->original_n_ctx * freq / (2 * PI); /* over the original context */
        const double smooth = (n_turns - rope->low_freq_factor) / (rope->high_freq_factor - rope->low_freq_factor);
        const double share = MX_MIN(MX_MAX(smooth, 0), 1);
        t->inv_freq[i] = (float)((1 - share) * freq / rope->factor + share * freq);
    }
}

static void fill_longrope(table *t)
{
    const mx_rope_config *rope = t->rope;
    const double *slow = t->n_ctx > rope->original_n_ctx ? rope->long_factors : rope->short_factors;
    for (int32_t i = 0; i < t->n; i++) {
        t->inv_freq[i] = (float)(plain(rope->theta, i, t->n) / slow[i]);
    }
    const double mscale = t->n_ctx > rope->original_n_ctx ? rope->long_mscale : rope->short_mscale;
    if (mscale > 0 || rope->attention_factor > 0) {
        t->factor = mscale > 0 ? mscale : rope->attention_factor;
    } else if (rope->factor > 1) {
        t->factor = sqrt(1 + log(rope->factor) / log(rope->original_n_ctx));
    }
}

static void fill_proportional(table *t)
{
    const int32_t n_turning = (int32_t)(t->rope->partial_factor * t->rope->head_dim) / 2;
    for (int32_t i = 0; i < t->n; i++) {
        t->inv_freq[i] = i < n_turning ? (float)(plain(t->rope->theta, i, t->n) / t->rope->factor) : 0.0f;
    }
}

static void (*const fills[MX_ROPE_KIND_COUNT])(table *t) = {
    [MX_ROPE_DEFAULT] = fill_default,
    [MX_ROPE_LINEAR] = fill_linear,
    [MX_ROPE_DYNAMIC] = fill_dynamic,
    [MX_ROPE_YARN] = fill_yarn,
    [MX_ROPE_LLAMA3] = fill_llama3,
    [MX_ROPE_LONGROPE] = fill_longrope,
    [MX_ROPE_PROPORTIONAL] = fill_proportional,
};

void mx_rope_table(const mx_rope_config *rope, int32_t n_ctx, int32_t max_n_ctx, float *inv_freq, float *factor)
{
    table t = {.rope = rope,
               .n = mx_rope_rot_dim(rope) / 2,
               .n_ctx = n_ctx,
               .max_n_ctx = max_n_ctx,
               .inv_freq = inv_freq,
               .factor = 1.0};
    fills[rope->kind](&t);
    *factor = (float)t.factor;
}
