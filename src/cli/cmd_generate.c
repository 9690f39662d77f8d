/* cmd_generate.c - mlxcel generate: a prompt in, text out as it is made, counts and speeds on standard error. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/engine_use.h"
#include "cli/generate_json.h"
#include "cli/prompt.h"
#include "cli/sampling_options.h"
#include "cli/text_io.h"
#include "platform/console.h"
#include "platform/signal.h"
#include "text/grammar/grammar.h"

enum {
    ROOM_FOR_ANSWER = 4096, /* tokens of context for an answer whose length is not given */
};

/* What the callbacks of one generation share. */
typedef struct writer {
    bool has_failed; /* standard output takes no more */
    bool is_closed;  /* because its reader has gone away */
    char last;       /* byte written */
    mx_error err;
} writer;

static int write_text(void *arg, const char *text, size_t n_bytes)
{
    writer *w = (writer *)arg;
    if (mx_console_write(MX_STDOUT, (mx_str){text, n_bytes}, &w->err) != MX_OK) {
        w->has_failed = true;
        w->is_closed = mx_console_is_closed(&w->err);
        return 1;
    }
    w->last = text[n_bytes - 1];
    return 0;
}

static int is_interrupted(void *arg)
{
    (void)arg;
    return mx_signal_is_interrupted();
}

/* Room for the prompt and the answer: --ctx-size, or what they need as far as the model goes. */
static mx_status choose_ctx(const mlxcel_model *model, const mx_cli_options *options, int32_t n_prompt, int32_t *n_ctx,
                            mx_error *err)
{
    mlxcel_model_info info = {.n_struct_bytes = sizeof info};
    mlxcel_model_get_info(model, &info);
    const int64_t n_answer = options->n_predict.value > 0 ? options->n_predict.value : ROOM_FOR_ANSWER;
    const int64_t n_wanted = options->n_ctx.value > 0 ? options->n_ctx.value : (int64_t)n_prompt + n_answer + 1;
    if (options->n_ctx.value > info.n_ctx) {
        return mx_fail(err, MX_INVALID, "--ctx-size %" PRId64 ": this model takes at most %d tokens", n_wanted,
                       (int)info.n_ctx);
    }
    *n_ctx = (int32_t)MX_MIN(n_wanted, info.n_ctx);
    if (n_prompt >= *n_ctx) {
        const char *advice = *n_ctx < info.n_ctx ? "shorten the prompt or raise --ctx-size" : "shorten the prompt";
        return mx_fail(err, MX_INVALID, "the prompt has %d tokens, and a context of %d%s has no room for it: %s",
                       (int)n_prompt, (int)*n_ctx, *n_ctx < info.n_ctx ? "" : ", the most that this model takes,",
                       advice);
    }
    return MX_OK;
}

/* Runs the prompt and prints what comes. Returns the exit code. */
static int stream(mlxcel_engine *engine, const mx_cli_options *options, const mlxcel_tokens *prompt,
                  const mlxcel_sampling *sampling)
{
    writer w = {.last = '\n'};
    mlxcel_error err;
    mlxcel_result result = {.n_struct_bytes = sizeof result};
    const char *grammar = options->json_schema ? options->json_schema : options->grammar;
    const mlxcel_request request = {
        .n_struct_bytes = sizeof request,
        .prompt = prompt->ids,
        .n_prompt = prompt->n_ids,
        .max_new_tokens = options->n_predict.value > 0 ? (int32_t)options->n_predict.value : 0,
        .sampling = sampling,
        .stops = options->stops.items,
        .n_stops = options->stops.n_items,
        .ignore_end = options->ignore_end,
        .grammar_kind = options->json_schema ? MLXCEL_GRAMMAR_JSON_SCHEMA
                        : options->grammar   ? MLXCEL_GRAMMAR_GBNF
                                             : MLXCEL_GRAMMAR_NONE,
        .grammar = grammar,
        .n_grammar_bytes = grammar ? strlen(grammar) : 0,
        .wants_logprobs = options->n_logprobs.is_set,
        .n_top_logprobs = (int32_t)options->n_logprobs.value,
        .on_text = write_text,
        .should_stop = is_interrupted,
        .arg = &w,
    };
    mx_signal_install(); /* only now: while loading, Ctrl-C may end the process as it likes */
    if (options->as_json) {
        return mx_cli_generate_json(engine, &request, options->n_logprobs.is_set);
    }
    const mlxcel_status st = mlxcel_generate(engine, &request, &result, &err);
    if (w.is_closed) {
        return MX_EXIT_OK;
    }
    if (w.has_failed) {
        return mx_cli_fail(&w.err);
    }
    if (w.last != '\n') {
        (void)write_text(&w, "\n", 1);
    }
    if (st != MLXCEL_OK) {
        return mx_cli_fail_api(&err);
    }
    mx_cli_print_statistics(&result, sampling, mx_console_is_terminal(MX_STDOUT) ? "\n" : "");
    return result.finish == MLXCEL_FINISH_CANCELLED ? MX_EXIT_INTERRUPTED : MX_EXIT_OK;
}

static mlxcel_status make_prompt(const mlxcel_model *model, const mx_cli_options *options, mx_str text,
                                 mlxcel_tokens *prompt, mlxcel_error *err)
{
    mlxcel_model_info info = {.n_struct_bytes = sizeof info};
    mlxcel_model_get_info(model, &info);
    if (!info.has_chat_template && !options->no_chat_template) {
        (void)snprintf(err->message, sizeof err->message,
                       "the model %s has no chat template: give --no-chat-template to continue the bare text",
                       options->model);
        return MLXCEL_NOT_FOUND;
    }
    if (options->no_chat_template) {
        return mlxcel_tokenize(model, text.ptr, text.len, MLXCEL_TEXT_ADD_SPECIAL, prompt, err);
    }
    return mx_cli_tokenize_chat(model, options, text, prompt, err);
}

/* Before anything is loaded: whether the text of --json-schema or --grammar is one, and allows any answer. */
static mx_status check_grammar(const char *name, mx_grammar_kind kind, const char *text, mx_error *err)
{
    static const mx_token_table no_tokens = {0};
    mx_grammar *grammar = NULL;
    mx_matcher *matcher = NULL;
    if (!text) {
        return MX_OK;
    }
    mx_status st = mx_grammar_open(kind, mx_str_from(text), &grammar, err);
    st = st == MX_OK ? mx_matcher_new(grammar, &no_tokens, &matcher, err) : st;
    mx_matcher_free(matcher);
    mx_grammar_close(grammar);
    if (st == MX_OK || st == MX_NO_MEMORY) {
        return st;
    }
    const mx_error why = *err; /* also what is unsupported is a wrong command line */
    return mx_fail(err, MX_INVALID, "%s: %s", name, why.message);
}

static mx_status check_options(const mx_cli_options *options, mx_error *err)
{
    MX_TRY(mx_cli_need_model(options, err));
    if (options->no_chat_template && options->system) {
        return mx_fail(err, MX_INVALID, "--system has no place in a bare text: leave it or --no-chat-template out");
    }
    if (options->n_predict.is_set && options->n_predict.value == 0) {
        return mx_fail(err, MX_INVALID, "-n 0 asks for no text: give 1 or more, or -1 for no limit");
    }
    if (options->json_schema && options->grammar) {
        return mx_fail(err, MX_INVALID, "--json-schema and --grammar both say what the text is: choose one");
    }
    if (options->n_logprobs.is_set && !options->as_json) {
        return mx_fail(err, MX_INVALID, "--logprobs has its place in JSON: give --json, too");
    }
    MX_TRY(check_grammar("--json-schema", MX_GRAMMAR_JSON_SCHEMA, options->json_schema, err));
    return check_grammar("--grammar", MX_GRAMMAR_GBNF, options->grammar, err);
}

int mx_cmd_generate(const mx_cli_options *options)
{
    mx_error err;
    mlxcel_error api;
    mx_buf text = {0};
    mlxcel_tokens prompt = {0};
    mlxcel_model *model = NULL;
    mlxcel_engine *engine = NULL;
    mx_cli_sampling sampling;
    int code;

    if (check_options(options, &err) != MX_OK || mx_cli_read_text(options, &text, &err) != MX_OK) {
        code = mx_cli_fail(&err);
        goto done;
    }
    const mlxcel_model_options open = {.n_struct_bytes = sizeof open, .adapter_dir = options->adapter};
    if (mlxcel_model_open(options->model, &open, &model, &api) != MLXCEL_OK ||
        make_prompt(model, options, mx_buf_view(&text), &prompt, &api) != MLXCEL_OK) {
        code = mx_cli_fail_api(&api);
        goto done;
    }
    int32_t n_ctx = 0;
    if (mx_cli_read_sampling(model, options, &sampling, &err) != MX_OK ||
        choose_ctx(model, options, prompt.n_ids, &n_ctx, &err) != MX_OK) {
        code = mx_cli_fail(&err);
        goto done;
    }
    if (mx_cli_open_engine(model, options, n_ctx, &engine, &api) != MLXCEL_OK) {
        code = mx_cli_fail_api(&api);
        goto done;
    }
    code = stream(engine, options, &prompt, &sampling.settings);
done:
    mlxcel_engine_close(engine);
    mlxcel_model_close(model);
    mlxcel_tokens_free(&prompt);
    mx_buf_deinit(&text);
    return code;
}
