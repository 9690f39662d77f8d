/* attention.c - softmax attention of each query head over the positions that its token sees.
 *
 * In the fused form q, k and v come as projected: norms on heads and the rotation are applied, k and v are appended to
 * the cache, and after a barrier the attention runs as in the plain form.
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"

/* shared: q after norm and rope [T, n_heads, k_dim]; own: scores [n_ctx], a key or value of one head. */
mx_cpu_need mx_cpu_attention_need(const mx_cpu *cpu, const mx_op *op)
{
    const mx_attention_params *p = &op->u.attention;
    const mx_cache_spec *spec = &cpu->program->caches[p->i_cache];
    const size_t n_queries = p->has_append ? (size_t)mx_cpu_max_rows(cpu, op->in[0]) : 0;
    return (mx_cpu_need){
        .n_shared_bytes = n_queries * (size_t)p->n_heads * (size_t)spec->k_dim * sizeof(float),
        .n_thread_bytes = ((size_t)cpu->program->n_ctx + (size_t)MX_MAX(spec->k_dim, spec->v_dim)) * sizeof(float),
    };
}

/* y = the head x after its norm and rotation. */
static void prepare_head(const mx_cpu_task *task, float *y, const float *x, int64_t dim, const mx_norm_params *norm,
                         int32_t position)
{
    const mx_attention_params *p = &task->op->u.attention;
    if (p->has_qk_norm) {
        mx_ref_norm_row(task->cpu, norm, y, x);
    } else {
        memcpy(y, x, (size_t)dim * sizeof(float));
    }
    if (p->rope != MX_NO_ROPE) {
        mx_ref_rope_head(y, &task->cpu->program->ropes[p->rope], position);
    }
}

static void append_and_prepare(const mx_cpu_task *task, float *q_out)
{
    const mx_attention_params *p = &task->op->u.attention;
    const mx_kv_cache *cache = &task->cpu->caches[p->i_cache];
    const mx_cache_spec *spec = &cache->spec;
    const float *q = mx_cpu_f32(task, task->op->in[0]);
    const float *k = mx_cpu_f32(task, task->op->in[1]);
    const float *v = spec->is_latent ? NULL : mx_cpu_f32(task, task->op->in[2]);
    float *head = (float *)task->own;
    int64_t from;
    int64_t to;
    mx_cpu_split(task, task->batch->n_tokens, &from, &to);
    for (int64_t t = from; t < to; t++) {
        const int32_t position = task->batch->positions[t];
        const int32_t page = mx_cpu_page(task, (int32_t)t, position);
        for (int64_t h = t * p->n_heads; h < (t + 1) * p->n_heads; h++) {
            prepare_head(task, q_out + h * spec->k_dim, q + h * spec->k_dim, spec->k_dim, &p->q_norm, position);
        }
        for (int32_t h = 0; h < spec->n_kv_heads; h++) {
            const int64_t i = t * spec->n_kv_heads + h;
            prepare_head(task, head, k + i * spec->k_dim, spec->k_dim, &p->k_norm, position);
            mx_kv_cache_store_k(cache, page, position % MX_PAGE_TOKENS, h, head);
            mx_kv_cache_store_v(cache, page, position % MX_PAGE_TOKENS, h, v ? v + i * spec->v_dim : NULL);
        }
    }
    mx_cpu_barrier(task);
}

/* Turns scores into probabilities; with a sink, its logit takes part in the sum. */
static void softmax(float *scores, int32_t n, const float *sink)
{
    float largest = sink ? *sink : scores[0];
    for (int32_t i = 0; i < n; i++) {
        largest = MX_MAX(largest, scores[i]);
    }
    float sum = sink ? expf(*sink - largest) : 0.0f;
    for (int32_t i = 0; i < n; i++) {
        scores[i] = expf(scores[i] - largest);
        sum += scores[i];
    }
    for (int32_t i = 0; i < n; i++) {
        scores[i] /= sum;
    }
}

static void attend_head(const mx_cpu_task *task, float *y, const float *q, int32_t t, int32_t i_head)
{
    const mx_attention_params *p = &task->op->u.attention;
    const mx_kv_cache *cache = &task->cpu->caches[p->i_cache];
    const mx_cache_spec *spec = &cache->spec;
    const int32_t i_kv_head = i_head / (p->n_heads / spec->n_kv_heads);
    const int32_t last = task->batch->positions[t];
    const int32_t first = mx_attention_first(p, last);
    const float scale = mx_attention_scale(p, last);
    const float *sinks = mx_cpu_vector(task->cpu, p->sinks);
    float *scores = (float *)task->own;
    float *head = scores + task->cpu->program->n_ctx;
    for (int32_t i = first; i <= last; i++) {
        mx_kv_cache_load_k(cache, mx_cpu_page(task, t, i), i % MX_PAGE_TOKENS, i_kv_head, head);
        const float score = scale * mx_ref_dot(q, head, spec->k_dim);
        scores[i - first] = p->softcap > 0.0f ? p->softcap * tanhf(score / p->softcap) : score;
    }
    softmax(scores, last - first + 1, sinks ? &sinks[i_head] : NULL);
    memset(y, 0, (size_t)spec->v_dim * sizeof(float));
    for (int32_t i = first; i <= last; i++) {
        mx_kv_cache_load_v(cache, mx_cpu_page(task, t, i), i % MX_PAGE_TOKENS, i_kv_head, head);
        for (int32_t d = 0; d < spec->v_dim; d++) {
            y[d] += scores[i - first] * head[d];
        }
    }
}

void mx_cpu_attention(const mx_cpu_task *task)
{
    const mx_attention_params *p = &task->op->u.attention;
    const mx_cache_spec *spec = &task->cpu->program->caches[p->i_cache];
    const float *q = mx_cpu_f32(task, task->op->in[0]);
    float *y = mx_cpu_f32(task, task->op->out[0]);
    if (p->has_append) {
        append_and_prepare(task, (float *)task->shared);
        q = (const float *)task->shared;
    }
    int64_t from;
    int64_t to;
    mx_cpu_split(task, (int64_t)task->batch->n_tokens * p->n_heads, &from, &to);
    for (int64_t i = from; i < to; i++) {
        attend_head(task, y + i * spec->v_dim, q + i * spec->k_dim, (int32_t)(i / p->n_heads),
                    (int32_t)(i % p->n_heads));
    }
}
