/* smollm2_test.c - the engine on the real test model, against what an independent implementation made of it.
 *
 *     smollm2_test GREEDY_JSON [N_CASES]
 *
 * The model is the one of tools/fetch-demo-model.py, in its cache; without it everything is skipped by name.
 * MLXCEL_TEST_DEVICE in the environment names another device than the CPU.
 * GREEDY_JSON comes from make_greedy.py. N_CASES limits its cases, for slow emulators.
 */
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "engine/sampler.h"
#include "model/model.h"
#include "platform/env.h"
#include "platform/file.h"
#include "platform/path.h"
#include "tests/test.h"

enum {
    N_CTX = 256,
    MAX_SEQS = 4,
    MAX_STEP = 128,
    MAX_TOKENS = 128, /* of a prompt or of an answer in the file */
    SHORT_PROMPT = 10,
};

/* Two right implementations differ by less than this in the distance of two logits: ours keeps keys and values in
 * 16 bits and activations in 16-bit integers a group, the reference computes in float32. A step with a smaller margin
 * may go either way. */
#define TIE 0.02

typedef struct greedy_case {
    int32_t prompt[MAX_TOKENS];
    int32_t n_prompt;
    int32_t tokens[MAX_TOKENS];
    int32_t n_tokens;
    double margins[MAX_TOKENS];
} greedy_case;

static const char *golden_path;
static size_t n_cases_wanted = SIZE_MAX;
static mx_model *model;
static mx_plan plan;
static mx_executor *executor;
static mx_engine engine;
static greedy_case *cases;
static size_t n_cases;

static bool is_ready(void)
{
    if (!executor) {
        MX_TEST_SKIP("the test model is not in the cache (tools/fetch-demo-model.py obtains it)");
    }
    return executor != NULL;
}

static int32_t read_ids(yyjson_val *list, int32_t out[MAX_TOKENS])
{
    size_t i, n;
    yyjson_val *item;
    yyjson_arr_foreach(list, i, n, item)
    {
        if (i < MAX_TOKENS) {
            out[i] = yyjson_get_int(item);
        }
    }
    return (int32_t)MX_MIN(n, MAX_TOKENS);
}

static mx_status read_cases(mx_error *err)
{
    mx_buf text;
    mx_json json = {0};
    mx_status st;
    MX_TRY_OR(done, st, mx_file_read(golden_path, (size_t)1 << 24, &text, err));
    MX_TRY_OR(done, st, mx_json_parse(mx_buf_view(&text), golden_path, &json, err));
    n_cases = MX_MIN(yyjson_arr_size(json.root), n_cases_wanted);
    cases = (greedy_case *)mx_calloc(n_cases, sizeof *cases);
    for (size_t i = 0; cases && i < n_cases; i++) {
        yyjson_val *from = yyjson_arr_get(json.root, i);
        cases[i].n_prompt = read_ids(yyjson_obj_get(from, "prompt"), cases[i].prompt);
        cases[i].n_tokens = read_ids(yyjson_obj_get(from, "tokens"), cases[i].tokens);
        for (int32_t j = 0; j < cases[i].n_tokens; j++) {
            cases[i].margins[j] = yyjson_get_num(yyjson_arr_get(yyjson_obj_get(from, "margins"), (size_t)j));
        }
    }
done:
    mx_json_close(&json);
    mx_buf_deinit(&text);
    return st;
}

/* Opens the model, or leaves everything closed where it is not in the cache. */
static mx_status open_all(mx_error *err)
{
    mx_arena arena;
    mx_arena_init(&arena, (size_t)1 << 20);
    const char *cache = mx_path_cache_dir(&arena);
    const char *dir = cache ? mx_path_join(&arena, cache, MX_STR("demo/SmolLM2-135M-Instruct-4bit")) : NULL;
    mx_status st = MX_OK;
    if (dir && mx_file_kind_at(dir) == MX_FILE_DIR) {
        const mx_engine_limits limits = {
            .n_vocab = 49152, .n_ctx = N_CTX, .max_seqs = MAX_SEQS, .max_step_tokens = MAX_STEP};
        const mx_executor_options options = {
            .n_pages = mx_engine_count_pages(&limits), .max_seqs = MAX_SEQS, .kv_type = MX_KV_F16};
        MX_TRY_OR(done, st, read_cases(err));
        MX_TRY_OR(done, st, mx_model_open(dir, NULL, &model, err));
        MX_TRY_OR(done, st, mx_plan_init(&plan, mx_model_view_program(model), MAX_STEP, MAX_SEQS, err));
        const char *device = mx_env_get(&arena, "MLXCEL_TEST_DEVICE");
        MX_TRY_OR(done, st, mx_executor_open(device ? device : "cpu", &plan, &options, &executor, err));
        st = mx_engine_init(&engine, executor, &limits, err);
    }
done:
    mx_arena_deinit(&arena);
    return st;
}

static void close_all(void)
{
    mx_engine_deinit(&engine);
    mx_executor_close(executor);
    mx_plan_deinit(&plan);
    mx_model_close(model);
    mx_free(cases);
}

/* Computes all known tokens of a sequence, max_rows in a step. The logits of the last row; NULL after a failure. */
static const float *advance(mx_sequence *seq, int32_t max_rows)
{
    mx_error err;
    const float *logits = NULL;
    while (seq->n_cached < seq->n_tokens) {
        const int32_t n_left = seq->n_tokens - seq->n_cached;
        mx_step_part part = {.sequence = seq, .n_rows = MX_MIN(n_left, max_rows), .n_logits = n_left <= max_rows};
        if (!MX_CHECK_OK(mx_engine_step(&engine, &part, 1, &err), &err)) {
            return NULL;
        }
        logits = part.logits;
    }
    return logits;
}

static int32_t argmax(const float *logits)
{
    int32_t best = 0;
    for (int32_t i = 1; i < engine.limits.n_vocab; i++) {
        best = logits[i] > logits[best] ? i : best;
    }
    return best;
}

static bool begin_with(mx_sequence *seq, const greedy_case *c, int32_t n_prompt)
{
    mx_error err;
    return MX_CHECK_OK(mx_sequence_init(seq, &engine.pages, N_CTX, &err), &err) &&
           MX_CHECK_OK(mx_sequence_append(seq, c->prompt, n_prompt, &err), &err);
}

/* A sequence that holds the case's prompt; its beginning alone where there is little time. */
static bool begin(mx_sequence *seq, const greedy_case *c)
{
    return begin_with(seq, c, n_cases == 1 ? MX_MIN(c->n_prompt, SHORT_PROMPT) : c->n_prompt);
}

MX_TEST(greedy_tokens_are_those_of_the_reference)
{
    mx_error err;
    int32_t n_steps = 0;
    int32_t n_ties = 0;
    for (size_t i = 0; is_ready() && i < n_cases; i++) {
        mx_sequence seq;
        bool is_fine = begin_with(&seq, &cases[i], cases[i].n_prompt);
        for (int32_t j = 0; is_fine && j < cases[i].n_tokens; j++, n_steps++) {
            const float *logits = advance(&seq, MAX_STEP);
            const int32_t wanted = cases[i].tokens[j]; /* forced, so that each step is judged by itself */
            const int32_t found = logits ? argmax(logits) : -1;
            if (logits && found != wanted) {
                printf("  case %zu, step %d: token %d, wanted %d; margin of the reference %.4f, ours %.4f\n", i, (int)j,
                       (int)found, (int)wanted, cases[i].margins[j], (double)(logits[found] - logits[wanted]));
                MX_CHECK(cases[i].margins[j] < TIE);
                n_ties++;
            }
            is_fine = logits && MX_CHECK_OK(mx_sequence_append(&seq, &wanted, 1, &err), &err);
        }
        mx_sequence_deinit(&seq);
    }
    if (n_steps > 0) {
        printf("  %d steps, %d near-ties went the other way\n", (int)n_steps, (int)n_ties);
    }
}

/* The largest difference of two rows of logits. With fmax, gcc 12 for aarch64 crashes on this loop. */
static double distance(const float *a, const float *b)
{
    double most = 0.0;
    for (int32_t i = 0; i < engine.limits.n_vocab; i++) {
        const double difference = fabs((double)a[i] - (double)b[i]);
        most = difference > most ? difference : most;
    }
    return most;
}

static float *copy_logits(const float *logits)
{
    float *copy = (float *)mx_malloc((size_t)engine.limits.n_vocab * sizeof *copy);
    if (copy && logits) {
        memcpy(copy, logits, (size_t)engine.limits.n_vocab * sizeof *copy);
    }
    return copy;
}

MX_TEST(a_prompt_in_chunks_gives_the_logits_that_it_gives_at_once)
{
    static const int32_t chunks[] = {1, 7, 32, 33};
    if (!is_ready()) {
        return;
    }
    mx_sequence seq;
    float *whole = begin(&seq, &cases[0]) ? copy_logits(advance(&seq, MAX_STEP)) : NULL;
    mx_sequence_deinit(&seq);
    for (size_t i = 0; whole && i < MX_COUNTOF(chunks); i++) {
        const float *logits = begin(&seq, &cases[0]) ? advance(&seq, chunks[i]) : NULL;
        MX_CHECK(logits && distance(logits, whole) < 1e-3); /* sums in another order */
        mx_sequence_deinit(&seq);
    }
    mx_free(whole);
}

MX_TEST(sequences_in_one_batch_do_not_see_each_other)
{
    mx_error err;
    if (!is_ready()) {
        return;
    }
    const greedy_case *second = &cases[n_cases - 1];
    mx_sequence alone;
    float *wanted = begin(&alone, second) ? copy_logits(advance(&alone, MAX_STEP)) : NULL;
    mx_sequence_deinit(&alone);
    mx_sequence a;
    mx_sequence b;
    const bool is_fine = begin(&a, &cases[0]);
    if (begin(&b, second) && is_fine && wanted) {
        mx_step_part parts[] = {
            {.sequence = &a, .n_rows = 9},
            {.sequence = &b, .n_rows = b.n_tokens, .n_logits = 1},
        };
        if (MX_CHECK_OK(mx_engine_step(&engine, parts, 2, &err), &err)) {
            MX_CHECK(distance(parts[1].logits, wanted) < 1e-3);
        }
    }
    mx_sequence_deinit(&a);
    mx_sequence_deinit(&b);
    mx_free(wanted);
}

MX_TEST(steps_on_a_real_model_allocate_nothing)
{
    mx_error err;
    mx_sequence seq;
    if (!is_ready()) {
        return;
    }
    if (begin(&seq, &cases[0])) {
        mx_mem_fail_at(0);
        for (int32_t j = 0; j < 3; j++) {
            if (advance(&seq, 16)) {
                MX_CHECK_OK(mx_sequence_append(&seq, &cases[0].tokens[j], 1, &err), &err);
            }
        }
        MX_CHECK_I64(mx_mem_count(), 0);
    }
    mx_sequence_deinit(&seq);
}

int main(int argc, char **argv)
{
    static const mx_test_case tests[] = {
        MX_CASE(greedy_tokens_are_those_of_the_reference),
        MX_CASE(a_prompt_in_chunks_gives_the_logits_that_it_gives_at_once),
        MX_CASE(sequences_in_one_batch_do_not_see_each_other),
        MX_CASE(steps_on_a_real_model_allocate_nothing),
    };
    mx_error err;
    golden_path = argc > 1 ? argv[1] : "tests/smollm2/greedy.json";
    n_cases_wanted = argc > 2 ? (size_t)strtoull(argv[2], NULL, 10) : SIZE_MAX;
    if (open_all(&err) != MX_OK) {
        printf("%s\n0 passed, 1 failed\n", err.message);
        close_all();
        return 1;
    }
    const int code = mx_test_main(1, argv, tests, MX_COUNTOF(tests));
    close_all();
    return code;
}
