/* chat_session.c - prompts made, answers streamed, thinking set apart. */
#include "cli/chat_session.h"

#include <stdio.h>

#include "cli/engine_use.h"
#include "cli/reasoning.h"
#include "cli/text_io.h"
#include "platform/console.h"
#include "platform/env.h"
#include "platform/signal.h"

#define MAX_ANSWER_BYTES ((size_t)256 << 20)
#define DEFAULT_CTX      8192 /* tokens of a chat, where the model takes as many and nothing else is asked for */
#define DIM              "\x1b[2m"
#define PLAIN            "\x1b[0m"

static mx_status from_api(const mlxcel_error *api, mx_error *err)
{
    return mx_fail_native(err, (mx_status)api->status, api->native, "%s", api->message);
}

mx_status mx_chat_session_open(const mx_cli_options *options, mx_chat_session *out, mx_error *err)
{
    mlxcel_error api;
    *out = (mx_chat_session){.options = options, .info = {.n_struct_bytes = sizeof out->info}};
    const mlxcel_model_options open = {.n_struct_bytes = sizeof open, .adapter_dir = options->adapter};
    if (mlxcel_model_open(options->model, &open, &out->model, &api) != MLXCEL_OK) {
        return from_api(&api, err);
    }
    mlxcel_model_get_info(out->model, &out->info);
    if (!out->info.has_chat_template) {
        return mx_fail(err, MX_NOT_FOUND,
                       "the model %s has no chat template and cannot chat: `mlxcel generate --no-chat-template` "
                       "continues texts",
                       options->model);
    }
    const int32_t n_ctx = options->n_ctx.value > 0 ? (int32_t)options->n_ctx.value : DEFAULT_CTX;
    if (mx_cli_open_engine(out->model, options, MX_MIN(n_ctx, out->info.n_ctx), &out->engine, &api) != MLXCEL_OK) {
        return from_api(&api, err);
    }
    mx_arena arena;
    mx_arena_init(&arena, 1 << 16);
    const char *no_color = mx_env_get(&arena, "NO_COLOR");
    out->is_coloured = mx_console_takes_escapes(MX_STDOUT) && !(no_color && no_color[0]);
    mx_arena_deinit(&arena);
    MX_TRY(mx_cli_read_sampling(out->model, options, &out->sampling, err));
    out->n_predict = options->n_predict.value > 0 ? (int32_t)options->n_predict.value : 0;
    out->has_seed = options->seed.is_set && options->seed.value >= 0;
    out->show_reasoning = options->show_reasoning;
    return options->system ? mx_conversation_set_system(&out->chat, mx_str_from(options->system), err) : MX_OK;
}

void mx_chat_session_close(mx_chat_session *s)
{
    mlxcel_engine_close(s->engine);
    mlxcel_model_close(s->model);
    mx_conversation_clear(&s->chat);
}

/* What the callbacks of one answer share. */
typedef struct answer {
    const mx_chat_session *s;
    mx_reasoning reasoning;
    mx_buf text; /* the answer without its thinking */
    bool is_dim;
    bool has_written;
    mx_status status;
    mx_error err;
} answer;

static mx_status say(const char *text, mx_error *err)
{
    return mx_console_write(MX_STDOUT, mx_str_from(text), err);
}

static mx_status write_part(void *arg, bool is_reasoning, mx_str text, mx_error *err)
{
    answer *a = (answer *)arg;
    if (is_reasoning && !a->s->show_reasoning) {
        return MX_OK;
    }
    if (is_reasoning != a->is_dim) {
        MX_TRY(!is_reasoning ? say(a->s->is_coloured ? PLAIN "\n\n" : "\n\n", err)
                             : say(a->s->is_coloured ? DIM : "", err));
        a->is_dim = is_reasoning;
    }
    if (!is_reasoning) {
        MX_TRY(mx_buf_append(&a->text, text, err));
    }
    a->has_written = true;
    return mx_console_write(MX_STDOUT, text, err);
}

static int on_text(void *arg, const char *text, size_t n_bytes)
{
    answer *a = (answer *)arg;
    a->status = mx_reasoning_feed(&a->reasoning, (mx_str){text, n_bytes}, &a->err);
    return a->status != MX_OK;
}

static int should_stop(void *arg)
{
    (void)arg;
    return mx_signal_is_interrupted();
}

static mx_status end_answer(answer *a, mx_error *err)
{
    MX_TRY(mx_reasoning_end(&a->reasoning, err));
    MX_TRY(a->is_dim && a->s->is_coloured ? say(PLAIN, err) : MX_OK);
    const bool ends_line = a->text.len > 0 && a->text.data[a->text.len - 1] == '\n';
    return a->has_written && !ends_line ? say("\n", err) : MX_OK;
}

/* The prompt's tokens, and whether its end opened the thinking. */
static mx_status make_prompt(const mx_chat_session *s, mlxcel_tokens *tokens, mx_reasoning *reasoning, mx_error *err)
{
    mlxcel_error api;
    mlxcel_text text = {0};
    if (mlxcel_apply_template(s->model, s->chat.messages, s->chat.n, &text, &api) != MLXCEL_OK ||
        mlxcel_tokenize_chat(s->model, s->chat.messages, s->chat.n, tokens, &api) != MLXCEL_OK) {
        mlxcel_text_free(&text);
        return from_api(&api, err);
    }
    mx_reasoning_begin(reasoning, (mx_str){text.bytes, text.n_bytes});
    mlxcel_text_free(&text);
    return MX_OK;
}

mx_status mx_chat_session_answer(mx_chat_session *s, mlxcel_finish *finish, mx_error *err)
{
    mlxcel_error api;
    mlxcel_tokens tokens = {0};
    mlxcel_result result = {.n_struct_bytes = sizeof result};
    answer a = {.s = s, .text = {.max = MAX_ANSWER_BYTES}};
    mx_status st;
    a.reasoning = (mx_reasoning){.write = write_part, .arg = &a};
    MX_TRY_OR(done, st, make_prompt(s, &tokens, &a.reasoning, err));
    s->sampling.settings.seed += s->has_seed ? 0 : 1; /* another answer each time */
    const mlxcel_request request = {
        .n_struct_bytes = sizeof request,
        .prompt = tokens.ids,
        .n_prompt = tokens.n_ids,
        .max_new_tokens = s->n_predict,
        .sampling = &s->sampling.settings,
        .stops = s->options->stops.items,
        .n_stops = s->options->stops.n_items,
        .ignore_end = s->options->ignore_end,
        .on_text = on_text,
        .should_stop = should_stop,
        .arg = &a,
    };
    const mlxcel_status api_status = mlxcel_generate(s->engine, &request, &result, &api);
    *finish = result.finish;
    if (a.status != MX_OK) {
        st = mx_fail_native(err, a.err.status, a.err.native, "%s", a.err.message);
        goto done;
    }
    MX_TRY_OR(done, st, end_answer(&a, err));
    if (api_status != MLXCEL_OK) {
        st = from_api(&api, err);
        goto done;
    }
    st = mx_conversation_add(&s->chat, "assistant", mx_buf_view(&a.text), err);
    mx_cli_print_statistics(&result, &s->sampling.settings,
                            s->is_coloured && mx_console_takes_escapes(MX_STDERR) ? DIM : "");
    if (s->is_coloured && mx_console_takes_escapes(MX_STDERR)) {
        mx_cli_note(PLAIN);
    }
done:
    mlxcel_tokens_free(&tokens);
    mx_buf_deinit(&a.text);
    return st;
}
