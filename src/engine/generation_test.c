/* Requests on a fake executor: what the engine does around a model. */
#include "engine/generation.h"

#include "base/mem.h"
#include "engine/fake_executor.h"
#include "tests/test.h"

/* Byte-level BPE without merges. Tokens 5 to 8 are the four bytes of U+1F600, 9 is a lone continuation byte. */
static const char tokenizer_json[] =
    "{\"added_tokens\":[{\"id\":10,\"content\":\"<end>\",\"special\":true},{\"id\":11,\"content\":\"<turn>\","
    "\"special\":true}],"
    "\"normalizer\":null,\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,"
    "\"use_regex\":true},\"post_processor\":null,\"decoder\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"
    "\"trim_offsets\":true,\"use_regex\":true},"
    "\"model\":{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null,\"continuing_subword_prefix\":null,"
    "\"end_of_word_suffix\":null,\"fuse_unk\":false,\"byte_fallback\":false,\"merges\":[],"
    "\"vocab\":{\"a\":0,\"b\":1,\"c\":2,\"\\u0120\":3,\"d\":4,\"\\u00f0\":5,\"\\u0141\":6,\"\\u013a\":7,\"\\u0122\":8,"
    "\"\\u0123\":9}}}";

enum {
    N_VOCAB = 12,
    END = 10,
    TURN = 11,
    N_CTX = 100,
    MAX_SEQS = 3,
    MAX_STEP = 40,
    MAX_OUT = 1024,
};
static const mx_engine_limits limits = {
    .n_vocab = N_VOCAB, .n_ctx = N_CTX, .max_seqs = MAX_SEQS, .max_step_tokens = MAX_STEP};
static const int32_t end_ids[] = {END, TURN};

typedef struct bench {
    fake_executor *fake;
    mx_tokenizer *tokenizer;
    mx_engine engine;
    mx_sampler_scratch scratch;
} bench;

static bool open_bench(bench *b)
{
    mx_error err;
    *b = (bench){.fake = fake_new(N_VOCAB, mx_engine_count_pages(&limits), MAX_SEQS)};
    return MX_CHECK_OK(mx_tokenizer_open(mx_str_from(tokenizer_json), "test", &b->tokenizer, &err), &err) &&
           MX_CHECK_OK(mx_engine_init(&b->engine, &b->fake->base, &limits, &err), &err) &&
           MX_CHECK_OK(mx_sampler_scratch_init(&b->scratch, N_VOCAB, N_CTX, &err), &err);
}

static void close_bench(bench *b)
{
    MX_CHECK_I64(b->engine.pages.n_free, b->engine.pages.n_pages); /* every request gave its pages back */
    mx_sampler_scratch_deinit(&b->scratch);
    mx_engine_deinit(&b->engine);
    mx_tokenizer_close(b->tokenizer);
    fake_free(b->fake);
}

static mx_generation_request greedy(const int32_t *prompt, int32_t n_prompt)
{
    return (mx_generation_request){
        .prompt = prompt,
        .n_prompt = n_prompt,
        .sampling = {.top_p = 1.0f, .repeat_penalty = 1.0f},
        .end_ids = end_ids,
        .n_end_ids = 2,
    };
}

static void collect(char *out, mx_str text)
{
    const size_t len = strlen(out);
    snprintf(out + len, MAX_OUT - len, "%.*s", MX_STR_ARG(text));
}

/* Runs a request by itself, max_rows of prompt in a step. */
static mx_status run_alone(bench *b, const mx_generation_request *request, int32_t max_rows, char out[MAX_OUT],
                           mx_finish *finish, mx_error *err)
{
    mx_generation g;
    out[0] = '\0';
    *finish = MX_FINISH_NONE;
    MX_TRY(mx_generation_init(&g, &b->engine, b->tokenizer, request, err));
    mx_status st = MX_OK;
    while (st == MX_OK && g.finish == MX_FINISH_NONE) {
        mx_step_part part;
        mx_generation_news news;
        mx_generation_plan(&g, max_rows, &part);
        st = mx_engine_step(&b->engine, &part, 1, err);
        if (st == MX_OK) {
            st = mx_generation_take(&g, &b->scratch, &part, &news, err);
        }
        if (st == MX_OK) {
            collect(out, news.text);
        }
    }
    *finish = g.finish;
    mx_generation_deinit(&g);
    return st;
}

/* Runs the request on an executor that says `script` after a prompt of two tokens. */
static void check_script(const int32_t *script, int32_t n_script, mx_generation_request request, const char *wanted,
                         mx_finish wanted_finish)
{
    static const int32_t prompt[] = {0, 1};
    mx_error err;
    bench b;
    char out[MAX_OUT];
    mx_finish finish;
    if (open_bench(&b)) {
        b.fake->script = script;
        b.fake->n_script = n_script;
        b.fake->script_from = 1;
        request.prompt = prompt;
        request.n_prompt = 2;
        MX_CHECK_OK(run_alone(&b, &request, MAX_STEP, out, &finish, &err), &err);
        MX_CHECK_CSTR(out, wanted);
        MX_CHECK_I64(finish, wanted_finish);
    }
    close_bench(&b);
}

MX_TEST(any_of_the_end_tokens_ends_the_text_and_is_not_shown)
{
    const mx_generation_request request = greedy(NULL, 0);
    check_script((int32_t[]){0, 3, 1, END, 2}, 5, request, "a b", MX_FINISH_END);
    check_script((int32_t[]){2, TURN, 2}, 3, request, "c", MX_FINISH_END);
    check_script((int32_t[]){END}, 1, request, "", MX_FINISH_END);
}

MX_TEST(max_new_tokens_is_exact)
{
    mx_generation_request request = greedy(NULL, 0);
    request.max_new_tokens = 3;
    check_script((int32_t[]){0, 1, 2, 0, 1}, 5, request, "abc", MX_FINISH_LENGTH);
    request.max_new_tokens = 1;
    check_script((int32_t[]){0, 1, 2}, 3, request, "a", MX_FINISH_LENGTH);
}

MX_TEST(a_stop_string_across_tokens_is_never_shown)
{
    static const mx_str stops[] = {MX_STR_INIT("bca"), MX_STR_INIT("dd")};
    mx_generation_request request = greedy(NULL, 0);
    request.stops = stops;
    request.n_stops = 2;
    check_script((int32_t[]){0, 1, 2, 1, 2, 0, 4}, 7, request, "abc", MX_FINISH_STOP);
    check_script((int32_t[]){0, 1, 2, END}, 4, request, "abc", MX_FINISH_END); /* begun, not completed: shown */
    request.max_new_tokens = 2;
    check_script((int32_t[]){4, 4, 0}, 3, request, "", MX_FINISH_STOP); /* the last token completes it */
}

MX_TEST(a_character_of_several_tokens_comes_out_whole)
{
    static const int32_t script[] = {0, 5, 6, 7, 8, 1, END};
    static const int32_t prompt[] = {2};
    mx_error err;
    bench b;
    if (open_bench(&b)) {
        b.fake->script = script;
        b.fake->n_script = 7;
        const mx_generation_request request = greedy(prompt, 1);
        mx_generation g;
        MX_CHECK_OK(mx_generation_init(&g, &b.engine, b.tokenizer, &request, &err), &err);
        static const char *const wanted[] = {"a", "", "", "", "\xF0\x9F\x98\x80", "b", ""};
        for (int i = 0; i < 7; i++) {
            mx_step_part part;
            mx_generation_news news = {0};
            mx_generation_plan(&g, MAX_STEP, &part);
            MX_CHECK_OK(mx_engine_step(&b.engine, &part, 1, &err), &err);
            MX_CHECK_OK(mx_generation_take(&g, &b.scratch, &part, &news, &err), &err);
            MX_CHECK_STR(news.text, mx_str_from(wanted[i]));
        }
        MX_CHECK_I64(g.finish, MX_FINISH_END);
        mx_generation_deinit(&g);
    }
    close_bench(&b);
}

MX_TEST(bytes_that_are_no_character_come_out_as_one_replacement)
{
    const mx_generation_request request = greedy(NULL, 0);
    check_script((int32_t[]){0, 9, 1, END}, 4, request,
                 "a\xEF\xBF\xBD"
                 "b",
                 MX_FINISH_END);
    check_script((int32_t[]){0, 5, 6, END}, 4, request, "a\xEF\xBF\xBD", MX_FINISH_END); /* cut off by the end */
}

MX_TEST(a_full_context_ends_the_text)
{
    static int32_t prompt[N_CTX];
    mx_error err;
    bench b;
    char out[MAX_OUT];
    mx_finish finish;
    if (open_bench(&b)) {
        mx_generation_request request = greedy(prompt, 96);
        request.n_end_ids = 0;
        MX_CHECK_OK(run_alone(&b, &request, MAX_STEP, out, &finish, &err), &err);
        MX_CHECK_I64(finish, MX_FINISH_CONTEXT);
        request.n_prompt = 99;
        MX_CHECK_OK(run_alone(&b, &request, MAX_STEP, out, &finish, &err), &err);
        MX_CHECK_I64(finish, MX_FINISH_CONTEXT);
        request.n_prompt = 100;
        MX_CHECK_FAILS(run_alone(&b, &request, MAX_STEP, out, &finish, &err), MX_TOO_LONG, &err,
                       "the prompt has 100 tokens and the context holds 100");
    }
    close_bench(&b);
}

MX_TEST(requests_that_cannot_be_are_refused_in_words)
{
    static const int32_t prompt[] = {0, 12, 1};
    mx_error err;
    bench b;
    char out[MAX_OUT];
    mx_finish finish;
    if (open_bench(&b)) {
        mx_generation_request request = greedy(prompt, 0);
        MX_CHECK_FAILS(run_alone(&b, &request, 1, out, &finish, &err), MX_INVALID, &err, "the prompt is empty");
        request.n_prompt = 3;
        MX_CHECK_FAILS(run_alone(&b, &request, 1, out, &finish, &err), MX_INVALID, &err, "token 1 of the prompt is 12");
        request.n_prompt = 1;
        request.max_new_tokens = -1;
        MX_CHECK_FAILS(run_alone(&b, &request, 1, out, &finish, &err), MX_INVALID, &err, "-1 new tokens");
        request.max_new_tokens = 0;
        request.sampling.temperature = -1.0f;
        MX_CHECK_FAILS(run_alone(&b, &request, 1, out, &finish, &err), MX_INVALID, &err, "temperature -1");
    }
    close_bench(&b);
}

static void make_prompt(int32_t *prompt, int32_t n, uint32_t seed)
{
    for (int32_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        prompt[i] = (int32_t)(seed >> 8) % 5 & 3;
    }
}

static mx_generation_request sampled(const int32_t *prompt, int32_t n_prompt, uint64_t seed)
{
    mx_generation_request request = greedy(prompt, n_prompt);
    request.sampling =
        (mx_sampling){.temperature = 1.5f, .top_p = 0.9f, .repeat_penalty = 1.2f, .repeat_last_n = 20, .seed = seed};
    request.n_end_ids = 0;
    return request;
}

MX_TEST(a_prompt_in_chunks_gives_the_same_text_as_at_once)
{
    int32_t prompt[70];
    mx_error err;
    bench b;
    if (open_bench(&b)) {
        make_prompt(prompt, 40, 5);
        const mx_generation_request request = sampled(prompt, 40, 3);
        char whole[MAX_OUT];
        mx_finish finish;
        MX_CHECK_OK(run_alone(&b, &request, 40, whole, &finish, &err), &err);
        MX_CHECK(strlen(whole) > 20);
        for (int32_t max_rows = 1; max_rows < 40; max_rows += 6) {
            char out[MAX_OUT];
            MX_CHECK_OK(run_alone(&b, &request, max_rows, out, &finish, &err), &err);
            MX_CHECK_CSTR(out, whole);
        }
    }
    close_bench(&b);
}

/* Steps three requests together, each from its own start, with as much prompt as the step has room for. */
static void run_together(bench *b, const mx_generation_request requests[MAX_SEQS], char out[MAX_SEQS][MAX_OUT])
{
    mx_error err;
    mx_generation g[MAX_SEQS] = {0};
    bool all_done = false;
    for (int32_t i = 0; i < MAX_SEQS; i++) {
        out[i][0] = '\0';
    }
    for (int32_t n_steps = 0; !all_done && n_steps < 1000; n_steps++) {
        mx_step_part parts[MAX_SEQS];
        int32_t owners[MAX_SEQS];
        int32_t n_parts = 0;
        int32_t n_room = MAX_STEP;
        for (int32_t i = 0; i < MAX_SEQS; i++) {
            if (n_steps == i * 7) { /* joins late, in the middle of the others' texts */
                MX_CHECK_OK(mx_generation_init(&g[i], &b->engine, b->tokenizer, &requests[i], &err), &err);
            }
            if (n_steps >= i * 7 && g[i].finish == MX_FINISH_NONE && n_room > 0) {
                mx_generation_plan(&g[i], MX_MIN(n_room, 11), &parts[n_parts]);
                n_room -= parts[n_parts].n_rows;
                owners[n_parts++] = i;
            }
        }
        MX_CHECK_OK(mx_engine_step(&b->engine, parts, n_parts, &err), &err);
        all_done = n_steps > 7 * MAX_SEQS;
        for (int32_t j = 0; j < n_parts; j++) {
            mx_generation_news news = {0};
            MX_CHECK_OK(mx_generation_take(&g[owners[j]], &b->scratch, &parts[j], &news, &err), &err);
            collect(out[owners[j]], news.text);
            all_done = all_done && g[owners[j]].finish != MX_FINISH_NONE;
        }
    }
    for (int32_t i = 0; i < MAX_SEQS; i++) {
        mx_generation_deinit(&g[i]);
    }
}

MX_TEST(a_request_does_not_see_the_others_in_its_batch)
{
    int32_t prompts[MAX_SEQS][60];
    mx_error err;
    bench b;
    if (open_bench(&b)) {
        mx_generation_request requests[MAX_SEQS];
        char together[MAX_SEQS][MAX_OUT];
        for (int32_t i = 0; i < MAX_SEQS; i++) {
            const int32_t n_prompt = 20 + 17 * i;
            make_prompt(prompts[i], n_prompt, (uint32_t)i);
            requests[i] = sampled(prompts[i], n_prompt, (uint64_t)i);
        }
        run_together(&b, requests, together);
        for (int32_t i = 0; i < MAX_SEQS; i++) {
            char alone[MAX_OUT];
            mx_finish finish;
            MX_CHECK_OK(run_alone(&b, &requests[i], MAX_STEP, alone, &finish, &err), &err);
            MX_CHECK_CSTR(together[i], alone);
        }
    }
    close_bench(&b);
}

MX_TEST(the_token_loop_allocates_nothing)
{
    static const mx_str stop = MX_STR_INIT("never this");
    int32_t prompt[30];
    mx_error err;
    bench b;
    if (open_bench(&b)) {
        make_prompt(prompt, 30, 9);
        mx_generation_request request = sampled(prompt, 30, 11);
        request.stops = &stop;
        request.n_stops = 1;
        mx_generation g;
        MX_CHECK_OK(mx_generation_init(&g, &b.engine, b.tokenizer, &request, &err), &err);
        while (g.finish == MX_FINISH_NONE) {
            mx_step_part part;
            mx_generation_news news;
            if (g.n_new <= 1) {
                mx_mem_fail_at(0); /* the detokenizer makes its buffers with the first token */
            }
            mx_generation_plan(&g, 8, &part);
            if (!MX_CHECK_OK(mx_engine_step(&b.engine, &part, 1, &err), &err) ||
                !MX_CHECK_OK(mx_generation_take(&g, &b.scratch, &part, &news, &err), &err)) {
                break;
            }
        }
        MX_CHECK_I64(mx_mem_count(), 0);
        MX_CHECK_I64(g.n_new, N_CTX - 30);
        mx_generation_deinit(&g);
    }
    close_bench(&b);
}

MX_TEST(every_failed_allocation_is_told_and_nothing_is_lost)
{
    static const int32_t prompt[] = {0, 1};
    mx_error err;
    bench b;
    if (open_bench(&b)) {
        const mx_generation_request request = greedy(prompt, 2);
        mx_status st = MX_NO_MEMORY;
        int n_failures = 0;
        for (int n = 1; st != MX_OK && n < 100; n++) {
            mx_generation g;
            mx_mem_fail_at(n);
            st = mx_generation_init(&g, &b.engine, b.tokenizer, &request, &err);
            mx_mem_fail_at(0);
            if (st == MX_OK) {
                mx_generation_deinit(&g);
            } else {
                MX_CHECK_I64(st, MX_NO_MEMORY);
                n_failures++;
            }
        }
        MX_CHECK(n_failures >= 5);
        mx_engine spare;
        mx_mem_fail_at(6); /* the lists of pages and slots are four */
        MX_CHECK_FAILS(mx_engine_init(&spare, &b.fake->base, &limits, &err), MX_NO_MEMORY, &err, "lists of a step");
        mx_mem_fail_at(0);
    }
    close_bench(&b);
}

MX_TEST(a_device_failure_ends_the_request_and_gives_its_pages_back)
{
    static const int32_t prompt[] = {0, 1};
    mx_error err;
    bench b;
    char out[MAX_OUT];
    mx_finish finish;
    if (open_bench(&b)) {
        const mx_generation_request request = greedy(prompt, 2);
        b.fake->fail_at = 3;
        MX_CHECK_FAILS(run_alone(&b, &request, MAX_STEP, out, &finish, &err), MX_DEVICE, &err, "run 3");
    }
    close_bench(&b);
}

MX_TEST(a_cancelled_text_gives_what_was_held_back)
{
    static const int32_t script[] = {0, 1, 2, 2};
    static const int32_t prompt[] = {0};
    static const mx_str stop = MX_STR_INIT("bcd");
    mx_error err;
    bench b;
    if (open_bench(&b)) {
        b.fake->script = script;
        b.fake->n_script = 4;
        mx_generation_request request = greedy(prompt, 1);
        request.stops = &stop;
        request.n_stops = 1;
        mx_generation g;
        mx_generation_news news = {0};
        MX_CHECK_OK(mx_generation_init(&g, &b.engine, b.tokenizer, &request, &err), &err);
        char out[MAX_OUT] = "";
        for (int i = 0; i < 3; i++) {
            mx_step_part part;
            mx_generation_plan(&g, 1, &part);
            MX_CHECK_OK(mx_engine_step(&b.engine, &part, 1, &err), &err);
            MX_CHECK_OK(mx_generation_take(&g, &b.scratch, &part, &news, &err), &err);
            collect(out, news.text);
        }
        MX_CHECK_CSTR(out, "a");
        MX_CHECK_OK(mx_generation_cancel(&g, &news, &err), &err);
        MX_CHECK_STR(news.text, MX_STR("bc"));
        MX_CHECK_I64(g.finish, MX_FINISH_CANCELLED);
        mx_generation_deinit(&g);
    }
    close_bench(&b);
}

MX_TEST_MAIN(MX_CASE(any_of_the_end_tokens_ends_the_text_and_is_not_shown), MX_CASE(max_new_tokens_is_exact),
             MX_CASE(a_stop_string_across_tokens_is_never_shown),
             MX_CASE(a_character_of_several_tokens_comes_out_whole),
             MX_CASE(bytes_that_are_no_character_come_out_as_one_replacement), MX_CASE(a_full_context_ends_the_text),
             MX_CASE(requests_that_cannot_be_are_refused_in_words),
             MX_CASE(a_prompt_in_chunks_gives_the_same_text_as_at_once),
             MX_CASE(a_request_does_not_see_the_others_in_its_batch), MX_CASE(the_token_loop_allocates_nothing),
             MX_CASE(every_failed_allocation_is_told_and_nothing_is_lost),
             MX_CASE(a_device_failure_ends_the_request_and_gives_its_pages_back),
             MX_CASE(a_cancelled_text_gives_what_was_held_back))
