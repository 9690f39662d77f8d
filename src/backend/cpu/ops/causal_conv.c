/* causal_conv.c - convolution over time, each channel by its own few weights. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"

/* A column of an input, row after row. */
typedef struct column {
    const float *at; /* NULL: all ones */
    int64_t stride;
} column;

static column find_column(const mx_cpu_task *task, mx_value value, const mx_columns *view, int64_t channel)
{
    if (value == MX_NO_VALUE) {
        return (column){NULL, 0};
    }
    return (column){mx_cpu_f32(task, value) + mx_columns_at(view, channel), mx_cpu_info_of(task->cpu, value)->n_cols};
}

static float value_of(const column *c, int64_t row)
{
    return c->at ? c->at[row * c->stride] : 1.0f;
}

/* The rows of one sequence, one channel. */
static void convolve_channel(const mx_cpu_task *task, int32_t i_seq, int64_t channel)
{
    const mx_conv_params *p = &task->op->u.conv;
    const column x = find_column(task, task->op->in[0], &p->x, channel);
    const column in_gate = find_column(task, task->op->in[1], &p->in_gate, channel);
    const column out_gate = find_column(task, task->op->in[2], &p->out_gate, channel);
    float *y = mx_cpu_f32(task, task->op->out[0]) + channel;
    const int64_t n_out = mx_cpu_info_of(task->cpu, task->op->out[0])->n_cols;
    const float *w = mx_cpu_vector(task->cpu, p->weight) + (p->first_channel + channel) * p->width;
    const float *bias = mx_cpu_vector(task->cpu, p->bias);
    float *state = mx_cpu_state_row(task, i_seq, p->i_state, channel);
    const int32_t n_before = p->width - 1;
    float z[MX_CONV_MAX_WIDTH];
    memcpy(z, state, (size_t)n_before * sizeof *z);
    for (int64_t t = task->batch->row_start[i_seq]; t < task->batch->row_start[i_seq + 1]; t++) {
        z[n_before] = value_of(&x, t) * value_of(&in_gate, t);
        float sum = bias ? bias[p->first_channel + channel] : 0.0f;
        for (int32_t j = 0; j < p->width; j++) {
            sum += w[j] * z[j];
        }
        memmove(z, z + 1, (size_t)n_before * sizeof *z);
        sum = p->has_silu ? sum / (1.0f + expf(-sum)) : sum;
        y[t * n_out] = sum * value_of(&out_gate, t);
    }
    memcpy(state, z, (size_t)n_before * sizeof *z);
}

void mx_cpu_causal_conv(const mx_cpu_task *task)
{
    const int64_t n_channels = mx_cpu_info_of(task->cpu, task->op->out[0])->n_cols;
    int64_t from;
    int64_t to;
    mx_cpu_split(task, task->batch->n_seqs * n_channels, &from, &to);
    for (int64_t i = from; i < to; i++) {
        const int32_t i_seq = (int32_t)(i / n_channels);
        if (mx_cpu_n_seq_rows(task, i_seq) > 0) {
            convolve_channel(task, i_seq, i % n_channels);
        }
    }
}
