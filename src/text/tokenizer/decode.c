/* decode.c - running the steps of a decoder over a stream of tokens.
 *
 * Every step has three entries: bytes of a token, the end of a token, the end of the stream. Most steps need a whole
 * token and collect it; those that often stand behind a Fuse, where the whole text is one token, work on what they get.
 */
#include "base/utf8.h"
#include "text/tokenizer/bytechars.h"
#include "text/tokenizer/decoder.h"

#define KEPT_MAX (SIZE_MAX / 4)

/* A step at work: `next` names the following one. */
typedef struct step_run {
    mx_decode_run *run;
    const mx_decoder_step *step;
    mx_step_state *state;
    size_t next;
    mx_error *err;
} step_run;

typedef struct step_ops {
    mx_status (*bytes)(step_run *r, mx_str bytes);
    mx_status (*end)(step_run *r);
    mx_status (*finish)(step_run *r); /* before the following step finishes; NULL: nothing */
} step_ops;

static const step_ops ops[MX_STEP_CTC + 1];

static step_run step_at(mx_decode_run *run, size_t i, mx_error *err)
{
    return (step_run){run, &run->decoder->steps[i], &run->states[i], i + 1, err};
}

static mx_status pass_bytes(const step_run *r, mx_str bytes)
{
    if (bytes.len == 0) {
        return MX_OK;
    }
    if (r->next == r->run->decoder->n_steps) {
        return mx_buf_append(r->run->out, bytes, r->err);
    }
    step_run next = step_at(r->run, r->next, r->err);
    return ops[next.step->kind].bytes(&next, bytes);
}

static mx_status pass_end(const step_run *r)
{
    if (r->next == r->run->decoder->n_steps) {
        return MX_OK;
    }
    step_run next = step_at(r->run, r->next, r->err);
    MX_TRY(ops[next.step->kind].end(&next));
    next.state->n_tokens++;
    return MX_OK;
}

static mx_status pass_token(const step_run *r, mx_str token)
{
    MX_TRY(pass_bytes(r, token));
    return pass_end(r);
}

static mx_str first_text(const step_run *r)
{
    return (mx_str){r->step->first, r->step->first_len};
}

static mx_status keep(step_run *r, mx_str bytes)
{
    return mx_buf_append(&r->state->token, bytes, r->err);
}

/* SPACED */

static mx_status spaced_bytes(step_run *r, mx_str bytes)
{
    return pass_bytes(r, bytes);
}

static mx_status spaced_end(step_run *r)
{
    return pass_end(r);
}

/* BYTE_LEVEL: state->token holds this token's characters, state->scratch the bytes of an unfinished character. */

static mx_status byte_level_end(step_run *r)
{
    mx_buf *kept = &r->state->scratch;
    mx_buf *token = &r->state->token;
    MX_TRY(mx_buf_reserve(kept, token->len, r->err));
    if (token->len) {
        const size_t n = mx_bytechars_decode(mx_buf_view(token), kept->data + kept->len);
        if (n == MX_STR_NPOS) {
            memcpy(kept->data + kept->len, token->data,
                   token->len); /* a token with other characters stands for itself */
        }
        kept->len += n == MX_STR_NPOS ? token->len : n;
    }
    token->len = 0;
    const size_t n_open = mx_utf8_incomplete_tail(mx_buf_view(kept));
    const size_t n_ready = kept->len - n_open;
    MX_TRY(mx_utf8_append_lossy(token, (mx_str){kept->data, n_ready}, r->err));
    MX_TRY(pass_bytes(r, mx_buf_view(token)));
    token->len = 0;
    if (n_open) {
        memmove(kept->data, kept->data + n_ready, n_open);
    }
    kept->len = n_open;
    return MX_OK;
}

static mx_status byte_level_finish(step_run *r)
{
    mx_buf *kept = &r->state->scratch;
    MX_TRY(mx_utf8_append_lossy(&r->state->token, mx_buf_view(kept), r->err));
    kept->len = 0;
    return pass_token(r, mx_buf_view(&r->state->token));
}

/* BYTE_FALLBACK: state->token holds this token, state->scratch the bytes of the run. */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The byte of "<0xNN>", or -1. */
static int byte_of(mx_str token)
{
    if (token.len != 6 || !mx_str_starts_with(token, MX_STR("<0x")) || token.ptr[5] != '>') {
        return -1;
    }
    const int high = token.ptr[3] == '+' ? 0 : hex_digit(token.ptr[3]); /* Rust's parser takes a plus sign */
    const int low = hex_digit(token.ptr[4]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

static mx_status byte_fallback_finish(step_run *r)
{
    mx_buf *bytes = &r->state->scratch;
    const size_t n = bytes->len;
    if (n == 0) {
        return MX_OK;
    }
    if (mx_utf8_is_valid(mx_buf_view(bytes))) {
        MX_TRY(pass_token(r, mx_buf_view(bytes)));
    } else {
        for (size_t i = 0; i < n; i++) {
            MX_TRY(pass_token(r, MX_STR("\xEF\xBF\xBD")));
        }
    }
    bytes->len = 0;
    return MX_OK;
}

static mx_status byte_fallback_end(step_run *r)
{
    mx_buf *token = &r->state->token;
    const int byte = byte_of(mx_buf_view(token));
    if (byte >= 0) {
        token->len = 0;
        return mx_buf_append_char(&r->state->scratch, (char)byte, r->err);
    }
    MX_TRY(byte_fallback_finish(r));
    MX_TRY(pass_token(r, mx_buf_view(token)));
    token->len = 0;
    return MX_OK;
}

/* FUSE */

static mx_status fuse_end(step_run *r)
{
    (void)r;
    return MX_OK;
}

static mx_status fuse_finish(step_run *r)
{
    return pass_end(r);
}

/* REPLACE: a string is replaced as soon as it is whole; an expression needs the whole token. */

/* Bytes at the end of s that begin the needle without finishing it. */
static size_t partial_tail(mx_str s, mx_str needle)
{
    size_t n = MX_MIN(s.len, needle.len - 1);
    while (n && memcmp(s.ptr + s.len - n, needle.ptr, n) != 0) {
        n--;
    }
    return n;
}

static mx_status replace_matches(step_run *r, size_t *done)
{
    mx_pattern_walk walk = {.pattern = &r->step->pattern,
                            .unicode = r->run->unicode,
                            .scratch = &r->run->regex,
                            .text = mx_buf_view(&r->state->token)};
    *done = 0;
    for (bool found; walk.text.len;) {
        MX_TRY(mx_pattern_next(&walk, &found, r->err));
        if (!found) {
            break;
        }
        MX_TRY(pass_bytes(r, mx_str_slice(walk.text, *done, walk.start)));
        MX_TRY(pass_bytes(r, first_text(r)));
        *done = walk.end;
    }
    return MX_OK;
}

static mx_status replace_bytes(step_run *r, mx_str bytes)
{
    mx_buf *token = &r->state->token;
    MX_TRY(keep(r, bytes));
    if (!r->step->pattern.literal) {
        return MX_OK;
    }
    const mx_str literal = {r->step->pattern.literal, r->step->pattern.literal_len};
    size_t done;
    MX_TRY(replace_matches(r, &done));
    const mx_str rest = mx_str_slice(mx_buf_view(token), done, token->len);
    const size_t n_open = partial_tail(rest, literal);
    MX_TRY(pass_bytes(r, mx_str_slice(rest, 0, rest.len - n_open)));
    memmove(token->data, token->data + token->len - n_open, n_open);
    token->len = n_open;
    return MX_OK;
}

static mx_status replace_end(step_run *r)
{
    mx_buf *token = &r->state->token;
    size_t done = 0;
    if (!r->step->pattern.literal) {
        MX_TRY(replace_matches(r, &done));
    }
    MX_TRY(pass_bytes(r, mx_str_slice(mx_buf_view(token), done, token->len)));
    token->len = 0;
    return pass_end(r);
}

/* STRIP */

static mx_status pass_held(step_run *r)
{
    for (; r->state->n_held; r->state->n_held--) {
        MX_TRY(pass_bytes(r, first_text(r)));
    }
    return MX_OK;
}

static mx_status strip_bytes(step_run *r, mx_str bytes)
{
    mx_step_state *state = r->state;
    const mx_str chr = first_text(r);
    for (size_t at = 0, size; at < bytes.len; at += size) {
        size = mx_utf8_size(bytes.ptr[at]);
        if (!mx_str_eq(mx_str_slice(bytes, at, at + size), chr)) {
            state->in_token = true;
            MX_TRY(pass_held(r));
            MX_TRY(pass_bytes(r, mx_str_slice(bytes, at, at + size)));
        } else if (!state->in_token && state->n_start < r->step->n_start) {
            state->n_start++;
        } else if (state->n_held < r->step->n_stop) {
            state->n_held++;
        } else {
            MX_TRY(pass_bytes(r, chr)); /* one more than may go: the first of those held is settled */
        }
    }
    return MX_OK;
}

static mx_status strip_end(step_run *r)
{
    r->state->n_start = 0;
    r->state->n_held = 0;
    r->state->in_token = false;
    return pass_end(r);
}

/* METASPACE */

static mx_status metaspace_bytes(step_run *r, mx_str bytes)
{
    const mx_str chr = first_text(r);
    const bool drops = r->step->drops_first && r->state->n_tokens == 0;
    for (size_t at = 0; at < bytes.len;) {
        const size_t found = mx_str_find(bytes, chr, at);
        MX_TRY(pass_bytes(r, mx_str_slice(bytes, at, found)));
        if (found == MX_STR_NPOS) {
            break;
        }
        MX_TRY(pass_bytes(r, drops ? MX_STR("") : MX_STR(" ")));
        at = found + chr.len;
    }
    return MX_OK;
}

/* The steps that look at whole tokens. */

/* Replaces every `from` in buf by `to`, which is not longer. */
static void replace_all(mx_buf *buf, mx_str from, mx_str to)
{
    size_t n = 0;
    size_t at = 0;
    for (size_t found; (found = mx_str_find(mx_buf_view(buf), from, at)) != MX_STR_NPOS; at = found + from.len) {
        memmove(buf->data + n, buf->data + at, found - at);
        n += found - at;
        memcpy(buf->data + n, to.ptr, to.len);
        n += to.len;
    }
    if (at) {
        memmove(buf->data + n, buf->data + at, buf->len - at);
        buf->len = n + (buf->len - at);
    }
}

static void clean_up(mx_buf *buf)
{
    static const mx_str pairs[][2] = {
        {MX_STR_INIT(" ."), MX_STR_INIT(".")},     {MX_STR_INIT(" ?"), MX_STR_INIT("?")},
        {MX_STR_INIT(" !"), MX_STR_INIT("!")},     {MX_STR_INIT(" ,"), MX_STR_INIT(",")},
        {MX_STR_INIT(" ' "), MX_STR_INIT("'")},    {MX_STR_INIT(" n't"), MX_STR_INIT("n't")},
        {MX_STR_INIT(" 'm"), MX_STR_INIT("'m")},   {MX_STR_INIT(" do not"), MX_STR_INIT(" don't")},
        {MX_STR_INIT(" 's"), MX_STR_INIT("'s")},   {MX_STR_INIT(" 've"), MX_STR_INIT("'ve")},
        {MX_STR_INIT(" 're"), MX_STR_INIT("'re")},
    };
    for (size_t i = 0; i < MX_COUNTOF(pairs) && buf->len; i++) {
        replace_all(buf, pairs[i][0], pairs[i][1]);
    }
}

static mx_status wordpiece_end(step_run *r)
{
    mx_buf *token = &r->state->token;
    mx_buf *text = &r->state->scratch;
    mx_str rest = mx_buf_view(token);
    text->len = 0;
    if (r->state->n_tokens > 0) {
        if (mx_str_starts_with(rest, first_text(r))) {
            rest = mx_str_slice(rest, r->step->first_len, rest.len);
        } else {
            MX_TRY(mx_buf_append_char(text, ' ', r->err));
        }
    }
    MX_TRY(mx_buf_append(text, rest, r->err));
    if (r->step->cleans_up) {
        clean_up(text);
    }
    token->len = 0;
    return pass_token(r, mx_buf_view(text));
}

/* BPE: state->scratch holds the token before, since the last one loses its suffix. An empty suffix is found between all
 * characters. */
static mx_status bpe_pass(step_run *r, mx_str space)
{
    const mx_str text = mx_buf_view(&r->state->scratch);
    const mx_str suffix = first_text(r);
    size_t at = 0;
    for (size_t found; suffix.len && (found = mx_str_find(text, suffix, at)) != MX_STR_NPOS; at = found + suffix.len) {
        MX_TRY(pass_bytes(r, mx_str_slice(text, at, found)));
        MX_TRY(pass_bytes(r, space));
    }
    for (size_t size; suffix.len == 0 && at < text.len; at += size) {
        size = mx_utf8_size(text.ptr[at]);
        MX_TRY(pass_bytes(r, space));
        MX_TRY(pass_bytes(r, mx_str_slice(text, at, at + size)));
    }
    MX_TRY(pass_bytes(r, suffix.len ? mx_str_slice(text, at, text.len) : space));
    return pass_end(r);
}

static mx_status bpe_end(step_run *r)
{
    if (r->state->in_token) {
        MX_TRY(bpe_pass(r, MX_STR(" ")));
    }
    const mx_buf swap = r->state->scratch;
    r->state->scratch = r->state->token;
    r->state->token = swap;
    r->state->token.len = 0;
    r->state->in_token = true;
    return MX_OK;
}

static mx_status bpe_finish(step_run *r)
{
    return r->state->in_token ? bpe_pass(r, MX_STR("")) : MX_OK;
}

/* CTC: state->scratch holds the token before. */
static mx_status ctc_end(step_run *r)
{
    mx_buf *token = &r->state->token;
    if (r->state->in_token && mx_str_eq(mx_buf_view(token), mx_buf_view(&r->state->scratch))) {
        token->len = 0;
        return MX_OK;
    }
    r->state->scratch.len = 0;
    r->state->in_token = true;
    MX_TRY(mx_buf_append(&r->state->scratch, mx_buf_view(token), r->err));
    if (r->step->first_len) {
        replace_all(token, first_text(r), MX_STR(""));
    }
    if (r->step->cleans_up) {
        clean_up(token);
        if (r->step->second_len) {
            replace_all(token, (mx_str){r->step->second, r->step->second_len}, MX_STR(" "));
        }
    }
    if (token->len) {
        MX_TRY(pass_token(r, mx_buf_view(token)));
    }
    token->len = 0;
    return MX_OK;
}

static const step_ops ops[MX_STEP_CTC + 1] = {
    [MX_STEP_SPACED] = {spaced_bytes, spaced_end, NULL},
    [MX_STEP_BYTE_LEVEL] = {keep, byte_level_end, byte_level_finish},
    [MX_STEP_BYTE_FALLBACK] = {keep, byte_fallback_end, byte_fallback_finish},
    [MX_STEP_FUSE] = {spaced_bytes, fuse_end, fuse_finish},
    [MX_STEP_REPLACE] = {replace_bytes, replace_end, NULL},
    [MX_STEP_STRIP] = {strip_bytes, strip_end, NULL},
    [MX_STEP_METASPACE] = {metaspace_bytes, spaced_end, NULL},
    [MX_STEP_WORDPIECE] = {keep, wordpiece_end, NULL},
    [MX_STEP_BPE] = {keep, bpe_end, bpe_finish},
    [MX_STEP_CTC] = {keep, ctc_end, NULL},
};

void mx_decode_run_init(mx_decode_run *run, const mx_decoder *decoder, const mx_unicode *unicode)
{
    *run = (mx_decode_run){.decoder = decoder, .unicode = unicode};
    for (size_t i = 0; i < MX_DECODER_MAX_STEPS; i++) {
        run->states[i].token.max = KEPT_MAX;
        run->states[i].scratch.max = KEPT_MAX;
    }
}

void mx_decode_run_reset(mx_decode_run *run)
{
    for (size_t i = 0; i < MX_DECODER_MAX_STEPS; i++) {
        mx_step_state *state = &run->states[i];
        state->token.len = 0;
        state->scratch.len = 0;
        *state = (mx_step_state){.token = state->token, .scratch = state->scratch};
    }
}

void mx_decode_run_deinit(mx_decode_run *run)
{
    for (size_t i = 0; i < MX_DECODER_MAX_STEPS; i++) {
        mx_buf_deinit(&run->states[i].token);
        mx_buf_deinit(&run->states[i].scratch);
    }
    mx_regex_scratch_deinit(&run->regex);
}

mx_status mx_decode_token(mx_decode_run *run, mx_str token, mx_error *err)
{
    const step_run source = {.run = run, .err = err};
    if (run->decoder->n_steps && run->decoder->steps[0].kind == MX_STEP_SPACED && run->states[0].n_tokens) {
        MX_TRY(pass_bytes(&source, MX_STR(" ")));
    }
    return pass_token(&source, token);
}

mx_status mx_decode_finish(mx_decode_run *run, mx_error *err)
{
    for (size_t i = 0; i < run->decoder->n_steps; i++) {
        step_run r = step_at(run, i, err);
        if (ops[r.step->kind].finish) {
            MX_TRY(ops[r.step->kind].finish(&r));
        }
    }
    mx_decode_run_reset(run);
    return MX_OK;
}
