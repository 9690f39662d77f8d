/* embed.c - rows of the embedding matrix. */
#include "backend/cpu/cpu_backend.h"

void mx_cpu_embed(const mx_cpu_task *task)
{
    const mx_embed_params *p = &task->op->u.embed;
    const mx_weight *w = &task->cpu->program->weights[p->weight];
    const int32_t *ids = mx_cpu_i32(task, task->op->in[0]);
    float *y = mx_cpu_f32(task, task->op->out[0]);
    int64_t from;
    int64_t to;
    mx_cpu_split(task, task->batch->n_tokens, &from, &to);
    for (int64_t t = from; t < to; t++) {
        float *row = y + t * w->n_cols;
        mx_weight_dequantize_row(w, 0, ids[t] < w->n_rows ? ids[t] : 0, row);
        for (int64_t c = 0; c < w->n_cols; c++) {
            row[c] *= p->scale;
        }
    }
}
