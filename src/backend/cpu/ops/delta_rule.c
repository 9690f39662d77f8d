/* delta_rule.c - linear attention whose state forgets and corrects itself, token after token.
 *
 * Source: Yang et al., "Gated Delta Networks", arXiv 2412.06464; "Kimi Linear", arXiv 2510.26692.
 */
#include <math.h>

#include "backend/cpu/cpu_backend.h"

#define DELTA_NORM_EPS 1e-6

/* own: q and k after their norms, the decay of each row of the state, the correction [v_dim]. */
mx_cpu_need mx_cpu_delta_rule_need(const mx_cpu *cpu, const mx_op *op)
{
    (void)cpu;
    const mx_delta_params *p = &op->u.delta;
    return (mx_cpu_need){.n_thread_bytes = (size_t)(3 * p->k_dim + p->v_dim) * sizeof(float)};
}

static void normalize(float *y, const float *x, int32_t n, double factor)
{
    double sum = 0.0;
    for (int32_t i = 0; i < n; i++) {
        sum += (double)x[i] * (double)x[i];
    }
    factor /= sqrt(sum + DELTA_NORM_EPS);
    for (int32_t i = 0; i < n; i++) {
        y[i] = (float)((double)x[i] * factor);
    }
}

/* One token of one head: s [k_dim, v_dim], q, k and decay [k_dim], v, y and change [v_dim]. */
static void step_head(const mx_delta_params *p, float *s, const float *q, const float *k, const float *decay,
                      const float *v, float beta, float *change, float *y)
{
    for (int32_t j = 0; j < p->v_dim; j++) {
        double predicted = 0.0;
        for (int32_t i = 0; i < p->k_dim; i++) {
            s[(int64_t)i * p->v_dim + j] *= decay[i];
            predicted += (double)k[i] * (double)s[(int64_t)i * p->v_dim + j];
        }
        change[j] = beta * (v[j] - (float)predicted);
        double sum = 0.0;
        for (int32_t i = 0; i < p->k_dim; i++) {
            s[(int64_t)i * p->v_dim + j] += k[i] * change[j];
            sum += (double)q[i] * (double)s[(int64_t)i * p->v_dim + j];
        }
        y[j] = (float)sum;
    }
}

/* decay [k_dim] of head h in row t. */
static void find_decay(const mx_cpu_task *task, int64_t t, int32_t h, float *decay)
{
    const mx_delta_params *p = &task->op->u.delta;
    const int32_t n = p->has_channel_gate ? p->k_dim : 1;
    const float *gate = mx_cpu_f32(task, task->op->in[3]) + mx_columns_at(&p->gate, (int64_t)h * n) +
                        t * mx_cpu_info_of(task->cpu, task->op->in[3])->n_cols;
    const float *bias = mx_cpu_vector(task->cpu, p->dt_bias);
    const float a = expf(mx_cpu_vector(task->cpu, p->a_log)[h]);
    for (int32_t i = 0; i < n; i++) {
        const float raw = gate[i] + (bias ? bias[(int64_t)h * n + i] : 0.0f);
        decay[i] = expf(-a * mx_ref_softplus(raw));
    }
    for (int32_t i = n; i < p->k_dim; i++) {
        decay[i] = decay[0];
    }
}

static void run_head(const mx_cpu_task *task, int32_t i_seq, int32_t h)
{
    const mx_delta_params *p = &task->op->u.delta;
    const int64_t i_k = (int64_t)(h / (p->n_v_heads / p->n_k_heads)) * p->k_dim;
    const float *in[3];
    int64_t n_cols[3];
    const int64_t first[3] = {mx_columns_at(&p->q, i_k), mx_columns_at(&p->k, i_k),
                              mx_columns_at(&p->v, (int64_t)h * p->v_dim)};
    for (int32_t i = 0; i < 3; i++) {
        in[i] = mx_cpu_f32(task, task->op->in[i]) + first[i];
        n_cols[i] = mx_cpu_info_of(task->cpu, task->op->in[i])->n_cols;
    }
    const float *betas = mx_cpu_f32(task, task->op->in[4]) + mx_columns_at(&p->beta, h);
    const int64_t n_beta_cols = mx_cpu_info_of(task->cpu, task->op->in[4])->n_cols;
    float *s = mx_cpu_state_row(task, i_seq, p->i_state, h);
    float *y = mx_cpu_f32(task, task->op->out[0]) + (int64_t)h * p->v_dim;
    float *q = (float *)task->own;
    float *k = q + p->k_dim;
    float *decay = k + p->k_dim;
    for (int64_t t = task->batch->row_start[i_seq]; t < task->batch->row_start[i_seq + 1]; t++) {
        const float beta = 1.0f / (1.0f + expf(-betas[t * n_beta_cols]));
        normalize(q, in[0] + t * n_cols[0], p->k_dim, (double)p->q_scale);
        normalize(k, in[1] + t * n_cols[1], p->k_dim, 1.0);
        find_decay(task, t, h, decay);
        step_head(p, s, q, k, decay, in[2] + t * n_cols[2], beta, decay + p->k_dim, y + t * p->n_v_heads * p->v_dim);
    }
}

void mx_cpu_delta_rule(const mx_cpu_task *task)
{
    const int32_t n_heads = task->op->u.delta.n_v_heads;
    int64_t from;
    int64_t to;
    mx_cpu_split(task, (int64_t)task->batch->n_seqs * n_heads, &from, &to);
    for (int64_t i = from; i < to; i++) {
        const int32_t i_seq = (int32_t)(i / n_heads);
        if (mx_cpu_n_seq_rows(task, i_seq) > 0) {
            run_head(task, i_seq, (int32_t)(i % n_heads));
        }
    }
}
