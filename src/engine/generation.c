/* generation.c - prompt, token loop, end. */
#include "engine/generation.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "engine/lookup.h"

enum {
    PIECE_BYTES = 4096, /* room for the text of one token from the start */
    LIST_TOKENS = 64,   /* room for tokens that wait for their text from the start */
};

static mx_status check_request(const mx_generation_request *r, const mx_engine_limits *limits, mx_error *err)
{
    if (r->n_prompt < 1) {
        return mx_fail(err, MX_INVALID, "the prompt is empty: there is nothing to continue");
    }
    if (r->n_prompt >= limits->n_ctx) {
        return mx_fail(
            err, MX_TOO_LONG,
            "the prompt has %d tokens and the context holds %d, answer included: shorten the prompt or take a "
            "larger context",
            (int)r->n_prompt, (int)limits->n_ctx);
    }
    for (int32_t i = 0; i < r->n_prompt; i++) {
        if (r->prompt[i] < 0 || r->prompt[i] >= limits->n_vocab) {
            return mx_fail(err, MX_INVALID, "token %d of the prompt is %d, and the model's vocabulary has %d", (int)i,
                           (int)r->prompt[i], (int)limits->n_vocab);
        }
    }
    if (r->max_new_tokens < 0) {
        return mx_fail(err, MX_INVALID, "%d new tokens: it must be 0 (no limit) or more", (int)r->max_new_tokens);
    }
    if (r->n_top < 0 || r->n_top > MX_MIN(MX_MAX_TOP_LOGPROBS, limits->n_vocab)) {
        return mx_fail(err, MX_INVALID, "log-probabilities of the %d best tokens: it must be from 0 to %d",
                       (int)r->n_top, MX_MAX_TOP_LOGPROBS);
    }
    return mx_sampling_check(&r->sampling, limits->n_vocab, err);
}

/* Room for n tokens that wait for their text. */
static mx_status grow_list(mx_generation *g, int32_t n, mx_error *err)
{
    if (n <= g->cap_drawn) {
        return MX_OK;
    }
    const size_t cap = (size_t)MX_MAX(n, g->cap_drawn * 2);
    const size_t n_top = (size_t)g->request.n_top;
    mx_drawn_token *drawn = (mx_drawn_token *)mx_realloc(g->drawn, cap * sizeof *drawn);
    g->drawn = drawn ? drawn : g->drawn;
    size_t *text_ends = (size_t *)mx_realloc(g->text_ends, cap * sizeof *text_ends);
    g->text_ends = text_ends ? text_ends : g->text_ends;
    mx_logprob *top = (mx_logprob *)mx_realloc(g->top, cap * n_top * sizeof *top);
    g->top = top ? top : g->top;
    if (!drawn || !text_ends || !top) {
        return mx_fail_no_memory(err, cap * (sizeof *drawn + sizeof *text_ends + n_top * sizeof *top),
                                 "the tokens of an answer");
    }
    g->cap_drawn = (int32_t)cap;
    return MX_OK;
}

mx_status mx_generation_init(mx_generation *g, mx_engine *engine, const mx_tokenizer *tokenizer,
                             const mx_generation_request *request, mx_error *err)
{
    mx_status st;
    const mx_engine_limits *limits = &engine->limits;
    assert(request->n_draft <= MX_MAX_DRAFTS);

    *g = (mx_generation){.request = *request, .n_ctx = limits->n_ctx, .n_vocab = limits->n_vocab, .i_stop = -1};
    MX_TRY(check_request(request, limits, err));
    int64_t max_tokens = limits->n_ctx;
    if (request->max_new_tokens > 0) {
        max_tokens = MX_MIN(max_tokens, (int64_t)request->n_prompt + request->max_new_tokens);
    }
    mx_sampler_init(&g->sampler, &request->sampling);
    g->n_draft = request->n_draft;
    MX_TRY_OR(failed, st, mx_sequence_init(&g->sequence, &engine->pages, (int32_t)max_tokens, err));
    MX_TRY_OR(failed, st, mx_sequence_append(&g->sequence, request->prompt, request->n_prompt, err));
    g->request.prompt = g->sequence.tokens;
    MX_TRY_OR(failed, st, mx_stop_text_init(&g->stop_text, request->stops, request->n_stops, err));
    MX_TRY_OR(failed, st, mx_detokenizer_new(tokenizer, !request->shows_special, &g->detokenizer, err));
    mx_buf_init(&g->piece, (size_t)1 << 30);
    mx_buf_init(&g->shown, (size_t)1 << 30);
    MX_TRY_OR(failed, st, mx_buf_reserve(&g->piece, PIECE_BYTES, err));
    MX_TRY_OR(failed, st, mx_buf_reserve(&g->shown, PIECE_BYTES, err));
    MX_TRY_OR(failed, st, grow_list(g, LIST_TOKENS, err));
    return MX_OK;
failed:
    mx_generation_deinit(g);
    return st;
}

void mx_generation_deinit(mx_generation *g)
{
    mx_sequence_deinit(&g->sequence);
    mx_stop_text_deinit(&g->stop_text);
    mx_detokenizer_free(g->detokenizer);
    mx_buf_deinit(&g->piece);
    mx_buf_deinit(&g->shown);
    mx_free(g->drawn);
    mx_free(g->top);
    mx_free(g->text_ends);
    *g = (mx_generation){0};
}

void mx_generation_plan(mx_generation *g, int32_t max_rows, mx_step_part *part)
{
    mx_sequence *seq = &g->sequence;
    assert(g->finish == MX_FINISH_NONE && max_rows > 0);
    const int32_t n_left = seq->n_tokens - seq->n_cached;
    if (n_left > 1 || g->n_new == 0) {
        const int32_t n_rows = MX_MIN(n_left, max_rows);
        *part = (mx_step_part){.sequence = seq, .n_rows = n_rows, .n_logits = n_rows == n_left};
        return;
    }
    int32_t n_drafts = MX_MIN(g->n_draft, max_rows - 1);
    n_drafts = MX_MIN(n_drafts, seq->max_tokens - seq->n_tokens - 1); /* the token after the last guess has room, too */
    if (n_drafts > 0) {
        n_drafts = mx_lookup_drafts(seq->tokens, seq->n_tokens, seq->tokens + seq->n_tokens, n_drafts);
    }
    n_drafts = MX_MAX(n_drafts, 0);
    *part = (mx_step_part){.sequence = seq, .n_rows = 1 + n_drafts, .n_logits = 1 + n_drafts};
}

static bool is_end(const mx_generation_request *r, int32_t token_id)
{
    for (int32_t i = 0; i < r->n_end_ids; i++) {
        if (r->end_ids[i] == token_id) {
            return true;
        }
    }
    return false;
}

/* What was given out with the last news goes. */
static void forget_given(mx_generation *g)
{
    const size_t n_top = (size_t)g->request.n_top;
    const size_t n_left = (size_t)(g->n_drawn - g->n_given);
    const size_t n_given = (size_t)g->n_given;
    if (n_given > 0 && n_left > 0) {
        memmove(g->drawn, g->drawn + n_given, n_left * sizeof *g->drawn);
        memmove(g->text_ends, g->text_ends + n_given, n_left * sizeof *g->text_ends);
        memmove(g->top, g->top + n_given * n_top, n_left * n_top * sizeof *g->top);
    }
    g->n_drawn = (int32_t)n_left;
    g->n_given = 0;
    g->shown.len = 0;
}

/* Fills *news: the text shown in this step, and the tokens that it completes. A token that a stop string cut keeps the
 * bytes before the cut; those that it took whole are never given. */
static void give(mx_generation *g, mx_generation_news *news)
{
    g->n_shown_bytes += g->shown.len;
    const bool is_over = g->finish != MX_FINISH_NONE;
    while (g->n_given < g->n_drawn && (g->text_ends[g->n_given] <= g->n_shown_bytes || is_over)) {
        mx_drawn_token *token = &g->drawn[g->n_given];
        const size_t begin = g->text_ends[g->n_given] - token->n_text_bytes;
        if (g->text_ends[g->n_given] > g->n_shown_bytes) {
            if (begin >= g->n_shown_bytes) {
                break;
            }
            token->n_text_bytes = g->n_shown_bytes - begin;
        }
        token->top = g->request.n_top > 0 ? g->top + (size_t)g->n_given * (size_t)g->request.n_top : NULL;
        g->n_given++;
    }
    *news = (mx_generation_news){.text = mx_buf_view(&g->shown), .tokens = g->drawn, .n_tokens = g->n_given};
}

/* Text through the stop strings, and at the end what they held back. */
static mx_status show(mx_generation *g, mx_error *err)
{
    mx_str text;
    g->n_made_bytes += g->piece.len;
    MX_TRY(mx_stop_text_push(&g->stop_text, mx_buf_view(&g->piece), &text, err));
    MX_TRY(mx_buf_append(&g->shown, text, err));
    return g->finish != MX_FINISH_NONE ? mx_buf_append(&g->shown, mx_stop_text_finish(&g->stop_text), err) : MX_OK;
}

static mx_status list_token(mx_generation *g, int32_t token_id, const float *logits, mx_error *err)
{
    const mx_generation_request *r = &g->request;
    MX_TRY(grow_list(g, g->n_drawn + 1, err));
    mx_drawn_token *token = &g->drawn[g->n_drawn];
    *token = (mx_drawn_token){.token_id = token_id};
    if (r->wants_logprobs) {
        mx_logprobs_get(logits, g->n_vocab, token_id, &token->logprob, g->top + (size_t)g->n_drawn * (size_t)r->n_top,
                        r->n_top);
    }
    g->n_drawn++;
    return MX_OK;
}

/* One more token, drawn from these logits: into the text, and the end if it is one. */
static mx_status take_token(mx_generation *g, int32_t token_id, const float *logits, mx_error *err)
{
    const mx_generation_request *r = &g->request;
    mx_sequence *seq = &g->sequence;
    g->n_new++;
    g->piece.len = 0;
    if (is_end(r, token_id)) {
        g->finish = MX_FINISH_END;
        MX_TRY(mx_detokenizer_finish(g->detokenizer, &g->piece, err));
    } else {
        MX_TRY(mx_sequence_append(seq, &token_id, 1, err));
        MX_TRY(mx_detokenizer_push(g->detokenizer, token_id, &g->piece, err));
        if (r->guide) {
            MX_TRY(mx_guide_accept(r->guide, token_id, err));
        }
        if (r->guide && mx_guide_must_end(r->guide)) {
            g->finish = MX_FINISH_END;
        } else if (g->n_new == r->max_new_tokens) {
            g->finish = MX_FINISH_LENGTH;
        } else if (seq->n_tokens == g->n_ctx) {
            g->finish = MX_FINISH_CONTEXT;
        }
        MX_TRY(list_token(g, token_id, logits, err));
        if (g->finish != MX_FINISH_NONE) {
            MX_TRY(mx_detokenizer_finish(g->detokenizer, &g->piece, err));
        }
    }
    MX_TRY(show(g, err));
    if (g->n_drawn > 0) { /* the end's rest is the last token's */
        g->drawn[g->n_drawn - 1].n_text_bytes += g->piece.len;
        g->text_ends[g->n_drawn - 1] = g->n_made_bytes;
    }
    if (g->stop_text.has_stopped) {
        g->finish = MX_FINISH_STOP;
        g->i_stop = g->stop_text.i_stop;
    }
    return MX_OK;
}

/* Draws from one row of logits. */
static mx_status draw(mx_generation *g, mx_sampler_scratch *scratch, const float *logits, int32_t *token_id,
                      mx_error *err)
{
    const mx_generation_request *r = &g->request;
    const uint32_t *allowed = NULL;
    bool can_end = true;
    if (r->guide) {
        MX_TRY(mx_guide_get_allowed(r->guide, &allowed, &can_end, err));
    }
    can_end = can_end && !r->ignores_end;
    const mx_sampler_input input = {
        .logits = logits,
        .allowed = allowed,
        .also_allowed = r->end_ids,
        .n_also_allowed = allowed && can_end ? r->n_end_ids : 0,
        .banned = r->end_ids,
        .n_banned = can_end ? 0 : r->n_end_ids,
        .history = g->sequence.tokens,
        .n_history = g->sequence.n_tokens,
        .n_prompt = r->n_prompt,
    };
    return mx_sampler_pick(&g->sampler, scratch, &input, token_id, err);
}

/* As many guesses next time as were right, and one or two more. */
static void adapt_drafts(mx_generation *g, int32_t n_right)
{
    g->n_draft = MX_MIN(g->request.n_draft, n_right + 2);
}

mx_status mx_generation_take(mx_generation *g, mx_sampler_scratch *scratch, const mx_step_part *part,
                             mx_generation_news *news, mx_error *err)
{
    mx_sequence *seq = &g->sequence;
    *news = (mx_generation_news){0};
    forget_given(g);
    if (!part->logits) {
        return MX_OK;
    }
    const int32_t n_known = seq->n_tokens; /* the guesses lie behind them */
    int32_t n_right = 0;
    for (;;) {
        const float *logits = part->logits + (size_t)n_right * (size_t)g->n_vocab;
        const int32_t guess = seq->n_tokens < seq->max_tokens ? seq->tokens[seq->n_tokens] : -1;
        int32_t token_id;
        MX_TRY(draw(g, scratch, logits, &token_id, err));
        MX_TRY(take_token(g, token_id, logits, err));
        if (g->finish != MX_FINISH_NONE || n_right + 1 == part->n_logits || token_id != guess) {
            break;
        }
        n_right++;
    }
    seq->n_cached = n_known + n_right; /* what lies behind was computed for guesses that were wrong */
    if (part->n_logits > 1) {
        adapt_drafts(g, n_right);
    }
    give(g, news);
    return MX_OK;
}

mx_status mx_generation_cancel(mx_generation *g, mx_generation_news *news, mx_error *err)
{
    *news = (mx_generation_news){0};
    forget_given(g);
    g->finish = MX_FINISH_CANCELLED;
    g->piece.len = 0;
    MX_TRY(mx_detokenizer_finish(g->detokenizer, &g->piece, err));
    MX_TRY(show(g, err));
    if (g->n_drawn > 0) {
        g->drawn[g->n_drawn - 1].n_text_bytes += g->piece.len;
        g->text_ends[g->n_drawn - 1] = g->n_made_bytes;
    }
    give(g, news);
    return MX_OK;
}
