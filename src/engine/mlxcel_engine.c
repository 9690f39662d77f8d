/* mlxcel_engine.c - the public interface: engines, and the memory that they take. */
#include <stdio.h>
#include <string.h>

#include "backend/cuda/cuda_driver.h"
#include "base/mem.h"
#include "engine/memory_need.h"
#include "engine/mlxcel_private.h"
#include "platform/memory.h"

enum {
    DEFAULT_CTX = 4096,
    CPU_STEP_TOKENS = 128, /* of a prompt in one step; others wait so long, and a request can stop between two */
    GPU_STEP_TOKENS = 512, /* the same where a step of so many takes about as long as one of few */
    DEFAULT_QUEUE = 256,
    MAX_SEQS = 1024,
    MAX_QUEUE = 1 << 20,
    MAX_CHECKPOINTS = 64,
};
#define CHECKPOINT_BYTES ((int64_t)1 << 29) /* of recurrent states that are kept for later texts, about */

int64_t mx_api_kv_bytes(const mx_program *program)
{
    int64_t n_bytes = 0;
    for (int32_t i = 0; i < program->n_caches; i++) {
        const mx_cache_spec *c = &program->caches[i];
        n_bytes += c->n_kv_heads * mx_cache_cols(c) * (int64_t)sizeof(uint16_t); /* MX_KV_F16 */
    }
    return n_bytes;
}

/* The context to make room for. */
static mx_status choose_ctx(const mx_program *program, int32_t asked, int32_t *n_ctx, mx_error *err)
{
    if (asked < 0) {
        return mx_fail(err, MX_INVALID, "a context of %d tokens: it must be 0 (the default) or more", (int)asked);
    }
    if (asked > program->n_ctx) {
        return mx_fail(err, MX_INVALID, "a context of %d tokens: the model was made for at most %d", (int)asked,
                       (int)program->n_ctx);
    }
    *n_ctx = asked > 0 ? asked : MX_MIN(program->n_ctx, DEFAULT_CTX);
    return MX_OK;
}

static mx_status check_memory(const mlxcel_model *model, const mx_plan *plan, const mx_executor_options *options,
                              mx_error *err)
{
    const int64_t n_tokens = (int64_t)options->n_pages * MX_PAGE_TOKENS;
    mlxcel_model_info info = {.n_struct_bytes = sizeof info};
    mlxcel_model_get_info(model, &info);
    const mx_memory_need need = {
        .n_weight_bytes = info.n_weight_bytes,
        .n_kv_bytes = mx_add_capped(mx_mul_capped(info.n_kv_bytes, n_tokens),
                                    mx_mul_capped(mx_program_state_bytes(plan->program), options->n_state_slots)),
        .n_scratch_bytes = plan->n_scratch_bytes,
        .n_ctx = (int32_t)MX_MIN(n_tokens, INT32_MAX),
    };
    return mx_memory_check(&need, mx_memory_available(), err);
}

static mx_status check_range(const char *what, int32_t value, int32_t least, int32_t most, mx_error *err)
{
    return value >= least && value <= most
               ? MX_OK
               : mx_fail(err, MX_INVALID, "%s %d: it must be from %d to %d", what, (int)value, (int)least, (int)most);
}

static int32_t pages_for(int64_t n_tokens)
{
    return (int32_t)(n_tokens / MX_PAGE_TOKENS + (n_tokens % MX_PAGE_TOKENS != 0));
}

/* States kept for later texts: a few large ones, more of small ones. */
static int32_t choose_checkpoints(const mx_program *program, const mlxcel_engine_options *o)
{
    if (program->n_states == 0 || o->no_prefix_reuse) {
        return 0;
    }
    const int64_t n = CHECKPOINT_BYTES / MX_MAX(mx_program_state_bytes(program), 1);
    return (int32_t)MX_MIN(MX_MAX(n, 4), MAX_CHECKPOINTS);
}

/* What the options ask for, as limits. */
static mx_status choose_limits(const mx_program *program, const mlxcel_engine_options *o, int32_t default_step,
                               mx_engine_limits *limits, mx_error *err)
{
    int32_t n_ctx = 0;
    MX_TRY(choose_ctx(program, o->n_ctx, &n_ctx, err));
    const int32_t n_seqs = o->n_seqs > 0 ? o->n_seqs : 1;
    MX_TRY(check_range("texts at once:", o->n_seqs, 0, MAX_SEQS, err));
    MX_TRY(check_range("waiting texts:", o->max_queue, 0, MAX_QUEUE, err));
    MX_TRY(check_range("guesses in a step:", o->n_draft, 0, MX_MAX_DRAFTS, err));
    MX_TRY(check_range("tokens in a step:", o->n_step_tokens, 0, 1 << 16, err));
    if (o->n_cache_tokens != 0 && o->n_cache_tokens < n_ctx) {
        return mx_fail(err, MX_INVALID, "a cache of %d tokens: one text alone may have %d", (int)o->n_cache_tokens,
                       (int)n_ctx);
    }
    const int32_t n_step = MX_MAX(o->n_step_tokens > 0 ? o->n_step_tokens : MX_MIN(n_ctx, default_step),
                                  n_seqs > 1 ? n_seqs * 2 : 1 + o->n_draft);
    const int64_t n_cache =
        o->n_cache_tokens > 0 ? o->n_cache_tokens : (int64_t)pages_for(n_ctx) * MX_PAGE_TOKENS * n_seqs;
    if (n_cache > INT32_MAX) {
        return mx_fail(err, MX_INVALID, "%d texts of %d tokens: name a smaller cache", (int)n_seqs, (int)n_ctx);
    }
    *limits = (mx_engine_limits){
        .n_vocab = program->n_vocab,
        .n_ctx = n_ctx,
        .max_seqs = n_seqs,
        .max_step_tokens = n_step,
        .max_samples = MX_MIN(n_seqs * (1 + o->n_draft), n_step),
        .n_checkpoints = choose_checkpoints(program, o),
        .n_pages = pages_for(n_cache),
    };
    return MX_OK;
}

/* Opens the executor on one device: with as many pages as asked for, or where that was left open as many as there is
 * room for. */
static mx_status open_on(mlxcel_engine *e, const mlxcel_engine_options *o, const char *device, mx_engine_limits *limits,
                         mx_error *err)
{
    const mx_program *program = mx_model_view_program(e->model->model);
    const bool is_cpu = strcmp(device, "cpu") == 0;
    mx_status st;
    MX_TRY(choose_limits(program, o, is_cpu ? CPU_STEP_TOKENS : GPU_STEP_TOKENS, limits, err));
    MX_TRY(mx_plan_init(&e->plan, program, limits->max_step_tokens, limits->max_samples, err));
    for (;;) {
        const mx_executor_options options = {
            .n_pages = limits->n_pages,
            .n_state_slots = limits->max_seqs + limits->n_checkpoints,
            .max_seqs = limits->max_seqs,
            .kv_type = MX_KV_F16,
            .n_threads = o->n_threads,
            .cpu_mode = MX_CPU_EXACT,
        };
        st = is_cpu ? check_memory(e->model, &e->plan, &options, err) : MX_OK;
        st = st == MX_OK ? mx_executor_open(device, &e->plan, &options, &e->executor, err) : st;
        if (st != MX_NO_MEMORY || o->n_cache_tokens > 0 || limits->n_pages == pages_for(limits->n_ctx)) {
            break;
        }
        limits->n_pages = MX_MAX(limits->n_pages / 2, pages_for(limits->n_ctx));
    }
    if (st != MX_OK) {
        mx_plan_deinit(&e->plan);
    }
    return st;
}

/* "auto" is a GPU if one can be used, else the CPU. */
static mx_status open_device(mlxcel_engine *e, const mlxcel_engine_options *o, mx_engine_limits *limits, mx_error *err)
{
    const char *device = o->device ? o->device : "auto";
    if (strcmp(device, "auto") != 0) {
        return open_on(e, o, device, limits, err);
    }
    mx_error why = {0};
    if (mx_cuda_is_installed()) {
        if (open_on(e, o, "cuda", limits, &why) == MX_OK) {
            return MX_OK;
        }
        (void)snprintf(e->why_no_gpu, sizeof e->why_no_gpu, "%s", why.message);
    }
    return open_on(e, o, "cpu", limits, err);
}

static mx_status open_engine(mlxcel_engine *e, const mlxcel_engine_options *o, mx_error *err)
{
    static const char *const breakers[] = {"\n", ":", "\"", "*"};
    const mx_program *program = mx_model_view_program(e->model->model);
    mx_engine_limits limits;
    MX_TRY(open_device(e, o, &limits, err));
    MX_TRY(mx_engine_init(&e->engine, e->executor, &limits, err));
    const mx_scheduler_options scheduler_options = {
        .max_queue = o->max_queue > 0 ? o->max_queue : DEFAULT_QUEUE,
        .is_without_prefixes = o->no_prefix_reuse != 0,
        .is_recurrent = program->n_states > 0,
    };
    MX_TRY(mx_scheduler_init(&e->scheduler, &e->engine, &scheduler_options, err));
    e->n_draft = program->n_states > 0 ? 0 : o->n_draft; /* a state cannot take rows back */
    e->dry_breakers = (uint32_t *)mx_calloc((size_t)limits.n_vocab / 32 + 1, sizeof(uint32_t));
    if (!e->dry_breakers) {
        return mx_fail_no_memory(err, (size_t)limits.n_vocab / 8, "the tokens that end repetitions");
    }
    MX_TRY(mx_api_find_breakers(e->model->tokenizer, breakers, MX_COUNTOF(breakers), limits.n_vocab, e->dry_breakers,
                                err));
    return mx_engine_loop_start(&e->loop, &e->scheduler, err);
}

mlxcel_status mlxcel_engine_open(const mlxcel_model *model, const mlxcel_engine_options *options, mlxcel_engine **out,
                                 mlxcel_error *err)
{
    mx_error error;
    mlxcel_engine_options given;
    mx_api_read_struct(&given, sizeof given, options);
    *out = NULL;
    if (!model->model) {
        return mx_api_result(mx_fail(&error, MX_INVALID, "the model %s was opened for its text alone", model->dir),
                             &error, err);
    }
    mlxcel_engine *e = (mlxcel_engine *)mx_calloc(1, sizeof *e);
    if (!e) {
        return mx_api_result(mx_fail_no_memory(&error, sizeof *e, "an engine"), &error, err);
    }
    e->model = model;
    mx_mutex_init(&e->table_lock);
    const mx_status st = open_engine(e, &given, &error);
    if (st != MX_OK) {
        mlxcel_engine_close(e);
    } else {
        *out = e;
    }
    return mx_api_result(st, &error, err);
}

const char *mlxcel_engine_get_device(const mlxcel_engine *e, const char **why)
{
    if (why) {
        *why = e->why_no_gpu;
    }
    return e->executor->backend->name;
}

void mlxcel_engine_close(mlxcel_engine *e)
{
    if (e) {
        mx_engine_loop_stop(&e->loop);
        mx_scheduler_deinit(&e->scheduler);
        mx_engine_deinit(&e->engine);
        mx_executor_close(e->executor);
        mx_plan_deinit(&e->plan);
        if (e->table) {
            mx_token_table_deinit(e->table);
            mx_free(e->table);
        }
        mx_mutex_deinit(&e->table_lock);
        mx_free(e->dry_breakers);
        mx_free(e);
    }
}

static mx_status make_table(mlxcel_engine *e, mx_error *err)
{
    mx_token_table *table = (mx_token_table *)mx_calloc(1, sizeof *table);
    if (!table) {
        return mx_fail_no_memory(err, sizeof *table, "the table of tokens");
    }
    const mx_status st = mx_token_table_init(table, e->model->tokenizer, e->engine.limits.n_vocab, err);
    if (st != MX_OK) {
        mx_free(table);
        return st;
    }
    e->table = table;
    return MX_OK;
}

mx_status mx_api_get_token_table(mlxcel_engine *e, const mx_token_table **out, mx_error *err)
{
    mx_mutex_lock(&e->table_lock);
    const mx_status st = e->table ? MX_OK : make_table(e, err);
    *out = e->table;
    mx_mutex_unlock(&e->table_lock);
    return st;
}

void mlxcel_engine_get_stats(mlxcel_engine *e, mlxcel_engine_stats *stats)
{
    mx_loop_stats s;
    mx_engine_loop_get_stats(&e->loop, &s);
    const mlxcel_engine_stats found = {
        .n_ctx = e->engine.limits.n_ctx,
        .n_seqs = e->engine.limits.max_seqs,
        .max_queue = e->scheduler.options.max_queue,
        .n_running = s.n_running,
        .n_waiting = s.n_waiting,
        .n_page_tokens = MX_PAGE_TOKENS,
        .n_pages = s.n_pages,
        .n_free_pages = s.n_free_pages,
        .n_prefix_pages = s.n_prefix_pages,
        .stalled_ms = s.stalled_ms,
        .n_steps = s.counts.n_steps,
        .n_failed_steps = s.counts.n_failed_steps,
        .n_jobs_over = s.counts.n_jobs_over,
        .n_jobs_failed = s.counts.n_jobs_failed,
        .n_jobs_cancelled = s.counts.n_jobs_cancelled,
        .n_prompt_tokens = s.counts.n_computed,
        .n_reused_tokens = s.counts.n_reused,
        .n_new_tokens = s.counts.n_new,
        .n_draft_tokens = s.counts.n_drafts,
        .n_right_tokens = s.counts.n_right,
        .n_preemptions = s.counts.n_preemptions,
    };
    mx_api_write_struct(stats, &found, sizeof found);
}
