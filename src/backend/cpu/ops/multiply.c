/* multiply.c - columns times numbers of the model. */
#include "backend/cpu/cpu_backend.h"

void mx_cpu_multiply(const mx_cpu_task *task)
{
    const int32_t weight = task->op->u.vector.weight;
    const float *w = mx_cpu_vector(task->cpu, weight);
    const bool is_one = task->cpu->program->weights[weight].n_cols == 1;
    const float *x = mx_cpu_f32(task, task->op->in[0]);
    float *y = mx_cpu_f32(task, task->op->out[0]);
    const int64_t n_cols = mx_cpu_info_of(task->cpu, task->op->out[0])->n_cols;
    int64_t from;
    int64_t to;
    mx_cpu_split(task, mx_cpu_n_rows(task, task->op->out[0]), &from, &to);
    for (int64_t r = from; r < to; r++) {
        for (int64_t c = 0; c < n_cols; c++) {
            y[r * n_cols + c] = x[r * n_cols + c] * w[is_one ? 0 : c];
        }
    }
}
