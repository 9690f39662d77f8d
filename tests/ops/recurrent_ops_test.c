/* recurrent_ops_test.c - the operations that keep a state, against f64 over the whole sequence from its first token.
 *
 * Sequences grow by random pieces in ragged batches, some of them absent from a step; each is computed anew in f64 for
 * every step, without a state. Error model: the state is rounded to f32 once a token, and decays, so errors of some ten
 * roundings stay: TOLERANCE of 1 plus the value. Exponentials of the tuned modes are within two units of the last
 * place.
 */
#include <math.h>
#include <string.h>

#include "tests/ops/rig.h"
#include "tests/ops/variants.h"
#include "tests/test.h"

#define TOLERANCE 2e-5
#define MAX_OUT   96
#define MAX_STATE 2048
#define N_SEQS    4

typedef struct fixture fixture;

typedef struct op_case {
    const char *name;
    void (*build)(fixture *f);
    /* y [n_tokens, n_out] of a whole sequence. */
    void (*truth)(const fixture *f, const int32_t *tokens, int32_t n_tokens, double *y);
} op_case;

struct fixture {
    rig r;
    mx_op *op;
    const float *tables[5]; /* of the inputs [RIG_N_VOCAB, widths[i]] */
    int64_t widths[5];
    const float *vectors[5];
    int64_t n_out;
};

static double softplus(double x)
{
    return x > 30.0 ? x : log1p(exp(x));
}

static double silu(double x)
{
    return x / (1.0 + exp(-x));
}

/* Column `column` of the view of input i for a token. */
static double at(const fixture *f, int32_t i, const mx_columns *view, int32_t token, int64_t column)
{
    const int64_t c = view->first + column / view->n_group * view->stride + column % view->n_group;
    return (double)f->tables[i][token * f->widths[i] + c];
}

static mx_value input(fixture *f, int32_t i, int64_t width)
{
    f->widths[i] = width;
    return rig_input(&f->r, width, &f->tables[i]);
}

static void add_op(fixture *f, mx_op_kind kind, const mx_value *in, int32_t n_in, int64_t n_out)
{
    const mx_value out = rig_value(&f->r, MX_ROWS_TOKENS, 1, n_out, MX_VALUE_F32);
    f->n_out = n_out;
    f->op = rig_op(&f->r, kind, MX_NO_VALUE, MX_NO_VALUE, MX_NO_VALUE, out);
    memcpy(f->op->in, in, (size_t)n_in * sizeof *in);
}

static void add_state(fixture *f, int32_t n_rows, int32_t n_cols)
{
    f->r.program.states[0] = (mx_state_spec){n_rows, n_cols};
    f->r.program.n_states = 1;
}

/* A matrix [n_rows, n_cols] of the program's weights. */
static int32_t matrix(fixture *f, int64_t n_rows, int64_t n_cols, const float **values)
{
    const int32_t w = rig_random_vector(&f->r, n_rows * n_cols, values);
    f->r.program.weights[w].n_rows = n_rows;
    f->r.program.weights[w].n_cols = n_cols;
    return w;
}

/* SLICE ----------------------------------------------------------------------------------------------------------- */

static void build_slice(fixture *f)
{
    const mx_value x = input(f, 0, 40);
    add_op(f, MX_OP_SLICE, &x, 1, 12);
    f->op->u.slice.x = (mx_columns){.first = 3, .n_group = 4, .stride = 11};
}

static void true_slice(const fixture *f, const int32_t *tokens, int32_t n_tokens, double *y)
{
    for (int32_t t = 0; t < n_tokens; t++) {
        for (int32_t c = 0; c < 12; c++) {
            y[t * 12 + c] = at(f, 0, &f->op->u.slice.x, tokens[t], c);
        }
    }
}

/* CAUSAL_CONV ------------------------------------------------------------------------------------------------------ */

static void build_conv(fixture *f)
{
    const mx_value x = input(f, 0, 53);
    add_op(f, MX_OP_CAUSAL_CONV, &x, 1, 37);
    f->op->u.conv = (mx_conv_params){.x = {.first = 5, .n_group = 37, .stride = 37},
                                     .width = 4,
                                     .weight = matrix(f, 41, 4, &f->vectors[0]),
                                     .bias = rig_random_vector(&f->r, 41, &f->vectors[1]),
                                     .first_channel = 2,
                                     .has_silu = true};
    add_state(f, 37, 3);
}

static void build_gated_conv(fixture *f)
{
    const mx_value x = input(f, 0, 72);
    add_op(f, MX_OP_CAUSAL_CONV, (const mx_value[]){x, x, x}, 3, 24);
    f->tables[1] = f->tables[2] = f->tables[0];
    f->widths[1] = f->widths[2] = 72;
    f->op->u.conv = (mx_conv_params){.in_gate = {.first = 0, .n_group = 24, .stride = 24},
                                     .out_gate = {.first = 24, .n_group = 24, .stride = 24},
                                     .x = {.first = 48, .n_group = 8, .stride = 8},
                                     .width = 3,
                                     .weight = matrix(f, 24, 3, &f->vectors[0]),
                                     .bias = MX_NO_WEIGHT};
    add_state(f, 24, 2);
}

static void true_conv(const fixture *f, const int32_t *tokens, int32_t n_tokens, double *y)
{
    const mx_conv_params *p = &f->op->u.conv;
    for (int32_t t = 0; t < n_tokens; t++) {
        for (int64_t c = 0; c < f->n_out; c++) {
            double sum = p->bias == MX_NO_WEIGHT ? 0.0 : (double)f->vectors[1][p->first_channel + c];
            for (int32_t j = 0; j < p->width; j++) {
                const int32_t from = t - p->width + 1 + j;
                if (from >= 0) {
                    const double gate = f->op->in[1] == MX_NO_VALUE ? 1.0 : at(f, 1, &p->in_gate, tokens[from], c);
                    sum += (double)f->vectors[0][(p->first_channel + c) * p->width + j] * gate *
                           at(f, 0, &p->x, tokens[from], c);
                }
            }
            sum = p->has_silu ? silu(sum) : sum;
            y[t * f->n_out + c] = sum * (f->op->in[2] == MX_NO_VALUE ? 1.0 : at(f, 2, &p->out_gate, tokens[t], c));
        }
    }
}

/* SSM_SCAN --------------------------------------------------------------------------------------------------------- */

/* Mamba 2: x, b and c are parts of one value. */
static void build_mamba2(fixture *f)
{
    const mx_value x = input(f, 0, 6 * 16 + 2 * 2 * 20);
    const mx_value dt = input(f, 1, 9);
    add_op(f, MX_OP_SSM_SCAN, (const mx_value[]){x, dt, x, x}, 4, 96);
    f->tables[2] = f->tables[3] = f->tables[0];
    f->widths[2] = f->widths[3] = f->widths[0];
    f->op->u.ssm = (mx_ssm_params){.n_heads = 6,
                                   .head_dim = 16,
                                   .d_state = 20,
                                   .n_groups = 2,
                                   .x = {.first = 0, .n_group = 96, .stride = 96},
                                   .dt = {.first = 3, .n_group = 6, .stride = 6},
                                   .b = {.first = 96, .n_group = 40, .stride = 40},
                                   .c = {.first = 136, .n_group = 40, .stride = 40},
                                   .a_log = rig_random_vector(&f->r, 6, &f->vectors[0]),
                                   .skip = rig_random_vector(&f->r, 6, &f->vectors[1]),
                                   .dt_bias = rig_random_vector(&f->r, 6, &f->vectors[2]),
                                   .dt_min = 0.05f,
                                   .dt_max = 1.5f};
    add_state(f, 6, 16 * 20);
}

static void build_mamba1(fixture *f)
{
    const mx_value x = input(f, 0, 29);
    const mx_value dt = input(f, 1, 29);
    const mx_value bc = input(f, 2, 3 + 2 * 16);
    add_op(f, MX_OP_SSM_SCAN, (const mx_value[]){x, dt, bc, bc}, 4, 29);
    f->tables[3] = f->tables[2];
    f->widths[3] = f->widths[2];
    f->op->u.ssm = (mx_ssm_params){.n_heads = 29,
                                   .head_dim = 1,
                                   .d_state = 16,
                                   .n_groups = 1,
                                   .x = {.n_group = 29, .stride = 29},
                                   .dt = {.n_group = 29, .stride = 29},
                                   .b = {.first = 3, .n_group = 16, .stride = 16},
                                   .c = {.first = 19, .n_group = 16, .stride = 16},
                                   .a_log = matrix(f, 29, 16, &f->vectors[0]),
                                   .skip = MX_NO_WEIGHT,
                                   .dt_bias = MX_NO_WEIGHT,
                                   .dt_max = INFINITY};
    add_state(f, 29, 16);
}

static void true_ssm(const fixture *f, const int32_t *tokens, int32_t n_tokens, double *y)
{
    static double s[MAX_STATE];
    const mx_ssm_params *p = &f->op->u.ssm;
    const bool is_wide = f->r.program.weights[p->a_log].n_rows > 1;
    memset(s, 0, sizeof s);
    for (int32_t t = 0; t < n_tokens; t++) {
        for (int32_t h = 0; h < p->n_heads; h++) {
            const double bias = p->dt_bias == MX_NO_WEIGHT ? 0.0 : (double)f->vectors[2][h];
            const double raw = softplus(at(f, 1, &p->dt, tokens[t], h) + bias);
            const double dt = fmin(fmax(raw, (double)p->dt_min), (double)p->dt_max);
            const int64_t g = (int64_t)(h / (p->n_heads / p->n_groups)) * p->d_state;
            for (int32_t i = 0; i < p->head_dim; i++) {
                const int64_t row = (int64_t)h * p->head_dim + i;
                const double x = at(f, 0, &p->x, tokens[t], row);
                double sum = p->skip == MX_NO_WEIGHT ? 0.0 : (double)f->vectors[1][h] * x;
                for (int32_t n = 0; n < p->d_state; n++) {
                    double *v = &s[row * p->d_state + n];
                    const double a = -exp((double)f->vectors[0][is_wide ? h * p->d_state + n : h]);
                    *v = exp(dt * a) * *v + dt * x * at(f, 2, &p->b, tokens[t], g + n);
                    sum += *v * at(f, 3, &p->c, tokens[t], g + n);
                }
                y[t * f->n_out + row] = sum;
            }
        }
    }
}

/* DELTA_RULE ------------------------------------------------------------------------------------------------------- */

static void build_delta_of(fixture *f, bool has_channel_gate)
{
    const int64_t n_gates = has_channel_gate ? 4 * 12 : 4;
    const mx_value qk = input(f, 0, 2 * 2 * 12 + 5);
    const mx_value v = input(f, 2, 4 * 20);
    const mx_value gate = input(f, 3, n_gates + 4);
    const mx_value beta = input(f, 4, 9);
    add_op(f, MX_OP_DELTA_RULE, (const mx_value[]){qk, qk, v, gate, beta}, 5, 80);
    f->tables[1] = f->tables[0];
    f->widths[1] = f->widths[0];
    f->op->u.delta = (mx_delta_params){.n_k_heads = 2,
                                       .n_v_heads = 4,
                                       .k_dim = 12,
                                       .v_dim = 20,
                                       .q = {.first = 1, .n_group = 12, .stride = 26},
                                       .k = {.first = 13, .n_group = 12, .stride = 26},
                                       .v = {.n_group = 80, .stride = 80},
                                       .gate = {.first = 4, .n_group = n_gates, .stride = n_gates},
                                       .beta = {.first = 1, .n_group = 2, .stride = 5},
                                       .has_channel_gate = has_channel_gate,
                                       .a_log = rig_random_vector(&f->r, 4, &f->vectors[0]),
                                       .dt_bias = rig_random_vector(&f->r, n_gates, &f->vectors[1]),
                                       .q_scale = 0.7f};
    add_state(f, 4, 12 * 20);
}

static void build_delta(fixture *f)
{
    build_delta_of(f, false);
}

static void build_channel_delta(fixture *f)
{
    build_delta_of(f, true);
}

static void true_delta(const fixture *f, const int32_t *tokens, int32_t n_tokens, double *y)
{
    static double s[MAX_STATE];
    const mx_delta_params *p = &f->op->u.delta;
    memset(s, 0, sizeof s);
    for (int32_t t = 0; t < n_tokens; t++) {
        for (int32_t h = 0; h < p->n_v_heads; h++) {
            const int32_t i_k = h / (p->n_v_heads / p->n_k_heads) * p->k_dim;
            double *state = s + h * p->k_dim * p->v_dim;
            double q_sum = 1e-6;
            double k_sum = 1e-6;
            for (int32_t i = 0; i < p->k_dim; i++) {
                q_sum += pow(at(f, 0, &p->q, tokens[t], i_k + i), 2);
                k_sum += pow(at(f, 1, &p->k, tokens[t], i_k + i), 2);
                const int32_t g = p->has_channel_gate ? h * p->k_dim + i : h;
                const double decay = exp(-exp((double)f->vectors[0][h]) *
                                         softplus(at(f, 3, &p->gate, tokens[t], g) + (double)f->vectors[1][g]));
                for (int32_t j = 0; j < p->v_dim; j++) {
                    state[i * p->v_dim + j] *= decay;
                }
            }
            const double beta = 1.0 / (1.0 + exp(-at(f, 4, &p->beta, tokens[t], h)));
            for (int32_t j = 0; j < p->v_dim; j++) {
                double change = at(f, 2, &p->v, tokens[t], h * p->v_dim + j);
                for (int32_t i = 0; i < p->k_dim; i++) {
                    change -= at(f, 1, &p->k, tokens[t], i_k + i) / sqrt(k_sum) * state[i * p->v_dim + j];
                }
                double sum = 0.0;
                for (int32_t i = 0; i < p->k_dim; i++) {
                    state[i * p->v_dim + j] += beta * change * at(f, 1, &p->k, tokens[t], i_k + i) / sqrt(k_sum);
                    sum += at(f, 0, &p->q, tokens[t], i_k + i) / sqrt(q_sum) * state[i * p->v_dim + j];
                }
                y[t * f->n_out + h * p->v_dim + j] = sum * (double)p->q_scale;
            }
        }
    }
}

/* RG_LRU ----------------------------------------------------------------------------------------------------------- */

static void build_lru(fixture *f)
{
    const mx_value x = input(f, 0, 3 * 17);
    add_op(f, MX_OP_RG_LRU, &x, 1, 51);
    f->op->u.lru = (mx_lru_params){.n_heads = 3,
                                   .width = 17,
                                   .input_weight = matrix(f, 51, 17, &f->vectors[0]),
                                   .input_bias = rig_random_vector(&f->r, 51, &f->vectors[1]),
                                   .recurrent_weight = matrix(f, 51, 17, &f->vectors[2]),
                                   .recurrent_bias = rig_random_vector(&f->r, 51, &f->vectors[3]),
                                   .decay = rig_random_vector(&f->r, 51, &f->vectors[4])};
    add_state(f, 3, 17);
}

static double true_gate(const fixture *f, int32_t token, int32_t j, const float *w, const float *bias)
{
    double sum = (double)bias[j];
    for (int32_t k = 0; k < 17; k++) {
        sum += (double)f->tables[0][token * 51 + j / 17 * 17 + k] * (double)w[(j / 17 * 17 + k) * 17 + j % 17];
    }
    return 1.0 / (1.0 + exp(-sum));
}

static void true_lru(const fixture *f, const int32_t *tokens, int32_t n_tokens, double *y)
{
    for (int32_t t = 0; t < n_tokens; t++) {
        for (int32_t j = 0; j < 51; j++) {
            const double in = true_gate(f, tokens[t], j, f->vectors[0], f->vectors[1]);
            const double log =
                -8.0 * true_gate(f, tokens[t], j, f->vectors[2], f->vectors[3]) * softplus((double)f->vectors[4][j]);
            const double x = in * (double)f->tables[0][tokens[t] * 51 + j];
            y[t * 51 + j] = t == 0 ? x : exp(log) * y[(t - 1) * 51 + j] + sqrt(1.0 - exp(2.0 * log)) * x;
        }
    }
}

static const op_case op_cases[] = {
    {"SLICE in groups", build_slice, true_slice},
    {"CAUSAL_CONV with bias and SiLU", build_conv, true_conv},
    {"CAUSAL_CONV with gates", build_gated_conv, true_conv},
    {"SSM_SCAN of Mamba 2", build_mamba2, true_ssm},
    {"SSM_SCAN of Mamba 1", build_mamba1, true_ssm},
    {"DELTA_RULE, a gate a head", build_delta, true_delta},
    {"DELTA_RULE, a gate a channel", build_channel_delta, true_delta},
    {"RG_LRU", build_lru, true_lru},
};

static void check_step(const fixture *f, const op_case *c, const mx_executor_options *o, const char *what)
{
    static double wanted[RIG_MAX_HISTORY * MAX_OUT];
    const mx_batch *b = &f->r.batch;
    const float *y = mx_executor_view_logits(f->r.executor);
    double worst = 0.0;
    for (int32_t i = 0; i < b->n_seqs; i++) {
        const int32_t n_new = b->row_start[i + 1] - b->row_start[i];
        const int32_t n_all = f->r.kv_len[i];
        if (n_new == 0) {
            continue;
        }
        c->truth(f, f->r.history[i], n_all, wanted);
        for (int64_t j = 0; j < n_new * f->n_out; j++) {
            const double w = wanted[(n_all - n_new) * f->n_out + j];
            const double e = fabs((double)y[b->row_start[i] * f->n_out + j] - w) / (1.0 + fabs(w));
            worst = e > worst || isnan(e) ? e : worst;
        }
    }
    if (!(worst <= TOLERANCE)) {
        MX_TEST_FAIL("%s, %s, mode %d, %s, %d rows: off by %.3g", c->name, variant_name(o), o->cpu_mode, what,
                     b->n_tokens, worst);
    }
}

/* Pieces of 0 to 70 tokens: past a chunk of any kernel. */
static void run_ragged_steps(fixture *f, const op_case *c, const mx_executor_options *o)
{
    static const int32_t pieces[][N_SEQS] = {{1, 70, 3, 0}, {1, 0, 1, 2}, {64, 1, 1, 33}, {2, 65, 17, 1}, {1, 1, 1, 1}};
    mx_error err = {0};
    for (size_t i = 0; i < MX_COUNTOF(pieces); i++) {
        rig_begin_step(&f->r);
        for (int32_t j = 0; j < N_SEQS; j++) {
            rig_add_tokens(&f->r, j, pieces[i][j]);
        }
        MX_CHECK_OK(rig_run(&f->r, &err), &err);
        check_step(f, c, o, "in pieces");
    }
}

/* Sequence 3 becomes what sequence 1 is, and both go on by themselves. */
static void run_fork(fixture *f, const op_case *c, const mx_executor_options *o)
{
    mx_error err = {0};
    rig *r = &f->r;
    MX_CHECK_OK(mx_executor_copy_state(r->executor, r->state_slots[1], r->state_slots[3], &err), &err);
    memcpy(r->history[3], r->history[1], sizeof r->history[1]);
    memcpy(r->page_table + 3 * RIG_PAGE_COLS, r->page_table + RIG_PAGE_COLS, RIG_PAGE_COLS * sizeof(int32_t));
    r->kv_len[3] = r->kv_len[1];
    rig_begin_step(r);
    rig_add_tokens(r, 1, 5);
    rig_add_tokens(r, 3, 9);
    MX_CHECK_OK(rig_run(r, &err), &err);
    check_step(f, c, o, "after a fork");
}

MX_TEST(states_go_on_in_ragged_batches_forks_and_slots_used_again)
{
    mx_executor_options options[MAX_VARIANTS];
    const int32_t n_variants = list_variants(options);
    for (size_t i = 0; i < MX_COUNTOF(op_cases); i++) {
        static fixture f;
        f = (fixture){0};
        rig_init(&f.r, 300 + i);
        op_cases[i].build(&f);
        for (int32_t v = 0; v < n_variants; v++) {
            mx_error err = {0};
            if (!MX_CHECK_OK(rig_open(&f.r, f.op->out[0], &options[v], &err), &err)) {
                continue;
            }
            rig_forget(&f.r);
            run_ragged_steps(&f, &op_cases[i], &options[v]);
            run_fork(&f, &op_cases[i], &options[v]);
            rig_forget(&f.r); /* whose slots start anew at position 0 */
            run_ragged_steps(&f, &op_cases[i], &options[v]);
            rig_close(&f.r);
        }
        rig_deinit(&f.r);
    }
}

MX_TEST_MAIN(MX_CASE(states_go_on_in_ragged_batches_forks_and_slots_used_again))
