/* allgather.c - the parts that the ranks of a divided model have of each row, side by side.
 *
 * Ranks give blocks of one size, as communicators want it: the rows of a rank's part one after the other, then nothing
 * up to the size of the widest part.
 */
#include <string.h>

#include "backend/cpu/cpu_backend.h"

static int64_t widest_part(const mx_cpu *cpu, const mx_op *op)
{
    const int32_t n_ranks = cpu->program->shard.n_ranks;
    return (mx_cpu_info_of(cpu, op->out[0])->n_cols + n_ranks - 1) / n_ranks;
}

/* shared: what this rank gives [R, widest], what all have given [n_ranks, R, widest]. */
mx_cpu_need mx_cpu_allgather_need(const mx_cpu *cpu, const mx_op *op)
{
    const int64_t n_block = mx_cpu_max_rows(cpu, op->in[0]) * widest_part(cpu, op);
    return (mx_cpu_need){.n_shared_bytes = (size_t)(n_block * (1 + cpu->program->shard.n_ranks)) * sizeof(float)};
}

void mx_cpu_allgather(const mx_cpu_task *task)
{
    const mx_op *op = task->op;
    const mx_cpu *cpu = task->cpu;
    const int32_t n_ranks = cpu->program->shard.n_ranks;
    const int64_t n_rows = mx_cpu_n_rows(task, op->in[0]);
    const int64_t n_cols = mx_cpu_info_of(cpu, op->out[0])->n_cols;
    const int64_t n_block = n_rows * widest_part(cpu, op);
    float *given = (float *)task->shared;
    float *all = given + n_block;
    mx_communicator *ranks = mx_cpu_ranks(task);
    if (ranks) {
        mx_error err;
        const int64_t n_own = n_rows * mx_cpu_info_of(cpu, op->in[0])->n_cols;
        memcpy(given, mx_cpu_f32(task, op->in[0]), (size_t)n_own * sizeof *given);
        memset(given + n_own, 0, (size_t)(n_block - n_own) * sizeof *given);
        mx_cpu_end_talk(task, ranks->allgather(ranks, all, given, n_block, &err), &err);
    }
    mx_cpu_barrier(task);
    float *y = mx_cpu_f32(task, op->out[0]);
    int64_t first;
    int64_t end;
    mx_cpu_split(task, n_rows, &first, &end);
    for (int32_t q = 0; q < n_ranks; q++) {
        int64_t from;
        int64_t to;
        mx_shard_part(n_cols, q, n_ranks, &from, &to);
        for (int64_t r = first; r < end; r++) {
            memcpy(y + r * n_cols + from, all + q * n_block + r * (to - from), (size_t)(to - from) * sizeof *y);
        }
    }
}
