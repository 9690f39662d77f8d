/* allreduce.c - the sum of a value over the ranks of a divided model, then the residual. */
#include "backend/cpu/cpu_backend.h"

void mx_cpu_allreduce(const mx_cpu_task *task)
{
    const mx_op *op = task->op;
    const int64_t n = mx_cpu_n_rows(task, op->out[0]) * mx_cpu_info_of(task->cpu, op->out[0])->n_cols;
    float *y = mx_cpu_f32(task, op->out[0]);
    mx_communicator *ranks = mx_cpu_ranks(task);
    if (ranks) {
        mx_error err;
        mx_cpu_end_talk(task, ranks->allreduce(ranks, y, mx_cpu_f32(task, op->in[0]), n, &err), &err);
    }
    if (op->in[1] == MX_NO_VALUE) {
        return;
    }
    mx_cpu_barrier(task);
    const float *residual = mx_cpu_f32(task, op->in[1]);
    int64_t from;
    int64_t to;
    mx_cpu_split(task, n, &from, &to);
    for (int64_t i = from; i < to; i++) {
        y[i] += residual[i];
    }
}
