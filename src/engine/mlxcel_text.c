/* mlxcel_text.c - the public interface: text to tokens and back, and chat templates. */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "engine/mlxcel_private.h"
#include "engine/prompt_guard.h"
#include "platform/clock.h"

#define MAX_PROMPT_BYTES ((size_t)1 << 30)
#define MAX_PROMPT_IDS   ((size_t)INT32_MAX)
#define MAX_TEMPLATE_S   10 /* real templates take less than a millisecond */

void mlxcel_tokens_free(mlxcel_tokens *tokens)
{
    mx_free(tokens->ids);
    *tokens = (mlxcel_tokens){0};
}

void mlxcel_text_free(mlxcel_text *text)
{
    mx_free(text->bytes);
    *text = (mlxcel_text){0};
}

/* Moves the bytes, with a zero behind them, to the caller. */
static mx_status give_text(mx_buf *buf, mlxcel_text *out, mx_error *err)
{
    const char *bytes = mx_buf_view_cstr(buf);
    if (!bytes) {
        return mx_fail_no_memory(err, buf->len + 1, "a text");
    }
    *out = (mlxcel_text){buf->data, buf->len};
    *buf = (mx_buf){0};
    return MX_OK;
}

/* guard: where special tokens do not count; NULL: nowhere. */
static mx_status encode(const mlxcel_model *model, mx_str text, const mx_prompt_guard *guard, unsigned flags,
                        mlxcel_tokens *out, mx_error *err)
{
    mx_encoder *encoder = NULL;
    mx_ids ids;
    mx_status st;

    mx_ids_init(&ids, MAX_PROMPT_IDS);
    MX_TRY(mx_encoder_new(model->tokenizer, &encoder, err));
    st = guard ? mx_encode_mixed(encoder, text, guard->plain_at, guard->n_plain, flags, &ids, err)
               : mx_encode(encoder, text, flags, &ids, err);
    MX_TRY_OR(done, st, st);
    *out = (mlxcel_tokens){ids.data, (int32_t)ids.len};
    ids = (mx_ids){0};
done:
    mx_ids_deinit(&ids);
    mx_encoder_free(encoder);
    return st;
}

mlxcel_status mlxcel_tokenize(const mlxcel_model *model, const char *text, size_t n_bytes, uint32_t flags,
                              mlxcel_tokens *out, mlxcel_error *err)
{
    mx_error error;
    *out = (mlxcel_tokens){0};
    const unsigned encode_flags = (flags & MLXCEL_TEXT_ADD_SPECIAL ? MX_ENCODE_TEMPLATE : 0u) |
                                  (flags & MLXCEL_TEXT_PARSE_SPECIAL ? MX_ENCODE_SPECIAL : 0u);
    return mx_api_result(encode(model, (mx_str){text, n_bytes}, NULL, encode_flags, out, &error), &error, err);
}

static mx_status decode(const mlxcel_model *model, const int32_t *ids, int32_t n_ids, bool skip_special,
                        mlxcel_text *out, mx_error *err)
{
    const size_t n_known = mx_tokenizer_n_ids(model->tokenizer);
    for (int32_t i = 0; i < n_ids; i++) {
        if (ids[i] < 0 || (size_t)ids[i] >= n_known) {
            return mx_fail(err, MX_INVALID, "there is no token %d: the vocabulary's ids are 0 to %zu", (int)ids[i],
                           n_known - 1);
        }
    }
    mx_buf text = {.max = MAX_PROMPT_BYTES};
    mx_status st = mx_decode(model->tokenizer, ids, (size_t)n_ids, skip_special, &text, err);
    if (st == MX_OK) {
        st = give_text(&text, out, err);
    }
    mx_buf_deinit(&text);
    return st;
}

mlxcel_status mlxcel_detokenize(const mlxcel_model *model, const int32_t *ids, int32_t n_ids, uint32_t flags,
                                mlxcel_text *out, mlxcel_error *err)
{
    mx_error error;
    *out = (mlxcel_text){0};
    return mx_api_result(decode(model, ids, n_ids, (flags & MLXCEL_TEXT_SKIP_SPECIAL) != 0, out, &error), &error, err);
}

/* ---- chat templates ---- */

static bool is_past_deadline(void *deadline_ns)
{
    return mx_clock_ns() > *(const int64_t *)deadline_ns;
}

mx_status mx_api_render(const mlxcel_model *model, const mx_chat_message *messages, size_t n_messages,
                        bool add_generation_prompt, mx_buf *out, mx_error *err)
{
    if (!model->chat) {
        return mx_fail(err, MX_NOT_FOUND,
                       "%s has no chat template: it is a base model, to be given bare text to continue", model->dir);
    }
    int64_t deadline_ns = mx_clock_ns() + INT64_C(1000000000) * MAX_TEMPLATE_S;
    const mx_template_options options = {.should_stop = is_past_deadline, .stop_arg = &deadline_ns};
    mx_template_report report = {0};
    mx_status st = mx_chat_render(model->chat, messages, n_messages, add_generation_prompt, (mx_str){0}, &options, out,
                                  &report, err);
    if (report.fault == MX_TEMPLATE_STOPPED) {
        st = mx_fail(err, MX_INVALID, "%s: its chat template was stopped after %d seconds", model->dir, MAX_TEMPLATE_S);
    }
    mx_template_report_deinit(&report);
    return st;
}

/* The caller's messages in our own form. */
static mx_status copy_messages(const mlxcel_message *from, int32_t n_messages, mx_chat_message **out, mx_error *err)
{
    if (n_messages < 1) {
        return mx_fail(err, MX_INVALID, "there is no message to apply the chat template to");
    }
    mx_chat_message *messages = (mx_chat_message *)mx_calloc((size_t)n_messages, sizeof *messages);
    if (!messages) {
        return mx_fail_no_memory(err, (size_t)n_messages * sizeof *messages, "the messages");
    }
    for (int32_t i = 0; i < n_messages; i++) {
        messages[i].role = mx_str_from(from[i].role);
        messages[i].content = (mx_str){from[i].content, from[i].n_content_bytes};
    }
    *out = messages;
    return MX_OK;
}

mlxcel_status mlxcel_apply_template(const mlxcel_model *model, const mlxcel_message *messages, int32_t n_messages,
                                    mlxcel_text *out, mlxcel_error *err)
{
    mx_error error;
    mx_chat_message *copies = NULL;
    mx_buf text = {.max = MAX_PROMPT_BYTES};
    mx_status st;

    *out = (mlxcel_text){0};
    MX_TRY_OR(done, st, copy_messages(messages, n_messages, &copies, &error));
    MX_TRY_OR(done, st, mx_api_render(model, copies, (size_t)n_messages, true, &text, &error));
    st = give_text(&text, out, &error);
done:
    mx_buf_deinit(&text);
    mx_free(copies);
    return mx_api_result(st, &error, err);
}

/* The tokens of the rendered prompt: special ones where the template wrote them. */
static mx_status tokenize_chat(const mlxcel_model *model, mx_chat_message *messages, size_t n_messages,
                               mlxcel_tokens *out, mx_error *err)
{
    mx_prompt_guard guard;
    mx_buf text = {.max = MAX_PROMPT_BYTES};
    mx_status st;

    MX_TRY_OR(done, st, mx_prompt_guard_mark(&guard, model->tokenizer, messages, n_messages, err));
    MX_TRY_OR(done, st, mx_api_render(model, messages, n_messages, true, &text, err));
    MX_TRY_OR(done, st, mx_prompt_guard_strip(&guard, &text, err));
    st = encode(model, mx_buf_view(&text), &guard, MX_ENCODE_SPECIAL, out, err);
done:
    mx_buf_deinit(&text);
    mx_prompt_guard_deinit(&guard);
    return st;
}

mlxcel_status mlxcel_tokenize_chat(const mlxcel_model *model, const mlxcel_message *messages, int32_t n_messages,
                                   mlxcel_tokens *out, mlxcel_error *err)
{
    mx_error error;
    mx_chat_message *copies = NULL;
    *out = (mlxcel_tokens){0};
    mx_status st = copy_messages(messages, n_messages, &copies, &error);
    if (st == MX_OK) {
        st = tokenize_chat(model, copies, (size_t)n_messages, out, &error);
    }
    mx_free(copies);
    return mx_api_result(st, &error, err);
}
