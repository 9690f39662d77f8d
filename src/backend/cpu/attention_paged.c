/* attention_paged.c - which thread prepares and attends to which heads. */
#include "backend/cpu/attention_paged.h"

#include <math.h>
#include <string.h>

#include "backend/cpu/attend.h"
#include "backend/cpu/kernels.h"
#include "base/compiler.h"

#define ALIGN 64

typedef struct attention {
    const mx_cpu_task *task;
    const mx_attention_params *params;
    const mx_kv_cache *cache;
    const mx_cache_spec *spec;
    int32_t n_group; /* query heads a kv head */
    float *q;        /* [T, n_heads, k_dim] after norm and rope, times the scale */
    float *cosines;  /* [rot_dim / 2] of position table_position, and sines */
    float *sines;
    int32_t table_position;
    float *head; /* [max(k_dim, v_dim)] */
    uint16_t *half_head;
    float *work;
} attention;

static size_t round_up(size_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

size_t mx_attend_work_bytes(int32_t k_dim, int32_t v_dim)
{
    const size_t n_o_cols = ((size_t)v_dim + MX_PAGE_TOKENS - 1) / MX_PAGE_TOKENS * MX_PAGE_TOKENS;
    const size_t n_floats = (size_t)(MX_ATTEND_MAX_QUERIES + MX_PAGE_TOKENS) * ((size_t)k_dim + n_o_cols);
    return round_up((n_floats + MX_PAGE_TOKENS) * sizeof(float));
}

/* shared: q; own: cosines, sines, a head in f32 and f16, and the kernel's work space. */
mx_cpu_need mx_cpu_paged_attention_need(const mx_cpu *cpu, const mx_op *op)
{
    const mx_attention_params *p = &op->u.attention;
    const mx_cache_spec *spec = &cpu->program->caches[p->i_cache];
    const size_t max_dim = (size_t)MX_MAX(spec->k_dim, spec->v_dim);
    return (mx_cpu_need){
        .n_shared_bytes =
            (size_t)mx_cpu_max_rows(cpu, op->in[0]) * (size_t)p->n_heads * (size_t)spec->k_dim * sizeof(float),
        .n_thread_bytes = 4 * round_up(max_dim * sizeof(float)) + mx_attend_work_bytes(spec->k_dim, spec->v_dim),
    };
}

static attention begin(const mx_cpu_task *task)
{
    const mx_attention_params *p = &task->op->u.attention;
    const mx_kv_cache *cache = &task->cpu->caches[p->i_cache];
    const size_t n_head_bytes = round_up((size_t)MX_MAX(cache->spec.k_dim, cache->spec.v_dim) * sizeof(float));
    return (attention){
        .task = task,
        .params = p,
        .cache = cache,
        .spec = &cache->spec,
        .n_group = p->n_heads / cache->spec.n_kv_heads,
        .q = (float *)(void *)task->shared,
        .cosines = (float *)(void *)task->own,
        .sines = (float *)(void *)(task->own + n_head_bytes),
        .table_position = -1,
        .head = (float *)(void *)(task->own + 2 * n_head_bytes),
        .half_head = (uint16_t *)(void *)(task->own + 3 * n_head_bytes),
        .work = (float *)(void *)(task->own + 4 * n_head_bytes),
    };
}

/* Preparing -------------------------------------------------------------------------------------------------------- */

static void make_rope_table(attention *a, int32_t position)
{
    const mx_rope_spec *rope = &a->task->cpu->program->ropes[a->params->rope];
    for (int32_t i = 0; position != a->table_position && i < rope->rot_dim / 2; i++) {
        const float angle = (float)position * rope->inv_freq[i];
        a->cosines[i] = cosf(angle) * rope->factor;
        a->sines[i] = sinf(angle) * rope->factor;
    }
    a->table_position = position;
}

/* y = the head x after its norm and rotation. */
static void prepare_head(attention *a, float *y, const float *x, const mx_norm_params *norm, int32_t position)
{
    const mx_cpu *cpu = a->task->cpu;
    if (a->params->has_qk_norm) {
        cpu->kernels->rmsnorm_row(y, x, mx_cpu_vector(cpu, norm->weight), a->spec->k_dim, norm->eps,
                                  norm->weight_offset);
    } else {
        memcpy(y, x, (size_t)a->spec->k_dim * sizeof(float));
    }
    if (a->params->rope != MX_NO_ROPE) {
        const mx_rope_spec *rope = &cpu->program->ropes[a->params->rope];
        make_rope_table(a, position);
        cpu->kernels->rope_head(y, a->cosines, a->sines, rope->rot_dim / 2, rope->is_interleaved);
    }
}

/* Key (transposed) and value of one position and head into the cache. */
static void store_kv(attention *a, int32_t page, int32_t slot, int32_t i_kv_head, const float *k, const float *v)
{
    const mx_cache_spec *spec = a->spec;
    if (a->cache->type == MX_KV_F32) {
        mx_kv_cache_store_k(a->cache, page, slot, i_kv_head, k);
        mx_kv_cache_store_v(a->cache, page, slot, i_kv_head, v);
        return;
    }
    uint16_t *keys = (uint16_t *)(void *)mx_kv_cache_keys(a->cache, page, i_kv_head);
    a->task->cpu->kernels->narrow(a->half_head, k, spec->k_dim);
    for (int32_t d = 0; d < spec->k_dim; d++) {
        keys[d * MX_PAGE_TOKENS + slot] = a->half_head[d];
    }
    if (!spec->is_latent) {
        uint16_t *values = (uint16_t *)(void *)mx_kv_cache_values(a->cache, page, i_kv_head);
        a->task->cpu->kernels->narrow(values + (int64_t)slot * spec->v_dim, v, spec->v_dim);
    }
}

/* Queries of token t that belong to kv head h, and in the fused form its key and value. */
static void prepare(attention *a, int32_t t, int32_t h)
{
    const mx_cpu_task *task = a->task;
    const mx_cache_spec *spec = a->spec;
    const int32_t position = task->batch->positions[t];
    const int64_t first_head = (int64_t)t * a->params->n_heads + (int64_t)h * a->n_group;
    const float *q = mx_cpu_f32(task, task->op->in[0]) + first_head * spec->k_dim;
    float *q_out = a->q + first_head * spec->k_dim;
    if (a->params->has_append) {
        const int64_t i = (int64_t)t * spec->n_kv_heads + h;
        const float *k = mx_cpu_f32(task, task->op->in[1]) + i * spec->k_dim;
        const float *v = spec->is_latent ? NULL : mx_cpu_f32(task, task->op->in[2]) + i * spec->v_dim;
        prepare_head(a, a->head, k, &a->params->k_norm, position);
        store_kv(a, mx_cpu_page(task, t, position), position % MX_PAGE_TOKENS, h, a->head, v);
        for (int32_t j = 0; j < a->n_group; j++) {
            prepare_head(a, q_out + j * spec->k_dim, q + j * spec->k_dim, &a->params->q_norm, position);
        }
    } else {
        memcpy(q_out, q, (size_t)(a->n_group * spec->k_dim) * sizeof(float));
    }
    const float scale = mx_attention_scale(a->params, position);
    for (int32_t d = 0; d < a->n_group * spec->k_dim; d++) {
        q_out[d] *= scale;
    }
}

/* Attending -------------------------------------------------------------------------------------------------------- */

/* Tokens [from, to) of one sequence, query heads [j_from, j_to) of kv head h's group. */
static void attend_block(const attention *a, int32_t from, int32_t to, int32_t h, int32_t j_from, int32_t j_to)
{
    const mx_cpu_task *task = a->task;
    const mx_cache_spec *spec = a->spec;
    const float *sinks = mx_cpu_vector(task->cpu, a->params->sinks);
    float *y = mx_cpu_f32(task, task->op->out[0]);
    const size_t size = a->cache->type == MX_KV_F16 ? 2 : 4;
    mx_attend args = {
        .kv_type = a->cache->type,
        .k_dim = spec->k_dim,
        .v_dim = spec->v_dim,
        .softcap = a->params->softcap,
        .pages = task->batch->page_table + (int64_t)task->cpu->token_seqs[from] * task->batch->n_page_cols,
        .keys = mx_kv_cache_keys(a->cache, 0, h),
        .values = spec->is_latent ? NULL : mx_kv_cache_values(a->cache, 0, h),
        .key_stride = (size_t)spec->n_kv_heads * (size_t)spec->k_dim * MX_PAGE_TOKENS * size,
        .value_stride = (size_t)spec->n_kv_heads * (size_t)spec->v_dim * MX_PAGE_TOKENS * size,
        .work = a->work,
    };
    for (int32_t t = from; t < to; t++) {
        for (int32_t j = j_from; j < j_to; j++) {
            const int32_t head = h * a->n_group + j;
            const int64_t i = (int64_t)t * a->params->n_heads + head;
            const int32_t row = args.n_queries++;
            args.q[row] = a->q + i * spec->k_dim;
            args.y[row] = y + i * spec->v_dim;
            args.last[row] = task->batch->positions[t];
            args.first[row] = mx_attention_first(a->params, args.last[row]);
            args.sinks[row] = sinks ? sinks[head] : -INFINITY;
        }
    }
    task->cpu->kernels->attend(&args);
}

/* All of a block's queries, at most MX_ATTEND_MAX_QUERIES at a time. */
static void attend_tokens(const attention *a, int32_t from, int32_t to, int32_t h)
{
    for (int32_t j = 0; j < a->n_group; j += MX_ATTEND_MAX_QUERIES) {
        attend_block(a, from, to, h, j, MX_MIN(j + MX_ATTEND_MAX_QUERIES, a->n_group));
    }
}

/* Blocks of tokens, kv heads and parts of their groups, dealt out one by one: in prefill, later blocks of a sequence
 * cost more. Where there are fewer kv heads than threads, groups come in smaller parts. */
static void attend_all(const attention *a, bool is_decode)
{
    const mx_batch *batch = a->task->batch;
    const int32_t n_kv_heads = a->spec->n_kv_heads;
    const int32_t n_block = MX_MAX(MX_ATTEND_MAX_QUERIES / a->n_group, 1);
    const int32_t n_threads_each = is_decode ? MX_MAX(a->task->n_threads / (batch->n_tokens * n_kv_heads), 1) : 1;
    const int32_t n_part = MX_MIN((a->n_group + n_threads_each - 1) / n_threads_each, MX_ATTEND_MAX_QUERIES);
    const int32_t n_parts = (a->n_group + n_part - 1) / n_part;
    int32_t i_item = 0;
    for (int32_t s = 0; s < batch->n_seqs; s++) {
        for (int32_t t = batch->row_start[s]; t < batch->row_start[s + 1]; t += n_block) {
            for (int32_t i = 0; i < n_kv_heads * n_parts; i++, i_item++) {
                if (i_item % a->task->n_threads == a->task->i_thread) {
                    const int32_t j = i % n_parts * n_part;
                    attend_block(a, t, MX_MIN(t + n_block, batch->row_start[s + 1]), i / n_parts, j,
                                 MX_MIN(j + n_part, a->n_group));
                }
            }
        }
    }
}

void mx_cpu_paged_attention(const mx_cpu_task *task)
{
    attention a = begin(task);
    const mx_batch *batch = task->batch;
    const int32_t n_kv_heads = a.spec->n_kv_heads;
    bool is_decode = true;
    for (int32_t s = 0; s < batch->n_seqs; s++) {
        is_decode = is_decode && batch->row_start[s + 1] - batch->row_start[s] <= 1;
    }
    const bool is_alone =
        is_decode && batch->n_tokens * n_kv_heads >= task->n_threads; /* no thread waits for another */
    for (int32_t i = task->i_thread; i < batch->n_tokens * n_kv_heads; i += task->n_threads) {
        prepare(&a, i / n_kv_heads, i % n_kv_heads);
        if (is_alone) {
            attend_tokens(&a, i / n_kv_heads, i / n_kv_heads + 1, i % n_kv_heads);
        }
    }
    if (!is_alone) {
        mx_cpu_barrier(task);
        attend_all(&a, is_decode);
    }
}
