/* cpu_task.c - what an operation asks about its step: places, rows, pages, its part of the work. */
#include <string.h>

#include "backend/cpu/cpu_backend.h"

const mx_value_info *mx_cpu_info_of(const mx_cpu *cpu, mx_value value)
{
    return &cpu->program->values[value];
}

int64_t mx_cpu_max_rows(const mx_cpu *cpu, mx_value value)
{
    const mx_value_info *info = mx_cpu_info_of(cpu, value);
    const int64_t n = info->rows == MX_ROWS_TOKENS ? cpu->plan->max_tokens : cpu->plan->max_samples;
    return n * info->row_factor;
}

int64_t mx_cpu_n_rows(const mx_cpu_task *task, mx_value value)
{
    const mx_value_info *info = mx_cpu_info_of(task->cpu, value);
    const int64_t n = info->rows == MX_ROWS_TOKENS ? task->batch->n_tokens : task->batch->n_samples;
    return n * info->row_factor;
}

static void *place(const mx_cpu *cpu, mx_value value)
{
    return (uint8_t *)cpu->scratch.ptr + cpu->plan->offsets[value];
}

float *mx_cpu_f32(const mx_cpu_task *task, mx_value value)
{
    return (float *)place(task->cpu, value);
}

int32_t *mx_cpu_i32(const mx_cpu_task *task, mx_value value)
{
    return (int32_t *)place(task->cpu, value);
}

void mx_cpu_split(const mx_cpu_task *task, int64_t n, int64_t *from, int64_t *to)
{
    mx_pool_split(n, task->i_thread, task->n_threads, from, to);
}

void mx_cpu_barrier(const mx_cpu_task *task)
{
    mx_pool_barrier(task->cpu->pool);
}

mx_communicator *mx_cpu_ranks(const mx_cpu_task *task)
{
    return task->i_thread == 0 && task->cpu->talk_status == MX_OK ? task->cpu->options.ranks : NULL;
}

mx_communicator *mx_cpu_stages(const mx_cpu_task *task)
{
    return task->i_thread == 0 && task->cpu->talk_status == MX_OK ? task->cpu->options.stages : NULL;
}

void mx_cpu_end_talk(const mx_cpu_task *task, mx_status st, const mx_error *err)
{
    task->cpu->talk_status = st;
    if (st != MX_OK) {
        task->cpu->talk_error = *err;
    }
}

const float *mx_cpu_vector(const mx_cpu *cpu, int32_t weight)
{
    return weight == MX_NO_WEIGHT ? NULL : cpu->vectors[weight];
}

int32_t mx_cpu_page(const mx_cpu_task *task, int32_t t, int32_t position)
{
    const mx_batch *batch = task->batch;
    return batch->page_table[(int64_t)task->cpu->token_seqs[t] * batch->n_page_cols + position / MX_PAGE_TOKENS];
}

int32_t mx_cpu_n_seq_rows(const mx_cpu_task *task, int32_t i_seq)
{
    return task->batch->row_start[i_seq + 1] - task->batch->row_start[i_seq];
}

float *mx_cpu_state_row(const mx_cpu_task *task, int32_t i_seq, int32_t i_state, int64_t row)
{
    const mx_batch *batch = task->batch;
    const int64_t n_cols = task->cpu->program->states[i_state].n_cols;
    float *state = mx_state_pool_at(&task->cpu->states, batch->state_slots[i_seq], i_state) + row * n_cols;
    if (batch->positions[batch->row_start[i_seq]] == 0) {
        memset(state, 0, (size_t)n_cols * sizeof *state);
    }
    return state;
}
