/* row_ops_test.c - the operations on rows, against f64.
 *
 * Error model: a few roundings of f32 and, in the tuned modes, an exponential within two units of the last place: a
 * relative error of TOLERANCE, or the same of 1 near zero.
 */
#include <math.h>
#include <string.h>

#include "tests/ops/rig.h"
#include "tests/ops/variants.h"
#include "tests/test.h"

#define TOLERANCE 1e-6
#define MAX_COLS  96
#define TOP_K     4
#define OAI_SCALE 6

typedef struct row_case row_case;

/* One operation on one or two inputs of n_cols columns; truth gives y [n_cols] of a row. */
struct row_case {
    const char *name;
    mx_op_kind kind;
    int32_t n_inputs;
    int64_t n_cols;
    void (*set)(rig *r, mx_op *op, const float **weight);
    void (*truth)(const mx_op *op, const double *a, const double *b, const float *weight, double *y, int64_t n);
};

static void set_norm(rig *r, mx_op *op, const float **weight)
{
    op->u.norm = (mx_norm_params){.eps = 1e-5f, .weight_offset = 1.0f, .n_group_cols = 24};
    op->u.norm.weight = rig_random_vector(r, 24, weight);
}

static void set_wide_norm(rig *r, mx_op *op, const float **weight)
{
    op->u.norm = (mx_norm_params){.eps = 1e-5f, .n_group_cols = 24, .is_wide = true, .bias = MX_NO_WEIGHT};
    op->u.norm.weight = rig_random_vector(r, 72, weight);
}

static void set_bare_norm(rig *r, mx_op *op, const float **weight)
{
    (void)r;
    *weight = NULL;
    op->u.norm = (mx_norm_params){.weight = MX_NO_WEIGHT, .eps = 1e-6f, .n_group_cols = 75};
}

static const float *layernorm_bias; /* of the case that was set last */

static void set_layernorm(rig *r, mx_op *op, const float **weight)
{
    op->u.norm = (mx_norm_params){.eps = 1e-5f, .weight_offset = 1.0f, .n_group_cols = 24, .is_centered = true};
    op->u.norm.weight = rig_random_vector(r, 24, weight);
    op->u.norm.bias = rig_random_vector(r, 24, &layernorm_bias);
}

/* A weight for each of three groups, as the columns of one vector. */
static void set_group_layernorm(rig *r, mx_op *op, const float **weight)
{
    set_layernorm(r, op, weight);
    op->u.norm.weight = rig_random_vector(r, 72, weight);
    r->program.weights[op->u.norm.weight].n_experts = 3;
    r->program.weights[op->u.norm.weight].n_cols = 24;
}

static void set_bare_layernorm(rig *r, mx_op *op, const float **weight)
{
    set_bare_norm(r, op, weight);
    op->u.norm.is_centered = true;
    op->u.norm.bias = MX_NO_WEIGHT;
    layernorm_bias = NULL;
}

static void true_norm(const mx_op *op, const double *a, const double *b, const float *weight, double *y, int64_t n)
{
    const int64_t n_group = op->u.norm.n_group_cols;
    (void)b;
    for (int64_t c = 0; c < n; c++) {
        double squares = 0.0;
        for (int64_t i = c / n_group * n_group; i < (c / n_group + 1) * n_group; i++) {
            squares += a[i] * a[i];
        }
        y[c] = a[c] / sqrt(squares / (double)n_group + (double)op->u.norm.eps);
        y[c] *= weight ? (double)weight[op->u.norm.is_wide ? c : c % n_group] + (double)op->u.norm.weight_offset : 1.0;
    }
}

static void true_layernorm(const mx_op *op, const double *a, const double *b, const float *weight, double *y, int64_t n)
{
    double centered[MAX_COLS] = {0};
    const int64_t n_group = op->u.norm.n_group_cols;
    for (int64_t c = 0; c < n; c++) {
        double sum = 0.0;
        for (int64_t i = c / n_group * n_group; i < (c / n_group + 1) * n_group; i++) {
            sum += a[i];
        }
        centered[c] = a[c] - sum / (double)n_group;
    }
    true_norm(op, centered, b, weight, y, n);
    for (int64_t c = 0; layernorm_bias && c < n; c++) {
        y[c] += (double)layernorm_bias[c % n_group];
    }
}

static void true_group_layernorm(const mx_op *op, const double *a, const double *b, const float *weight, double *y,
                                 int64_t n)
{
    const int64_t n_group = op->u.norm.n_group_cols;
    for (int64_t i = 0; i < n; i += n_group) {
        true_layernorm(op, a + i, b, weight + i, y + i, n_group);
    }
}

static void set_nothing(rig *r, mx_op *op, const float **weight)
{
    (void)r;
    (void)op;
    *weight = NULL;
}

static void set_factor(rig *r, mx_op *op, const float **weight)
{
    (void)r;
    *weight = NULL;
    op->u.scale.factor = 1.7f;
}

static void set_small_factor(rig *r, mx_op *op, const float **weight)
{
    (void)r;
    *weight = NULL;
    op->u.scale.factor = 0.4f;
}

static int64_t n_vector; /* numbers of the vector of the case that was set last */

static void set_vector(rig *r, mx_op *op, const float **weight)
{
    op->u.vector.weight = rig_random_vector(r, n_vector = 21, weight);
}

static void set_one_number(rig *r, mx_op *op, const float **weight)
{
    op->u.vector.weight = rig_random_vector(r, n_vector = 1, weight);
}

static const float *xielu_numbers[4]; /* of the case that was set last: alpha_p, alpha_n, beta, eps */

static void set_xielu(rig *r, mx_op *op, const float **weight)
{
    int32_t *const places[] = {&op->u.xielu.alpha_p, &op->u.xielu.alpha_n, &op->u.xielu.beta, &op->u.xielu.eps};
    for (int32_t i = 0; i < 4; i++) {
        *places[i] = rig_random_vector(r, 1, &xielu_numbers[i]);
    }
    *weight = NULL;
}

#define SETS_ACT(name, activation)                                  \
    static void set_##name(rig *r, mx_op *op, const float **weight) \
    {                                                               \
        (void)r;                                                    \
        *weight = NULL;                                             \
        op->u.glu.act = (activation);                               \
    }
SETS_ACT(silu, MX_ACT_SILU)
SETS_ACT(gelu, MX_ACT_GELU)
SETS_ACT(gelu_tanh, MX_ACT_GELU_TANH)
SETS_ACT(gelu_quick, MX_ACT_GELU_QUICK)
SETS_ACT(relu, MX_ACT_RELU)
SETS_ACT(relu2, MX_ACT_RELU2)
SETS_ACT(sigmoid, MX_ACT_SIGMOID)

static void set_oai(rig *r, mx_op *op, const float **weight)
{
    *weight = NULL;
    op->u.glu.act = MX_ACT_SWIGLU_OAI;
    for (int32_t i = 0; i < 2; i++) { /* the inputs, so that both limits are crossed */
        r->program.ops[i].u.embed.scale = OAI_SCALE;
    }
}

static void true_add(const mx_op *op, const double *a, const double *b, const float *weight, double *y, int64_t n)
{
    (void)op;
    (void)weight;
    for (int64_t c = 0; c < n; c++) {
        y[c] = a[c] + b[c];
    }
}

static void true_scale(const mx_op *op, const double *a, const double *b, const float *weight, double *y, int64_t n)
{
    (void)b;
    (void)weight;
    for (int64_t c = 0; c < n; c++) {
        y[c] = a[c] * (double)op->u.scale.factor;
    }
}

static void true_softcap(const mx_op *op, const double *a, const double *b, const float *weight, double *y, int64_t n)
{
    const double factor = (double)op->u.scale.factor;
    (void)b;
    (void)weight;
    for (int64_t c = 0; c < n; c++) {
        y[c] = factor * tanh(a[c] / factor);
    }
}

static void true_clip(const mx_op *op, const double *a, const double *b, const float *weight, double *y, int64_t n)
{
    (void)b;
    (void)weight;
    for (int64_t c = 0; c < n; c++) {
        y[c] = fmin(fmax(a[c], -(double)op->u.scale.factor), (double)op->u.scale.factor);
    }
}

static void true_vector(const mx_op *op, const double *a, const double *b, const float *weight, double *y, int64_t n)
{
    (void)op;
    (void)b;
    for (int64_t c = 0; c < n; c++) {
        y[c] = a[c] * (double)weight[c % n_vector];
    }
}

static void true_xielu(const mx_op *op, const double *a, const double *b, const float *weight, double *y, int64_t n)
{
    const double beta = (double)*xielu_numbers[2];
    (void)op;
    (void)b;
    (void)weight;
    for (int64_t c = 0; c < n; c++) {
        const double above = log1p(exp((double)*xielu_numbers[0])) * a[c] * a[c];
        const double exponent = fmin(a[c], (double)*xielu_numbers[3]);
        const double below = (beta + log1p(exp((double)*xielu_numbers[1]))) * (expm1(exponent) - a[c]);
        y[c] = (a[c] > 0 ? above : below) + beta * a[c];
    }
}

static double true_activation(double x, mx_activation act)
{
    switch (act) {
    case MX_ACT_SILU: return x / (1.0 + exp(-x));
    case MX_ACT_GELU: return x * 0.5 * (1.0 + erf(x * sqrt(0.5)));
    case MX_ACT_GELU_TANH: return x * 0.5 * (1.0 + tanh(sqrt(2.0 / acos(-1.0)) * (x + 0.044715 * x * x * x)));
    case MX_ACT_GELU_QUICK: return x / (1.0 + exp(-1.702 * x));
    case MX_ACT_RELU: return fmax(x, 0.0);
    case MX_ACT_RELU2: return fmax(x, 0.0) * fmax(x, 0.0);
    case MX_ACT_SIGMOID: return 1.0 / (1.0 + exp(-x));
    case MX_ACT_SWIGLU_OAI:
    case MX_ACT_COUNT: break;
    }
    return HUGE_VAL; /* no such activation alone */
}

static void true_act(const mx_op *op, const double *a, const double *b, const float *weight, double *y, int64_t n)
{
    (void)b;
    (void)weight;
    for (int64_t c = 0; c < n; c++) {
        y[c] = true_activation(a[c], op->u.glu.act);
    }
}

static void true_glu(const mx_op *op, const double *a, const double *b, const float *weight, double *y, int64_t n)
{
    (void)weight;
    for (int64_t c = 0; c < n; c++) {
        y[c] = true_activation(a[c], op->u.glu.act) * b[c];
    }
}

static void true_oai(const mx_op *op, const double *a, const double *b, const float *weight, double *y, int64_t n)
{
    (void)op;
    (void)weight;
    for (int64_t c = 0; c < n; c++) {
        const double g = fmin(a[c] * OAI_SCALE, 7.0);
        y[c] = g / (1.0 + exp(-1.702 * g)) * (fmax(fmin(b[c] * OAI_SCALE, 7.0), -7.0) + 1.0);
    }
}

static const row_case op_cases[] = {
    {"RMSNORM in groups", MX_OP_RMSNORM, 1, 72, set_norm, true_norm},
    {"RMSNORM in groups with weights of their own", MX_OP_RMSNORM, 1, 72, set_wide_norm, true_norm},
    {"RMSNORM without a weight", MX_OP_RMSNORM, 1, 75, set_bare_norm, true_norm},
    {"ADD", MX_OP_ADD, 2, 33, set_nothing, true_add},
    {"SCALE", MX_OP_SCALE, 1, 1, set_factor, true_scale},
    {"SOFTCAP", MX_OP_SOFTCAP, 1, 17, set_factor, true_softcap},
    {"CLIP", MX_OP_CLIP, 1, 19, set_small_factor, true_clip},
    {"MULTIPLY by columns", MX_OP_MULTIPLY, 1, 21, set_vector, true_vector},
    {"MULTIPLY by one number", MX_OP_MULTIPLY, 1, 22, set_one_number, true_vector},
    {"XIELU", MX_OP_XIELU, 1, 33, set_xielu, true_xielu},
    {"LAYERNORM in groups", MX_OP_LAYERNORM, 1, 72, set_layernorm, true_layernorm},
    {"LAYERNORM with weights by group", MX_OP_LAYERNORM, 1, 72, set_group_layernorm, true_group_layernorm},
    {"LAYERNORM without a weight", MX_OP_LAYERNORM, 1, 75, set_bare_layernorm, true_layernorm},
    {"GLU with SiLU", MX_OP_GLU, 2, 64, set_silu, true_glu},
    {"GLU with GELU", MX_OP_GLU, 2, 33, set_gelu, true_glu},
    {"GLU with tanh GELU", MX_OP_GLU, 2, 90, set_gelu_tanh, true_glu},
    {"GLU with quick GELU", MX_OP_GLU, 2, 35, set_gelu_quick, true_glu},
    {"GLU with ReLU", MX_OP_GLU, 2, 36, set_relu, true_glu},
    {"GLU with squared ReLU", MX_OP_GLU, 2, 37, set_relu2, true_glu},
    {"GLU with a sigmoid", MX_OP_GLU, 2, 38, set_sigmoid, true_glu},
    {"GLU of GPT-OSS", MX_OP_GLU, 2, 71, set_oai, true_oai},
    {"ACTIVATION of GELU", MX_OP_ACTIVATION, 1, 65, set_gelu, true_act},
    {"ACTIVATION of squared ReLU", MX_OP_ACTIVATION, 1, 69, set_relu2, true_act},
};

static void check_rows(rig *r, const row_case *c, const mx_op *op, const float *const tables[2], const float *weight,
                       const mx_executor_options *o)
{
    double a[MAX_COLS];
    double b[MAX_COLS];
    double wanted[MAX_COLS];
    double worst = 0.0;
    const float *y = mx_executor_view_logits(r->executor);
    for (int32_t t = 0; t < r->batch.n_tokens; t++) {
        for (int64_t i = 0; i < c->n_cols; i++) {
            a[i] = (double)tables[0][r->tokens[t] * c->n_cols + i];
            b[i] = c->n_inputs > 1 ? (double)tables[1][r->tokens[t] * c->n_cols + i] : 0.0;
        }
        c->truth(op, a, b, weight, wanted, c->n_cols);
        for (int64_t i = 0; i < c->n_cols; i++) {
            const double e = fabs((double)y[t * c->n_cols + i] - wanted[i]) / (1.0 + fabs(wanted[i]));
            worst = e > worst || isnan(e) ? e : worst;
        }
    }
    if (!(worst <= TOLERANCE)) {
        MX_TEST_FAIL("%s, %s, mode %d, %d rows: off by %.3g", c->name, variant_name(o), o->cpu_mode, r->batch.n_tokens,
                     worst);
    }
}

MX_TEST(operations_on_rows_are_right)
{
    mx_executor_options options[MAX_VARIANTS];
    const int32_t n_variants = list_variants(options);
    for (size_t i = 0; i < MX_COUNTOF(op_cases); i++) {
        static rig r;
        const row_case *c = &op_cases[i];
        const float *tables[2] = {NULL, NULL};
        const float *weight;
        mx_value in[2] = {MX_NO_VALUE, MX_NO_VALUE};
        rig_init(&r, 50 + i);
        for (int32_t j = 0; j < c->n_inputs; j++) {
            in[j] = rig_input(&r, c->n_cols, &tables[j]);
        }
        const mx_value out = rig_value(&r, MX_ROWS_TOKENS, 1, c->n_cols, MX_VALUE_F32);
        mx_op *op = rig_op(&r, c->kind, in[0], in[1], MX_NO_VALUE, out);
        c->set(&r, op, &weight);
        for (int32_t v = 0; v < n_variants; v++) {
            mx_error err = {0};
            MX_CHECK_OK(rig_open(&r, out, &options[v], &err), &err);
            for (int32_t n = 1; r.executor && n <= 64; n = n * 3 + 1) {
                rig_forget(&r);
                rig_add_tokens(&r, 0, n);
                MX_CHECK_OK(rig_run(&r, &err), &err);
                check_rows(&r, c, op, tables, weight, &options[v]);
            }
            rig_close(&r);
        }
        rig_deinit(&r);
    }
}

MX_TEST(rows_of_positions_are_added)
{
    mx_executor_options options[MAX_VARIANTS];
    const int32_t n_variants = list_variants(options);
    for (int32_t v = 0; v < n_variants; v++) {
        static rig r;
        mx_error err = {0};
        const float *table;
        double row[64];
        rig_init(&r, 75);
        const mx_value x = rig_input(&r, 64, &table);
        const mx_value y = rig_value(&r, MX_ROWS_TOKENS, 1, 64, MX_VALUE_F32);
        const mx_weight w =
            rig_random_weight(&r, (mx_quant){MX_QUANT_AFFINE, 4, 32}, MX_DTYPE_BF16, 1, RIG_MAX_HISTORY, 64);
        rig_op(&r, MX_OP_ADD_POSITIONS, x, MX_NO_VALUE, MX_NO_VALUE, y)->u.position.weight = rig_weight(&r, &w);
        MX_CHECK_OK(rig_open(&r, y, &options[v], &err), &err);
        for (int32_t step = 0; step < 2; step++) { /* the second goes on where the first ended */
            rig_begin_step(&r);
            rig_add_tokens(&r, 0, 5);
            rig_add_tokens(&r, 1, 3 - step);
            MX_CHECK_OK(rig_run(&r, &err), &err);
            for (int32_t t = 0; t < r.batch.n_tokens; t++) {
                rig_true_row(&w, 0, r.positions[t], row, NULL);
                for (int32_t c = 0; c < 64; c++) {
                    const double wanted = (double)table[r.tokens[t] * 64 + c] + row[c];
                    MX_CHECK_NEAR(mx_executor_view_logits(r.executor)[t * 64 + c], wanted, 1e-5);
                }
            }
        }
        rig_deinit(&r);
    }
}

MX_TEST(the_sampled_rows_are_gathered)
{
    mx_executor_options options[MAX_VARIANTS];
    const int32_t n_variants = list_variants(options);
    for (int32_t v = 0; v < n_variants; v++) {
        static rig r;
        mx_error err = {0};
        const float *table;
        rig_init(&r, 70);
        const mx_value x = rig_input(&r, 13, &table);
        const mx_value y = rig_value(&r, MX_ROWS_SAMPLES, 1, 13, MX_VALUE_F32);
        (void)rig_op(&r, MX_OP_GATHER_ROWS, x, MX_NO_VALUE, MX_NO_VALUE, y);
        MX_CHECK_OK(rig_open(&r, y, &options[v], &err), &err);
        rig_add_tokens(&r, 0, 9);
        r.sample_rows[0] = 2;
        r.sample_rows[1] = 8;
        r.batch.n_samples = 2;
        MX_CHECK_OK(rig_run(&r, &err), &err);
        const float *found = mx_executor_view_logits(r.executor);
        MX_CHECK(memcmp(found, table + r.tokens[2] * 13, 13 * sizeof(float)) == 0);
        MX_CHECK(memcmp(found + 13, table + r.tokens[8] * 13, 13 * sizeof(float)) == 0);
        rig_deinit(&r);
    }
}

#define N_EXPERTS 12

typedef struct route_case {
    const char *name;
    bool has_bias;
    mx_route_params params;
} route_case;

static const route_case route_cases[] = {
    {"softmax", false, {.top_k = TOP_K, .scale = 1.0f}},
    {"softmax, normalised", false, {.top_k = TOP_K, .normalize = true, .scale = 1.0f}},
    {"softmax with a bias", true, {.top_k = TOP_K, .normalize = true, .min_sum = 1e-12f, .scale = 1.5f}},
    {"softmax in groups", false, {.top_k = TOP_K, .n_groups = 4, .top_groups = 2, .scale = 16.0f}},
    {"a least sum", false, {.top_k = TOP_K, .normalize = true, .min_sum = 3.0f, .scale = 1.0f}},
    {"sigmoid", false, {.top_k = TOP_K, .score = MX_SCORE_SIGMOID, .scale = 1.0f}},
    {"sigmoid in groups with a bias",
     true,
     {.top_k = TOP_K,
      .score = MX_SCORE_SIGMOID,
      .n_groups = 3,
      .top_groups = 1,
      .ranks_by_top_two = true,
      .normalize = true,
      .min_sum = 1e-20f,
      .scale = 2.5f}},
    {"sparsemixer", false, {.top_k = 2, .score = MX_SCORE_SPARSEMIXER, .scale = 1.0f, .jitter = 0.2f}},
};

static int32_t place_of_largest(const double *c, int32_t n)
{
    int32_t best = 0;
    for (int32_t i = 1; i < n; i++) {
        best = c[i] > c[best] ? i : best;
    }
    return best;
}

static double true_rank(const double *group, int32_t n, bool by_top_two)
{
    double copy[N_EXPERTS];
    memcpy(copy, group, (size_t)n * sizeof *copy);
    const int32_t best = place_of_largest(copy, n);
    copy[best] = -HUGE_VAL;
    return group[best] + (by_top_two ? copy[place_of_largest(copy, n)] : 0.0);
}

/* Each of the groups that are not among the best is taken out of c. */
static void true_groups(const mx_route_params *r, double *c)
{
    const int32_t n = N_EXPERTS / r->n_groups;
    double ranks[N_EXPERTS];
    bool stays[N_EXPERTS] = {false};
    for (int32_t g = 0; g < r->n_groups; g++) {
        ranks[g] = true_rank(c + g * n, n, r->ranks_by_top_two);
    }
    for (int32_t i = 0; i < r->top_groups; i++) {
        const int32_t best = place_of_largest(ranks, r->n_groups);
        stays[best] = true;
        ranks[best] = -HUGE_VAL;
    }
    for (int32_t e = 0; e < N_EXPERTS; e++) {
        c[e] = stays[e / n] ? c[e] : -HUGE_VAL;
    }
}

static double true_sparsemixer(const double *c, double largest, double jitter)
{
    double sum = 0.0;
    for (int32_t e = 0; e < N_EXPERTS; e++) {
        const bool is_near = (largest - c[e]) / fmax(fabs(c[e]), largest) <= 2.0 * jitter;
        sum += c[e] > -HUGE_VAL && is_near ? exp(c[e] - largest) : 0.0;
    }
    return 1.0 / sum;
}

static void true_route(const mx_route_params *r, const float *x, const float *bias, double *weights)
{
    double p[N_EXPERTS];
    double c[N_EXPERTS];
    double sum = 0.0;
    for (int32_t e = 0; e < N_EXPERTS; e++) {
        sum += exp((double)x[e]);
    }
    for (int32_t e = 0; e < N_EXPERTS; e++) {
        p[e] = r->score == MX_SCORE_SOFTMAX   ? exp((double)x[e]) / sum
               : r->score == MX_SCORE_SIGMOID ? 1.0 / (1.0 + exp(-(double)x[e]))
                                              : (double)x[e];
        c[e] = p[e] + (bias ? (double)bias[e] : 0.0);
    }
    if (r->n_groups > 1) {
        true_groups(r, c);
    }
    double chosen = 0.0;
    for (int32_t j = 0; j < r->top_k; j++) {
        const int32_t best = place_of_largest(c, N_EXPERTS);
        weights[j] = r->score == MX_SCORE_SPARSEMIXER ? true_sparsemixer(c, p[best], (double)r->jitter) : p[best];
        chosen += weights[j];
        c[best] = -HUGE_VAL;
    }
    for (int32_t j = 0; j < r->top_k; j++) {
        weights[j] *= (double)r->scale / (r->normalize ? fmax(chosen, (double)r->min_sum) : 1.0);
    }
}

static void check_route(const route_case *c, const mx_executor_options *options)
{
    static rig r;
    mx_error err = {0};
    const float *scores;
    const float *bias = NULL;
    rig_init(&r, 80);
    const mx_value x = rig_input(&r, N_EXPERTS, &scores);
    const mx_value ids = rig_value(&r, MX_ROWS_TOKENS, 1, c->params.top_k, MX_VALUE_I32);
    const mx_value weights = rig_value(&r, MX_ROWS_TOKENS, 1, c->params.top_k, MX_VALUE_F32);
    mx_op *op = rig_op(&r, MX_OP_ROUTE, x, MX_NO_VALUE, MX_NO_VALUE, ids);
    op->out[1] = weights;
    op->u.route = c->params;
    op->u.route.bias = c->has_bias ? rig_random_vector(&r, N_EXPERTS, &bias) : MX_NO_WEIGHT;
    MX_CHECK_OK(rig_open(&r, weights, options, &err), &err);
    rig_add_tokens(&r, 0, 19);
    MX_CHECK_OK(rig_run(&r, &err), &err);
    for (int32_t t = 0; t < r.batch.n_tokens; t++) {
        double wanted[TOP_K];
        true_route(&c->params, scores + r.tokens[t] * N_EXPERTS, bias, wanted);
        for (int32_t j = 0; j < c->params.top_k; j++) {
            const double found = (double)mx_executor_view_logits(r.executor)[t * c->params.top_k + j];
            if (!(fabs(found - wanted[j]) <= 1e-6 * (1.0 + fabs(wanted[j])))) {
                MX_TEST_FAIL("%s, %s, token %d: weight %d is %.8g, wanted %.8g", c->name, variant_name(options), t, j,
                             found, wanted[j]);
            }
        }
    }
    rig_deinit(&r);
}

MX_TEST(tokens_are_routed_to_their_largest_scores)
{
    mx_executor_options options[MAX_VARIANTS];
    const int32_t n_variants = list_variants(options);
    for (int32_t v = 0; v < n_variants; v++) {
        for (size_t i = 0; i < MX_COUNTOF(route_cases); i++) {
            check_route(&route_cases[i], &options[v]);
        }
    }
}

MX_TEST(experts_are_combined_in_the_order_of_the_routing)
{
    mx_executor_options options[MAX_VARIANTS];
    const int32_t n_variants = list_variants(options);
    for (int32_t v = 0; v < n_variants; v++) {
        static rig r;
        mx_error err = {0};
        const float *rows, *weights; /* top_k of 1: one row of x a token */
        rig_init(&r, 90);
        const mx_value x = rig_input(&r, 21, &rows);
        const mx_value w = rig_input(&r, 1, &weights);
        const mx_value y = rig_value(&r, MX_ROWS_TOKENS, 1, 21, MX_VALUE_F32);
        (void)rig_op(&r, MX_OP_EXPERT_COMBINE, x, w, MX_NO_VALUE, y);
        MX_CHECK_OK(rig_open(&r, y, &options[v], &err), &err);
        rig_add_tokens(&r, 0, 7);
        MX_CHECK_OK(rig_run(&r, &err), &err);
        for (int32_t i = 0; i < 7 * 21; i++) {
            const int32_t token = r.tokens[i / 21];
            MX_CHECK_NEAR(mx_executor_view_logits(r.executor)[i], weights[token] * rows[token * 21 + i % 21], 1e-6);
        }
        rig_deinit(&r);
    }
}

MX_TEST_MAIN(MX_CASE(operations_on_rows_are_right), MX_CASE(rows_of_positions_are_added),
             MX_CASE(the_sampled_rows_are_gathered), MX_CASE(tokens_are_routed_to_their_largest_scores),
             MX_CASE(experts_are_combined_in_the_order_of_the_routing))
