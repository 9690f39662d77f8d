/* mlxcel_generate.c - the public interface: engines, and one request at a time on them. */
#include <stdio.h>
#include <string.h>

#include "backend/cuda/cuda_driver.h"
#include "base/mem.h"
#include "engine/generation.h"
#include "engine/memory_need.h"
#include "engine/mlxcel_private.h"
#include "platform/clock.h"
#include "platform/memory.h"

enum {
    DEFAULT_CTX = 4096,
    MAX_STEP_TOKENS = 128, /* of a prompt in one step; a request can stop between two */
};

struct mlxcel_engine {
    const mlxcel_model *model; /* borrowed */
    mx_plan plan;              /* owned, like all below */
    mx_executor *executor;
    mx_engine engine;
    char why_no_gpu[480];
};

#define X(name) _Static_assert((int)MLXCEL_FINISH_##name == (int)MX_FINISH_##name, "the same number for " #name);
X(NONE)
X(END)
X(STOP)
X(LENGTH)
X(CONTEXT)
X(CANCELLED)
#undef X

int64_t mx_api_kv_bytes(const mx_program *program)
{
    int64_t n_bytes = 0;
    for (int32_t i = 0; i < program->n_caches; i++) {
        const mx_cache_spec *c = &program->caches[i];
        n_bytes += (int64_t)c->n_kv_heads * (c->k_dim + c->v_dim) * (int64_t)sizeof(uint16_t); /* MX_KV_F16 */
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

static mx_status check_memory(const mlxcel_model *model, const mx_plan *plan, int32_t n_ctx, mx_error *err)
{
    mlxcel_model_info info = {.n_struct_bytes = sizeof info};
    mlxcel_model_get_info(model, &info);
    const mx_memory_need need = {
        .n_weight_bytes = info.n_weight_bytes,
        .n_kv_bytes = info.n_kv_bytes * n_ctx + mx_program_state_bytes(plan->program),
        .n_scratch_bytes = plan->n_scratch_bytes,
        .n_ctx = n_ctx,
    };
    return mx_memory_check(&need, mx_memory_available(), err);
}

/* Opens the executor on the device, or where "auto" stands on a GPU if one can be used. */
static mx_status open_device(mlxcel_engine *e, const char *device, const mx_executor_options *options, int32_t n_ctx,
                             mx_error *err)
{
    const bool is_auto = strcmp(device, "auto") == 0;
    if (is_auto) {
        mx_error why = {0};
        if (mx_cuda_is_installed() && mx_executor_open("cuda", &e->plan, options, &e->executor, &why) != MX_OK) {
            (void)snprintf(e->why_no_gpu, sizeof e->why_no_gpu, "%s", why.message);
        }
        device = "cpu";
    }
    if (!e->executor) {
        if (strcmp(device, "cpu") == 0) {
            MX_TRY(check_memory(e->model, &e->plan, n_ctx, err));
        }
        MX_TRY(mx_executor_open(device, &e->plan, options, &e->executor, err));
    }
    return MX_OK;
}

static mx_status open_engine(mlxcel_engine *e, const mlxcel_engine_options *options, mx_error *err)
{
    const mx_program *program = mx_model_view_program(e->model->model);
    int32_t n_ctx = 0;
    MX_TRY(choose_ctx(program, options->n_ctx, &n_ctx, err));
    const mx_engine_limits limits = {
        .n_vocab = program->n_vocab,
        .n_ctx = n_ctx,
        .max_seqs = 1,
        .max_step_tokens = MX_MIN(n_ctx, MAX_STEP_TOKENS),
    };
    MX_TRY(mx_plan_init(&e->plan, program, limits.max_step_tokens, limits.max_seqs, err));
    const mx_executor_options executor_options = {
        .n_pages = mx_engine_count_pages(&limits),
        .n_state_slots = limits.max_seqs,
        .max_seqs = limits.max_seqs,
        .kv_type = MX_KV_F16,
        .n_threads = options->n_threads,
        .cpu_mode = MX_CPU_EXACT,
    };
    MX_TRY(open_device(e, options->device ? options->device : "auto", &executor_options, n_ctx, err));
    return mx_engine_init(&e->engine, e->executor, &limits, err);
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
        mx_engine_deinit(&e->engine);
        mx_executor_close(e->executor);
        mx_plan_deinit(&e->plan);
        mx_free(e);
    }
}

/* ---- one request ---- */

static mx_sampling copy_sampling(const mlxcel_model *model, const mlxcel_sampling *s)
{
    if (!s) {
        return model->sampling;
    }
    return (mx_sampling){
        .temperature = s->temperature,
        .top_k = s->top_k,
        .top_p = s->top_p,
        .min_p = s->min_p,
        .repeat_penalty = s->repeat_penalty,
        .repeat_last_n = s->repeat_last_n,
        .seed = s->seed,
    };
}

/* Seconds since *from_ns, which becomes now. */
static double lap(int64_t *from_ns)
{
    const int64_t now_ns = mx_clock_ns();
    const double seconds = (double)(now_ns - *from_ns) * 1e-9;
    *from_ns = now_ns;
    return seconds;
}

/* Gives text to the caller; true when it asks to stop. */
static bool emit(const mlxcel_request *r, mx_str text)
{
    return text.len > 0 && r->on_text && r->on_text(r->arg, text.ptr, text.len) != 0;
}

/* The token loop. A callback that says stop ends it between two tokens, with the text so far given. */
static mx_status run(mlxcel_engine *e, mx_generation *g, const mlxcel_request *r, mlxcel_result *result, mx_error *err)
{
    int64_t clock_ns = mx_clock_ns();
    while (g->finish == MX_FINISH_NONE) {
        mx_str text;
        if (r->should_stop && r->should_stop(r->arg) != 0) {
            MX_TRY(mx_generation_cancel(g, &text, err));
            (void)emit(r, text);
            break;
        }
        mx_step_part part;
        mx_generation_plan(g, e->engine.limits.max_step_tokens, &part);
        MX_TRY(mx_engine_step(&e->engine, &part, 1, err));
        MX_TRY(mx_generation_take(g, &part, &text, err));
        result->n_new_tokens = g->n_new;
        result->n_prompt_tokens = MX_MIN(g->sequence.n_cached, g->request.n_prompt);
        *(g->n_new <= 1 ? &result->prompt_s : &result->generate_s) += lap(&clock_ns);
        if (emit(r, text) && g->finish == MX_FINISH_NONE) {
            g->finish = MX_FINISH_CANCELLED; /* what is held back is not wanted any more */
        }
    }
    result->finish = (mlxcel_finish)g->finish;
    return MX_OK;
}

static mx_status generate(mlxcel_engine *e, const mlxcel_request *r, mlxcel_result *result, mx_error *err)
{
    mx_generation g = {0};
    mx_str stops[MX_STOP_MAX_STRINGS];
    if (r->n_stops < 0 || r->n_stops > MX_STOP_MAX_STRINGS) {
        return mx_fail(err, MX_INVALID, "%d stop strings: at most %d can be given", (int)r->n_stops,
                       MX_STOP_MAX_STRINGS);
    }
    for (int32_t i = 0; i < r->n_stops; i++) {
        stops[i] = mx_str_from(r->stops[i]);
    }
    const mx_generation_request request = {
        .prompt = r->prompt,
        .n_prompt = r->n_prompt,
        .max_new_tokens = r->max_new_tokens,
        .sampling = copy_sampling(e->model, r->sampling),
        .stops = stops,
        .n_stops = (size_t)r->n_stops,
        .end_ids = e->model->end_ids,
        .n_end_ids = e->model->n_end_ids,
    };
    mx_status st = mx_generation_init(&g, &e->engine, e->model->tokenizer, &request, err);
    if (st == MX_OK) {
        st = run(e, &g, r, result, err);
    }
    mx_generation_deinit(&g);
    return st;
}

mlxcel_status mlxcel_generate(mlxcel_engine *e, const mlxcel_request *request, mlxcel_result *result, mlxcel_error *err)
{
    mx_error error;
    mlxcel_request given;
    mx_api_read_struct(&given, sizeof given, request);
    mlxcel_result found = {0};
    const mx_status st = generate(e, &given, &found, &error);
    mx_api_write_struct(result, &found, sizeof found);
    return mx_api_result(st, &error, err);
}
