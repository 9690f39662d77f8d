/* mlxcel_job.c - the public interface: requests at work.
 *
 * A job has two owners, the caller and the engine's thread; the last one to let go frees it. The engine's thread adds
 * news to each choice's outbox, the caller's swaps them against an empty one, so news of several steps come as one when
 * the caller is slow, and neither waits for the other. An outbox is never longer than an answer.
 */
#include <string.h>

#include "base/mem.h"
#include "engine/mlxcel_private.h"
#include "platform/clock.h"

enum {
    MAX_CHOICES = 128,
    OUTBOX_BYTES = 1024, /* room from the start */
    OUTBOX_TOKENS = 64,
};
#define MAX_JOB_BYTES ((size_t)256 << 20) /* of a request's arrays */

#define X(name) _Static_assert((int)MLXCEL_FINISH_##name == (int)MX_FINISH_##name, "the same number for " #name);
X(NONE)
X(END)
X(STOP)
X(LENGTH)
X(CONTEXT)
X(CANCELLED)
#undef X
_Static_assert((int)MLXCEL_GRAMMAR_GBNF == (int)MX_GRAMMAR_GBNF + 1 &&
                   (int)MLXCEL_GRAMMAR_REGEX == (int)MX_GRAMMAR_REGEX + 1 &&
                   (int)MLXCEL_GRAMMAR_JSON_SCHEMA == (int)MX_GRAMMAR_JSON_SCHEMA + 1,
               "the public kinds begin with none");

/* News that have not been given yet, or that were given last. */
typedef struct outbox {
    mx_buf text;
    mlxcel_token *tokens; /* owned [cap_tokens] */
    mlxcel_logprob *top;  /* owned [cap_tokens, n_top] */
    size_t n_tokens;
    size_t cap_tokens;
} outbox;

typedef struct choice {
    mx_guide guide;    /* of the job; zeroed: no grammar */
    mx_job job;        /* the engine's thread's, while it is in work */
    mlxcel_job *whole; /* whose choice it is */
    outbox filling;    /* the rest is under the lock */
    outbox given;      /* the caller's thread's */
    bool has_news;
    bool is_over;
    bool is_told; /* the caller has had the last event */
    mx_status status;
    mx_error err;
    mlxcel_result result;
} choice;

struct mlxcel_job {
    mlxcel_engine *engine; /* borrowed */
    mx_arena arena;        /* owned: what the request pointed to */
    mx_grammar *grammar;   /* owned; NULL: none */
    choice *choices;       /* owned [n_choices] */
    int32_t n_choices;
    int32_t n_top;
    mx_atomic_u32 n_owners;
    void (*on_ready)(void *arg);
    void *arg;
    mx_mutex lock;
    mx_cond has_news;
    int32_t n_open;       /* choices that are not over */
    int32_t i_next;       /* choice that is asked first, so that none is passed over */
    bool is_announced;    /* on_ready was called, mlxcel_job_next not since */
    mlxcel_result result; /* of the latest event */
    char message[sizeof((mx_error *)0)->message];
};

/* ---- outboxes ---- */

static void deinit_outbox(outbox *o)
{
    mx_buf_deinit(&o->text);
    mx_free(o->tokens);
    mx_free(o->top);
}

static mx_status grow_outbox(outbox *o, size_t n_tokens, size_t n_top, mx_error *err)
{
    if (n_tokens <= o->cap_tokens) {
        return MX_OK;
    }
    const size_t cap = MX_MAX(n_tokens, o->cap_tokens * 2);
    mlxcel_token *tokens = (mlxcel_token *)mx_realloc(o->tokens, cap * sizeof *tokens);
    o->tokens = tokens ? tokens : o->tokens;
    mlxcel_logprob *top = (mlxcel_logprob *)mx_realloc(o->top, cap * n_top * sizeof *top);
    o->top = top ? top : o->top;
    if (!tokens || !top) {
        return mx_fail_no_memory(err, cap * (sizeof *tokens + n_top * sizeof *top), "an answer's tokens");
    }
    o->cap_tokens = cap;
    return MX_OK;
}

static mx_status init_outbox(outbox *o, size_t n_top, mx_error *err)
{
    mx_buf_init(&o->text, (size_t)1 << 30);
    MX_TRY(mx_buf_reserve(&o->text, OUTBOX_BYTES, err));
    return grow_outbox(o, OUTBOX_TOKENS, n_top, err);
}

static mx_status fill_outbox(outbox *o, const mx_generation_news *news, int32_t n_top, mx_error *err)
{
    MX_TRY(mx_buf_append(&o->text, news->text, err));
    MX_TRY(grow_outbox(o, o->n_tokens + (size_t)news->n_tokens, (size_t)n_top, err));
    for (int32_t i = 0; i < news->n_tokens; i++) {
        const mx_drawn_token *token = &news->tokens[i];
        mlxcel_logprob *top = o->top + o->n_tokens * (size_t)n_top;
        for (int32_t j = 0; j < n_top; j++) {
            top[j] = (mlxcel_logprob){.token_id = token->top[j].token_id, .logprob = token->top[j].logprob};
        }
        o->tokens[o->n_tokens++] = (mlxcel_token){
            .token_id = token->token_id,
            .n_text_bytes = (int32_t)token->n_text_bytes,
            .logprob = token->logprob,
            .n_top = n_top,
        };
    }
    return MX_OK;
}

/* ---- the engine's side ---- */

static void drop_owner(mlxcel_job *job)
{
    if (mx_atomic_add_u32(&job->n_owners, (uint32_t)-1) != 1) {
        return;
    }
    for (int32_t i = 0; i < job->n_choices; i++) {
        mx_generation_deinit(&job->choices[i].job.generation);
        mx_guide_deinit(&job->choices[i].guide);
        deinit_outbox(&job->choices[i].filling);
        deinit_outbox(&job->choices[i].given);
    }
    mx_cond_deinit(&job->has_news);
    mx_mutex_deinit(&job->lock);
    mx_grammar_close(job->grammar);
    mx_arena_deinit(&job->arena);
    mx_free(job->choices);
    mx_free(job);
}

static double seconds(int64_t from_ns, int64_t to_ns)
{
    return from_ns > 0 && to_ns > from_ns ? (double)(to_ns - from_ns) * 1e-9 : 0.0;
}

static void describe(const mx_job *job, mlxcel_result *r)
{
    const mx_generation *g = &job->generation;
    *r = (mlxcel_result){
        .n_struct_bytes = sizeof *r,
        .finish = (mlxcel_finish)g->finish,
        .n_prompt_tokens = g->n_new > 0 ? g->request.n_prompt : MX_MIN(g->sequence.n_cached, g->request.n_prompt),
        .n_new_tokens = g->n_new,
        .n_reused_tokens = job->n_reused,
        .queue_s = seconds(job->queued_ns, job->admitted_ns),
        .prompt_s = seconds(job->admitted_ns, job->first_token_ns),
        .generate_s = seconds(job->first_token_ns, job->over_ns),
        .i_stop = g->i_stop,
        .n_preemptions = job->n_preemptions,
    };
}

static void on_update(void *arg, mx_job *from, const mx_job_update *update)
{
    choice *c = (choice *)arg;
    mlxcel_job *job = c->whole;
    mx_error err;
    mx_mutex_lock(&job->lock);
    describe(from, &c->result);
    const mx_status filled = c->status != MX_OK ? MX_OK : fill_outbox(&c->filling, &update->news, job->n_top, &err);
    if (filled != MX_OK) {
        c->status = filled;
        c->err = err;
        mx_atomic_store_u32(&from->is_cancelled, 1);
    }
    if (update->is_over) {
        if (c->status == MX_OK && update->status != MX_OK) {
            c->status = update->status;
            c->err = *update->err;
        }
        c->is_over = true;
        job->n_open--;
    }
    c->has_news = true;
    const bool is_last = job->n_open == 0 && update->is_over;
    if (job->on_ready && !job->is_announced) {
        job->on_ready(job->arg); /* under the lock, so that it is not called any more when mlxcel_job_close returns */
    }
    job->is_announced = true;
    mx_cond_wake_all(&job->has_news);
    mx_mutex_unlock(&job->lock);
    if (is_last) {
        drop_owner(job);
    }
}

/* ---- the caller's side ---- */

/* The choice whose news are next; NULL when there is none. The lock is held. */
static choice *find_news(mlxcel_job *job)
{
    for (int32_t i = 0; i < job->n_choices; i++) {
        choice *c = &job->choices[(job->i_next + i) % job->n_choices];
        if (c->has_news) {
            job->i_next = (job->i_next + i + 1) % job->n_choices;
            return c;
        }
    }
    return NULL;
}

/* Swaps the outboxes and describes what is in the full one. The lock is held. */
static void take_news(mlxcel_job *job, choice *c, mlxcel_event *found)
{
    const outbox full = c->filling;
    c->filling = c->given;
    c->filling.text.len = 0;
    c->filling.n_tokens = 0;
    c->given = full;
    c->has_news = false;
    c->is_told = c->is_over;
    job->result = c->result;
    if (c->is_over && c->status != MX_OK) {
        memcpy(job->message, c->err.message, sizeof job->message);
    }
    for (size_t i = 0; i < full.n_tokens; i++) {
        full.tokens[i].top = job->n_top > 0 ? full.top + i * (size_t)job->n_top : NULL;
    }
    *found = (mlxcel_event){
        .i_choice = (int32_t)(c - job->choices),
        .is_over = c->is_over,
        .text = full.text.len > 0 ? full.text.data : "",
        .n_text_bytes = full.text.len,
        .tokens = full.tokens,
        .n_tokens = (int32_t)full.n_tokens,
        .status = c->is_over ? (mlxcel_status)c->status : MLXCEL_OK,
        .message = c->is_over && c->status != MX_OK ? job->message : "",
        .result = &job->result,
    };
}

int32_t mlxcel_job_next(mlxcel_job *job, int64_t timeout_ms, mlxcel_event *event)
{
    mlxcel_event found = {0};
    const int64_t until_ns = mx_clock_ns() + (timeout_ms > 0 ? timeout_ms : 0) * 1000000;
    mx_mutex_lock(&job->lock);
    job->is_announced = false;
    choice *c = find_news(job);
    while (!c && job->n_open > 0 && timeout_ms != 0) {
        if (timeout_ms < 0) {
            mx_cond_wait(&job->has_news, &job->lock);
        } else {
            const int64_t left_ms = (until_ns - mx_clock_ns()) / 1000000;
            if (left_ms <= 0) {
                break;
            }
            mx_cond_wait_ms(&job->has_news, &job->lock, left_ms);
        }
        c = find_news(job);
    }
    if (c) {
        take_news(job, c, &found);
    }
    job->is_announced = job->is_announced && !c;
    const bool is_end = !c && job->n_open == 0;
    mx_mutex_unlock(&job->lock);
    if (c) {
        mx_api_write_struct(event, &found, sizeof found);
    }
    return c ? 1 : is_end ? -1 : 0;
}

void mlxcel_job_cancel(mlxcel_job *job)
{
    for (int32_t i = 0; i < job->n_choices; i++) {
        mx_atomic_store_u32(&job->choices[i].job.is_cancelled, 1);
    }
    mx_engine_loop_notify(&job->engine->loop);
}

void mlxcel_job_close(mlxcel_job *job)
{
    if (!job) {
        return;
    }
    mx_mutex_lock(&job->lock);
    const bool is_open = job->n_open > 0;
    job->on_ready = NULL;
    mx_mutex_unlock(&job->lock);
    if (is_open) {
        mlxcel_job_cancel(job);
    }
    drop_owner(job);
}

/* ---- submitting ---- */

static mx_status read_stops(const mlxcel_request *r, mx_arena *arena, mx_str **out, mx_error *err)
{
    if (r->n_stops < 0 || r->n_stops > MX_STOP_MAX_STRINGS) {
        return mx_fail(err, MX_INVALID, "%d stop strings: at most %d can be given", (int)r->n_stops,
                       MX_STOP_MAX_STRINGS);
    }
    mx_str *stops = mx_arena_array(arena, mx_str, r->n_stops + 1);
    for (int32_t i = 0; stops && i < r->n_stops; i++) {
        stops[i] = mx_arena_copy_str(arena, mx_str_from(r->stops[i]));
        stops = stops[i].ptr ? stops : NULL;
    }
    *out = stops;
    return stops ? MX_OK : mx_fail_no_memory(err, (size_t)r->n_stops * sizeof *stops, "the stop strings");
}

/* Compiles the grammar, if there is one, and gives each choice a guide of its own. */
static mx_status init_guides(mlxcel_job *job, const mlxcel_request *r, mx_error *err)
{
    const mx_token_table *table;
    if (r->grammar_kind == MLXCEL_GRAMMAR_NONE) {
        return MX_OK;
    }
    if ((int)r->grammar_kind < 0 || r->grammar_kind > MLXCEL_GRAMMAR_JSON_SCHEMA || !r->grammar) {
        return mx_fail(err, MX_INVALID, "a grammar of kind %d: there is no such kind, or no grammar is given",
                       (int)r->grammar_kind);
    }
    const mx_str after = r->grammar_after ? mx_arena_copy_str(&job->arena, mx_str_from(r->grammar_after)) : (mx_str){0};
    if (r->grammar_after && !after.ptr) {
        return mx_fail_no_memory(err, strlen(r->grammar_after), "a grammar");
    }
    MX_TRY(mx_grammar_open((mx_grammar_kind)(r->grammar_kind - 1), (mx_str){r->grammar, r->n_grammar_bytes},
                           &job->grammar, err));
    MX_TRY(mx_api_get_token_table(job->engine, &table, err));
    for (int32_t i = 0; i < job->n_choices; i++) {
        MX_TRY(mx_guide_init(&job->choices[i].guide, job->engine->model->tokenizer, table, job->grammar, after, err));
    }
    return MX_OK;
}

static mx_status init_choices(mlxcel_job *job, const mlxcel_request *r, const mx_generation_request *generation,
                              mx_error *err)
{
    mlxcel_engine *e = job->engine;
    for (int32_t i = 0; i < job->n_choices; i++) {
        choice *c = &job->choices[i];
        mx_generation_request one = *generation;
        one.sampling.seed += (uint64_t)i;
        one.guide = c->guide.matcher ? &c->guide : NULL;
        c->whole = job;
        MX_TRY(mx_generation_init(&c->job.generation, &e->engine, e->model->tokenizer, &one, err));
        MX_TRY(init_outbox(&c->filling, (size_t)job->n_top, err));
        MX_TRY(init_outbox(&c->given, (size_t)job->n_top, err));
        c->job.priority = r->priority;
        c->job.client = r->client;
        c->job.prefix_key = r->prefix_key;
        c->job.leader = i > 0 ? &job->choices[0].job : NULL;
        c->job.on_update = on_update;
        c->job.arg = c;
    }
    return MX_OK;
}

/* Copies what the request points to and makes everything that the answer will need. */
static mx_status init_job(mlxcel_job *job, const mlxcel_request *r, mx_error *err)
{
    mlxcel_engine *e = job->engine;
    mx_str *stops = NULL;
    mx_generation_request generation = {
        .prompt = r->prompt,
        .n_prompt = r->n_prompt,
        .max_new_tokens = r->max_new_tokens,
        .n_stops = (size_t)MX_MAX(r->n_stops, 0),
        .end_ids = e->model->end_ids,
        .n_end_ids = e->model->n_end_ids,
        .ignores_end = r->ignore_end != 0,
        .shows_special = r->show_special != 0,
        .wants_logprobs = r->wants_logprobs != 0,
        .n_top = r->wants_logprobs ? r->n_top_logprobs : 0,
        .n_draft = e->n_draft,
    };
    if (r->n_choices < 0 || r->n_choices > MAX_CHOICES) {
        return mx_fail(err, MX_INVALID, "%d choices: it must be from 1 to %d", (int)r->n_choices, MAX_CHOICES);
    }
    if (r->n_top_logprobs < 0 || r->n_top_logprobs > MX_MAX_TOP_LOGPROBS) {
        return mx_fail(err, MX_INVALID, "log-probabilities of the %d best tokens: it must be from 0 to %d",
                       (int)r->n_top_logprobs, MX_MAX_TOP_LOGPROBS);
    }
    MX_TRY(read_stops(r, &job->arena, &stops, err));
    MX_TRY(mx_api_read_sampling(e->model, r->sampling, &job->arena, &generation.sampling, err));
    generation.stops = stops;
    generation.sampling.dry_breakers =
        generation.sampling.dry_breakers ? generation.sampling.dry_breakers : e->dry_breakers;
    generation.n_top = MX_MIN(generation.n_top, e->engine.limits.n_vocab);
    job->n_top = generation.n_top;
    const int32_t n_choices = MX_MAX(r->n_choices, 1);
    job->choices = (choice *)mx_calloc((size_t)n_choices, sizeof *job->choices);
    if (!job->choices) {
        return mx_fail_no_memory(err, (size_t)n_choices * sizeof *job->choices, "a request");
    }
    job->n_choices = job->n_open = n_choices;
    MX_TRY(init_guides(job, r, err));
    return init_choices(job, r, &generation, err);
}

static mx_status hand_over(mlxcel_job *job, mx_error *err)
{
    mx_job *jobs[MAX_CHOICES];
    for (int32_t i = 0; i < job->n_choices; i++) {
        jobs[i] = &job->choices[i].job;
    }
    return mx_engine_loop_submit(&job->engine->loop, jobs, job->n_choices, err);
}

mlxcel_status mlxcel_submit(mlxcel_engine *engine, const mlxcel_request *request, mlxcel_job **out, mlxcel_error *err)
{
    mx_error error;
    mlxcel_request given;
    mx_api_read_struct(&given, sizeof given, request);
    *out = NULL;
    mlxcel_job *job = (mlxcel_job *)mx_calloc(1, sizeof *job);
    if (!job) {
        return mx_api_result(mx_fail_no_memory(&error, sizeof *job, "a request"), &error, err);
    }
    mx_mutex_init(&job->lock);
    mx_cond_init(&job->has_news);
    mx_arena_init(&job->arena, MAX_JOB_BYTES);
    job->engine = engine;
    job->on_ready = given.on_ready;
    job->arg = given.arg;
    mx_atomic_store_u32(&job->n_owners, 1);
    mx_status st = init_job(job, &given, &error);
    if (st == MX_OK) {
        mx_atomic_store_u32(&job->n_owners, 2);
        st = hand_over(job, &error);
        if (st != MX_OK) {
            mx_atomic_store_u32(&job->n_owners, 1);
        }
    }
    if (st != MX_OK) {
        drop_owner(job);
    } else {
        *out = job;
    }
    return mx_api_result(st, &error, err);
}
