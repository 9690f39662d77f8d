/* gather_rows.c - the rows whose logits are wanted. */
#include <string.h>

#include "backend/cpu/cpu_backend.h"

void mx_cpu_gather_rows(const mx_cpu_task *task)
{
    const float *x = mx_cpu_f32(task, task->op->in[0]);
    float *y = mx_cpu_f32(task, task->op->out[0]);
    const int64_t n_cols = mx_cpu_info_of(task->cpu, task->op->in[0])->n_cols;
    int64_t from;
    int64_t to;
    mx_cpu_split(task, task->batch->n_samples, &from, &to);
    for (int64_t s = from; s < to; s++) {
        memcpy(y + s * n_cols, x + task->batch->sample_rows[s] * n_cols, (size_t)n_cols * sizeof(float));
    }
}
