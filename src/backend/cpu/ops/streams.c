/* streams.c - several values side by side: joined, mixed, added to, brought to the size of another.
 *
 * Source: Baykal et al., "Alternating Updates for Efficient Transformers", arXiv 2301.13310, as Gemma 3n has it.
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"

void mx_cpu_concat(const mx_cpu_task *task)
{
    const float *a = mx_cpu_f32(task, task->op->in[0]);
    const float *b = mx_cpu_f32(task, task->op->in[1]);
    float *y = mx_cpu_f32(task, task->op->out[0]);
    const int64_t n_a = mx_cpu_info_of(task->cpu, task->op->in[0])->n_cols;
    const int64_t n_b = mx_cpu_info_of(task->cpu, task->op->in[1])->n_cols;
    int64_t from;
    int64_t to;
    mx_cpu_split(task, mx_cpu_n_rows(task, task->op->out[0]), &from, &to);
    for (int64_t r = from; r < to; r++) {
        memcpy(y + r * (n_a + n_b), a + r * n_a, (size_t)n_a * sizeof *y);
        memcpy(y + r * (n_a + n_b) + n_a, b + r * n_b, (size_t)n_b * sizeof *y);
    }
}

static double mean_square(const float *x, int64_t n)
{
    double sum = 0.0;
    for (int64_t c = 0; c < n; c++) {
        sum += (double)x[c] * (double)x[c];
    }
    return sum / (double)n;
}

void mx_cpu_match_rms(const mx_cpu_task *task)
{
    const float *a = mx_cpu_f32(task, task->op->in[0]);
    const float *b = mx_cpu_f32(task, task->op->in[1]);
    float *y = mx_cpu_f32(task, task->op->out[0]);
    const int64_t n = mx_cpu_info_of(task->cpu, task->op->in[0])->n_cols;
    int64_t from;
    int64_t to;
    mx_cpu_split(task, mx_cpu_n_rows(task, task->op->out[0]), &from, &to);
    for (int64_t r = from * n; r < to * n; r += n) {
        const double least = MX_MAX(mean_square(a + r, n), (double)task->op->u.scale.factor);
        const float factor = (float)sqrt(mean_square(b + r, n) / least);
        for (int64_t c = 0; c < n; c++) {
            y[r + c] = a[r + c] * factor;
        }
    }
}

void mx_cpu_mix_streams(const mx_cpu_task *task)
{
    const int32_t n = task->op->u.streams.n_streams;
    const float *x = mx_cpu_f32(task, task->op->in[0]);
    const float *m = mx_cpu_f32(task, task->op->in[1]);
    float *y = mx_cpu_f32(task, task->op->out[0]);
    const int64_t n_cols = mx_cpu_info_of(task->cpu, task->op->in[0])->n_cols / n;
    int64_t from;
    int64_t to;
    mx_cpu_split(task, mx_cpu_n_rows(task, task->op->out[0]) * n, &from, &to);
    for (int64_t s = from; s < to; s++) { /* stream s % n of row s / n */
        const float *row = x + s / n * n * n_cols;
        memcpy(y + s * n_cols, x + s * n_cols, (size_t)n_cols * sizeof *y);
        for (int32_t i = 0; i < n; i++) {
            const float weight = m[s * n + i];
            for (int64_t c = 0; c < n_cols; c++) {
                y[s * n_cols + c] += weight * row[i * n_cols + c];
            }
        }
    }
}

void mx_cpu_add_streams(const mx_cpu_task *task)
{
    const mx_streams_params *p = &task->op->u.streams;
    const float *x = mx_cpu_f32(task, task->op->in[0]);
    const float *a = mx_cpu_f32(task, task->op->in[1]);
    const float *m = task->op->in[2] == MX_NO_VALUE ? NULL : mx_cpu_f32(task, task->op->in[2]);
    float *y = mx_cpu_f32(task, task->op->out[0]);
    const int64_t n_cols = mx_cpu_info_of(task->cpu, task->op->in[0])->n_cols / p->n_streams;
    int64_t from;
    int64_t to;
    mx_cpu_split(task, mx_cpu_n_rows(task, task->op->out[0]) * p->n_streams, &from, &to);
    for (int64_t s = from; s < to; s++) {
        const float *added = a + s / p->n_streams * n_cols;
        const float weight = s % p->n_streams < p->first ? 0.0f : m ? m[s] + p->offset : 1.0f;
        for (int64_t c = 0; c < n_cols; c++) {
            y[s * n_cols + c] = x[s * n_cols + c] + weight * added[c];
        }
    }
}
