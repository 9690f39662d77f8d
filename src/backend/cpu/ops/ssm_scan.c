/* ssm_scan.c - the selective state spaces of Mamba 1 and Mamba 2, token after token.
 *
 * Source: Gu & Dao, "Mamba", arXiv 2312.00752; Dao & Gu, "Transformers are SSMs", arXiv 2405.21060.
 */
#include <math.h>

#include "backend/cpu/cpu_backend.h"

/* One token of one head: s [d_state, head_dim], x and y [head_dim], b and c [d_state], a [d_state or 1] below 0. */
static void step_head(const mx_ssm_params *p, float *s, const float *a, int32_t n_a, float dt, const float *x,
                      const float *b, const float *c, float skip, float *y)
{
    for (int32_t i = 0; i < p->head_dim; i++) {
        double sum = 0.0;
        for (int32_t n = 0; n < p->d_state; n++) {
            float *at = s + (int64_t)n * p->head_dim + i;
            *at = expf(dt * a[n_a > 1 ? n : 0]) * *at + dt * x[i] * b[n];
            sum += (double)*at * (double)c[n];
        }
        y[i] = (float)sum + skip * x[i];
    }
}

float mx_ref_softplus(float x)
{
    return x > 20.0f ? x : log1pf(expf(x));
}

/* own: the decays of one head. */
mx_cpu_need mx_cpu_ssm_scan_need(const mx_cpu *cpu, const mx_op *op)
{
    (void)cpu;
    return (mx_cpu_need){.n_thread_bytes = (size_t)op->u.ssm.d_state * sizeof(float)};
}

static void scan_head(const mx_cpu_task *task, int32_t i_seq, int32_t h)
{
    const mx_ssm_params *p = &task->op->u.ssm;
    const mx_cpu *cpu = task->cpu;
    const int64_t g = (int64_t)(h / (p->n_heads / p->n_groups)) * p->d_state;
    const float *in[4];
    int64_t n_cols[4];
    const int64_t first[4] = {mx_columns_at(&p->x, (int64_t)h * p->head_dim), mx_columns_at(&p->dt, h),
                              mx_columns_at(&p->b, g), mx_columns_at(&p->c, g)};
    for (int32_t i = 0; i < 4; i++) {
        in[i] = mx_cpu_f32(task, task->op->in[i]) + first[i];
        n_cols[i] = mx_cpu_info_of(cpu, task->op->in[i])->n_cols;
    }
    const mx_weight *w = &cpu->program->weights[p->a_log];
    const int32_t n_a = w->n_rows * w->n_cols == p->n_heads ? 1 : p->d_state;
    const float *a_log = mx_cpu_vector(cpu, p->a_log) + (int64_t)h * n_a;
    float *a = (float *)task->own;
    for (int32_t n = 0; n < n_a; n++) {
        a[n] = -expf(a_log[n]);
    }
    const float *dt_bias = mx_cpu_vector(cpu, p->dt_bias);
    const float *skip = mx_cpu_vector(cpu, p->skip);
    float *s = mx_cpu_state_row(task, i_seq, p->i_state, h);
    const int64_t n_out = (int64_t)p->n_heads * p->head_dim;
    float *y = mx_cpu_f32(task, task->op->out[0]) + (int64_t)h * p->head_dim;
    for (int64_t t = task->batch->row_start[i_seq]; t < task->batch->row_start[i_seq + 1]; t++) {
        const float raw = in[1][t * n_cols[1]] + (dt_bias ? dt_bias[h] : 0.0f);
        const float dt = fminf(fmaxf(mx_ref_softplus(raw), p->dt_min), p->dt_max);
        step_head(p, s, a, n_a, dt, in[0] + t * n_cols[0], in[2] + t * n_cols[2], in[3] + t * n_cols[3],
                  skip ? skip[h] : 0.0f, y + t * n_out);
    }
}

void mx_cpu_ssm_scan(const mx_cpu_task *task)
{
    const int32_t n_heads = task->op->u.ssm.n_heads;
    int64_t from;
    int64_t to;
    mx_cpu_split(task, (int64_t)task->batch->n_seqs * n_heads, &from, &to);
    for (int64_t i = from; i < to; i++) {
        const int32_t i_seq = (int32_t)(i / n_heads);
        if (mx_cpu_n_seq_rows(task, i_seq) > 0) {
            scan_head(task, i_seq, (int32_t)(i % n_heads));
        }
    }
}
