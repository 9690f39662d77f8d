/* many_test.c - many requests at once on the real test model, through the public interface.
 *
 *     many_test [N_JOBS]
 *
 * The model is the one of tools/fetch-demo-model.py, in its cache; without it everything is skipped by name. Each
 * answer must be the one that the request gets alone, to the token; clients that vanish must free their pages.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "mlxcel.h"
#include "platform/clock.h"
#include "platform/file.h"
#include "platform/path.h"
#include "tests/test.h"

enum {
    MAX_JOBS = 64,
    MAX_TEXT = 2048,
    N_ANSWER = 20,
};

static int32_t n_jobs = 16;
static mlxcel_model *model;

typedef struct request_data {
    mlxcel_tokens prompt;
    char alone[MAX_TEXT];
    char text[MAX_TEXT];
    mlxcel_job *job;
    int32_t is_over;
    int32_t is_gone; /* its client has left */
    mlxcel_status status;
} request_data;

static request_data requests[MAX_JOBS];

static const char *const questions[] = {
    "What is the capital of France?",
    "Write two sentences about the sea.",
    "Explain why the sky is blue to a child.",
    "List five fruits.",
    "What is 17 + 25?",
    "Who wrote Romeo and Juliet?",
    "Give me a recipe for pancakes.",
    "Why do cats purr?",
};

static bool is_ready(void)
{
    if (!model) {
        MX_TEST_SKIP("the test model is not in the cache (tools/fetch-demo-model.py obtains it)");
    }
    return model != NULL;
}

static void open_model(void)
{
    mx_arena arena;
    mlxcel_error err;
    mx_arena_init(&arena, (size_t)1 << 20);
    const char *cache = mx_path_cache_dir(&arena);
    const char *dir = cache ? mx_path_join(&arena, cache, MX_STR("demo/SmolLM2-135M-Instruct-4bit")) : NULL;
    if (dir && mx_file_kind_at(dir) == MX_FILE_DIR && mlxcel_model_open(dir, NULL, &model, &err) != MLXCEL_OK) {
        printf("%s\n", err.message);
    }
    mx_arena_deinit(&arena);
}

/* Prompts of different lengths, each with a number of its own in it. */
static void make_prompts(void)
{
    for (int32_t i = 0; i < n_jobs; i++) {
        char text[512];
        mlxcel_error err;
        const int32_t n_padding = i % 4 * 20;
        int n = snprintf(text, sizeof text, "My number is %d. ", (int)(1000 + 37 * i));
        for (int32_t j = 0; j < n_padding; j++) {
            n += snprintf(text + n, sizeof text - (size_t)n, "so ");
        }
        n += snprintf(text + n, sizeof text - (size_t)n, "%s", questions[(size_t)i % MX_COUNTOF(questions)]);
        const mlxcel_message message = {"user", text, (size_t)n};
        mlxcel_tokens_free(&requests[i].prompt);
        MX_CHECK(mlxcel_tokenize_chat(model, &message, 1, &requests[i].prompt, &err) == MLXCEL_OK);
    }
}

static mlxcel_request greedy_request(const request_data *r)
{
    static const mlxcel_sampling greedy = {.n_struct_bytes = sizeof greedy, .top_p = 1.0f, .repeat_penalty = 1.0f};
    return (mlxcel_request){
        .n_struct_bytes = sizeof(mlxcel_request),
        .prompt = r->prompt.ids,
        .n_prompt = r->prompt.n_ids,
        .max_new_tokens = N_ANSWER,
        .sampling = &greedy,
    };
}

static int collect(void *arg, const char *text, size_t n_bytes)
{
    char *to = (char *)arg;
    const size_t len = strlen(to);
    snprintf(to + len, MAX_TEXT - len, "%.*s", (int)n_bytes, text);
    return 0;
}

static mlxcel_engine *open_engine(int32_t n_seqs, int32_t n_cache_tokens, int32_t n_draft)
{
    mlxcel_error err;
    mlxcel_engine *engine = NULL;
    const mlxcel_engine_options options = {
        .n_struct_bytes = sizeof options,
        .n_ctx = 256,
        .device = "cpu",
        .n_seqs = n_seqs,
        .n_cache_tokens = n_cache_tokens,
        .n_draft = n_draft,
    };
    if (mlxcel_engine_open(model, &options, &engine, &err) != MLXCEL_OK) {
        MX_TEST_FAIL("%s", err.message);
    }
    return engine;
}

static void run_alone(void)
{
    mlxcel_engine *engine = open_engine(1, 0, 0);
    for (int32_t i = 0; engine && i < n_jobs; i++) {
        mlxcel_error err;
        mlxcel_request r = greedy_request(&requests[i]);
        requests[i].alone[0] = '\0';
        r.on_text = collect;
        r.arg = requests[i].alone;
        MX_CHECK(mlxcel_generate(engine, &r, NULL, &err) == MLXCEL_OK);
    }
    mlxcel_engine_close(engine);
}

static void submit_all(mlxcel_engine *engine)
{
    for (int32_t i = 0; i < n_jobs; i++) {
        mlxcel_error err;
        request_data *r = &requests[i];
        const mlxcel_request request = greedy_request(r);
        r->text[0] = '\0';
        r->is_over = r->is_gone = 0;
        r->status = MLXCEL_OK;
        if (mlxcel_submit(engine, &request, &r->job, &err) != MLXCEL_OK) {
            MX_TEST_FAIL("%s", err.message);
            r->is_over = 1;
        }
    }
}

/* Takes the news of all jobs until they are over. Every `n_leaving`-th client leaves after its first piece of text. */
static void listen_to_all(int32_t n_leaving)
{
    int32_t n_open = n_jobs;
    while (n_open > 0) {
        n_open = 0;
        for (int32_t i = 0; i < n_jobs; i++) {
            request_data *r = &requests[i];
            mlxcel_event event = {.n_struct_bytes = sizeof event};
            while (!r->is_over && !r->is_gone && mlxcel_job_next(r->job, 1, &event) > 0) {
                collect(r->text, event.text, event.n_text_bytes);
                r->is_over = event.is_over;
                r->status = event.status;
                r->is_gone = n_leaving > 0 && i % n_leaving == 0 && event.n_text_bytes > 0;
            }
            n_open += !r->is_over && !r->is_gone;
            if ((r->is_gone || r->is_over) && r->job) {
                mlxcel_job_close(r->job);
                r->job = NULL;
            }
        }
    }
}

static void check_engine(int32_t n_seqs, int32_t n_cache_tokens, int32_t n_draft, int32_t n_leaving)
{
    mlxcel_engine *engine = open_engine(n_seqs, n_cache_tokens, n_draft);
    if (!engine) {
        return;
    }
    const int64_t from_ns = mx_clock_ns();
    submit_all(engine);
    listen_to_all(n_leaving);
    mlxcel_engine_stats stats = {.n_struct_bytes = sizeof stats};
    do { /* the engine lets go of those who left within a step */
        mlxcel_engine_get_stats(engine, &stats);
    } while (stats.n_running + stats.n_waiting > 0);
    MX_CHECK_I64(stats.n_free_pages + stats.n_prefix_pages, stats.n_pages);
    for (int32_t i = 0; i < n_jobs; i++) {
        MX_CHECK_I64(requests[i].status, MLXCEL_OK);
        if (requests[i].is_gone) {
            MX_CHECK(strncmp(requests[i].text, requests[i].alone, strlen(requests[i].text)) == 0);
        } else {
            MX_CHECK_CSTR(requests[i].text, requests[i].alone);
        }
    }
    printf("  %d texts, %d at once: %" PRId64 " tokens in %" PRId64 " steps and %.1f s; %" PRId64 " of %" PRId64
           " guesses right, %" PRId64 " preemptions\n",
           (int)n_jobs, (int)n_seqs, stats.n_new_tokens, stats.n_steps, (double)(mx_clock_ns() - from_ns) * 1e-9,
           stats.n_right_tokens, stats.n_draft_tokens, stats.n_preemptions);
    mlxcel_engine_close(engine);
}

MX_TEST(each_answer_is_the_one_that_the_request_gets_alone)
{
    if (is_ready()) {
        make_prompts();
        run_alone();
        check_engine(16, 0, 0, 0);
        check_engine(6, 512, 0, 0); /* too few pages for all */
        check_engine(8, 0, 4, 0);   /* with guesses */
    }
}

MX_TEST(clients_that_leave_free_their_pages)
{
    if (is_ready()) {
        check_engine(16, 0, 0, 5);
    }
}

int main(int argc, char **argv)
{
    static const mx_test_case cases[] = {
        MX_CASE(each_answer_is_the_one_that_the_request_gets_alone),
        MX_CASE(clients_that_leave_free_their_pages),
    };
    n_jobs = argc > 1 ? MX_MIN((int32_t)strtol(argv[1], NULL, 10), MAX_JOBS) : n_jobs;
    open_model();
    const int code = mx_test_main(1, argv, cases, MX_COUNTOF(cases));
    for (int32_t i = 0; i < n_jobs; i++) {
        mlxcel_tokens_free(&requests[i].prompt);
    }
    mlxcel_model_close(model);
    return code;
}
