/* generate_json.c - collects an answer and its tokens, and prints them. */
#include "cli/generate_json.h"

#include "base/json.h"
#include "cli/text_io.h"
#include "platform/console.h"
#include "platform/signal.h"

enum {
    ASK_AFTER_MS = 50, /* whether Ctrl-C was pressed */
};

static const char *const finishes[] = {
    [MLXCEL_FINISH_NONE] = "failed",
    [MLXCEL_FINISH_END] = "the model ended its text",
    [MLXCEL_FINISH_STOP] = "stop text",
    [MLXCEL_FINISH_LENGTH] = "-n reached",
    [MLXCEL_FINISH_CONTEXT] = "the context is full",
    [MLXCEL_FINISH_CANCELLED] = "interrupted",
};
/* The names of the same in JSON. */
static const char *const finish_names[] = {
    [MLXCEL_FINISH_NONE] = "failed",   [MLXCEL_FINISH_END] = "end",         [MLXCEL_FINISH_STOP] = "stop",
    [MLXCEL_FINISH_LENGTH] = "length", [MLXCEL_FINISH_CONTEXT] = "context", [MLXCEL_FINISH_CANCELLED] = "cancelled",
};

const char *mx_cli_finish_text(mlxcel_finish finish)
{
    return finishes[finish];
}

/* The answer as far as it has come. */
typedef struct answer {
    mx_buf text;
    mx_buf tokens; /* the members of a JSON array */
    mlxcel_result result;
} answer;

/* {"id": 504, "bytes": 3, "logprob": -0.1, "top": [{"id": 504, "logprob": -0.1}]}: bytes of the text */
static mx_status add_token(mx_buf *out, const mlxcel_token *token, mx_error *err)
{
    MX_TRY(mx_buf_printf(out, err, "%s\n    {\"id\": %d, \"bytes\": %d, \"logprob\": %.6g, \"top\": [",
                         out->len > 0 ? "," : "", (int)token->token_id, (int)token->n_text_bytes,
                         (double)token->logprob));
    for (int32_t i = 0; i < token->n_top; i++) {
        MX_TRY(mx_buf_printf(out, err, "%s{\"id\": %d, \"logprob\": %.6g}", i > 0 ? ", " : "",
                             (int)token->top[i].token_id, (double)token->top[i].logprob));
    }
    return mx_buf_append(out, MX_STR("]}"), err);
}

static mx_status add_event(answer *a, const mlxcel_event *event, mx_error *err)
{
    a->result = *event->result;
    MX_TRY(mx_buf_append(&a->text, (mx_str){event->text, event->n_text_bytes}, err));
    for (int32_t i = 0; i < event->n_tokens; i++) {
        MX_TRY(add_token(&a->tokens, &event->tokens[i], err));
    }
    return event->status == MLXCEL_OK ? MX_OK : mx_fail(err, (mx_status)event->status, "%s", event->message);
}

static mx_status print(const answer *a, const mlxcel_request *request, int has_tokens, mx_error *err)
{
    const mlxcel_result *r = &a->result;
    mx_buf out = {.max = (size_t)1 << 30};
    mx_status st;
    MX_TRY_OR(done, st, mx_buf_append(&out, MX_STR("{\"text\": "), err));
    MX_TRY_OR(done, st, mx_json_append_str(&out, mx_buf_view(&a->text), err));
    MX_TRY_OR(done, st,
              mx_buf_printf(&out, err,
                            ",\n  \"finish\": \"%s\", \"prompt_tokens\": %d, \"new_tokens\": %d, \"seed\": %llu,\n"
                            "  \"prompt_seconds\": %.6f, \"generate_seconds\": %.6f",
                            finish_names[r->finish], (int)r->n_prompt_tokens, (int)r->n_new_tokens,
                            (unsigned long long)request->sampling->seed, r->prompt_s, r->generate_s));
    if (has_tokens) {
        MX_TRY_OR(done, st, mx_buf_append(&out, MX_STR(",\n  \"tokens\": ["), err));
        MX_TRY_OR(done, st, mx_buf_append(&out, mx_buf_view(&a->tokens), err));
        MX_TRY_OR(done, st, mx_buf_append(&out, MX_STR("]"), err));
    }
    MX_TRY_OR(done, st, mx_buf_append(&out, MX_STR("}\n"), err));
    st = mx_console_write(MX_STDOUT, mx_buf_view(&out), err);
done:
    mx_buf_deinit(&out);
    return st;
}

static mx_status collect(mlxcel_job *job, answer *a, mx_error *err)
{
    mlxcel_event event = {.n_struct_bytes = sizeof event};
    for (;;) {
        const int32_t n = mlxcel_job_next(job, ASK_AFTER_MS, &event);
        if (n < 0) {
            return MX_OK;
        }
        if (n > 0) {
            MX_TRY(add_event(a, &event, err));
        }
        if (mx_signal_is_interrupted()) {
            mlxcel_job_cancel(job);
        }
    }
}

int mx_cli_generate_json(mlxcel_engine *engine, const mlxcel_request *request, int has_tokens)
{
    mx_error err;
    mlxcel_error api;
    mlxcel_job *job = NULL;
    answer a = {.text = {.max = (size_t)1 << 30}, .tokens = {.max = (size_t)1 << 30}};
    int code = MX_EXIT_OK;
    if (mlxcel_submit(engine, request, &job, &api) != MLXCEL_OK) {
        return mx_cli_fail_api(&api);
    }
    if (collect(job, &a, &err) != MX_OK || print(&a, request, has_tokens, &err) != MX_OK) {
        code = mx_console_is_closed(&err) ? MX_EXIT_OK : mx_cli_fail(&err);
    } else if (a.result.finish == MLXCEL_FINISH_CANCELLED) {
        code = MX_EXIT_INTERRUPTED;
    }
    mlxcel_job_close(job);
    mx_buf_deinit(&a.text);
    mx_buf_deinit(&a.tokens);
    return code;
}
