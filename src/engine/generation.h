/* generation.h - one text, from its prompt to its end, a step at a time.
 *
 *     while (generation.finish == MX_FINISH_NONE) {
 *         mx_generation_plan(&generation, max_rows, &part);               its part in the next step
 *         mx_engine_step(engine, &part, 1, err);                          alone, or with the parts of other texts
 *         mx_generation_take(&generation, &scratch, &part, &news, err);   new tokens, and the text that they settle
 *     }
 *
 * With drafts, a step computes the token drawn last and guesses behind it. Each row's token is drawn as if the guess
 * had not been there, and as long as the guesses turn out to be what was drawn, the next row counts as well. So the
 * text is the one that comes without drafts, at any temperature.
 *
 * Everything is allocated by init; the loop allocates nothing. One thread at a time.
 */
#ifndef MX_ENGINE_GENERATION_H
#define MX_ENGINE_GENERATION_H

#include "engine/engine.h"
#include "engine/guide.h"
#include "engine/logprobs.h"
#include "engine/sampler.h"
#include "engine/stop_text.h"
#include "text/tokenizer/tokenizer.h"

#define MX_MAX_DRAFTS 16

typedef enum mx_finish {
    MX_FINISH_NONE,      /* not yet */
    MX_FINISH_END,       /* the model ended its text */
    MX_FINISH_STOP,      /* a stop string */
    MX_FINISH_LENGTH,    /* max_new_tokens */
    MX_FINISH_CONTEXT,   /* the context is full */
    MX_FINISH_CANCELLED, /* mx_generation_cancel */
} mx_finish;

/* All pointers are borrowed until mx_generation_deinit, but for the prompt, which is copied. */
typedef struct mx_generation_request {
    const int32_t *prompt; /* [n_prompt] */
    int32_t n_prompt;
    int32_t max_new_tokens; /* 0: until the context is full */
    mx_sampling sampling;
    const mx_str *stops; /* [n_stops] */
    size_t n_stops;
    const int32_t *end_ids; /* [n_end_ids] tokens that end a text */
    int32_t n_end_ids;
    bool ignores_end;    /* end tokens are never drawn */
    bool shows_special;  /* special tokens count as text */
    bool wants_logprobs; /* of the tokens drawn, and */
    int32_t n_top;       /* of the most probable; at most MX_MAX_TOP_LOGPROBS and the vocabulary */
    int32_t n_draft;     /* guesses in one step, at most MX_MAX_DRAFTS; 0: none */
    mx_guide *guide;     /* the grammar that the text follows; NULL: none */
} mx_generation_request;

/* A token of the answer that is part of the text. */
typedef struct mx_drawn_token {
    int32_t token_id;
    float logprob;         /* 0 unless wanted */
    size_t n_text_bytes;   /* of the text that came with it: those of all tokens follow one another. 0 where a character
                              takes several tokens: its last one brings it */
    const mx_logprob *top; /* [n_top]; NULL unless wanted */
} mx_drawn_token;

/* What a step has brought; all borrowed until the next call. */
typedef struct mx_generation_news {
    mx_str text;                  /* what may be shown now, whole characters */
    const mx_drawn_token *tokens; /* [n_tokens] those whose text has been shown completely */
    int32_t n_tokens;
} mx_generation_news;

typedef struct mx_generation {
    mx_generation_request request;
    int32_t n_ctx;
    int32_t n_vocab;
    int32_t n_new; /* tokens drawn, an end token included */
    mx_finish finish;
    int32_t i_stop; /* which stop string it was; -1: none */
    mx_sequence sequence;
    mx_sampler sampler;
    mx_stop_text stop_text;
    mx_detokenizer *detokenizer; /* owned */
    mx_buf piece;                /* text of the latest token */
    mx_buf shown;                /* text of the latest step */
    size_t n_made_bytes;         /* text of all tokens so far */
    size_t n_shown_bytes;        /* of which were shown */
    mx_drawn_token *drawn;       /* owned [cap_drawn]; [n_given] are given out, then those that wait for their text */
    mx_logprob *top;             /* owned [cap_drawn, n_top] */
    size_t *text_ends;           /* owned [cap_drawn]: n_made_bytes behind the token */
    int32_t cap_drawn;
    int32_t n_drawn;
    int32_t n_given;
    int32_t n_draft; /* guesses to make next: fewer after wrong ones */
} mx_generation;

/* Sets a text up; the tokenizer and the engine must outlive it.
 * MX_TOO_LONG: a prompt that leaves no room in the context (with both numbers). MX_INVALID: an empty prompt, a token
 * that the vocabulary does not have, a setting out of range. MX_NO_MEMORY. May be called from any thread. */
mx_status mx_generation_init(mx_generation *g, mx_engine *engine, const mx_tokenizer *tokenizer,
                             const mx_generation_request *request, mx_error *err) MX_NODISCARD;

/* Gives pages and memory back. A zeroed object is fine. */
void mx_generation_deinit(mx_generation *g);

/* Whether the prompt (and after a preemption the answer so far) is still being computed. */
static inline bool mx_generation_is_prefilling(const mx_generation *g)
{
    return g->sequence.n_tokens - g->sequence.n_cached != 1 || g->n_new == 0;
}

/* The part of the next step: up to max_rows (at least 1) tokens of the prompt, or the token drawn last and guesses. */
void mx_generation_plan(mx_generation *g, int32_t max_rows, mx_step_part *part);

/* After the step: draws the next tokens when the prompt is through. Sets g->finish at the end; the last text comes with
 * it. MX_DEVICE (no finite logits), MX_INVALID, MX_NO_MEMORY. */
mx_status mx_generation_take(mx_generation *g, mx_sampler_scratch *scratch, const mx_step_part *part,
                             mx_generation_news *news, mx_error *err) MX_NODISCARD;

/* Ends the text here. *news is what was held back. */
mx_status mx_generation_cancel(mx_generation *g, mx_generation_news *news, mx_error *err) MX_NODISCARD;

#endif
