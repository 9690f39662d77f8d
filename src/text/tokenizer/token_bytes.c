/* token_bytes.c - what a single token adds to a text: the decoder's steps, as far as they work token by token. */
#include <string.h>

#include "text/tokenizer/bytechars.h"
#include "text/tokenizer/open.h"
#include "text/tokenizer/tokenizer.h"

static int hex_digit(char c)
{
    const char lower = (char)(c | 0x20);
    return c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* "<0xNN>"; -1 for anything else. */
static int fallback_byte(mx_str s)
{
    if (s.len != 6 || !mx_str_starts_with(s, MX_STR("<0x")) || s.ptr[5] != '>') {
        return -1;
    }
    const int high = hex_digit(s.ptr[3]);
    const int low = hex_digit(s.ptr[4]);
    return high >= 0 && low >= 0 ? high * 16 + low : -1;
}

static mx_status replace_all(mx_buf *token, mx_str what, mx_str by, mx_error *err)
{
    mx_buf out = {.max = token->max};
    mx_status st = MX_OK;
    size_t from = 0;
    for (;;) {
        const size_t at = mx_str_find(mx_buf_view(token), what, from);
        const size_t end = at == MX_STR_NPOS ? token->len : at;
        MX_TRY_OR(done, st, mx_buf_append(&out, mx_str_slice(mx_buf_view(token), from, end), err));
        if (at == MX_STR_NPOS) {
            break;
        }
        MX_TRY_OR(done, st, mx_buf_append(&out, by, err));
        from = at + what.len;
    }
    token->len = 0;
    st = mx_buf_append(token, mx_buf_view(&out), err);
done:
    mx_buf_deinit(&out);
    return st;
}

static mx_status apply_step(const mx_decoder_step *step, mx_buf *token, mx_error *err)
{
    const mx_str first = {step->first, step->first_len};
    switch (step->kind) {
    case MX_STEP_BYTE_LEVEL: {
        const size_t n = token->len > 0 ? mx_bytechars_decode(mx_buf_view(token), token->data) : 0;
        token->len = n == MX_STR_NPOS ? token->len : n;
        return MX_OK;
    }
    case MX_STEP_BYTE_FALLBACK: {
        const int byte = fallback_byte(mx_buf_view(token));
        token->len = byte >= 0 ? 0 : token->len;
        return byte >= 0 ? mx_buf_append_char(token, (char)byte, err) : MX_OK;
    }
    case MX_STEP_METASPACE: return replace_all(token, first, MX_STR(" "), err);
    case MX_STEP_REPLACE:
        if (step->pattern.literal) {
            return replace_all(token, (mx_str){step->pattern.literal, step->pattern.literal_len}, first, err);
        }
        break;
    case MX_STEP_FUSE:
    case MX_STEP_STRIP: return MX_OK; /* at the ends of the whole text: mx_tokenizer_strips_first */
    case MX_STEP_SPACED:
    case MX_STEP_WORDPIECE:
    case MX_STEP_BPE:
    case MX_STEP_CTC: break;
    }
    return mx_fail(err, MX_UNSUPPORTED, "the tokens of this tokenizer have no text of their own, which grammars need");
}

mx_status mx_tokenizer_append_bytes(const mx_tokenizer *tok, int32_t id, mx_buf *out, mx_error *err)
{
    mx_buf token = {.max = (size_t)1 << 24};
    mx_str text;
    mx_status st = MX_OK;
    text = mx_tokenizer_view_decoded(tok, id);
    if (!text.ptr) {
        return MX_OK;
    }
    MX_TRY_OR(done, st, mx_buf_append(&token, text, err));
    for (size_t i = 0; i < tok->decoder.n_steps; i++) {
        MX_TRY_OR(done, st, apply_step(&tok->decoder.steps[i], &token, err));
    }
    st = mx_buf_append(out, mx_buf_view(&token), err);
done:
    mx_buf_deinit(&token);
    return st;
}

bool mx_tokenizer_strips_first(const mx_tokenizer *tok)
{
    for (size_t i = 0; i < tok->decoder.n_steps; i++) {
        const mx_decoder_step *step = &tok->decoder.steps[i];
        if ((step->kind == MX_STEP_STRIP && step->n_start > 0) ||
            (step->kind == MX_STEP_METASPACE && step->drops_first)) {
            return true;
        }
    }
    return false;
}
