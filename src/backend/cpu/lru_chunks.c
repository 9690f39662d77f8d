/* lru_chunks.c - the real-gated linear recurrent unit: gates of a chunk by products, then one pass down the rows. */
#include <math.h>

#include "backend/cpu/kernels.h"
#include "backend/cpu/recurrent_chunks.h"

/* own: two gates of a chunk [MX_CHUNK_ROWS, width], and what depends on the channel alone. */
mx_cpu_need mx_cpu_chunked_lru_need(const mx_cpu *cpu, const mx_op *op)
{
    (void)cpu;
    return (mx_cpu_need){.n_thread_bytes = (2 * MX_CHUNK_ROWS + 1) * (size_t)op->u.lru.width * sizeof(float)};
}

/* gates = 1 / (1 + exp(-(x w + bias))) for n_rows rows. */
static void find_gates(const mx_recurrent_kernels *kernels, float *gates, mx_head_view x, const float *w,
                       const float *bias, int32_t n_rows, int32_t n)
{
    kernels->multiply(&(mx_small_product){gates, n, x.at, x.stride, 1, w, n, n_rows, n, n, false});
    for (int32_t r = 0; r < n_rows; r++) {
        for (int32_t j = 0; j < n; j++) {
            gates[r * n + j] = -(gates[r * n + j] + bias[j]);
        }
    }
    kernels->exponentials(gates, gates, (int64_t)n_rows * n);
    for (int64_t i = 0; i < (int64_t)n_rows * n; i++) {
        gates[i] = 1.0f / (1.0f + gates[i]);
    }
}

static void run_head(const mx_cpu_task *task, int32_t i_seq, int64_t i_head)
{
    const mx_lru_params *p = &task->op->u.lru;
    const mx_cpu *cpu = task->cpu;
    const mx_recurrent_kernels *kernels = &cpu->kernels->recurrent;
    const int32_t n = p->width;
    const int64_t first = i_head * n;
    const int64_t n_cols = (int64_t)p->n_heads * n;
    const float *x = mx_cpu_f32(task, task->op->in[0]) + first;
    float *y = mx_cpu_f32(task, task->op->out[0]) + first;
    float *s = mx_cpu_state_row(task, i_seq, p->i_state, i_head);
    float *input = (float *)task->own;
    float *recurrent = input + (int64_t)MX_CHUNK_ROWS * n;
    float *slope = recurrent + (int64_t)MX_CHUNK_ROWS * n;
    for (int32_t j = 0; j < n; j++) {
        slope[j] = -8.0f * mx_ref_softplus(mx_cpu_vector(cpu, p->decay)[first + j]);
    }
    const int64_t to = task->batch->row_start[i_seq + 1];
    for (int64_t t = task->batch->row_start[i_seq]; t < to; t += MX_CHUNK_ROWS) {
        const int32_t n_rows = (int32_t)MX_MIN(to - t, (int64_t)MX_CHUNK_ROWS);
        const mx_head_view rows = {x + t * n_cols, n_cols};
        find_gates(kernels, input, rows, mx_cpu_vector(cpu, p->input_weight) + first * n,
                   mx_cpu_vector(cpu, p->input_bias) + first, n_rows, n);
        find_gates(kernels, recurrent, rows, mx_cpu_vector(cpu, p->recurrent_weight) + first * n,
                   mx_cpu_vector(cpu, p->recurrent_bias) + first, n_rows, n);
        for (int32_t r = 0; r < n_rows; r++) {
            const bool is_first = task->batch->positions[t + r] == 0;
            for (int32_t j = 0; j < n; j++) {
                const float log = recurrent[r * n + j] * slope[j];
                const float factor = is_first ? 1.0f : sqrtf(-expm1f(2.0f * log));
                s[j] = expf(log) * s[j] + factor * input[r * n + j] * x[(t + r) * n_cols + j];
                y[(t + r) * n_cols + j] = s[j];
            }
        }
    }
}

void mx_cpu_chunked_lru(const mx_cpu_task *task)
{
    mx_cpu_for_each_state_row(task, task->op->u.lru.n_heads, run_head);
}
