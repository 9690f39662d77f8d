/* recurrent_chunks.c - convolutions and state spaces by the kernels of an instruction set.
 *
 * A chunk of a Mamba 2 head, with la[t] = sum of dt * a up to t (Dao & Gu, "Transformers are SSMs", section 6):
 *
 *     y = M x + exp(la) c s,   M[t,u] = (c[t] . b[u]) exp(la[t] - la[u]) dt[u] for u <= t
 *     s = exp(la[last]) s + sum_u exp(la[last] - la[u]) dt[u] b[u] (x) x[u]
 *
 * c . b is the same for all heads of a group, which one thread mostly works on. Mamba 1 decays each number of the state
 * by its own, which no such product does: its channels go token by token, over registers.
 */
#include "backend/cpu/recurrent_chunks.h"

#include <math.h>
#include <string.h>

#include "backend/cpu/kernels.h"

#define STEP_ROWS 4 /* up to so many rows go token by token */

mx_head_view mx_cpu_head_view(const mx_cpu_task *task, mx_value value, const mx_columns *view, int64_t first)
{
    if (value == MX_NO_VALUE) {
        return (mx_head_view){NULL, 0};
    }
    return (mx_head_view){mx_cpu_f32(task, value) + mx_columns_at(view, first),
                          mx_cpu_info_of(task->cpu, value)->n_cols};
}

void mx_cpu_for_each_state_row(const mx_cpu_task *task, int64_t n_rows,
                               void (*run)(const mx_cpu_task *task, int32_t i_seq, int64_t row))
{
    int64_t from;
    int64_t to;
    mx_cpu_split(task, task->batch->n_seqs * n_rows, &from, &to);
    for (int64_t i = from; i < to; i++) {
        const int32_t i_seq = (int32_t)(i / n_rows);
        if (mx_cpu_n_seq_rows(task, i_seq) > 0) {
            run(task, i_seq, i % n_rows);
        }
    }
}

/* CAUSAL_CONV ------------------------------------------------------------------------------------------------------ */

/* Channels from `channel` on that lie side by side in all views, at most n. */
static int32_t count_neighbours(const mx_conv_params *p, int64_t channel, int64_t n)
{
    const mx_columns *views[] = {&p->x, &p->in_gate, &p->out_gate};
    for (size_t i = 0; i < MX_COUNTOF(views); i++) {
        if (views[i]->n_group > 0) {
            n = MX_MIN(n, views[i]->n_group - channel % views[i]->n_group);
        }
    }
    return (int32_t)n;
}

#define CONV_BLOCK 128 /* channels of a piece of work, and rows that go through them together: a page or two a row */
#define CONV_ROWS  16

/* Rows [row, row + n_rows) of channels from `channel` on that are neighbours in all views; state is theirs. */
static void convolve_rows(const mx_cpu_task *task, int64_t channel, int32_t n_channels, float *state, int64_t row,
                          int64_t n_rows)
{
    const mx_conv_params *p = &task->op->u.conv;
    const int64_t n_cols = mx_cpu_info_of(task->cpu, task->op->out[0])->n_cols;
    const float *bias = mx_cpu_vector(task->cpu, p->bias);
    const mx_head_view x = mx_cpu_head_view(task, task->op->in[0], &p->x, channel);
    const mx_head_view in_gate = mx_cpu_head_view(task, task->op->in[1], &p->in_gate, channel);
    const mx_head_view out_gate = mx_cpu_head_view(task, task->op->in[2], &p->out_gate, channel);
    task->cpu->kernels->recurrent.convolve(&(mx_conv_part){
        .x = x.at + row * x.stride,
        .x_stride = x.stride,
        .in_gate = in_gate.at ? in_gate.at + row * in_gate.stride : NULL,
        .in_stride = in_gate.stride,
        .out_gate = out_gate.at ? out_gate.at + row * out_gate.stride : NULL,
        .out_stride = out_gate.stride,
        .y = mx_cpu_f32(task, task->op->out[0]) + row * n_cols + channel,
        .y_stride = n_cols,
        .w = mx_cpu_vector(task->cpu, p->weight) + (p->first_channel + channel) * p->width,
        .bias = bias ? bias + p->first_channel + channel : NULL,
        .state = state,
        .width = p->width,
        .n_channels = n_channels,
        .n_rows = n_rows,
        .has_silu = p->has_silu,
    });
}

static void convolve_block(const mx_cpu_task *task, int32_t i_seq, int64_t i_block)
{
    const mx_conv_params *p = &task->op->u.conv;
    const int64_t n_cols = mx_cpu_info_of(task->cpu, task->op->out[0])->n_cols;
    const int64_t first = i_block * CONV_BLOCK;
    const int64_t end = MX_MIN(first + CONV_BLOCK, n_cols);
    const int64_t to = task->batch->row_start[i_seq + 1];
    float *state = mx_cpu_state_row(task, i_seq, p->i_state, first);
    for (int64_t channel = first + 1; channel < end; channel++) {
        (void)mx_cpu_state_row(task, i_seq, p->i_state, channel);
    }
    for (int64_t row = task->batch->row_start[i_seq]; row < to; row += CONV_ROWS) {
        int32_t n = 0;
        for (int64_t channel = first; channel < end; channel += n) {
            n = count_neighbours(p, channel, MX_MIN(end - channel, (int64_t)MX_CONV_LANES));
            convolve_rows(task, channel, n, state + (channel - first) * (p->width - 1), row,
                          MX_MIN(to - row, (int64_t)CONV_ROWS));
        }
    }
}

void mx_cpu_chunked_conv(const mx_cpu_task *task)
{
    const int64_t n_cols = mx_cpu_info_of(task->cpu, task->op->out[0])->n_cols;
    mx_cpu_for_each_state_row(task, (n_cols + CONV_BLOCK - 1) / CONV_BLOCK, convolve_block);
}

/* SSM_SCAN --------------------------------------------------------------------------------------------------------- */

/* One head of one sequence, and this thread's work space for it. */
typedef struct ssm_head {
    const mx_ssm_params *p;
    const mx_recurrent_kernels *kernels;
    mx_head_view x, dt, b, c;
    float *y;
    int64_t y_stride;
    float *s;
    float dt_bias;
    float skip;
    const float *a;             /* [1], or [d_state] of a Mamba 1 channel */
    double logs[MX_CHUNK_ROWS]; /* la: differences of far larger numbers count */
    float *steps;               /* [MX_CHUNK_ROWS] dt; work spaces from here on */
    float *factors;             /* [MX_CHUNK_ROWS] */
    float *scores;              /* [MX_CHUNK_ROWS, MX_CHUNK_ROWS] */
    float *turned;              /* [max(d_state, 1), MX_CHUNK_ROWS] */
    float *scaled;              /* [MX_CHUNK_ROWS, d_state] */
} ssm_head;

mx_cpu_need mx_cpu_chunked_ssm_need(const mx_cpu *cpu, const mx_op *op)
{
    (void)cpu;
    const size_t n = (size_t)op->u.ssm.d_state;
    return (mx_cpu_need){.n_thread_bytes = (n + MX_CHUNK_ROWS * (2 + MX_CHUNK_ROWS + 2 * n)) * sizeof(float)};
}

static float find_step(const ssm_head *h, int64_t t)
{
    const float dt = mx_ref_softplus(h->dt.at[t * h->dt.stride] + h->dt_bias);
    return fminf(fmaxf(dt, h->p->dt_min), h->p->dt_max);
}

static void step_rows(const ssm_head *h, int64_t from, int64_t to)
{
    const int32_t n = h->p->d_state;
    for (int64_t t = from; t < to; t++) {
        const float dt = find_step(h, t);
        const float *b = h->b.at + t * h->b.stride;
        for (int32_t i = 0; i < n; i++) {
            h->scaled[i] = dt * b[i];
        }
        h->kernels->ssm_step(h->s, h->x.at + t * h->x.stride, h->scaled, h->c.at + t * h->c.stride, expf(dt * h->a[0]),
                             h->skip, n, h->p->head_dim, h->y + t * h->y_stride);
    }
}

static void step_channel(const ssm_head *h, int64_t from, int64_t to)
{
    for (int64_t t = from; t < to; t++) {
        const float x = h->x.at[t * h->x.stride];
        h->y[t * h->y_stride] =
            h->skip * x + h->kernels->ssm_channel_step(h->s, h->a, h->b.at + t * h->b.stride, h->c.at + t * h->c.stride,
                                                       find_step(h, t), x, h->p->d_state);
    }
}

/* scores = M, with the skip on its diagonal. */
static void score_chunk(const ssm_head *h, int64_t t, int32_t n_rows)
{
    const int32_t n = h->p->d_state;
    for (int32_t u = 0; u < n_rows; u++) {
        for (int32_t i = 0; i < n; i++) {
            h->turned[i * MX_CHUNK_ROWS + u] = h->b.at[(t + u) * h->b.stride + i];
        }
    }
    h->kernels->multiply(&(mx_small_product){h->scores, MX_CHUNK_ROWS, h->c.at + t * h->c.stride, h->c.stride, 1,
                                             h->turned, MX_CHUNK_ROWS, n_rows, n_rows, n, false});
    for (int32_t r = 0; r < n_rows; r++) {
        float *row = h->scores + r * MX_CHUNK_ROWS;
        for (int32_t u = 0; u < n_rows; u++) {
            h->factors[u] = u <= r ? (float)(h->logs[r] - h->logs[u]) : -100.0f;
        }
        h->kernels->exponentials(h->factors, h->factors, n_rows);
        for (int32_t u = 0; u < n_rows; u++) {
            row[u] *= h->factors[u] * h->steps[u];
        }
        row[r] += h->skip;
    }
}

static void scan_chunk(ssm_head *h, int64_t t, int32_t n_rows)
{
    const int32_t n = h->p->d_state;
    const int32_t dim = h->p->head_dim;
    const float *x = h->x.at + t * h->x.stride;
    float *y = h->y + t * h->y_stride;
    double log = 0.0;
    for (int32_t r = 0; r < n_rows; r++) {
        h->steps[r] = find_step(h, t + r);
        log += (double)h->steps[r] * (double)h->a[0];
        h->logs[r] = log;
    }
    score_chunk(h, t, n_rows);
    h->kernels->multiply(
        &(mx_small_product){y, h->y_stride, h->scores, MX_CHUNK_ROWS, 1, x, h->x.stride, n_rows, dim, n_rows, false});
    for (int32_t r = 0; r < n_rows; r++) {
        h->factors[r] = (float)h->logs[r];
    }
    h->kernels->exponentials(h->factors, h->factors, n_rows);
    for (int32_t r = 0; r < n_rows; r++) {
        for (int32_t i = 0; i < n; i++) {
            h->scaled[r * n + i] = h->factors[r] * h->c.at[(t + r) * h->c.stride + i];
        }
    }
    h->kernels->multiply(&(mx_small_product){y, h->y_stride, h->scaled, n, 1, h->s, dim, n_rows, dim, n, true});
    const float decay = h->factors[n_rows - 1];
    for (int32_t r = 0; r < n_rows; r++) {
        h->factors[r] = (float)(log - h->logs[r]);
    }
    h->kernels->exponentials(h->factors, h->factors, n_rows);
    for (int64_t i = 0; i < (int64_t)n * dim; i++) {
        h->s[i] *= decay;
    }
    for (int32_t r = 0; r < n_rows; r++) {
        for (int32_t i = 0; i < n; i++) {
            h->scaled[r * n + i] = h->factors[r] * h->steps[r] * h->b.at[(t + r) * h->b.stride + i];
        }
    }
    h->kernels->multiply(&(mx_small_product){h->s, dim, h->scaled, 1, n, x, h->x.stride, n, dim, n_rows, true});
}

static void scan_head(const mx_cpu_task *task, int32_t i_seq, int64_t i_head)
{
    const mx_ssm_params *p = &task->op->u.ssm;
    const mx_cpu *cpu = task->cpu;
    const mx_weight *w = &cpu->program->weights[p->a_log];
    const int32_t n_a = w->n_rows * w->n_cols == p->n_heads ? 1 : p->d_state;
    const float *a_log = mx_cpu_vector(cpu, p->a_log) + i_head * n_a;
    const float *skip = mx_cpu_vector(cpu, p->skip);
    const float *dt_bias = mx_cpu_vector(cpu, p->dt_bias);
    const int64_t group = i_head / (p->n_heads / p->n_groups) * p->d_state;
    float *a = (float *)task->own;
    ssm_head h = {
        .p = p,
        .kernels = &cpu->kernels->recurrent,
        .x = mx_cpu_head_view(task, task->op->in[0], &p->x, i_head * p->head_dim),
        .dt = mx_cpu_head_view(task, task->op->in[1], &p->dt, i_head),
        .b = mx_cpu_head_view(task, task->op->in[2], &p->b, group),
        .c = mx_cpu_head_view(task, task->op->in[3], &p->c, group),
        .y = mx_cpu_f32(task, task->op->out[0]) + i_head * p->head_dim,
        .y_stride = (int64_t)p->n_heads * p->head_dim,
        .s = mx_cpu_state_row(task, i_seq, p->i_state, i_head),
        .dt_bias = dt_bias ? dt_bias[i_head] : 0.0f,
        .skip = skip ? skip[i_head] : 0.0f,
        .a = a,
        .steps = a + p->d_state,
    };
    h.factors = h.steps + MX_CHUNK_ROWS;
    h.scores = h.factors + MX_CHUNK_ROWS;
    h.turned = h.scores + MX_CHUNK_ROWS * MX_CHUNK_ROWS;
    h.scaled = h.turned + (int64_t)MX_CHUNK_ROWS * p->d_state;
    for (int32_t n = 0; n < n_a; n++) {
        a[n] = -expf(a_log[n]);
    }
    const int64_t to = task->batch->row_start[i_seq + 1];
    for (int64_t t = task->batch->row_start[i_seq]; t < to;) {
        const int64_t n_rows = MX_MIN(to - t, (int64_t)MX_CHUNK_ROWS);
        if (n_a > 1 || p->head_dim == 1) {
            for (int32_t n = n_a; n < p->d_state; n++) {
                a[n] = a[0];
            }
            step_channel(&h, t, t + n_rows);
        } else if (n_rows <= STEP_ROWS) {
            step_rows(&h, t, t + n_rows);
        } else {
            scan_chunk(&h, t, (int32_t)n_rows);
        }
        t += n_rows;
    }
}

void mx_cpu_chunked_ssm(const mx_cpu_task *task)
{
    mx_cpu_for_each_state_row(task, task->op->u.ssm.n_heads, scan_head);
}
