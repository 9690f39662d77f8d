/* clip.c - values held between -factor and factor. */
#include <math.h>

#include "backend/cpu/cpu_backend.h"

void mx_cpu_clip(const mx_cpu_task *task)
{
    const float factor = task->op->u.scale.factor;
    const float *x = mx_cpu_f32(task, task->op->in[0]);
    float *y = mx_cpu_f32(task, task->op->out[0]);
    int64_t from;
    int64_t to;
    mx_cpu_split(task, mx_cpu_n_rows(task, task->op->out[0]) * mx_cpu_info_of(task->cpu, task->op->out[0])->n_cols,
                 &from, &to);
    for (int64_t i = from; i < to; i++) {
        y[i] = fminf(fmaxf(x[i], -factor), factor);
    }
}
