/* xielu.c - a trained activation: a parabola above 0, an exponential below.
 *
 * Source: Huang & Schlag, "Deriving Activation Functions Using Integration", arXiv 2411.13010.
 */
#include <math.h>

#include "backend/cpu/cpu_backend.h"

/* log(1 + exp(x)) without its overflow. */
static float softplus(float x)
{
    return x > 20.0f ? x : log1pf(expf(x));
}

void mx_cpu_xielu(const mx_cpu_task *task)
{
    const mx_xielu_params *p = &task->op->u.xielu;
    const float beta = *mx_cpu_vector(task->cpu, p->beta);
    const float eps = *mx_cpu_vector(task->cpu, p->eps);
    const float above = softplus(*mx_cpu_vector(task->cpu, p->alpha_p));
    const float below = beta + softplus(*mx_cpu_vector(task->cpu, p->alpha_n));
    const float *x = mx_cpu_f32(task, task->op->in[0]);
    float *y = mx_cpu_f32(task, task->op->out[0]);
    int64_t from;
    int64_t to;
    mx_cpu_split(task, mx_cpu_n_rows(task, task->op->out[0]) * mx_cpu_info_of(task->cpu, task->op->out[0])->n_cols,
                 &from, &to);
    for (int64_t i = from; i < to; i++) {
        y[i] = (x[i] > 0.0f ? above * x[i] * x[i] : below * (expm1f(fminf(x[i], eps)) - x[i])) + beta * x[i];
    }
}
