/* rmsnorm.c - root-mean-square normalisation of rows or of groups of columns.
 *
 * The sum of squares is kept in f64: it costs nothing here, and tuned kernels are then judged against the true mean.
 * Source: Zhang & Sennrich, arXiv 1910.07467.
 */
#include <math.h>

#include "backend/cpu/cpu_backend.h"

void mx_ref_rmsnorm_row(float *y, const float *x, const float *w, int64_t n_cols, float eps, float weight_offset)
{
    double sum = 0.0;
    for (int64_t c = 0; c < n_cols; c++) {
        sum += (double)x[c] * (double)x[c];
    }
    const float factor = (float)(1.0 / sqrt(sum / (double)n_cols + (double)eps));
    for (int64_t c = 0; c < n_cols; c++) {
        y[c] = x[c] * factor * (w ? w[c] + weight_offset : 1.0f);
    }
}

void mx_cpu_rmsnorm(const mx_cpu_task *task)
{
    const mx_norm_params *p = &task->op->u.norm;
    const float *w = mx_cpu_vector(task->cpu, p->weight);
    const float *x = mx_cpu_f32(task, task->op->in[0]);
    float *y = mx_cpu_f32(task, task->op->out[0]);
    const int64_t n_groups = mx_cpu_info_of(task->cpu, task->op->in[0])->n_cols / p->n_group_cols;
    int64_t from;
    int64_t to;
    mx_cpu_split(task, mx_cpu_n_rows(task, task->op->in[0]) * n_groups, &from, &to);
    for (int64_t i = from; i < to; i++) {
        mx_ref_rmsnorm_row(y + i * p->n_group_cols, x + i * p->n_group_cols, w, p->n_group_cols, p->eps,
                           p->weight_offset);
    }
}
