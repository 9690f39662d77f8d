/* linear.c - products with weights, one to four that share their input, with a norm before and a GLU, an activation or
 * a residual after.
 *
 * Each weight row is dequantised once and used for all rows of x.
 */
#include "backend/cpu/cpu_backend.h"

float mx_ref_dot(const float *a, const float *b, int64_t n)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) {
        sum += (double)a[i] * (double)b[i];
    }
    return (float)sum;
}

/* shared: x after the norm [R, K]; own: weight rows [2, K]. */
mx_cpu_need mx_cpu_linear_need(const mx_cpu *cpu, const mx_op *op)
{
    const size_t k = (size_t)mx_cpu_info_of(cpu, op->in[0])->n_cols;
    const size_t n_rows = op->u.linear.has_norm ? (size_t)mx_cpu_max_rows(cpu, op->in[0]) : 0;
    return (mx_cpu_need){.n_shared_bytes = n_rows * k * sizeof(float), .n_thread_bytes = 2 * k * sizeof(float)};
}

/* x after the norm, if there is one; all threads get the same. */
static const float *normalized_input(const mx_cpu_task *task, int64_t n_rows, int64_t k)
{
    const mx_linear_params *p = &task->op->u.linear;
    const float *x = mx_cpu_f32(task, task->op->in[0]);
    if (!p->has_norm) {
        return x;
    }
    float *y = (float *)task->shared;
    int64_t from;
    int64_t to;
    mx_cpu_split(task, n_rows, &from, &to);
    for (int64_t r = from; r < to; r++) {
        mx_ref_norm_row(task->cpu, &p->norm, y + r * k, x + r * k);
    }
    mx_cpu_barrier(task);
    return y;
}

/* y[r,n] for the columns [from, to) of the output of weight i. */
static void plain_columns(const mx_cpu_task *task, const float *x, int64_t n_rows, int32_t i, int64_t from, int64_t to)
{
    const mx_linear_params *p = &task->op->u.linear;
    const mx_weight *w = &task->cpu->program->weights[p->weights[i]];
    const float *bias = mx_cpu_vector(task->cpu, p->biases[i]);
    const float *residual = task->op->in[1] == MX_NO_VALUE ? NULL : mx_cpu_f32(task, task->op->in[1]);
    float *y = mx_cpu_f32(task, task->op->out[i]);
    float *row = (float *)task->own;
    for (int64_t n = from; n < to; n++) {
        mx_weight_dequantize_row(w, 0, n, row);
        for (int64_t r = 0; r < n_rows; r++) {
            float sum = mx_ref_dot(x + r * w->n_cols, row, w->n_cols) + (bias ? bias[n] : 0.0f);
            if (p->has_act) {
                mx_ref_act_row(&sum, &sum, 1, p->act);
            }
            y[r * w->n_rows + n] = sum + (residual ? residual[r * w->n_rows + n] : 0.0f);
        }
    }
}

static void glu_columns(const mx_cpu_task *task, const float *x, int64_t n_rows, int64_t from, int64_t to)
{
    const mx_linear_params *p = &task->op->u.linear;
    const mx_weight *gate = &task->cpu->program->weights[p->weights[0]];
    const mx_weight *up = &task->cpu->program->weights[p->weights[1]];
    const float *gate_bias = mx_cpu_vector(task->cpu, p->biases[0]);
    const float *up_bias = mx_cpu_vector(task->cpu, p->biases[1]);
    const int64_t k = gate->n_cols;
    float *y = mx_cpu_f32(task, task->op->out[0]);
    float *gate_row = (float *)task->own;
    float *up_row = gate_row + k;
    for (int64_t n = from; n < to; n++) {
        mx_weight_dequantize_row(gate, 0, n, gate_row);
        mx_weight_dequantize_row(up, 0, n, up_row);
        for (int64_t r = 0; r < n_rows; r++) {
            const float g = mx_ref_dot(x + r * k, gate_row, k) + (gate_bias ? gate_bias[n] : 0.0f);
            const float u = mx_ref_dot(x + r * k, up_row, k) + (up_bias ? up_bias[n] : 0.0f);
            mx_ref_glu_row(&y[r * gate->n_rows + n], &g, &u, 1, p->act);
        }
    }
}

void mx_cpu_linear(const mx_cpu_task *task)
{
    const mx_linear_params *p = &task->op->u.linear;
    const int64_t n_rows = mx_cpu_n_rows(task, task->op->in[0]);
    const int64_t k = mx_cpu_info_of(task->cpu, task->op->in[0])->n_cols;
    const float *x = normalized_input(task, n_rows, k);
    for (int32_t i = 0; i < (p->has_glu ? 1 : p->n_weights); i++) {
        int64_t from;
        int64_t to;
        mx_cpu_split(task, task->cpu->program->weights[p->weights[i]].n_rows, &from, &to);
        if (p->has_glu) {
            glu_columns(task, x, n_rows, from, to);
        } else {
            plain_columns(task, x, n_rows, i, from, to);
        }
    }
}
