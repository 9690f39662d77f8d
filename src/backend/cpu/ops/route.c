/* route.c - the experts of each token, and what each of them counts. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"

/* own: p and c [2, n_experts], ranks of the groups [n_experts]. */
mx_cpu_need mx_cpu_route_need(const mx_cpu *cpu, const mx_op *op)
{
    return (mx_cpu_need){.n_thread_bytes = 3 * (size_t)mx_cpu_info_of(cpu, op->in[0])->n_cols * sizeof(float)};
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

/* p = score(x) */
static void score(float *p, const float *x, int64_t n, mx_route_score kind)
{
    switch (kind) {
    case MX_SCORE_SOFTMAX: softmax(p, x, n); return;
    case MX_SCORE_SIGMOID:
        for (int64_t i = 0; i < n; i++) {
            p[i] = 1.0f / (1.0f + expf(-x[i]));
        }
        return;
    case MX_SCORE_SPARSEMIXER: memcpy(p, x, (size_t)n * sizeof *p); return;
    }
}

/* The place of the largest; the first of equals. A row of NaN gives 0. */
static int64_t find_largest(const float *c, int64_t n)
{
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++) {
        best = c[i] > c[best] ? i : best;
    }
    return best;
}

/* The sum of the two largest of a group, or the largest of one. */
static float sum_of_top_two(const float *c, int64_t n)
{
    const int64_t best = find_largest(c, n);
    float second = n > 1 ? -INFINITY : 0.0f;
    for (int64_t i = 0; i < n; i++) {
        second = i != best && c[i] > second ? c[i] : second;
    }
    return c[best] + second;
}

/* Takes the experts of all groups but the best out of c. */
static void keep_best_groups(float *c, float *ranks, int64_t n_experts, const mx_route_params *r)
{
    const int64_t n = n_experts / r->n_groups;
    for (int32_t g = 0; g < r->n_groups; g++) {
        const float *group = c + g * n;
        ranks[g] = r->ranks_by_top_two ? sum_of_top_two(group, n) : group[find_largest(group, n)];
    }
    for (int32_t i = 0; i < r->top_groups; i++) {
        ranks[find_largest(ranks, r->n_groups)] = -INFINITY;
    }
    for (int32_t g = 0; g < r->n_groups; g++) {
        for (int64_t i = g * n; ranks[g] > -INFINITY && i < (g + 1) * n; i++) {
            c[i] = -INFINITY;
        }
    }
}

/* The weight of the expert that has the largest score among those left in c. */
static float sparsemixer_weight(const float *c, int64_t n, float largest, float jitter)
{
    float sum = 0.0f;
    for (int64_t i = 0; i < n; i++) {
        if (c[i] > -INFINITY && (largest - c[i]) / MX_MAX(fabsf(c[i]), largest) <= 2.0f * jitter) {
            sum += expf(c[i] - largest);
        }
    }
    return 1.0f / sum;
}

static void route_token(const mx_route_params *r, const float *x, int64_t n, const float *bias, float *p, int32_t *ids,
                        float *weights)
{
    float *c = p + n;
    score(p, x, n, r->score);
    for (int64_t i = 0; i < n; i++) {
        c[i] = p[i] + (bias ? bias[i] : 0.0f);
    }
    if (r->n_groups > 1) {
        keep_best_groups(c, c + n, n, r);
    }
    float sum = 0.0f;
    for (int32_t j = 0; j < r->top_k; j++) {
        const int64_t best = find_largest(c, n);
        ids[j] = (int32_t)best;
        weights[j] = r->score == MX_SCORE_SPARSEMIXER ? sparsemixer_weight(c, n, p[best], r->jitter) : p[best];
        sum += weights[j];
        c[best] = -INFINITY;
    }
    const float divisor = r->normalize ? MX_MAX(sum, r->min_sum) : 1.0f;
    for (int32_t j = 0; j < r->top_k; j++) {
        weights[j] = weights[j] / divisor * r->scale;
    }
}

void mx_cpu_route(const mx_cpu_task *task)
{
    const mx_route_params *r = &task->op->u.route;
    const int64_t n_experts = mx_cpu_info_of(task->cpu, task->op->in[0])->n_cols;
    const float *x = mx_cpu_f32(task, task->op->in[0]);
    const float *bias = mx_cpu_vector(task->cpu, r->bias);
    int32_t *ids = mx_cpu_i32(task, task->op->out[0]);
    float *weights = mx_cpu_f32(task, task->op->out[1]);
    int64_t from;
    int64_t to;
    mx_cpu_split(task, task->batch->n_tokens, &from, &to);
    for (int64_t t = from; t < to; t++) {
        route_token(r, x + t * n_experts, n_experts, bias, (float *)task->own, ids + t * r->top_k,
                    weights + t * r->top_k);
    }
}
