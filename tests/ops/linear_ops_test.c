/* linear_ops_test.c - LINEAR and EXPERT_LINEAR in every storage format, mode and instruction set, against f64.
 *
 * Error model. A product y = sum_k w[k] x[k] with quantised weights rounds x to codes: x is off by at most half a step,
 * largest / 32639 / 2 of its group (exact mode) or largest / 127 / 2 of its 32 columns (fast), and meets scale * code
 * of the weight, since the bias is multiplied by exact sums. Besides, all sums are in f32: ROUNDING of the sum of
 * absolute products. The plain kernels sum in f64, so only ROUNDING is left for them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ops/rig.h"
#include "tests/ops/variants.h"
#include "tests/test.h"

#define ROUNDING 3e-6 /* of f32 sums over at most 768 columns, and of the norm and the activation */
#define MAX_COLS 768
#define TOP_K    3

/* One LINEAR or EXPERT_LINEAR with everything that may be folded into it. */
typedef struct linear_case {
    rig r;
    const rig_format *formats[MX_OP_MAX_OUT];
    int64_t n_experts; /* 0: LINEAR */
    int64_t n_cols;
    mx_value outs[MX_OP_MAX_OUT];
    mx_op *op;
    const float *x;
    const float *residual;
    const float *norm;
    const float *norm_bias; /* of a layer norm */
    const float *scores;
    const float *biases[MX_OP_MAX_OUT];
} linear_case;

static int64_t smallest_cols(const rig_format *f)
{
    return f->quant.mode == MX_QUANT_NONE ? 1 : f->quant.group_size;
}

static void add_linear(linear_case *c, const int64_t n_rows[], int32_t n_weights, bool has_norm, bool has_glu,
                       bool has_residual)
{
    rig *r = &c->r;
    const bool is_expert = c->n_experts > 0;
    const mx_value x = rig_input(r, c->n_cols, &c->x);
    mx_value second = MX_NO_VALUE;
    if (is_expert) {
        const mx_value scores = rig_input(r, c->n_experts, &c->scores);
        const mx_value ids = rig_value(r, MX_ROWS_TOKENS, 1, TOP_K, MX_VALUE_I32);
        const mx_value weights = rig_value(r, MX_ROWS_TOKENS, 1, TOP_K, MX_VALUE_F32);
        mx_op *route = rig_op(r, MX_OP_ROUTE, scores, MX_NO_VALUE, MX_NO_VALUE, ids);
        route->out[1] = weights;
        route->u.route = (mx_route_params){.top_k = TOP_K, .bias = MX_NO_WEIGHT, .normalize = true, .scale = 1.0f};
        second = ids;
    } else if (has_residual) {
        second = rig_input(r, n_rows[0], &c->residual);
    }
    mx_op *op = rig_op(r, is_expert ? MX_OP_EXPERT_LINEAR : MX_OP_LINEAR, x, second, MX_NO_VALUE, MX_NO_VALUE);
    mx_linear_params *p = &op->u.linear;
    p->n_weights = n_weights;
    p->has_glu = has_glu;
    p->has_norm = has_norm;
    p->act = MX_ACT_SILU;
    if (has_norm) {
        p->norm = (mx_norm_params){.weight = rig_random_vector(r, c->n_cols, &c->norm),
                                   .eps = 1e-5f,
                                   .weight_offset = 1.0f,
                                   .n_group_cols = c->n_cols};
    }
    for (int32_t i = 0; i < n_weights; i++) {
        const mx_weight w = rig_random_weight(r, c->formats[i]->quant, c->formats[i]->dtype,
                                              is_expert ? c->n_experts : 1, n_rows[i], c->n_cols);
        p->weights[i] = rig_weight(r, &w);
        p->biases[i] = rig_below(&r->rng, 2)
                           ? MX_NO_WEIGHT
                           : rig_random_vector(r, n_rows[i] * (is_expert ? c->n_experts : 1), &c->biases[i]);
        if (i == 0 || !has_glu) {
            op->out[i] = c->outs[i] = rig_value(r, MX_ROWS_TOKENS, is_expert ? TOP_K : 1, n_rows[i], MX_VALUE_F32);
        }
    }
    c->op = op;
}

/* The true product of weight i, row n, of expert e with a row of x, and the bound on its error. */
static double true_product(const linear_case *c, const mx_executor_options *o, const double *x, int32_t i, int64_t e,
                           int64_t n, double *bound)
{
    double w[MAX_COLS];
    double scale_of[MAX_COLS] = {0};
    const mx_weight *weight = &c->r.program.weights[c->op->u.linear.weights[i]];
    rig_true_row(weight, e, n, w, scale_of);
    const int32_t group = o->cpu_mode == MX_CPU_FAST ? MX_MIN(weight->quant.group_size, 32) : weight->quant.group_size;
    double sum = 0.0;
    double absolute = 0.0;
    double rounding = 0.0;
    for (int64_t k = 0; k < c->n_cols; k++) {
        sum += w[k] * x[k];
        absolute += fabs(w[k] * x[k]) + scale_of[k] * fabs(x[k]);
    }
    for (int64_t k = 0; group > 0 && o->cpu_mode != MX_CPU_REFERENCE && k < c->n_cols; k += group) {
        double largest = 0.0;
        double scales = 0.0;
        for (int64_t j = k; j < k + group; j++) {
            largest = fmax(largest, fabs(x[j]));
            scales += scale_of[j];
        }
        rounding += largest / (o->cpu_mode == MX_CPU_FAST ? 127.0 : 32639.0) / 2.0 * scales;
    }
    const float *bias = c->biases[i];
    const double b = bias ? (double)bias[e * weight->n_rows + n] : 0.0;
    *bound = 1.001 * rounding + ROUNDING * (absolute + fabs(b));
    return sum + b;
}

static void true_row(const linear_case *c, int32_t token, double *x)
{
    const mx_linear_params *p = &c->op->u.linear;
    double sum = 0.0;
    double squares = 0.0;
    for (int64_t k = 0; k < c->n_cols; k++) {
        x[k] = (double)c->x[token * c->n_cols + k];
        sum += x[k];
    }
    for (int64_t k = 0; k < c->n_cols; k++) {
        x[k] -= c->norm_bias ? sum / (double)c->n_cols : 0.0;
        squares += x[k] * x[k];
    }
    for (int64_t k = 0; p->has_norm && k < c->n_cols; k++) {
        x[k] *= ((double)c->norm[k] + 1.0) / sqrt(squares / (double)c->n_cols + (double)p->norm.eps);
        x[k] += c->norm_bias ? (double)c->norm_bias[k] : 0.0;
    }
}

/* Element n of output i for a token and expert. */
static double true_output(const linear_case *c, const mx_executor_options *o, const double *x, int32_t token, int32_t i,
                          int64_t e, int64_t n, double *bound)
{
    double y = true_product(c, o, x, i, e, n, bound);
    if (c->op->u.linear.has_glu) {
        double up_bound;
        const double up = true_product(c, o, x, 1, e, n, &up_bound);
        const double act = y / (1.0 + exp(-y));
        *bound = 1.1 * *bound * fabs(up) + fabs(act) * up_bound + *bound * up_bound + ROUNDING * fabs(act * up) + 1e-7;
        return act * up;
    }
    if (c->op->u.linear.has_act) {
        y = y / (1.0 + exp(-y));
        *bound = 1.1 * *bound + ROUNDING * fabs(y) + 1e-7;
    }
    if (c->residual) {
        const mx_weight *weight = &c->r.program.weights[c->op->u.linear.weights[0]];
        const double add = (double)c->residual[token * weight->n_rows + n];
        *bound += 1e-7 * fabs(add);
        y += add;
    }
    return y;
}

/* The j-th largest score of a token: ROUTE has a test of its own. */
static int64_t true_expert(const linear_case *c, int32_t token, int32_t j)
{
    const float *scores = c->scores + token * c->n_experts;
    for (int64_t e = 0; e < c->n_experts; e++) {
        int32_t n_larger = 0;
        for (int64_t f = 0; f < c->n_experts; f++) {
            n_larger += scores[f] > scores[e];
        }
        if (n_larger == j) {
            return e;
        }
    }
    return 0;
}

static void check_output(linear_case *c, const mx_executor_options *o, int32_t i_out)
{
    const int32_t n_slots = c->n_experts ? TOP_K : 1;
    const int64_t n_out = c->r.program.values[c->outs[i_out]].n_cols;
    const float *y = mx_executor_view_logits(c->r.executor);
    double worst = 0.0;
    double x[MAX_COLS];
    for (int32_t t = 0; t < c->r.batch.n_tokens; t++) {
        const int32_t token = c->r.tokens[t];
        true_row(c, token, x);
        for (int32_t j = 0; j < n_slots; j++) {
            const int64_t e = c->n_experts ? true_expert(c, token, j) : 0;
            for (int64_t n = 0; n < n_out; n++) {
                double bound;
                const double wanted = true_output(c, o, x, token, i_out, e, n, &bound);
                const double error = fabs((double)y[(t * n_slots + j) * n_out + n] - wanted) / bound;
                worst = error > worst || isnan(error) ? error : worst;
            }
        }
    }
    if (!(worst <= 1.0)) {
        MX_TEST_FAIL("%s, %s, mode %d, %d rows: the error is %.3g of its bound", c->formats[i_out]->name,
                     variant_name(o), o->cpu_mode, c->r.batch.n_tokens, worst);
    }
}

/* Every row of the step alone must give the bits that it has in the step. */
static void check_rows_alone(linear_case *c, const mx_executor_options *o, int32_t i_out)
{
    mx_error err;
    rig *r = &c->r;
    const size_t n = (size_t)r->program.values[c->outs[i_out]].n_cols * (c->n_experts ? TOP_K : 1);
    const int32_t n_tokens = r->batch.n_tokens;
    int32_t tokens[RIG_MAX_TOKENS];
    float *all = (float *)malloc(n * (size_t)n_tokens * sizeof(float));
    memcpy(all, mx_executor_view_logits(r->executor), n * (size_t)n_tokens * sizeof(float));
    memcpy(tokens, r->tokens, sizeof tokens);
    int32_t n_different = 0;
    for (int32_t t = 0; t < n_tokens; t++) {
        rig_begin_step(r);
        rig_add_tokens(r, 0, 1);
        r->tokens[0] = tokens[t];
        MX_CHECK_OK(rig_run(r, &err), &err);
        n_different += memcmp(all + (size_t)t * n, mx_executor_view_logits(r->executor), n * sizeof(float)) != 0;
    }
    free(all);
    if (n_different) {
        MX_TEST_FAIL("%s, %s, mode %d: %d of %d rows differ from the same rows alone", c->formats[i_out]->name,
                     variant_name(o), o->cpu_mode, n_different, n_tokens);
    }
}

static void run_case(linear_case *c, const mx_executor_options *o)
{
    static const int32_t row_counts[] = {1, 2, 7, 13, 33};
    mx_error err = {0};
    for (int32_t i = 0; i < MX_OP_MAX_OUT && c->op->out[i] != MX_NO_VALUE; i++) {
        MX_CHECK_OK(rig_open(&c->r, c->outs[i], o, &err), &err);
        for (size_t j = 0; c->r.executor && j < MX_COUNTOF(row_counts); j++) {
            rig_forget(&c->r);
            rig_add_tokens(&c->r, 0, row_counts[j]);
            MX_CHECK_OK(rig_run(&c->r, &err), &err);
            check_output(c, o, i);
            if (row_counts[j] == 13) {
                check_rows_alone(c, o, i);
            }
        }
        rig_close(&c->r);
    }
}

static void run_variants(linear_case *c)
{
    mx_executor_options options[MAX_VARIANTS];
    const int32_t n = list_variants(options);
    for (int32_t i = 0; i < n; i++) {
        run_case(c, &options[i]);
    }
    rig_deinit(&c->r);
}

MX_TEST(linear_is_right_in_every_format)
{
    for (size_t i = 0; i < RIG_N_FORMATS; i++) {
        static linear_case c;
        c = (linear_case){.formats = {&rig_formats[i]}, .n_cols = smallest_cols(&rig_formats[i]) * (i % 2 ? 5 : 3)};
        rig_init(&c.r, 100 + i);
        add_linear(&c, (const int64_t[]){i % 3 == 0 ? 1 : i % 3 == 1 ? 37 : 16}, 1, false, false, i % 2);
        run_variants(&c);
    }
}

/* As MLX has it: 0x7f and 0xff of mxfp8 are no numbers, and no product with their row is one. */
MX_TEST(a_code_that_is_no_number_spoils_its_row_alone)
{
    static linear_case c;
    mx_executor_options options[MAX_VARIANTS];
    mx_error err = {0};
    enum { N_ROWS = 37, N_COLS = 96, N_TOKENS = 3 };
    c = (linear_case){.formats = {rig_format_named("mxfp8")}, .n_cols = N_COLS};
    rig_init(&c.r, 150);
    add_linear(&c, (const int64_t[]){N_ROWS}, 1, false, false, false);
    uint8_t *codes = (uint8_t *)(uintptr_t)c.r.program.weights[c.op->u.linear.weights[0]].data;
    codes[5 * N_COLS + 95] = 0xff;
    codes[36 * N_COLS + 40] = 0x7f;
    const int32_t n = list_variants(options);
    for (int32_t i = 0; i < n; i++) {
        MX_CHECK_OK(rig_open(&c.r, c.outs[0], &options[i], &err), &err);
        rig_forget(&c.r);
        rig_add_tokens(&c.r, 0, N_TOKENS);
        MX_CHECK_OK(rig_run(&c.r, &err), &err);
        const float *y = mx_executor_view_logits(c.r.executor);
        for (int32_t j = 0; j < N_TOKENS * N_ROWS; j++) {
            MX_CHECK(isnan(y[j]) == (j % N_ROWS == 5 || j % N_ROWS == 36));
        }
        rig_close(&c.r);
    }
    rig_deinit(&c.r);
}

MX_TEST(linear_with_a_norm_and_a_glu_is_right)
{
    for (size_t i = 0; i < RIG_N_FORMATS; i += 3) {
        static linear_case c;
        c = (linear_case){.formats = {&rig_formats[i], &rig_formats[i]}, .n_cols = 128};
        rig_init(&c.r, 200 + i);
        add_linear(&c, (const int64_t[]){33, 33}, 2, true, true, false);
        run_variants(&c);
    }
}

MX_TEST(linear_with_a_layernorm_and_an_activation_is_right)
{
    for (size_t i = 1; i < RIG_N_FORMATS; i += 4) {
        static linear_case c;
        c = (linear_case){.formats = {&rig_formats[i]}, .n_cols = 128};
        rig_init(&c.r, 250 + i);
        add_linear(&c, (const int64_t[]){33}, 1, true, false, i % 2);
        c.op->u.linear.norm.is_centered = true;
        c.op->u.linear.norm.bias = rig_random_vector(&c.r, c.n_cols, &c.norm_bias);
        c.op->u.linear.has_act = true;
        run_variants(&c);
    }
}

MX_TEST(linears_of_mixed_formats_share_their_input)
{
    static linear_case c;
    c = (linear_case){.formats = {rig_format_named("4 bits, group 64, BF16"),
                                  rig_format_named("8 bits, group 64, BF16"), rig_format_named("f32"),
                                  rig_format_named("4 bits, group 32, F16")},
                      .n_cols = 128};
    rig_init(&c.r, 300);
    add_linear(&c, (const int64_t[]){40, 9, 17, 16}, 4, true, false, false);
    run_variants(&c);
}

MX_TEST(experts_are_right_plain_and_with_a_glu)
{
    static const char *const chosen[] = {"4 bits, group 64, BF16", "3 bits, group 64, BF16", "mxfp4", "bf16"};
    for (size_t i = 0; i < MX_COUNTOF(chosen); i++) {
        static linear_case c;
        const rig_format *f = rig_format_named(chosen[i]);
        c = (linear_case){.formats = {f, f}, .n_cols = 64, .n_experts = 7};
        rig_init(&c.r, 400 + i);
        add_linear(&c, (const int64_t[]){19, 19}, i % 2 ? 2 : 1, i == 2, i % 2, false);
        run_variants(&c);
    }
}

/* 768 columns of normal activations: what formats.md tells to expect, with room for another random draw. */
MX_TEST(relative_error_is_that_of_the_mode)
{
    static linear_case c;
    mx_executor_options options[MAX_VARIANTS];
    const int32_t n_variants = list_variants(options);
    c = (linear_case){.formats = {rig_format_named("4 bits, group 64, BF16")}, .n_cols = MAX_COLS};
    rig_init(&c.r, 500);
    add_linear(&c, (const int64_t[]){64}, 1, false, false, false);
    for (int32_t v = 0; v < n_variants; v++) {
        mx_error err;
        double x[MAX_COLS];
        double error = 0.0;
        double power = 0.0;
        MX_CHECK_OK(rig_open(&c.r, c.outs[0], &options[v], &err), &err);
        rig_forget(&c.r);
        rig_add_tokens(&c.r, 0, 16);
        MX_CHECK_OK(rig_run(&c.r, &err), &err);
        for (int32_t t = 0; t < 16; t++) {
            true_row(&c, c.r.tokens[t], x);
            for (int32_t i = 0; i < 64; i++) {
                double bound;
                const double wanted = true_output(&c, &options[v], x, c.r.tokens[t], 0, 0, i, &bound);
                const double found = (double)mx_executor_view_logits(c.r.executor)[t * 64 + i];
                error += (found - wanted) * (found - wanted);
                power += wanted * wanted;
            }
        }
        const double relative = sqrt(error / power);
        MX_CHECK(relative <= (options[v].cpu_mode == MX_CPU_FAST    ? 8e-3
                              : options[v].cpu_mode == MX_CPU_EXACT ? 3.5e-5
                                                                    : 1e-6));
        rig_close(&c.r);
    }
    rig_deinit(&c.r);
}

MX_TEST_MAIN(MX_CASE(linear_is_right_in_every_format), MX_CASE(a_code_that_is_no_number_spoils_its_row_alone),
             MX_CASE(linear_with_a_norm_and_a_glu_is_right),
             MX_CASE(linear_with_a_layernorm_and_an_activation_is_right),
             MX_CASE(linears_of_mixed_formats_share_their_input), MX_CASE(experts_are_right_plain_and_with_a_glu),
             MX_CASE(relative_error_is_that_of_the_mode))
