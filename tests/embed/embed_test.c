/* embed_test.c - a program that embeds mlxcel: it knows include/mlxcel.h and nothing else. Compiled as C and as C++.
 *
 *     embed_test MODEL_DIR      the model of tests/cli/tiny_model.py
 */
#include "mlxcel.h"

#include <stdio.h>
#include <string.h>

static int n_passed;
static int n_failed;

static void check(int is_so, const char *what)
{
    if (is_so) {
        n_passed++;
    } else {
        n_failed++;
        printf("failed: %s\n", what);
    }
}

/* What a generation's callbacks see. */
typedef struct sink {
    char text[8192];
    size_t n_bytes;
    int n_pieces;
    int n_asked;
    int stop_after_pieces; /* 0: never */
    int stop_after_asked;  /* 0: never */
} sink;

static int on_text(void *arg, const char *text, size_t n_bytes)
{
    sink *s = (sink *)arg;
    if (s->n_bytes + n_bytes < sizeof s->text) {
        memcpy(s->text + s->n_bytes, text, n_bytes);
        s->n_bytes += n_bytes;
    }
    s->n_pieces++;
    return s->stop_after_pieces && s->n_pieces >= s->stop_after_pieces;
}

static int should_stop(void *arg)
{
    sink *s = (sink *)arg;
    s->n_asked++;
    return s->stop_after_asked && s->n_asked > s->stop_after_asked;
}

static mlxcel_request new_request(const mlxcel_tokens *prompt, sink *s)
{
    mlxcel_request request;
    memset(&request, 0, sizeof request);
    memset(s, 0, sizeof *s);
    request.n_struct_bytes = sizeof request;
    request.prompt = prompt->ids;
    request.n_prompt = prompt->n_ids;
    request.on_text = on_text;
    request.should_stop = should_stop;
    request.arg = s;
    return request;
}

static void check_text(const mlxcel_model *model)
{
    static const char text[] = "a<end>";
    mlxcel_error err;
    mlxcel_tokens tokens;
    mlxcel_text back;
    const int32_t absent = 100000;
    check(mlxcel_tokenize(model, text, 6, 0, &tokens, &err) == MLXCEL_OK && tokens.n_ids == 6, "plain text");
    check(mlxcel_detokenize(model, tokens.ids, tokens.n_ids, 0, &back, &err) == MLXCEL_OK && back.n_bytes == 6 &&
              strcmp(back.bytes, text) == 0,
          "there and back");
    mlxcel_text_free(&back);
    mlxcel_tokens_free(&tokens);
    check(mlxcel_tokenize(model, text, 6, MLXCEL_TEXT_PARSE_SPECIAL | MLXCEL_TEXT_ADD_SPECIAL, &tokens, &err) ==
                  MLXCEL_OK &&
              tokens.n_ids == 3 && tokens.ids[0] == 256 && tokens.ids[2] == 257,
          "special tokens");
    check(mlxcel_detokenize(model, tokens.ids, 3, MLXCEL_TEXT_SKIP_SPECIAL, &back, &err) == MLXCEL_OK &&
              strcmp(back.bytes, "a") == 0,
          "special tokens are left out");
    mlxcel_text_free(&back);
    mlxcel_tokens_free(&tokens);
    check(mlxcel_tokenize(model, NULL, 0, 0, &tokens, NULL) == MLXCEL_OK && tokens.n_ids == 0, "no text, no error");
    mlxcel_tokens_free(&tokens);
    check(mlxcel_detokenize(model, &absent, 1, 0, &back, &err) == MLXCEL_INVALID && strstr(err.message, "100000"),
          "an absent token is named");
}

static void check_chat(const mlxcel_model *model, mlxcel_tokens *prompt)
{
    const mlxcel_message messages[] = {{"system", "be brief", 8}, {"user", "hi<end>", 7}};
    mlxcel_error err;
    mlxcel_text text;
    check(mlxcel_apply_template(model, messages, 2, &text, &err) == MLXCEL_OK &&
              strcmp(text.bytes, "<turn>system: be brief<end><turn>user: hi<end><end><turn>assistant: ") == 0,
          "the rendered prompt");
    mlxcel_text_free(&text);
    check(mlxcel_tokenize_chat(model, messages, 2, prompt, &err) == MLXCEL_OK, "the prompt's tokens");
    int n_ends = 0;
    for (int32_t i = 0; i < prompt->n_ids; i++) {
        n_ends += prompt->ids[i] == 257;
    }
    check(n_ends == 2, "what a user types is plain text");
    check(mlxcel_apply_template(model, messages, 0, &text, &err) == MLXCEL_INVALID, "no message");
}

static void check_generation(mlxcel_engine *engine, const mlxcel_tokens *prompt)
{
    mlxcel_error err;
    mlxcel_result result;
    mlxcel_sampling greedy;
    sink first;
    sink s;
    memset(&greedy, 0, sizeof greedy);
    greedy.n_struct_bytes = sizeof greedy;
    greedy.top_p = 1.0f;
    greedy.repeat_penalty = 1.0f;
    memset(&result, 0, sizeof result);
    result.n_struct_bytes = sizeof result;

    mlxcel_request request = new_request(prompt, &first);
    request.max_new_tokens = 20;
    request.sampling = &greedy;
    check(mlxcel_generate(engine, &request, &result, &err) == MLXCEL_OK, "generates");
    check(result.n_prompt_tokens == prompt->n_ids && result.n_new_tokens > 0 && result.n_new_tokens <= 20, "counts");
    check(result.finish == MLXCEL_FINISH_LENGTH || result.finish == MLXCEL_FINISH_END, "finish");
    check(result.prompt_s > 0.0 && result.generate_s >= 0.0, "times");

    request = new_request(prompt, &s);
    request.max_new_tokens = 20;
    request.sampling = &greedy;
    check(mlxcel_generate(engine, &request, NULL, NULL) == MLXCEL_OK && s.n_bytes == first.n_bytes &&
              memcmp(s.text, first.text, s.n_bytes) == 0,
          "an engine is as good as new for the next request");

    request = new_request(prompt, &s);
    s.stop_after_pieces = 1;
    check(mlxcel_generate(engine, &request, &result, &err) == MLXCEL_OK && s.n_pieces == 1 &&
              result.finish == MLXCEL_FINISH_CANCELLED,
          "on_text stops");
    request = new_request(prompt, &s);
    s.n_asked = s.stop_after_asked = 5; /* the first time */
    check(mlxcel_generate(engine, &request, &result, &err) == MLXCEL_OK && s.n_asked == 6 &&
              result.finish == MLXCEL_FINISH_CANCELLED,
          "should_stop stops");

    request = new_request(prompt, &s);
    request.n_prompt = 0;
    check(mlxcel_generate(engine, &request, &result, &err) == MLXCEL_INVALID && strstr(err.message, "empty"),
          "an empty prompt");
    check(result.finish == MLXCEL_FINISH_NONE && result.n_new_tokens == 0, "results of a failure");
    request = new_request(prompt, &s);
    greedy.top_p = 7.0f;
    request.sampling = &greedy;
    check(mlxcel_generate(engine, &request, &result, &err) == MLXCEL_INVALID && strstr(err.message, "top-p 7"),
          "a setting out of range");
}

/* Several choices under a schema, by events. */
static void check_jobs(mlxcel_engine *engine, const mlxcel_tokens *prompt)
{
    static const char schema[] = "{\"type\": \"object\", \"properties\": {\"ok\": {\"type\": \"boolean\"}}, "
                                 "\"required\": [\"ok\"]}";
    mlxcel_error err;
    mlxcel_event event;
    mlxcel_engine_stats stats;
    mlxcel_job *job = NULL;
    sink sinks[2];
    int n_over = 0;
    int n_logprobs = 0;
    size_t n_token_bytes = 0;
    mlxcel_request request = new_request(prompt, &sinks[0]);
    memset(&sinks[1], 0, sizeof sinks[1]);
    request.on_text = NULL;
    request.should_stop = NULL;
    request.n_choices = 2;
    request.wants_logprobs = 1;
    request.n_top_logprobs = 2;
    request.grammar_kind = MLXCEL_GRAMMAR_JSON_SCHEMA;
    request.grammar = schema;
    request.n_grammar_bytes = strlen(schema);
    check(mlxcel_submit(engine, &request, &job, &err) == MLXCEL_OK, "submits");
    memset(&event, 0, sizeof event);
    event.n_struct_bytes = sizeof event;
    while (job && mlxcel_job_next(job, -1, &event) > 0) {
        (void)on_text(&sinks[event.i_choice & 1], event.text, event.n_text_bytes);
        for (int32_t i = 0; i < event.n_tokens; i++) {
            n_token_bytes += (size_t)event.tokens[i].n_text_bytes;
            n_logprobs += event.tokens[i].n_top == 2 && event.tokens[i].logprob <= 0.0f;
        }
        n_over += event.is_over && event.status == MLXCEL_OK && event.result->finish == MLXCEL_FINISH_END;
    }
    check(n_over == 2, "both choices end");
    for (int i = 0; i < 2; i++) {
        check(strncmp(sinks[i].text, "{", 1) == 0 && strstr(sinks[i].text, "\"ok\":") &&
                  sinks[i].text[sinks[i].n_bytes - 1] == '}',
              "an object of the schema");
    }
    check(n_token_bytes == sinks[0].n_bytes + sinks[1].n_bytes && n_logprobs > 0, "tokens make up the text");
    check(mlxcel_job_next(job, 0, &event) == -1, "over is over");
    mlxcel_job_close(job);
    request.grammar = "{\"not\": {}}";
    request.n_grammar_bytes = strlen(request.grammar);
    check(mlxcel_submit(engine, &request, &job, &err) == MLXCEL_UNSUPPORTED && !job && strstr(err.message, "not"),
          "what cannot be held is refused");
    memset(&stats, 0, sizeof stats);
    stats.n_struct_bytes = sizeof stats;
    mlxcel_engine_get_stats(engine, &stats);
    check(stats.n_seqs == 1 && stats.n_jobs_over > 2 && stats.n_new_tokens > 0 && stats.n_page_tokens == 32, "stats");
    mlxcel_job_close(NULL);
}

/* A caller built against a shorter struct: what lies beyond its size is not read or written. */
static void check_older_structs(const mlxcel_model *model)
{
    mlxcel_model_info info;
    memset(&info, 0x55, sizeof info);
    info.n_struct_bytes = offsetof(mlxcel_model_info, n_vocab);
    mlxcel_model_get_info(model, &info);
    check(strcmp(info.family, "llama") == 0 && info.n_ctx == 4096 && info.n_vocab == 0x55555555, "a shorter struct");
    info.n_struct_bytes = sizeof info;
    mlxcel_model_get_info(model, &info);
    check(info.n_vocab == 259 && info.has_chat_template == 1 && info.n_kv_bytes == 2 * 2 * 2 * 16 * 2, "the whole");
}

static void check_all(const char *dir)
{
    mlxcel_error err;
    mlxcel_model *model = NULL;
    mlxcel_engine *engine = NULL;
    mlxcel_tokens prompt;
    mlxcel_engine_options options;
    memset(&options, 0, sizeof options);
    options.n_struct_bytes = sizeof options;
    options.n_ctx = 300;
    options.n_threads = 1;

    check(mlxcel_abi_version() == MLXCEL_ABI_VERSION && mlxcel_version()[0] == '0', "versions");
    check(strcmp(mlxcel_status_name(MLXCEL_NOT_FOUND), "NOT_FOUND") == 0, "names of statuses");
    check(mlxcel_model_open("no such folder", NULL, &model, &err) == MLXCEL_NOT_FOUND && model == NULL &&
              strstr(err.message, "no such folder"),
          "a missing model is named");
    mlxcel_model_close(NULL);
    mlxcel_engine_close(NULL);
    if (mlxcel_model_open(dir, NULL, &model, &err) != MLXCEL_OK) {
        printf("%s\n", err.message);
        check(0, "opens the model");
        return;
    }
    check_older_structs(model);
    check_text(model);
    check_chat(model, &prompt);
    check(mlxcel_engine_open(model, &options, &engine, &err) == MLXCEL_OK, "opens an engine");
    if (engine) {
        check_generation(engine, &prompt);
        check_jobs(engine, &prompt);
    }
    mlxcel_engine_close(engine);
    options.n_ctx = 5000;
    check(mlxcel_engine_open(model, &options, &engine, &err) == MLXCEL_INVALID && strstr(err.message, "5000"),
          "more context than the model takes");
    mlxcel_tokens_free(&prompt);
    mlxcel_model_close(model);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        printf("usage: embed_test MODEL_DIR\n");
        return 2;
    }
    check_all(argv[1]);
    printf("%d passed, %d failed\n", n_passed, n_failed);
    return n_failed != 0;
}
