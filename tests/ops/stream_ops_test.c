/* stream_ops_test.c - the operations on several values side by side, and SCALE_CHOSEN, against f64.
 *
 * Error model: sums of some 40 products of values of about 1 in f32, a relative error of TOLERANCE, or the same of 1
 * near zero.
 */
#include <math.h>

#include "tests/ops/rig.h"
#include "tests/ops/variants.h"
#include "tests/test.h"

#define TOLERANCE 2e-6
#define N_STREAMS 3
#define N_COLS    14 /* of one stream */
#define N_ALL     (N_STREAMS * N_COLS)

/* Rows of the inputs of one token. */
typedef struct stream_row {
    double x[N_ALL], a[N_COLS], b[N_COLS], mix[N_STREAMS * N_STREAMS], add[N_STREAMS];
} stream_row;

typedef struct stream_case {
    const char *name;
    mx_op_kind kind;
    int64_t n_out;
    void (*truth)(const stream_row *r, double *y);
} stream_case;

static void true_concat(const stream_row *r, double *y)
{
    for (int32_t c = 0; c < N_COLS; c++) {
        y[c] = r->a[c];
        y[N_COLS + c] = r->b[c];
    }
}

static double mean_square(const double *x)
{
    double sum = 0.0;
    for (int32_t c = 0; c < N_COLS; c++) {
        sum += x[c] * x[c] / N_COLS;
    }
    return sum;
}

static void true_match_rms(const stream_row *r, double *y)
{
    for (int32_t c = 0; c < N_COLS; c++) {
        y[c] = r->a[c] * sqrt(mean_square(r->b) / fmax(mean_square(r->a), (double)0.3f));
    }
}

static void true_cutoff(const stream_row *r, double *y)
{
    double mean = 0.0;
    double variance = 0.0;
    for (int32_t c = 0; c < N_COLS; c++) {
        mean += r->a[c] / N_COLS;
    }
    for (int32_t c = 0; c < N_COLS; c++) {
        variance += (r->a[c] - mean) * (r->a[c] - mean) / N_COLS;
    }
    for (int32_t c = 0; c < N_COLS; c++) {
        y[c] = fmax(r->a[c] - mean - (double)0.3f * sqrt(variance), 0.0);
    }
}

static void true_mix(const stream_row *r, double *y)
{
    for (int32_t j = 0; j < N_STREAMS; j++) {
        for (int32_t c = 0; c < N_COLS; c++) {
            y[j * N_COLS + c] = r->x[j * N_COLS + c];
            for (int32_t i = 0; i < N_STREAMS; i++) {
                y[j * N_COLS + c] += r->mix[j * N_STREAMS + i] * r->x[i * N_COLS + c];
            }
        }
    }
}

static void true_add(const stream_row *r, double *y)
{
    for (int32_t i = 0; i < N_ALL; i++) {
        const double weight = r->add[i / N_COLS] + 1.0;
        y[i] = r->x[i] + (i < N_COLS ? 0.0 : weight * r->a[i % N_COLS]);
    }
}

static void true_add_plain(const stream_row *r, double *y)
{
    for (int32_t i = 0; i < N_ALL; i++) {
        y[i] = r->x[i] + (i < N_COLS ? 0.0 : r->a[i % N_COLS]);
    }
}

enum { WITHOUT_WEIGHTS = 5 }; /* place of that case */

static const stream_case op_cases[] = {
    {"CONCAT", MX_OP_CONCAT, 2 * N_COLS, true_concat},
    {"MATCH_RMS", MX_OP_MATCH_RMS, N_COLS, true_match_rms},
    {"CUTOFF", MX_OP_CUTOFF, N_COLS, true_cutoff},
    {"MIX_STREAMS", MX_OP_MIX_STREAMS, N_ALL, true_mix},
    {"ADD_STREAMS", MX_OP_ADD_STREAMS, N_ALL, true_add},
    {"ADD_STREAMS without weights", MX_OP_ADD_STREAMS, N_ALL, true_add_plain},
};

typedef struct stream_tables {
    const float *x, *a, *b, *mix, *add;
} stream_tables;

static void fill(double *out, const float *table, int32_t token, int64_t n)
{
    for (int64_t c = 0; c < n; c++) {
        out[c] = (double)table[token * n + c];
    }
}

static void check(const rig *r, const stream_case *c, const stream_tables *t, const mx_executor_options *o)
{
    const float *y = mx_executor_view_logits(r->executor);
    double worst = 0.0;
    for (int32_t i = 0; i < r->batch.n_tokens; i++) {
        stream_row row;
        double wanted[N_ALL];
        fill(row.x, t->x, r->tokens[i], N_ALL);
        fill(row.a, t->a, r->tokens[i], N_COLS);
        fill(row.b, t->b, r->tokens[i], N_COLS);
        fill(row.mix, t->mix, r->tokens[i], N_STREAMS * N_STREAMS);
        fill(row.add, t->add, r->tokens[i], N_STREAMS);
        c->truth(&row, wanted);
        for (int64_t k = 0; k < c->n_out; k++) {
            const double e = fabs((double)y[i * c->n_out + k] - wanted[k]) / (1.0 + fabs(wanted[k]));
            worst = e > worst || isnan(e) ? e : worst;
        }
    }
    if (!(worst <= TOLERANCE)) {
        MX_TEST_FAIL("%s, %s, %d rows: off by %.3g", c->name, variant_name(o), r->batch.n_tokens, worst);
    }
}

static void add_op(rig *r, int32_t i_case, stream_tables *t, mx_value y)
{
    const stream_case *c = &op_cases[i_case];
    const mx_value x = rig_input(r, N_ALL, &t->x);
    const mx_value a = rig_input(r, N_COLS, &t->a);
    const mx_value b = rig_input(r, N_COLS, &t->b);
    const mx_value mix = rig_input(r, N_STREAMS * N_STREAMS, &t->mix);
    const mx_value add = rig_input(r, N_STREAMS, &t->add);
    if (c->kind == MX_OP_MIX_STREAMS) {
        rig_op(r, c->kind, x, mix, MX_NO_VALUE, y)->u.streams.n_streams = N_STREAMS;
    } else if (c->kind == MX_OP_ADD_STREAMS) {
        rig_op(r, c->kind, x, a, i_case == WITHOUT_WEIGHTS ? MX_NO_VALUE : add, y)->u.streams =
            (mx_streams_params){.n_streams = N_STREAMS, .first = 1, .offset = 1.0f};
    } else {
        rig_op(r, c->kind, a, c->kind == MX_OP_CUTOFF ? MX_NO_VALUE : b, MX_NO_VALUE, y)->u.scale.factor = 0.3f;
    }
}

MX_TEST(operations_on_streams_are_right)
{
    mx_executor_options options[MAX_VARIANTS];
    const int32_t n_variants = list_variants(options);
    for (int32_t i = 0; i < (int32_t)MX_COUNTOF(op_cases); i++) {
        for (int32_t v = 0; v < n_variants; v++) {
            static rig r;
            mx_error err = {0};
            stream_tables tables;
            rig_init(&r, UINT64_C(300) + (uint64_t)i);
            const mx_value y = rig_value(&r, MX_ROWS_TOKENS, 1, op_cases[i].n_out, MX_VALUE_F32);
            add_op(&r, i, &tables, y);
            MX_CHECK_OK(rig_open(&r, y, &options[v], &err), &err);
            rig_add_tokens(&r, 0, 17);
            rig_add_tokens(&r, 1, 1);
            MX_CHECK_OK(rig_run(&r, &err), &err);
            check(&r, &op_cases[i], &tables, &options[v]);
            rig_deinit(&r);
        }
    }
}

MX_TEST(what_an_expert_counts_is_scaled_by_its_own_number)
{
    enum { N_EXPERTS = 9, N_CHOSEN = 3 };
    mx_executor_options options[MAX_VARIANTS];
    const int32_t n_variants = list_variants(options);
    for (int32_t v = 0; v < n_variants; v++) {
        static rig r;
        mx_error err = {0};
        const float *table, *numbers;
        rig_init(&r, 77);
        const mx_value scores = rig_input(&r, N_EXPERTS, &table);
        const mx_value ids = rig_value(&r, MX_ROWS_TOKENS, 1, N_CHOSEN, MX_VALUE_I32);
        const mx_value weights = rig_value(&r, MX_ROWS_TOKENS, 1, N_CHOSEN, MX_VALUE_F32);
        const mx_value y = rig_value(&r, MX_ROWS_TOKENS, 1, N_CHOSEN, MX_VALUE_F32);
        mx_op *route = rig_op(&r, MX_OP_ROUTE, scores, MX_NO_VALUE, MX_NO_VALUE, ids);
        route->out[1] = weights;
        route->u.route =
            (mx_route_params){.top_k = N_CHOSEN, .score = MX_SCORE_SIGMOID, .bias = MX_NO_WEIGHT, .scale = 1.0f};
        rig_op(&r, MX_OP_SCALE_CHOSEN, weights, ids, MX_NO_VALUE, y)->u.vector.weight =
            rig_random_vector(&r, N_EXPERTS, &numbers);
        MX_CHECK_OK(rig_open(&r, y, &options[v], &err), &err);
        rig_add_tokens(&r, 0, 11);
        MX_CHECK_OK(rig_run(&r, &err), &err);
        for (int32_t t = 0; t < 11; t++) {
            const float *x = table + (int64_t)r.tokens[t] * N_EXPERTS;
            double last = HUGE_VAL;
            for (int32_t j = 0; j < N_CHOSEN; j++) {
                int32_t best = -1; /* the largest that is smaller than the one before */
                for (int32_t e = 0; e < N_EXPERTS; e++) {
                    best = (double)x[e] < last && (best < 0 || x[e] > x[best]) ? e : best;
                }
                last = (double)x[best];
                const double wanted = (double)numbers[best] / (1.0 + exp(-last));
                MX_CHECK_NEAR(mx_executor_view_logits(r.executor)[t * N_CHOSEN + j], wanted, 2e-6);
            }
        }
        rig_deinit(&r);
    }
}

MX_TEST_MAIN(MX_CASE(operations_on_streams_are_right), MX_CASE(what_an_expert_counts_is_scaled_by_its_own_number))
