/* generation.c - prompt, token loop, end. */
#include "engine/generation.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

enum {
    PIECE_BYTES = 4096, /* room for the text of one token from the start */
};

static mx_status check_request(const mx_generation_request *r, const mx_engine_limits *limits, mx_error *err)
{
    if (r->n_prompt < 1) {
        return mx_fail(err, MX_INVALID, "the prompt is empty: there is nothing to continue");
    }
    if (r->n_prompt >= limits->n_ctx) {
        return mx_fail(
            err, MX_INVALID,
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
    return MX_OK;
}

mx_status mx_generation_init(mx_generation *g, mx_engine *engine, const mx_tokenizer *tokenizer,
                             const mx_generation_request *request, mx_error *err)
{
    mx_status st;
    const mx_engine_limits *limits = &engine->limits;

    *g = (mx_generation){.request = *request, .n_ctx = limits->n_ctx};
    MX_TRY(check_request(request, limits, err));
    int64_t max_tokens = limits->n_ctx;
    if (request->max_new_tokens > 0) {
        max_tokens = MX_MIN(max_tokens, (int64_t)request->n_prompt + request->max_new_tokens);
    }
    MX_TRY_OR(failed, st, mx_sequence_init(&g->sequence, &engine->pages, (int32_t)max_tokens, err));
    MX_TRY_OR(failed, st, mx_sequence_append(&g->sequence, request->prompt, request->n_prompt, err));
    MX_TRY_OR(failed, st, mx_sampler_init(&g->sampler, &request->sampling, limits->n_vocab, err));
    MX_TRY_OR(failed, st, mx_stop_text_init(&g->stop_text, request->stops, request->n_stops, err));
    MX_TRY_OR(failed, st, mx_detokenizer_new(tokenizer, true, &g->detokenizer, err));
    mx_buf_init(&g->piece, (size_t)1 << 30);
    MX_TRY_OR(failed, st, mx_buf_reserve(&g->piece, PIECE_BYTES, err));
    return MX_OK;
failed:
    mx_generation_deinit(g);
    return st;
}

void mx_generation_deinit(mx_generation *g)
{
    mx_sequence_deinit(&g->sequence);
    mx_sampler_deinit(&g->sampler);
    mx_stop_text_deinit(&g->stop_text);
    mx_detokenizer_free(g->detokenizer);
    mx_buf_deinit(&g->piece);
    *g = (mx_generation){0};
}

void mx_generation_plan(mx_generation *g, int32_t max_rows, mx_step_part *part)
{
    assert(g->finish == MX_FINISH_NONE && max_rows > 0);
    const int32_t n_left = g->sequence.n_tokens - g->sequence.n_cached;
    const int32_t n_rows = MX_MIN(n_left, max_rows);
    *part = (mx_step_part){.sequence = &g->sequence, .n_rows = n_rows, .wants_logits = n_rows == n_left};
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

/* The held-back text at the end of the generation, through the stop strings. */
static mx_status finish_text(mx_generation *g, mx_str *text, mx_error *err)
{
    MX_TRY(mx_detokenizer_finish(g->detokenizer, &g->piece, err));
    mx_str settled;
    MX_TRY(mx_stop_text_push(&g->stop_text, mx_buf_view(&g->piece), &settled, err));
    const mx_str rest = mx_stop_text_finish(&g->stop_text);
    *text = (mx_str){settled.len ? settled.ptr : rest.ptr, settled.len + rest.len}; /* they lie side by side */
    return MX_OK;
}

mx_status mx_generation_take(mx_generation *g, const mx_step_part *part, mx_str *text, mx_error *err)
{
    *text = (mx_str){0};
    if (!part->logits) {
        return MX_OK;
    }
    mx_sequence *seq = &g->sequence;
    int32_t token_id;
    MX_TRY(mx_sampler_pick(&g->sampler, part->logits, seq->tokens, seq->n_tokens, &token_id, err));
    g->n_new++;
    g->piece.len = 0;
    if (is_end(&g->request, token_id)) {
        g->finish = MX_FINISH_END;
        return finish_text(g, text, err);
    }
    MX_TRY(mx_sequence_append(seq, &token_id, 1, err));
    MX_TRY(mx_detokenizer_push(g->detokenizer, token_id, &g->piece, err));
    if (g->n_new == g->request.max_new_tokens) {
        g->finish = MX_FINISH_LENGTH;
    } else if (seq->n_tokens == g->n_ctx) {
        g->finish = MX_FINISH_CONTEXT;
    }
    if (g->finish != MX_FINISH_NONE) {
        MX_TRY(finish_text(g, text, err));
    } else {
        MX_TRY(mx_stop_text_push(&g->stop_text, mx_buf_view(&g->piece), text, err));
    }
    if (g->stop_text.has_stopped) {
        g->finish = MX_FINISH_STOP;
    }
    return MX_OK;
}

mx_status mx_generation_cancel(mx_generation *g, mx_str *text, mx_error *err)
{
    g->finish = MX_FINISH_CANCELLED;
    g->piece.len = 0;
    return finish_text(g, text, err);
}
