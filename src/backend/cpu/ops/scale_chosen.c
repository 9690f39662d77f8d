/* scale_chosen.c - what each chosen expert counts, times a number of that expert. */
#include "backend/cpu/cpu_backend.h"

void mx_cpu_scale_chosen(const mx_cpu_task *task)
{
    const float *w = mx_cpu_vector(task->cpu, task->op->u.vector.weight);
    const float *weights = mx_cpu_f32(task, task->op->in[0]);
    const int32_t *ids = mx_cpu_i32(task, task->op->in[1]);
    float *y = mx_cpu_f32(task, task->op->out[0]);
    int64_t from;
    int64_t to;
    mx_cpu_split(task, mx_cpu_n_rows(task, task->op->out[0]) * mx_cpu_info_of(task->cpu, task->op->out[0])->n_cols,
                 &from, &to);
    for (int64_t i = from; i < to; i++) {
        y[i] = weights[i] * w[ids[i]];
    }
}
