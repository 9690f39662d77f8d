/* expert_linear.c - products with the weights of the experts that each row was routed to. */
#include "backend/cpu/cpu_backend.h"

/* own: x after the norm [K], two weight rows [2, K]. */
mx_cpu_need mx_cpu_expert_linear_need(const mx_cpu *cpu, const mx_op *op)
{
    const size_t k = (size_t)mx_cpu_info_of(cpu, op->in[0])->n_cols;
    return (mx_cpu_need){.n_thread_bytes = 3 * k * sizeof(float)};
}

/* Output n of weight i for expert `expert`. */
static float expert_output(const mx_cpu_task *task, const float *x, int32_t i, int32_t expert, int64_t n, float *row)
{
    const mx_linear_params *p = &task->op->u.linear;
    const mx_weight *w = &task->cpu->program->weights[p->weights[i]];
    const float *bias = mx_cpu_vector(task->cpu, p->biases[i]);
    mx_weight_dequantize_row(w, expert, n, row);
    return mx_ref_dot(x, row, w->n_cols) + (bias ? bias[expert * w->n_rows + n] : 0.0f);
}

/* The work is split by slots t * top_k + j; this is one of them. */
static void expert_slot(const mx_cpu_task *task, const float *x, int64_t slot, int32_t expert)
{
    const mx_linear_params *p = &task->op->u.linear;
    const int64_t n_rows = task->cpu->program->weights[p->weights[0]].n_rows;
    float *gate_row = (float *)task->own + task->cpu->program->weights[p->weights[0]].n_cols;
    float *up_row = gate_row + task->cpu->program->weights[p->weights[0]].n_cols;
    if (p->has_glu) {
        float *y = mx_cpu_f32(task, task->op->out[0]) + slot * n_rows;
        for (int64_t n = 0; n < n_rows; n++) {
            const float g = expert_output(task, x, 0, expert, n, gate_row);
            const float u = expert_output(task, x, 1, expert, n, up_row);
            mx_ref_glu_row(&y[n], &g, &u, 1, p->act);
        }
        return;
    }
    for (int32_t i = 0; i < p->n_weights; i++) {
        const int64_t n_out = task->cpu->program->weights[p->weights[i]].n_rows;
        float *y = mx_cpu_f32(task, task->op->out[i]) + slot * n_out;
        for (int64_t n = 0; n < n_out; n++) {
            y[n] = expert_output(task, x, i, expert, n, gate_row);
        }
        if (p->has_act) {
            mx_ref_act_row(y, y, n_out, p->act);
        }
    }
}

void mx_cpu_expert_linear(const mx_cpu_task *task)
{
    const mx_linear_params *p = &task->op->u.linear;
    const int32_t *ids = mx_cpu_i32(task, task->op->in[1]);
    const int64_t top_k = mx_cpu_info_of(task->cpu, task->op->in[1])->n_cols;
    const int64_t k = mx_cpu_info_of(task->cpu, task->op->in[0])->n_cols;
    const bool has_row_a_slot = mx_cpu_info_of(task->cpu, task->op->in[0])->row_factor == top_k;
    int64_t from;
    int64_t to;
    mx_cpu_split(task, task->batch->n_tokens * top_k, &from, &to);
    for (int64_t slot = from; slot < to; slot++) {
        const float *x = mx_cpu_f32(task, task->op->in[0]) + (has_row_a_slot ? slot : slot / top_k) * k;
        if (p->has_norm) {
            mx_ref_norm_row(task->cpu, &p->norm, (float *)task->own, x);
            x = (const float *)task->own;
        }
        expert_slot(task, x, slot, ids[slot]);
    }
}
