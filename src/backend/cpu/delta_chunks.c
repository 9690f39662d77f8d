/* delta_chunks.c - the gated delta rule by the kernels of an instruction set.
 *
 * A chunk of a head whose gate is one number a token, with la[t] the sum of its logarithms up to t:
 *
 *     u[t] = beta[t] (v[t] - exp(la[t]) k[t] s - sum_{r<t} exp(la[t] - la[r]) (k[t] . k[r]) u[r])
 *     y[t] = exp(la[t]) q[t] s + sum_{r<=t} exp(la[t] - la[r]) (q[t] . k[r]) u[r]
 *     s    = exp(la[last]) s + sum_r exp(la[last] - la[r]) k[r] (x) u[r]
 *
 * u solves a triangular system, row after row; all else is products. A gate by channel has no such form that is safe
 * for every gate (its factors overflow apart), so its tokens go one by one.
 * Source: Yang et al., "Parallelizing Linear Transformers with the Delta Rule", arXiv 2406.06484, and 2412.06464.
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/kernels.h"
#include "backend/cpu/recurrent_chunks.h"

#define STEP_ROWS      4
#define DELTA_NORM_EPS 1e-6f

/* One head of one sequence, and this thread's work space for it. */
typedef struct delta_head {
    const mx_delta_params *p;
    const mx_recurrent_kernels *kernels;
    mx_head_view q, k, v, gate, beta;
    const float *dt_bias; /* [1], or [k_dim]; NULL: none */
    float a;              /* exp(a_log) */
    float *y;
    int64_t y_stride;
    float *s;
    float *qn; /* [MX_CHUNK_ROWS, k_dim] q and k after their norms */
    float *kn;
    float *turned;              /* [k_dim, MX_CHUNK_ROWS] k again */
    float *u;                   /* [MX_CHUNK_ROWS, v_dim] */
    float *scores;              /* [MX_CHUNK_ROWS, MX_CHUNK_ROWS] */
    double logs[MX_CHUNK_ROWS]; /* la: differences of far larger numbers count */
    float *betas;               /* [MX_CHUNK_ROWS] and the next */
    float *factors;
    float *decay; /* [k_dim] */
} delta_head;

mx_cpu_need mx_cpu_chunked_delta_need(const mx_cpu *cpu, const mx_op *op)
{
    (void)cpu;
    const size_t n_k = (size_t)op->u.delta.k_dim;
    const size_t n_v = (size_t)op->u.delta.v_dim;
    return (mx_cpu_need){.n_thread_bytes = (MX_CHUNK_ROWS * (3 * n_k + n_v + MX_CHUNK_ROWS + 2) + n_k) * sizeof(float)};
}

static void normalize(float *y, const float *x, int32_t n, float factor)
{
    float sum = 0.0f;
    for (int32_t i = 0; i < n; i++) {
        sum += x[i] * x[i];
    }
    factor /= sqrtf(sum + DELTA_NORM_EPS);
    for (int32_t i = 0; i < n; i++) {
        y[i] = x[i] * factor;
    }
}

/* The logarithm of the decay that gate i of row t makes. */
static float find_log(const delta_head *h, int64_t t, int32_t i)
{
    return -h->a * mx_ref_softplus(h->gate.at[t * h->gate.stride + i] + (h->dt_bias ? h->dt_bias[i] : 0.0f));
}

static void prepare_rows(const delta_head *h, int64_t t, int32_t n_rows)
{
    const int32_t n = h->p->k_dim;
    for (int32_t r = 0; r < n_rows; r++) {
        normalize(h->qn + r * n, h->q.at + (t + r) * h->q.stride, n, h->p->q_scale);
        normalize(h->kn + r * n, h->k.at + (t + r) * h->k.stride, n, 1.0f);
        h->betas[r] = 1.0f / (1.0f + expf(-h->beta.at[(t + r) * h->beta.stride]));
    }
}

static void step_rows(const delta_head *h, int64_t t, int32_t n_rows)
{
    const int32_t n = h->p->k_dim;
    const int32_t n_gates = h->p->has_channel_gate ? n : 1;
    prepare_rows(h, t, n_rows);
    for (int32_t r = 0; r < n_rows; r++) {
        for (int32_t i = 0; i < n_gates; i++) {
            h->decay[i] = find_log(h, t + r, i);
        }
        h->kernels->exponentials(h->decay, h->decay, n_gates);
        for (int32_t i = n_gates; i < n; i++) {
            h->decay[i] = h->decay[0];
        }
        h->kernels->delta_step(h->s, h->qn + r * n, h->kn + r * n, h->decay, h->v.at + (t + r) * h->v.stride,
                               h->betas[r], n, h->p->v_dim, h->u, h->y + (t + r) * h->y_stride);
    }
}

/* factors[u] = exp(la[r] - la[u]) for u < end, 0 behind. */
static void find_factors(const delta_head *h, int32_t r, int32_t end, int32_t n_rows)
{
    for (int32_t u = 0; u < n_rows; u++) {
        h->factors[u] = u < end ? (float)(h->logs[r] - h->logs[u]) : -100.0f;
    }
    h->kernels->exponentials(h->factors, h->factors, n_rows);
}

/* u: first beta (v - exp(la) k s), then row after row what the rows before it explain. */
static void solve_changes(const delta_head *h, int64_t t, int32_t n_rows)
{
    const int32_t n = h->p->k_dim;
    const int32_t dim = h->p->v_dim;
    h->kernels->multiply(&(mx_small_product){h->u, dim, h->kn, n, 1, h->s, dim, n_rows, dim, n, false});
    h->kernels->multiply(
        &(mx_small_product){h->scores, MX_CHUNK_ROWS, h->kn, n, 1, h->turned, MX_CHUNK_ROWS, n_rows, n_rows, n, false});
    for (int32_t r = 0; r < n_rows; r++) {
        const float *v = h->v.at + (t + r) * h->v.stride;
        float *row = h->scores + r * MX_CHUNK_ROWS;
        float *u = h->u + r * dim;
        const float seen = expf((float)h->logs[r]);
        for (int32_t j = 0; j < dim; j++) {
            u[j] = h->betas[r] * (v[j] - seen * u[j]);
        }
        find_factors(h, r, r, n_rows);
        for (int32_t i = 0; i < r; i++) {
            row[i] *= -h->betas[r] * h->factors[i];
        }
        h->kernels->multiply(&(mx_small_product){u, dim, row, MX_CHUNK_ROWS, 1, h->u, dim, 1, dim, r, true});
    }
}

static void run_chunk(delta_head *h, int64_t t, int32_t n_rows)
{
    const int32_t n = h->p->k_dim;
    const int32_t dim = h->p->v_dim;
    float *y = h->y + t * h->y_stride;
    double log = 0.0;
    prepare_rows(h, t, n_rows);
    for (int32_t r = 0; r < n_rows; r++) {
        log += (double)find_log(h, t + r, 0);
        h->logs[r] = log;
        for (int32_t i = 0; i < n; i++) {
            h->turned[i * MX_CHUNK_ROWS + r] = h->kn[r * n + i];
        }
    }
    solve_changes(h, t, n_rows);
    h->kernels->multiply(
        &(mx_small_product){h->scores, MX_CHUNK_ROWS, h->qn, n, 1, h->turned, MX_CHUNK_ROWS, n_rows, n_rows, n, false});
    for (int32_t r = 0; r < n_rows; r++) {
        find_factors(h, r, r + 1, n_rows);
        for (int32_t i = 0; i < n_rows; i++) {
            h->scores[r * MX_CHUNK_ROWS + i] *= h->factors[i];
        }
        const float seen = expf((float)h->logs[r]);
        for (int32_t i = 0; i < n; i++) {
            h->qn[r * n + i] *= seen;
        }
    }
    h->kernels->multiply(&(mx_small_product){y, h->y_stride, h->qn, n, 1, h->s, dim, n_rows, dim, n, false});
    h->kernels->multiply(
        &(mx_small_product){y, h->y_stride, h->scores, MX_CHUNK_ROWS, 1, h->u, dim, n_rows, dim, n_rows, true});
    find_factors(h, n_rows - 1, n_rows, n_rows);
    const float decay = expf((float)log);
    for (int64_t i = 0; i < (int64_t)n * dim; i++) {
        h->s[i] *= decay;
    }
    for (int32_t r = 0; r < n_rows; r++) {
        for (int32_t i = 0; i < n; i++) {
            h->kn[r * n + i] *= h->factors[r];
        }
    }
    h->kernels->multiply(&(mx_small_product){h->s, dim, h->kn, 1, n, h->u, dim, n, dim, n_rows, true});
}

static void run_head(const mx_cpu_task *task, int32_t i_seq, int64_t i_head)
{
    const mx_delta_params *p = &task->op->u.delta;
    const mx_cpu *cpu = task->cpu;
    const int64_t i_k = i_head / (p->n_v_heads / p->n_k_heads) * p->k_dim;
    const int64_t n_gates = p->has_channel_gate ? p->k_dim : 1;
    const float *dt_bias = mx_cpu_vector(cpu, p->dt_bias);
    delta_head h = {
        .p = p,
        .kernels = &cpu->kernels->recurrent,
        .q = mx_cpu_head_view(task, task->op->in[0], &p->q, i_k),
        .k = mx_cpu_head_view(task, task->op->in[1], &p->k, i_k),
        .v = mx_cpu_head_view(task, task->op->in[2], &p->v, i_head * p->v_dim),
        .gate = mx_cpu_head_view(task, task->op->in[3], &p->gate, i_head * n_gates),
        .beta = mx_cpu_head_view(task, task->op->in[4], &p->beta, i_head),
        .dt_bias = dt_bias ? dt_bias + i_head * n_gates : NULL,
        .a = expf(mx_cpu_vector(cpu, p->a_log)[i_head]),
        .y = mx_cpu_f32(task, task->op->out[0]) + i_head * p->v_dim,
        .y_stride = (int64_t)p->n_v_heads * p->v_dim,
        .s = mx_cpu_state_row(task, i_seq, p->i_state, i_head),
        .qn = (float *)task->own,
    };
    const int64_t n_rows_k = (int64_t)MX_CHUNK_ROWS * p->k_dim;
    h.kn = h.qn + n_rows_k;
    h.turned = h.kn + n_rows_k;
    h.u = h.turned + n_rows_k;
    h.scores = h.u + (int64_t)MX_CHUNK_ROWS * p->v_dim;
    h.betas = h.scores + MX_CHUNK_ROWS * MX_CHUNK_ROWS;
    h.factors = h.betas + MX_CHUNK_ROWS;
    h.decay = h.factors + MX_CHUNK_ROWS;
    const int64_t to = task->batch->row_start[i_seq + 1];
    for (int64_t t = task->batch->row_start[i_seq]; t < to;) {
        const int32_t n_rows = (int32_t)MX_MIN(to - t, (int64_t)MX_CHUNK_ROWS);
        if (n_rows <= STEP_ROWS || p->has_channel_gate) {
            step_rows(&h, t, n_rows);
        } else {
            run_chunk(&h, t, n_rows);
        }
        t += n_rows;
    }
}

void mx_cpu_chunked_delta(const mx_cpu_task *task)
{
    mx_cpu_for_each_state_row(task, task->op->u.delta.n_v_heads, run_head);
}
