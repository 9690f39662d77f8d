/* norm.c - normalisation of rows or of groups of columns: by the root of the mean square, or by mean and variance.
 *
 * Sums are kept in f64: it costs nothing here, and tuned kernels are then judged against the true mean.
 * Sources: Zhang & Sennrich, arXiv 1910.07467; Ba, Kiros & Hinton, arXiv 1607.06450.
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

void mx_ref_layernorm_row(float *y, const float *x, const float *w, const float *bias, int64_t n_cols, float eps,
                          float weight_offset)
{
    double sum = 0.0;
    double squares = 0.0;
    for (int64_t c = 0; c < n_cols; c++) {
        sum += (double)x[c];
    }
    const double mean = sum / (double)n_cols;
    for (int64_t c = 0; c < n_cols; c++) {
        squares += ((double)x[c] - mean) * ((double)x[c] - mean);
    }
    const double factor = 1.0 / sqrt(squares / (double)n_cols + (double)eps);
    for (int64_t c = 0; c < n_cols; c++) {
        const float centered = (float)(((double)x[c] - mean) * factor);
        y[c] = centered * (w ? w[c] + weight_offset : 1.0f) + (bias ? bias[c] : 0.0f);
    }
}

void mx_ref_norm_row(const mx_cpu *cpu, const mx_norm_params *norm, float *y, const float *x)
{
    const float *w = mx_cpu_vector(cpu, norm->weight);
    if (norm->is_centered) {
        mx_ref_layernorm_row(y, x, w, mx_cpu_vector(cpu, norm->bias), norm->n_group_cols, norm->eps,
                             norm->weight_offset);
    } else {
        mx_ref_rmsnorm_row(y, x, w, norm->n_group_cols, norm->eps, norm->weight_offset);
    }
}

void mx_cpu_norm(const mx_cpu_task *task)
{
    const mx_norm_params *p = &task->op->u.norm;
    const float *x = mx_cpu_f32(task, task->op->in[0]);
    float *y = mx_cpu_f32(task, task->op->out[0]);
    const int64_t n_groups = mx_cpu_info_of(task->cpu, task->op->in[0])->n_cols / p->n_group_cols;
    int64_t from;
    int64_t to;
    mx_cpu_split(task, mx_cpu_n_rows(task, task->op->in[0]) * n_groups, &from, &to);
    const float *w = mx_cpu_vector(task->cpu, p->weight);
    const bool has_group_weights = mx_norm_has_group_weights(task->cpu->program, p, n_groups);
    for (int64_t i = from; i < to; i++) {
        const int64_t at = i * p->n_group_cols;
        const int64_t at_weight = i % n_groups * p->n_group_cols;
        if (p->is_wide) {
            mx_ref_rmsnorm_row(y + at, x + at, w + at_weight, p->n_group_cols, p->eps, p->weight_offset);
        } else if (p->is_centered && has_group_weights) {
            mx_ref_layernorm_row(y + at, x + at, w + at_weight, mx_cpu_vector(task->cpu, p->bias), p->n_group_cols,
                                 p->eps, p->weight_offset);
        } else {
            mx_ref_norm_row(task->cpu, p, y + at, x + at);
        }
    }
}
