/* kv_append.c - this step's keys and values go into the cache. */
#include "backend/cpu/cpu_backend.h"

void mx_cpu_kv_append(const mx_cpu_task *task)
{
    const mx_kv_cache *cache = &task->cpu->caches[task->op->u.kv_append.i_cache];
    const mx_cache_spec *spec = &cache->spec;
    const float *k = mx_cpu_f32(task, task->op->in[0]);
    const float *v = spec->is_latent ? NULL : mx_cpu_f32(task, task->op->in[1]);
    int64_t from;
    int64_t to;
    mx_cpu_split(task, (int64_t)task->batch->n_tokens * spec->n_kv_heads, &from, &to);
    for (int64_t i = from; i < to; i++) {
        const int32_t t = (int32_t)(i / spec->n_kv_heads);
        const int32_t i_kv_head = (int32_t)(i % spec->n_kv_heads);
        const int32_t position = task->batch->positions[t];
        const int32_t page = mx_cpu_page(task, t, position);
        mx_kv_cache_store_k(cache, page, position % MX_PAGE_TOKENS, i_kv_head, k + i * spec->k_dim);
        mx_kv_cache_store_v(cache, page, position % MX_PAGE_TOKENS, i_kv_head, v ? v + i * spec->v_dim : NULL);
    }
}
