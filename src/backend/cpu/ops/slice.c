/* slice.c - some columns of a wider value, as a value of their own. */
#include "backend/cpu/cpu_backend.h"

void mx_cpu_slice(const mx_cpu_task *task)
{
    const mx_columns *view = &task->op->u.slice.x;
    const float *x = mx_cpu_f32(task, task->op->in[0]);
    float *y = mx_cpu_f32(task, task->op->out[0]);
    const int64_t n_in = mx_cpu_info_of(task->cpu, task->op->in[0])->n_cols;
    const int64_t n_out = mx_cpu_info_of(task->cpu, task->op->out[0])->n_cols;
    int64_t from;
    int64_t to;
    mx_cpu_split(task, task->batch->n_tokens, &from, &to);
    for (int64_t t = from; t < to; t++) {
        for (int64_t c = 0; c < n_out; c += view->n_group) {
            const float *src = x + t * n_in + mx_columns_at(view, c);
            for (int64_t i = 0; i < view->n_group; i++) {
                y[t * n_out + c + i] = src[i];
            }
        }
    }
}
