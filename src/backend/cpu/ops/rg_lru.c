/* rg_lru.c - the real-gated linear recurrent unit, token after token.
 *
 * Source: De et al., "Griffin: Mixing Gated Linear Recurrences with Local Attention", arXiv 2402.19427.
 */
#include <math.h>

#include "backend/cpu/cpu_backend.h"

/* own: the gates of one head's token. */
mx_cpu_need mx_cpu_rg_lru_need(const mx_cpu *cpu, const mx_op *op)
{
    (void)cpu;
    return (mx_cpu_need){.n_thread_bytes = 2 * (size_t)op->u.lru.width * sizeof(float)};
}

static void find_gate(float *gate, const float *x, const float *w, const float *bias, int32_t n)
{
    for (int32_t j = 0; j < n; j++) {
        double sum = (double)bias[j];
        for (int32_t k = 0; k < n; k++) {
            sum += (double)x[k] * (double)w[(int64_t)k * n + j];
        }
        gate[j] = (float)(1.0 / (1.0 + exp(-sum)));
    }
}

static void run_head(const mx_cpu_task *task, int32_t i_seq, int32_t h)
{
    const mx_lru_params *p = &task->op->u.lru;
    const int32_t n = p->width;
    const int64_t first = (int64_t)h * n;
    const int64_t n_cols = (int64_t)p->n_heads * n;
    const float *x = mx_cpu_f32(task, task->op->in[0]) + first;
    const float *decay = mx_cpu_vector(task->cpu, p->decay) + first;
    float *y = mx_cpu_f32(task, task->op->out[0]) + first;
    float *s = mx_cpu_state_row(task, i_seq, p->i_state, h);
    float *input = (float *)task->own;
    float *recurrent = input + n;
    for (int64_t t = task->batch->row_start[i_seq]; t < task->batch->row_start[i_seq + 1]; t++) {
        const float *row = x + t * n_cols;
        find_gate(input, row, mx_cpu_vector(task->cpu, p->input_weight) + first * n,
                  mx_cpu_vector(task->cpu, p->input_bias) + first, n);
        find_gate(recurrent, row, mx_cpu_vector(task->cpu, p->recurrent_weight) + first * n,
                  mx_cpu_vector(task->cpu, p->recurrent_bias) + first, n);
        for (int32_t j = 0; j < n; j++) {
            const double log = -8.0 * (double)recurrent[j] * (double)mx_ref_softplus(decay[j]);
            const bool is_first = task->batch->positions[t] == 0;
            const double factor = is_first ? 1.0 : sqrt(-expm1(2.0 * log));
            s[j] = (float)(exp(log) * (double)s[j] + factor * (double)input[j] * (double)row[j]);
            y[t * n_cols + j] = s[j];
        }
    }
}

void mx_cpu_rg_lru(const mx_cpu_task *task)
{
    const int32_t n_heads = task->op->u.lru.n_heads;
    int64_t from;
    int64_t to;
    mx_cpu_split(task, (int64_t)task->batch->n_seqs * n_heads, &from, &to);
    for (int64_t i = from; i < to; i++) {
        const int32_t i_seq = (int32_t)(i / n_heads);
        if (mx_cpu_n_seq_rows(task, i_seq) > 0) {
            run_head(task, i_seq, (int32_t)(i % n_heads));
        }
    }
}
