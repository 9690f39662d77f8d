/* glu.c - activations, and gated linear units: an activation of one value times another. */
#include <math.h>

#include "backend/cpu/cpu_backend.h"

#define OAI_LIMIT 7.0f
#define OAI_ALPHA 1.702f

static float swiglu_oai(float gate, float up)
{
    const float g = MX_MIN(gate, OAI_LIMIT);
    const float u = MX_MIN(MX_MAX(up, -OAI_LIMIT), OAI_LIMIT);
    return g / (1.0f + expf(-OAI_ALPHA * g)) * (u + 1.0f);
}

static float activate(float x, mx_activation act)
{
    const float positive = x > 0.0f ? x : 0.0f;
    switch (act) {
    case MX_ACT_SILU: return x / (1.0f + expf(-x));
    case MX_ACT_GELU: return x * 0.5f * (1.0f + erff(x * 0.707106781f));
    case MX_ACT_GELU_TANH: return x * 0.5f * (1.0f + tanhf(0.797884561f * (x + 0.044715f * x * x * x)));
    case MX_ACT_GELU_QUICK: return x / (1.0f + expf(-1.702f * x));
    case MX_ACT_RELU: return positive;
    case MX_ACT_RELU2: return positive * positive;
    case MX_ACT_SIGMOID: return 1.0f / (1.0f + expf(-x));
    case MX_ACT_SWIGLU_OAI:
    case MX_ACT_COUNT: break;
    }
    return x;
}

static float gated(float x, float up, mx_activation act)
{
    return act == MX_ACT_SWIGLU_OAI ? swiglu_oai(x, up) : activate(x, act) * up;
}

void mx_ref_glu_row(float *y, const float *gate, const float *up, int64_t n, mx_activation act)
{
    for (int64_t i = 0; i < n; i++) {
        y[i] = gated(gate[i], up[i], act);
    }
}

void mx_ref_act_row(float *y, const float *x, int64_t n, mx_activation act)
{
    for (int64_t i = 0; i < n; i++) {
        y[i] = activate(x[i], act);
    }
}

/* This thread's part of the values of the output. */
static void split_values(const mx_cpu_task *task, int64_t *from, int64_t *to)
{
    const mx_value y = task->op->out[0];
    mx_cpu_split(task, mx_cpu_n_rows(task, y) * mx_cpu_info_of(task->cpu, y)->n_cols, from, to);
}

void mx_cpu_glu(const mx_cpu_task *task)
{
    const float *gate = mx_cpu_f32(task, task->op->in[0]);
    const float *up = mx_cpu_f32(task, task->op->in[1]);
    float *y = mx_cpu_f32(task, task->op->out[0]);
    int64_t from;
    int64_t to;
    split_values(task, &from, &to);
    mx_ref_glu_row(y + from, gate + from, up + from, to - from, task->op->u.glu.act);
}

void mx_cpu_activation(const mx_cpu_task *task)
{
    const float *x = mx_cpu_f32(task, task->op->in[0]);
    float *y = mx_cpu_f32(task, task->op->out[0]);
    int64_t from;
    int64_t to;
    split_values(task, &from, &to);
    mx_ref_act_row(y + from, x + from, to - from, task->op->u.glu.act);
}
