/* head_linear.c - products of each head's columns with a matrix of its own. */
#include "backend/cpu/cpu_backend.h"

/* own: a weight row [K]. */
mx_cpu_need mx_cpu_head_linear_need(const mx_cpu *cpu, const mx_op *op)
{
    const mx_weight *w = &cpu->program->weights[op->u.linear.weights[0]];
    return (mx_cpu_need){.n_thread_bytes = (size_t)w->n_cols * sizeof(float)};
}

/* The work is split by the rows of all matrices; each is dequantised once. */
void mx_cpu_head_linear(const mx_cpu_task *task)
{
    const mx_weight *w = &task->cpu->program->weights[task->op->u.linear.weights[0]];
    const float *x = mx_cpu_f32(task, task->op->in[0]);
    float *y = mx_cpu_f32(task, task->op->out[0]);
    float *row = (float *)task->own;
    int64_t from;
    int64_t to;
    mx_cpu_split(task, w->n_experts * w->n_rows, &from, &to);
    for (int64_t i = from; i < to; i++) {
        const int64_t h = i / w->n_rows;
        const int64_t n = i % w->n_rows;
        mx_weight_dequantize_row(w, h, n, row);
        for (int64_t t = 0; t < task->batch->n_tokens; t++) {
            const int64_t slot = t * w->n_experts + h;
            y[slot * w->n_rows + n] = mx_ref_dot(x + slot * w->n_cols, row, w->n_cols);
        }
    }
}
