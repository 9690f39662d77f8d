/* engine_bench.h - for tests: a tiny tokenizer, an engine on the fake executor, and jobs that collect their text. */
#ifndef MX_TESTS_ENGINE_BENCH_H
#define MX_TESTS_ENGINE_BENCH_H

#include "engine/fake_executor.h"
#include "engine/scheduler.h"
#include "tests/test.h"

/* Byte-level BPE without merges: the twelve tokens are a, b, c, space, d to j, and an end token. */
static const char bench_tokenizer_json[] =
    "{\"added_tokens\":[{\"id\":11,\"content\":\"<end>\",\"special\":true}],"
    "\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,"
    "\"use_regex\":true},\"post_processor\":null,\"decoder\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"
    "\"trim_offsets\":true,\"use_regex\":true},"
    "\"model\":{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null,\"continuing_subword_prefix\":null,"
    "\"end_of_word_suffix\":null,\"fuse_unk\":false,\"byte_fallback\":false,\"merges\":[],"
    "\"vocab\":{\"a\":0,\"b\":1,\"c\":2,\"\\u0120\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,\"j\":10}}}";

enum {
    BENCH_VOCAB = 12,
    BENCH_MAX_OUT = 1024,
};

typedef struct bench {
    fake_executor *fake;
    mx_tokenizer *tokenizer;
    mx_engine engine;
    mx_scheduler scheduler;
} bench;

static inline bool open_bench(bench *b, const mx_engine_limits *limits, const mx_scheduler_options *options)
{
    mx_error err;
    const int32_t max_samples = limits->max_samples > 0 ? limits->max_samples : limits->max_seqs;
    *b = (bench){.fake = fake_new(BENCH_VOCAB, mx_engine_count_pages(limits), max_samples)};
    if (options->is_recurrent) {
        fake_add_states(b->fake, limits->max_seqs + limits->n_checkpoints);
    }
    return MX_CHECK_OK(mx_tokenizer_open(mx_str_from(bench_tokenizer_json), "test", &b->tokenizer, &err), &err) &&
           MX_CHECK_OK(mx_engine_init(&b->engine, &b->fake->base, limits, &err), &err) &&
           MX_CHECK_OK(mx_scheduler_init(&b->scheduler, &b->engine, options, &err), &err);
}

/* Every page must have come back, but for those that the tree keeps. */
static inline void close_bench(bench *b)
{
    MX_CHECK_I64(b->engine.pages.n_free + b->scheduler.tree.n_pages, b->engine.pages.n_pages);
    mx_scheduler_deinit(&b->scheduler);
    MX_CHECK_I64(b->engine.pages.n_free, b->engine.pages.n_pages);
    mx_engine_deinit(&b->engine);
    mx_tokenizer_close(b->tokenizer);
    fake_free(b->fake);
}

/* A job and what it was told. */
typedef struct client {
    mx_job job;
    int32_t prompt[256];
    char text[BENCH_MAX_OUT];
    char token_text[BENCH_MAX_OUT]; /* the bytes of the text that the tokens claim */
    size_t n_token_bytes;
    int32_t n_tokens;
    int32_t n_updates;
    bool is_over;
    mx_status status;
    mx_finish finish;
    int32_t n_order; /* how many ended before it */
} client;

static int32_t n_clients_over;

static inline void hear(void *arg, mx_job *job, const mx_job_update *update)
{
    client *c = (client *)arg;
    const size_t len = strlen(c->text);
    MX_CHECK(!c->is_over);
    snprintf(c->text + len, sizeof c->text - len, "%.*s", MX_STR_ARG(update->news.text));
    for (int32_t i = 0; i < update->news.n_tokens; i++) {
        c->n_token_bytes += update->news.tokens[i].n_text_bytes;
    }
    MX_CHECK(c->n_token_bytes <= strlen(c->text)); /* a token comes with the last byte of its text, or later */
    c->n_tokens += update->news.n_tokens;
    c->n_updates++;
    c->is_over = update->is_over;
    c->status = update->status;
    c->finish = job->generation.finish;
    if (c->is_over) {
        c->n_order = n_clients_over++;
    }
}

/* A prompt of n tokens that begins as others with the same seed do. */
static inline void make_prompt(client *c, int32_t n, uint32_t seed)
{
    for (int32_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        c->prompt[i] = (int32_t)(seed >> 8) % 11;
    }
}

/* Makes the job of a client; its prompt is set. Greedy, without end tokens. */
static inline mx_generation_request bench_request(const client *c, int32_t n_prompt, int32_t max_new)
{
    return (mx_generation_request){.prompt = c->prompt,
                                   .n_prompt = n_prompt,
                                   .max_new_tokens = max_new,
                                   .sampling = {.top_p = 1.0f, .repeat_penalty = 1.0f}};
}

static inline void open_client(bench *b, client *c, const mx_generation_request *request)
{
    mx_error err;
    c->job = (mx_job){.on_update = hear, .arg = c};
    c->text[0] = '\0';
    c->n_token_bytes = 0;
    c->n_tokens = c->n_updates = 0;
    c->is_over = false;
    MX_CHECK_OK(mx_generation_init(&c->job.generation, &b->engine, b->tokenizer, request, &err), &err);
}

static inline void close_client(client *c)
{
    mx_generation_deinit(&c->job.generation);
}

static inline void add_client(bench *b, client *c)
{
    mx_error err;
    MX_CHECK_OK(mx_scheduler_add(&b->scheduler, &c->job, &err), &err);
}

/* Steps until nothing is left. */
static inline int32_t run_all(bench *b)
{
    int32_t n_steps = 0;
    while (mx_scheduler_has_work(&b->scheduler) && n_steps < 100000) {
        mx_scheduler_step(&b->scheduler);
        n_steps++;
    }
    MX_CHECK(n_steps < 100000);
    return n_steps;
}

#endif
