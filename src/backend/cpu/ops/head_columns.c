/* head_columns.c - some columns of each head of one value, and behind them some of another. */
#include <string.h>

#include "backend/cpu/cpu_backend.h"

void mx_cpu_head_columns(const mx_cpu_task *task)
{
    const mx_columns_params *c = &task->op->u.columns;
    const mx_value second = task->op->in[1];
    const float *a = mx_cpu_f32(task, task->op->in[0]);
    const float *b = second == MX_NO_VALUE ? NULL : mx_cpu_f32(task, second);
    float *y = mx_cpu_f32(task, task->op->out[0]);
    const int64_t a_step = mx_cpu_info_of(task->cpu, task->op->in[0])->n_cols / c->n_heads;
    const int64_t b_step = b ? mx_cpu_info_of(task->cpu, second)->n_cols / c->n_heads : 0;
    int64_t from;
    int64_t to;
    mx_cpu_split(task, mx_cpu_n_rows(task, task->op->out[0]) * c->n_heads, &from, &to);
    for (int64_t i = from; i < to; i++) {
        float *head = y + i * ((int64_t)c->n_first + c->n_second);
        memcpy(head, a + i * a_step + c->first, (size_t)c->n_first * sizeof *head);
        if (b) {
            memcpy(head + c->n_first, b + i * b_step + c->second, (size_t)c->n_second * sizeof *head);
        }
    }
}
