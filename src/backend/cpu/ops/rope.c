/* rope.c - rotary position embedding.
 *
 * The angle is position * inv_freq in f32, as the published models compute it; cos and sin are of that f32 angle.
 * Source: Su et al., "RoFormer", arXiv 2104.09864.
 */
#include <math.h>

#include "backend/cpu/cpu_backend.h"

void mx_ref_rope_head(float *x, const mx_rope_spec *rope, int32_t position)
{
    const int32_t n_pairs = rope->rot_dim / 2;
    for (int32_t i = 0; i < n_pairs; i++) {
        const float angle = (float)position * rope->inv_freq[i];
        const float c = cosf(angle) * rope->factor;
        const float s = sinf(angle) * rope->factor;
        float *first = rope->is_interleaved ? x + 2 * i : x + i;
        float *second = rope->is_interleaved ? x + 2 * i + 1 : x + i + n_pairs;
        const float a = *first;
        const float b = *second;
        *first = a * c - b * s;
        *second = b * c + a * s;
    }
}

void mx_cpu_rope(const mx_cpu_task *task)
{
    const mx_rope_params *p = &task->op->u.rope;
    const mx_rope_spec *rope = &task->cpu->program->ropes[p->rope];
    const float *x = mx_cpu_f32(task, task->op->in[0]);
    float *y = mx_cpu_f32(task, task->op->out[0]);
    int64_t from;
    int64_t to;
    mx_cpu_split(task, (int64_t)task->batch->n_tokens * p->n_heads, &from, &to);
    for (int64_t i = from; i < to; i++) {
        for (int32_t d = 0; d < p->head_dim; d++) {
            y[i * p->head_dim + d] = x[i * p->head_dim + d];
        }
        mx_ref_rope_head(y + i * p->head_dim, rope, task->batch->positions[i / p->n_heads]);
    }
}
