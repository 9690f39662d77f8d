/* send.c - a value to another stage of the pipeline. */
#include "backend/cpu/cpu_backend.h"

void mx_cpu_send(const mx_cpu_task *task)
{
    const mx_op *op = task->op;
    const int64_t n = mx_cpu_n_rows(task, op->in[0]) * mx_cpu_info_of(task->cpu, op->in[0])->n_cols;
    mx_communicator *stages = mx_cpu_stages(task);
    if (stages) {
        mx_error err;
        mx_cpu_end_talk(task, stages->send(stages, mx_cpu_f32(task, op->in[0]), n * 4, op->u.peer.i_stage, &err), &err);
    }
}
