/* prompt_guard.c - marks in, marks out. */
#include "engine/prompt_guard.h"

#include "base/mem.h"
#include "base/utf8.h"

enum {
    FIRST_MARK = 0xFDD0, /* U+FDD0 to U+FDEF are noncharacters, for uses such as this */
    N_MARKS = 32,
};

#define MAX_CONTENT_BYTES ((size_t)1 << 30)

static bool is_in_messages(mx_str mark, const mx_chat_message *messages, size_t n_messages)
{
    for (size_t i = 0; i < n_messages; i++) {
        if (mx_str_find(messages[i].content, mark, 0) != MX_STR_NPOS) {
            return true;
        }
    }
    return false;
}

static mx_status choose_mark(mx_prompt_guard *guard, const mx_chat_message *messages, size_t n_messages, mx_error *err)
{
    for (int32_t i = 0; i < N_MARKS; i++) {
        char mark[4];
        const size_t len = mx_utf8_encode(FIRST_MARK + i, mark);
        if (!is_in_messages((mx_str){mark, len}, messages, n_messages)) {
            memcpy(guard->mark, mark, MX_GUARD_MARK_BYTES);
            return MX_OK;
        }
    }
    return mx_fail(err, MX_INVALID, "the messages have all of the noncharacters U+FDD0 to U+FDEF: leave one out");
}

static bool has_length(const mx_prompt_guard *guard, size_t len)
{
    for (size_t i = 0; i < guard->n_lengths; i++) {
        if (guard->lengths[i] == len) {
            return true;
        }
    }
    return false;
}

static mx_status collect_tokens(mx_prompt_guard *guard, const mx_tokenizer *tokenizer, mx_error *err)
{
    size_t n_added;
    const mx_added_token *added = mx_tokenizer_view_added(tokenizer, &n_added);
    guard->lengths = (size_t *)mx_calloc(n_added, sizeof *guard->lengths);
    if (!guard->lengths) {
        return mx_fail_no_memory(err, n_added * sizeof *guard->lengths, "the special tokens");
    }
    for (size_t i = 0; i < n_added; i++) {
        const mx_str content = added[i].content;
        if (!added[i].is_special || content.len == 0) {
            continue;
        }
        MX_TRY(mx_strmap_put(&guard->tokens, content, added[i].id, NULL, err));
        guard->is_first[(uint8_t)content.ptr[0]] = true;
        if (!has_length(guard, content.len)) {
            guard->lengths[guard->n_lengths++] = content.len;
        }
    }
    return MX_OK;
}

/* Whether a special token begins at byte `at`. */
static bool spells_token(const mx_prompt_guard *guard, mx_str text, size_t at)
{
    if (!guard->is_first[(uint8_t)text.ptr[at]]) {
        return false;
    }
    for (size_t i = 0; i < guard->n_lengths; i++) {
        int32_t id;
        if (guard->lengths[i] <= text.len - at &&
            mx_strmap_get(&guard->tokens, mx_str_slice(text, at, at + guard->lengths[i]), &id)) {
            return true;
        }
    }
    return false;
}

/* Appends content with its marks; *n_marks tells how many there are. */
static mx_status mark_content(const mx_prompt_guard *guard, mx_str content, mx_buf *out, size_t *n_marks, mx_error *err)
{
    size_t from = 0;
    *n_marks = 0;
    for (size_t at = 0; at < content.len; at++) {
        if (spells_token(guard, content, at)) {
            MX_TRY(mx_buf_append(out, mx_str_slice(content, from, at), err));
            MX_TRY(mx_buf_append(out, (mx_str){guard->mark, MX_GUARD_MARK_BYTES}, err));
            from = at;
            (*n_marks)++;
        }
    }
    return *n_marks > 0 ? mx_buf_append(out, mx_str_slice(content, from, content.len), err) : MX_OK;
}

mx_status mx_prompt_guard_mark(mx_prompt_guard *guard, const mx_tokenizer *tokenizer, mx_chat_message *messages,
                               size_t n_messages, mx_error *err)
{
    *guard = (mx_prompt_guard){0};
    for (size_t i = 0; i < n_messages; i++) {
        if (!mx_utf8_is_valid(messages[i].content)) {
            return mx_fail(err, MX_INVALID, "message %zu is not UTF-8 text", i + 1);
        }
    }
    MX_TRY(choose_mark(guard, messages, n_messages, err));
    MX_TRY(collect_tokens(guard, tokenizer, err));
    guard->contents = (mx_buf *)mx_calloc(n_messages, sizeof *guard->contents);
    if (!guard->contents) {
        return mx_fail_no_memory(err, n_messages * sizeof *guard->contents, "the messages");
    }
    guard->n_contents = n_messages;
    for (size_t i = 0; i < n_messages; i++) {
        size_t n_marks;
        mx_buf_init(&guard->contents[i], MAX_CONTENT_BYTES);
        MX_TRY(mark_content(guard, messages[i].content, &guard->contents[i], &n_marks, err));
        if (n_marks > 0) {
            messages[i].content = mx_buf_view(&guard->contents[i]);
        }
    }
    return MX_OK;
}

mx_status mx_prompt_guard_strip(mx_prompt_guard *guard, mx_buf *text, mx_error *err)
{
    const mx_str mark = {guard->mark, MX_GUARD_MARK_BYTES};
    size_t cap = 0;
    size_t n_kept = 0;
    for (size_t from = 0; from < text->len;) {
        const size_t at = mx_str_find(mx_buf_view(text), mark, from);
        const size_t end = at == MX_STR_NPOS ? text->len : at;
        memmove(text->data + n_kept, text->data + from, end - from);
        n_kept += end - from;
        from = end;
        if (at != MX_STR_NPOS) {
            size_t *grown = (size_t *)mx_array_grow(guard->plain_at, &cap, guard->n_plain + 1, sizeof *grown, SIZE_MAX);
            if (!grown) {
                return mx_fail_no_memory(err, guard->n_plain * sizeof *grown, "the places of special tokens");
            }
            guard->plain_at = grown;
            guard->plain_at[guard->n_plain++] = n_kept;
            from += mark.len;
        }
    }
    text->len = n_kept;
    return MX_OK;
}

void mx_prompt_guard_deinit(mx_prompt_guard *guard)
{
    for (size_t i = 0; i < guard->n_contents; i++) {
        mx_buf_deinit(&guard->contents[i]);
    }
    mx_free(guard->contents);
    mx_free(guard->plain_at);
    mx_free(guard->lengths);
    mx_strmap_deinit(&guard->tokens);
    *guard = (mx_prompt_guard){0};
}
