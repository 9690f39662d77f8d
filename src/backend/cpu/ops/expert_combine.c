/* expert_combine.c - the weighted sum of a token's experts, in the order of the routing. */
#include "backend/cpu/cpu_backend.h"

void mx_cpu_expert_combine(const mx_cpu_task *task)
{
    const float *x = mx_cpu_f32(task, task->op->in[0]);
    const float *weights = mx_cpu_f32(task, task->op->in[1]);
    float *y = mx_cpu_f32(task, task->op->out[0]);
    const int64_t n_cols = mx_cpu_info_of(task->cpu, task->op->in[0])->n_cols;
    const int64_t top_k = mx_cpu_info_of(task->cpu, task->op->in[1])->n_cols;
    int64_t from;
    int64_t to;
    mx_cpu_split(task, task->batch->n_tokens, &from, &to);
    for (int64_t t = from; t < to; t++) {
        for (int64_t c = 0; c < n_cols; c++) {
            float sum = 0.0f;
            for (int64_t j = 0; j < top_k; j++) {
                sum += weights[t * top_k + j] * x[(t * top_k + j) * n_cols + c];
            }
            y[t * n_cols + c] = sum;
        }
    }
}
