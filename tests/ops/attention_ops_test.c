/* attention_ops_test.c - ATTENTION, plain and fused, KV_APPEND and ROPE, against f64 over the whole history.
 *
 * Error model: scores are sums of k_dim products of values of about 1 in f32, the softmax and the weighted sum add a
 * few roundings each: TOLERANCE of the largest value for a cache in f32. A cache in f16 rounds keys and values by
 * 2^-11.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ops/rig.h"
#include "tests/ops/variants.h"
#include "tests/test.h"

#define TOLERANCE     5e-6
#define TOLERANCE_F16 4e-3
#define MAX_DIM       80

typedef struct attention_case {
    const char *name;
    int32_t n_heads, n_kv_heads, k_dim, v_dim;
    int32_t window;
    float softcap;
    bool has_sinks, is_fused, has_qk_norm, has_rope, is_interleaved;
    int32_t rot_dim;
    mx_sharpening sharpening;
    int32_t chunk;
    bool is_latent;
} attention_case;

static const attention_case op_cases[] = {
    {"plain", 4, 2, 16, 16, 0, 0.0f, false, false, false, false, false, 0, {0, 0, 0}, 0, false},
    {"one head, odd dimensions", 1, 1, 10, 6, 0, 0.0f, false, false, false, false, false, 0, {0, 0, 0}, 0, false},
    {"fused with norms and rope", 6, 2, 32, 32, 0, 0.0f, false, true, true, true, false, 32, {0, 0, 0}, 0, false},
    {"fused, window, soft cap, partial rope",
     4,
     4,
     64,
     48,
     37,
     3.0f,
     false,
     true,
     false,
     true,
     false,
     24,
     {0, 0, 0},
     0,
     false},
    {"fused, sinks, interleaved rope", 8, 1, 16, 16, 64, 0.0f, true, true, false, true, true, 16, {0, 0, 0}, 0, false},
    {"fused, no rope, window of one", 3, 3, 80, 80, 1, 0.0f, false, true, true, false, false, 0, {0, 0, 0}, 0, false},
    {"head of 64, group of 4", 8, 2, 64, 64, 0, 0.0f, false, true, false, true, false, 64, {0, 0, 0}, 0, false},
    {"fused, sharpened queries", 4, 2, 32, 32, 0, 0.0f, false, true, false, true, false, 32, {0.5f, 7, 1}, 0, false},
    {"plain, sharpened queries", 4, 2, 16, 16, 0, 0.0f, false, false, false, false, false, 0, {0.3f, 16, 0}, 0, false},
    {"chunks", 4, 2, 32, 32, 0, 0.0f, false, true, false, true, false, 32, {0, 0, 0}, 19, false},
    {"latent", 5, 1, 40, 32, 0, 0.0f, false, true, false, true, true, 8, {0, 0, 0}, 0, true},
    {"latent, plain, more queries than fit",
     70,
     1,
     24,
     18,
     0,
     0.0f,
     false,
     false,
     false,
     false,
     false,
     0,
     {0, 0, 0},
     0,
     true},
};

typedef struct fixture {
    rig r;
    const attention_case *c;
    const float *q, *k, *v, *q_norm, *k_norm, *sinks;
    float inv_freq[MAX_DIM / 2];
    mx_value out;
} fixture;

static void add_plain(fixture *f, mx_value q, mx_value k, mx_value v)
{
    const attention_case *c = f->c;
    rig *r = &f->r;
    if (c->has_rope) {
        const mx_value rotated = rig_value(r, MX_ROWS_TOKENS, 1, (int64_t)c->n_heads * c->k_dim, MX_VALUE_F32);
        mx_op *rope = rig_op(r, MX_OP_ROPE, q, MX_NO_VALUE, MX_NO_VALUE, rotated);
        rope->u.rope = (mx_rope_params){0, c->n_heads, c->k_dim};
        q = rotated;
    }
    mx_op *append = rig_op(r, MX_OP_KV_APPEND, k, v, MX_NO_VALUE, MX_NO_VALUE);
    append->u.kv_append.i_cache = 0;
    mx_op *op = rig_op(r, MX_OP_ATTENTION, q, MX_NO_VALUE, MX_NO_VALUE, f->out);
    op->u.attention = (mx_attention_params){.n_heads = c->n_heads, .rope = MX_NO_ROPE, .sinks = MX_NO_WEIGHT};
}

static void build(fixture *f, const attention_case *c, uint64_t seed)
{
    rig *r = &f->r;
    rig_init(r, seed);
    f->c = c;
    r->program.n_caches = 1;
    r->program.caches[0] = (mx_cache_spec){c->n_kv_heads, c->k_dim, c->v_dim, c->window, 0, c->is_latent};
    r->program.n_ropes = 1;
    for (int32_t i = 0; i < c->rot_dim / 2; i++) {
        f->inv_freq[i] = powf(100.0f, -2.0f * (float)i / (float)c->rot_dim);
    }
    r->program.ropes[0] = (mx_rope_spec){c->rot_dim, c->is_interleaved, f->inv_freq, 1.1f};
    const mx_value q = rig_input(r, (int64_t)c->n_heads * c->k_dim, &f->q);
    const mx_value k = rig_input(r, (int64_t)c->n_kv_heads * c->k_dim, &f->k);
    const mx_value v = c->is_latent ? MX_NO_VALUE : rig_input(r, (int64_t)c->n_kv_heads * c->v_dim, &f->v);
    f->out = rig_value(r, MX_ROWS_TOKENS, 1, (int64_t)c->n_heads * c->v_dim, MX_VALUE_F32);
    if (!c->is_fused) {
        add_plain(f, q, k, v);
    } else {
        mx_op *op = rig_op(r, MX_OP_ATTENTION, q, k, v, f->out);
        op->u.attention = (mx_attention_params){.n_heads = c->n_heads,
                                                .has_append = true,
                                                .sinks = MX_NO_WEIGHT,
                                                .has_qk_norm = c->has_qk_norm,
                                                .rope = c->has_rope ? 0 : MX_NO_ROPE};
        const mx_norm_params norm = {.weight = MX_NO_WEIGHT, .eps = 1e-6f, .n_group_cols = c->k_dim};
        op->u.attention.q_norm = norm;
        op->u.attention.k_norm = norm;
        if (c->has_qk_norm) {
            op->u.attention.q_norm.weight = rig_random_vector(r, c->k_dim, &f->q_norm);
            op->u.attention.k_norm.weight = rig_random_vector(r, c->k_dim, &f->k_norm);
        }
    }
    mx_attention_params *p = &r->program.ops[r->program.n_ops - 1].u.attention;
    p->scale = 1.0f / sqrtf((float)c->k_dim);
    p->window = c->window;
    p->chunk = c->chunk;
    p->softcap = c->softcap;
    p->sharpening = c->sharpening;
    p->sinks = c->has_sinks ? rig_random_vector(r, c->n_heads, &f->sinks) : MX_NO_WEIGHT;
}

/* A head after its norm and rotation, in f64; the angle is the f32 product, as everywhere. */
static void true_head(const fixture *f, const float *x, const float *norm, bool rotates, int32_t position, double *y)
{
    const attention_case *c = f->c;
    double squares = 0.0;
    for (int32_t d = 0; d < c->k_dim; d++) {
        squares += (double)x[d] * (double)x[d];
    }
    for (int32_t d = 0; d < c->k_dim; d++) {
        y[d] = (double)x[d];
        if (c->has_qk_norm) {
            y[d] *= (double)norm[d] / sqrt(squares / c->k_dim + 1e-6);
        }
    }
    for (int32_t i = 0; rotates && i < c->rot_dim / 2; i++) {
        const double angle = (double)((float)position * f->inv_freq[i]);
        const int32_t first = c->is_interleaved ? 2 * i : i;
        const int32_t second = c->is_interleaved ? 2 * i + 1 : i + c->rot_dim / 2;
        const double a = y[first];
        const double b = y[second];
        y[first] = (a * cos(angle) - b * sin(angle)) * (double)1.1f;
        y[second] = (b * cos(angle) + a * sin(angle)) * (double)1.1f;
    }
}

/* The value of a token and kv head at a position: its own, or the end of the key. */
static void true_value(const fixture *f, int32_t token, int32_t kv, int32_t position, double *y)
{
    const attention_case *c = f->c;
    const int64_t i = (int64_t)token * c->n_kv_heads + kv;
    if (c->is_latent) {
        double key[MAX_DIM];
        true_head(f, f->k + i * c->k_dim, f->k_norm, c->has_rope && c->is_fused, position, key);
        memcpy(y, key + c->k_dim - c->v_dim, (size_t)c->v_dim * sizeof *y);
        return;
    }
    for (int32_t d = 0; d < c->v_dim; d++) {
        y[d] = (double)f->v[i * c->v_dim + d];
    }
}

static void true_attention(const fixture *f, int32_t i_seq, int32_t position, int32_t h, double *y)
{
    static double scores[RIG_MAX_HISTORY];
    const attention_case *c = f->c;
    const int32_t *history = f->r.history[i_seq];
    const int32_t kv = h / (c->n_heads / c->n_kv_heads);
    const int32_t first = c->chunk    ? position / c->chunk * c->chunk
                          : c->window ? MX_MAX(0, position - c->window + 1)
                                      : 0;
    double q[MAX_DIM];
    double k[MAX_DIM];
    double sum = c->has_sinks ? exp((double)f->sinks[h]) : 0.0;
    true_head(f, f->q + ((int64_t)history[position] * c->n_heads + h) * c->k_dim, f->q_norm, c->has_rope, position, q);
    for (int32_t p = first; p <= position; p++) {
        double score = 0.0;
        true_head(f, f->k + ((int64_t)history[p] * c->n_kv_heads + kv) * c->k_dim, f->k_norm,
                  c->has_rope && c->is_fused, p, k);
        for (int32_t d = 0; d < c->k_dim; d++) {
            score += q[d] * k[d];
        }
        score /= sqrt((double)c->k_dim);
        if (c->sharpening.beta != 0.0f) {
            const double n_steps = floor((double)(position + c->sharpening.shift) / c->sharpening.n_positions);
            score *= 1 + (double)c->sharpening.beta * log(1 + n_steps);
        }
        score = c->softcap > 0.0f ? (double)c->softcap * tanh(score / (double)c->softcap) : score;
        scores[p] = exp(score);
        sum += scores[p];
    }
    for (int32_t d = 0; d < c->v_dim; d++) {
        y[d] = 0.0;
    }
    for (int32_t p = first; p <= position; p++) {
        true_value(f, history[p], kv, p, k);
        for (int32_t d = 0; d < c->v_dim; d++) {
            y[d] += scores[p] / sum * k[d];
        }
    }
}

static void check_step(const fixture *f, const mx_executor_options *o)
{
    const attention_case *c = f->c;
    const float *y = mx_executor_view_logits(f->r.executor);
    const double tolerance = o->kv_type == MX_KV_F32 ? TOLERANCE : TOLERANCE_F16;
    double worst = 0.0;
    for (int32_t s = 0; s < f->r.batch.n_seqs; s++) {
        for (int32_t t = f->r.row_start[s]; t < f->r.row_start[s + 1]; t++) {
            for (int32_t h = 0; h < c->n_heads; h++) {
                double wanted[MAX_DIM];
                true_attention(f, s, f->r.positions[t], h, wanted);
                for (int32_t d = 0; d < c->v_dim; d++) {
                    const double e = fabs((double)y[((int64_t)t * c->n_heads + h) * c->v_dim + d] - wanted[d]);
                    worst = e > worst || isnan(e) ? e : worst;
                }
            }
        }
    }
    if (!(worst <= tolerance)) {
        MX_TEST_FAIL("%s, %s, mode %d, %d rows: off by %.3g", c->name, variant_name(o), o->cpu_mode,
                     f->r.batch.n_tokens, worst);
    }
}

/* Ragged steps: prefill, a mixed step, decode, a chunk that crosses pages. */
static void run_steps(fixture *f, const mx_executor_options *o)
{
    static const int32_t steps[][4] = {{33, 0, 1, 20}, {1, 40, 1, 1}, {1, 1, 1, 1}, {5, 30, 17, 2}, {1, 0, 0, 1}};
    mx_error err = {0};
    MX_CHECK_OK(rig_open(&f->r, f->out, o, &err), &err);
    rig_forget(&f->r);
    for (size_t i = 0; f->r.executor && i < MX_COUNTOF(steps); i++) {
        rig_begin_step(&f->r);
        for (int32_t s = 0; s < 4; s++) {
            rig_add_tokens(&f->r, s, steps[i][s]);
        }
        MX_CHECK_OK(rig_run(&f->r, &err), &err);
        check_step(f, o);
    }
    rig_close(&f->r);
}

MX_TEST(attention_is_right_over_ragged_steps)
{
    mx_executor_options options[MAX_VARIANTS];
    const int32_t n = list_variants(options);
    for (size_t i = 0; i < MX_COUNTOF(op_cases); i++) {
        static fixture f;
        f = (fixture){0};
        build(&f, &op_cases[i], 1000 + i);
        for (int32_t j = 0; j < n; j++) {
            run_steps(&f, &options[j]);
            options[j].kv_type = MX_KV_F16;
            run_steps(&f, &options[j]);
            options[j].kv_type = MX_KV_F32;
        }
        rig_deinit(&f.r);
    }
}

/* The rows of a sequence, one a step, must give the bits that they have when they come in one step, beside others. */
MX_TEST(a_token_alone_gives_the_bits_that_it_has_in_a_batch)
{
    mx_executor_options options[MAX_VARIANTS];
    const int32_t n_variants = list_variants(options);
    for (size_t i = 0; i < MX_COUNTOF(op_cases); i++) {
        static fixture f;
        f = (fixture){0};
        build(&f, &op_cases[i], 2000 + i);
        const size_t n_cols = (size_t)op_cases[i].n_heads * (size_t)op_cases[i].v_dim;
        float *all = (float *)calloc(RIG_MAX_TOKENS * n_cols, sizeof(float));
        for (int32_t v = 0; v < n_variants; v++) {
            mx_error err = {0};
            int32_t tokens[RIG_MAX_TOKENS];
            int32_t n_different = 0;
            MX_CHECK_OK(rig_open(&f.r, f.out, &options[v], &err), &err);
            rig_forget(&f.r);
            rig_add_tokens(&f.r, 0, 40);
            rig_add_tokens(&f.r, 1, 9);
            memcpy(tokens, f.r.tokens, sizeof tokens);
            MX_CHECK_OK(rig_run(&f.r, &err), &err);
            memcpy(all, mx_executor_view_logits(f.r.executor), 40 * n_cols * sizeof(float));
            rig_forget(&f.r);
            for (int32_t t = 0; t < 40; t++) {
                rig_begin_step(&f.r);
                rig_add_tokens(&f.r, 0, 1);
                f.r.tokens[0] = tokens[t];
                MX_CHECK_OK(rig_run(&f.r, &err), &err);
                const float *alone = mx_executor_view_logits(f.r.executor);
                n_different += memcmp(alone, all + (size_t)t * n_cols, n_cols * sizeof(float)) != 0;
            }
            if (n_different) {
                MX_TEST_FAIL("%s, %s, mode %d: %d of 40 rows differ", op_cases[i].name, variant_name(&options[v]),
                             options[v].cpu_mode, n_different);
            }
            rig_close(&f.r);
        }
        free(all);
        rig_deinit(&f.r);
    }
}

MX_TEST_MAIN(MX_CASE(attention_is_right_over_ragged_steps),
             MX_CASE(a_token_alone_gives_the_bits_that_it_has_in_a_batch))
