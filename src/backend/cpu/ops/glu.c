/* glu.c - gated linear units: an activation of one value times another. */
#include <math.h>

#include "backend/cpu/cpu_backend.h"

static float activate(float x, mx_activation act)
{
    switch (act) {
    case MX_ACT_SILU: return x / (1.0f + expf(-x));
    case MX_ACT_GELU: return x * 0.5f * (1.0f + erff(x * 0.707106781f));
    case MX_ACT_GELU_TANH: return x * 0.5f * (1.0f + tanhf(0.797884561f * (x + 0.044715f * x * x * x)));
    }
    return x;
}

void mx_ref_glu_row(float *y, const float *gate, const float *up, int64_t n, mx_activation act)
{
    for (int64_t i = 0; i < n; i++) {
        y[i] = activate(gate[i], act) * up[i];
    }
}

void mx_cpu_glu(const mx_cpu_task *task)
{
    const float *gate = mx_cpu_f32(task, task->op->in[0]);
    const float *up = mx_cpu_f32(task, task->op->in[1]);
    float *y = mx_cpu_f32(task, task->op->out[0]);
    int64_t from;
    int64_t to;
    mx_cpu_split(task, mx_cpu_n_rows(task, task->op->out[0]) * mx_cpu_info_of(task->cpu, task->op->out[0])->n_cols,
                 &from, &to);
    mx_ref_glu_row(y + from, gate + from, up + from, to - from, task->op->u.glu.act);
}
