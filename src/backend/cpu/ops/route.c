/* route.c - the experts of each token: the largest of the softmax of its scores. */
#include <math.h>

#include "backend/cpu/cpu_backend.h"

/* own: probabilities [n_experts]. */
mx_cpu_need mx_cpu_route_need(const mx_cpu *cpu, const mx_op *op)
{
    return (mx_cpu_need){.n_thread_bytes = (size_t)mx_cpu_info_of(cpu, op->in[0])->n_cols * sizeof(float)};
}

static void softmax(float *y, const float *x, int64_t n)
{
    float largest = x[0];
    for (int64_t i = 1; i < n; i++) {
        largest = MX_MAX(largest, x[i]);
    }
    float sum = 0.0f;
    for (int64_t i = 0; i < n; i++) {
        y[i] = expf(x[i] - largest);
        sum += y[i];
    }
    for (int64_t i = 0; i < n; i++) {
        y[i] /= sum;
    }
}

/* Takes the largest probability out of p; the first of equals. A row of NaN gives expert 0. */
static int32_t take_largest(float *p, int64_t n, float *probability)
{
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++) {
        best = p[i] > p[best] ? i : best;
    }
    *probability = p[best];
    p[best] = -1.0f;
    return (int32_t)best;
}

void mx_cpu_route(const mx_cpu_task *task)
{
    const mx_route_params *p = &task->op->u.route;
    const int64_t n_experts = mx_cpu_info_of(task->cpu, task->op->in[0])->n_cols;
    const float *scores = mx_cpu_f32(task, task->op->in[0]);
    int32_t *ids = mx_cpu_i32(task, task->op->out[0]);
    float *weights = mx_cpu_f32(task, task->op->out[1]);
    float *probabilities = (float *)task->own;
    int64_t from;
    int64_t to;
    mx_cpu_split(task, task->batch->n_tokens, &from, &to);
    for (int64_t t = from; t < to; t++) {
        softmax(probabilities, scores + t * n_experts, n_experts);
        float sum = 0.0f;
        for (int64_t j = t * p->top_k; j < (t + 1) * p->top_k; j++) {
            ids[j] = take_largest(probabilities, n_experts, &weights[j]);
            sum += weights[j];
        }
        for (int64_t j = t * p->top_k; p->normalize && j < (t + 1) * p->top_k; j++) {
            weights[j] /= sum;
        }
    }
}
