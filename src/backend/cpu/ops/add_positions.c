/* add_positions.c - a row of a table for each token's position, added: positions that were learned (GPT-2). */
#include "backend/cpu/cpu_backend.h"

/* own: a row of the table. */
mx_cpu_need mx_cpu_add_positions_need(const mx_cpu *cpu, const mx_op *op)
{
    return (mx_cpu_need){.n_thread_bytes = (size_t)mx_cpu_info_of(cpu, op->in[0])->n_cols * sizeof(float)};
}

void mx_cpu_add_positions(const mx_cpu_task *task)
{
    const mx_weight *w = &task->cpu->program->weights[task->op->u.position.weight];
    const float *x = mx_cpu_f32(task, task->op->in[0]);
    float *y = mx_cpu_f32(task, task->op->out[0]);
    float *row = (float *)(void *)task->own;
    int64_t from;
    int64_t to;
    mx_cpu_split(task, task->batch->n_tokens, &from, &to);
    for (int64_t t = from; t < to; t++) {
        mx_weight_dequantize_row(w, 0, task->batch->positions[t], row);
        for (int64_t c = 0; c < w->n_cols; c++) {
            y[t * w->n_cols + c] = x[t * w->n_cols + c] + row[c];
        }
    }
}
