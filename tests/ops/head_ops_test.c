/* head_ops_test.c - the operations on heads, against f64.
 *
 * Error model: a product of K terms is off by at most TOLERANCE of the sum of their sizes: in the plain mode roundings
 * of f32, in the exact mode activations of 15 bits and a sign, in the fast mode of 7.
 */
#include <math.h>
#include <string.h>

#include "tests/ops/rig.h"
#include "tests/ops/variants.h"
#include "tests/test.h"

#define MAX_COLS 64

static const double tolerances[] = {[MX_CPU_REFERENCE] = 1e-6, [MX_CPU_EXACT] = 1e-4, [MX_CPU_FAST] = 3e-2};

typedef struct head_case {
    const char *name;
    mx_quant quant;
    mx_dtype dtype;
    int32_t n_heads;
    int64_t n_rows;
    int64_t n_cols;
} head_case;

static const head_case head_cases[] = {
    {"4 bits", {MX_QUANT_AFFINE, 4, 32}, MX_DTYPE_F16, 3, 20, 64},
    {"8 bits, one head", {MX_QUANT_AFFINE, 8, 32}, MX_DTYPE_BF16, 1, 16, 32},
    {"mxfp4", {MX_QUANT_MXFP4, 4, 32}, MX_DTYPE_U8, 5, 33, 32},
    {"bf16, odd sizes", {MX_QUANT_NONE, 0, 0}, MX_DTYPE_BF16, 4, 7, 13},
    {"f32", {MX_QUANT_NONE, 0, 0}, MX_DTYPE_F32, 2, 40, 24},
};

static void check_products(const rig *r, const head_case *c, const mx_weight *w, const float *x,
                           const mx_executor_options *o)
{
    const float *y = mx_executor_view_logits(r->executor);
    double worst = 0.0;
    for (int32_t t = 0; t < r->batch.n_tokens; t++) {
        for (int64_t i = 0; i < c->n_heads * c->n_rows; i++) {
            const float *head = x + (r->tokens[t] * c->n_heads + i / c->n_rows) * c->n_cols;
            double row[MAX_COLS];
            double scales[MAX_COLS] = {0};
            double sum = 0.0;
            double size = 0.0;
            rig_true_row(w, i / c->n_rows, i % c->n_rows, row, scales);
            for (int64_t k = 0; k < c->n_cols; k++) {
                sum += row[k] * (double)head[k];
                size += (fabs(row[k]) + scales[k]) * fabs((double)head[k]);
            }
            const double e = fabs((double)y[t * c->n_heads * c->n_rows + i] - sum) / size;
            worst = e > worst || isnan(e) ? e : worst;
        }
    }
    if (!(worst <= tolerances[o->cpu_mode])) {
        MX_TEST_FAIL("%s, %s, mode %d, %d rows: off by %.3g", c->name, variant_name(o), o->cpu_mode, r->batch.n_tokens,
                     worst);
    }
}

MX_TEST(each_head_is_multiplied_with_its_own_matrix)
{
    mx_executor_options options[MAX_VARIANTS];
    const int32_t n_variants = list_variants(options);
    for (size_t i = 0; i < MX_COUNTOF(head_cases); i++) {
        static rig r;
        const head_case *c = &head_cases[i];
        const float *x;
        rig_init(&r, 300 + i);
        const mx_value in = rig_input(&r, c->n_heads * c->n_cols, &x);
        const mx_value out = rig_value(&r, MX_ROWS_TOKENS, 1, c->n_heads * c->n_rows, MX_VALUE_F32);
        const mx_weight w = rig_random_weight(&r, c->quant, c->dtype, c->n_heads, c->n_rows, c->n_cols);
        mx_op *op = rig_op(&r, MX_OP_HEAD_LINEAR, in, MX_NO_VALUE, MX_NO_VALUE, out);
        op->u.linear = (mx_linear_params){.n_weights = 1, .biases = {MX_NO_WEIGHT}};
        op->u.linear.weights[0] = rig_weight(&r, &w);
        for (int32_t v = 0; v < n_variants; v++) {
            mx_error err = {0};
            MX_CHECK_OK(rig_open(&r, out, &options[v], &err), &err);
            for (int32_t n = 1; r.executor && n <= 40; n = n * 3 + 2) {
                rig_forget(&r);
                rig_add_tokens(&r, 0, n);
                MX_CHECK_OK(rig_run(&r, &err), &err);
                check_products(&r, c, &w, x, &options[v]);
            }
            rig_close(&r);
        }
        rig_deinit(&r);
    }
}

/* Three heads of 5 and of 4 columns; with n_second 0 only the first. */
static void check_columns(int32_t first, int32_t n_first, int32_t second, int32_t n_second)
{
    mx_executor_options options[MAX_VARIANTS];
    const int32_t n_variants = list_variants(options);
    static rig r;
    const float *a;
    const float *b;
    rig_init(&r, 320);
    const mx_value x = rig_input(&r, 15, &a);
    const mx_value z = n_second ? rig_input(&r, 12, &b) : MX_NO_VALUE;
    const int32_t n = n_first + n_second;
    const mx_value y = rig_value(&r, MX_ROWS_TOKENS, 1, (int64_t)3 * n, MX_VALUE_F32);
    rig_op(&r, MX_OP_HEAD_COLUMNS, x, z, MX_NO_VALUE, y)->u.columns =
        (mx_columns_params){3, first, n_first, second, n_second};
    for (int32_t v = 0; v < n_variants; v++) {
        mx_error err = {0};
        MX_CHECK_OK(rig_open(&r, y, &options[v], &err), &err);
        rig_forget(&r);
        rig_add_tokens(&r, 0, 11);
        MX_CHECK_OK(rig_run(&r, &err), &err);
        for (int32_t i = 0; i < 11 * 3; i++) {
            const float *found = mx_executor_view_logits(r.executor) + (int64_t)i * n;
            const float *of_a = a + r.tokens[i / 3] * 15 + i % 3 * 5 + first;
            MX_CHECK(memcmp(found, of_a, (size_t)n_first * sizeof(float)) == 0);
            MX_CHECK(!n_second || memcmp(found + n_first, b + r.tokens[i / 3] * 12 + i % 3 * 4 + second,
                                         (size_t)n_second * sizeof(float)) == 0);
        }
        rig_close(&r);
    }
    rig_deinit(&r);
}

MX_TEST(columns_of_heads_are_put_together)
{
    check_columns(0, 5, 0, 4);
    check_columns(2, 3, 1, 2);
    check_columns(1, 2, 0, 0);
}

MX_TEST_MAIN(MX_CASE(each_head_is_multiplied_with_its_own_matrix), MX_CASE(columns_of_heads_are_put_together))
