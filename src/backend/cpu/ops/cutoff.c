/* cutoff.c - of each row only what lies far above its mean: about the share of a normal distribution that is beyond. */
#include <math.h>

#include "backend/cpu/cpu_backend.h"

void mx_cpu_cutoff(const mx_cpu_task *task)
{
    const double n_deviations = (double)task->op->u.scale.factor;
    const float *x = mx_cpu_f32(task, task->op->in[0]);
    float *y = mx_cpu_f32(task, task->op->out[0]);
    const int64_t n = mx_cpu_info_of(task->cpu, task->op->in[0])->n_cols;
    int64_t from;
    int64_t to;
    mx_cpu_split(task, mx_cpu_n_rows(task, task->op->out[0]), &from, &to);
    for (int64_t r = from * n; r < to * n; r += n) {
        double sum = 0.0;
        double squares = 0.0;
        for (int64_t c = 0; c < n; c++) {
            sum += (double)x[r + c];
        }
        const double mean = sum / (double)n;
        for (int64_t c = 0; c < n; c++) {
            squares += ((double)x[r + c] - mean) * ((double)x[r + c] - mean);
        }
        const float cutoff = (float)(mean + n_deviations * sqrt(squares / (double)n));
        for (int64_t c = 0; c < n; c++) {
            y[r + c] = fmaxf(x[r + c] - cutoff, 0.0f);
        }
    }
}
