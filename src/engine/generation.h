/* generation.h - one request, from its prompt to its end, a step at a time.
 *
 *     while (generation.finish == MX_FINISH_NONE) {
 *         mx_generation_plan(&generation, max_rows, &part);      the part that it wants in the next step
 *         mx_engine_step(engine, &part, 1, err);                 alone, or with the parts of other requests
 *         mx_generation_take(&generation, &part, &text, err);    the next token, and the text that it settles
 *     }
 *
 * Everything is allocated by init; the loop allocates nothing. One thread at a time.
 */
#ifndef MX_ENGINE_GENERATION_H
#define MX_ENGINE_GENERATION_H

#include "engine/engine.h"
#include "engine/sampler.h"
#include "engine/stop_text.h"
#include "text/tokenizer/tokenizer.h"

typedef enum mx_finish {
    MX_FINISH_NONE,      /* not yet */
    MX_FINISH_END,       /* the model ended its text */
    MX_FINISH_STOP,      /* a stop string */
    MX_FINISH_LENGTH,    /* max_new_tokens */
    MX_FINISH_CONTEXT,   /* the context is full */
    MX_FINISH_CANCELLED, /* mx_generation_cancel */
} mx_finish;

/* All pointers are borrowed until mx_generation_deinit. */
typedef struct mx_generation_request {
    const int32_t *prompt; /* [n_prompt] */
    int32_t n_prompt;
    int32_t max_new_tokens; /* 0: until the context is full */
    mx_sampling sampling;
    const mx_str *stops; /* [n_stops] */
    size_t n_stops;
    const int32_t *end_ids; /* [n_end_ids] tokens that end a text */
    int32_t n_end_ids;
} mx_generation_request;

typedef struct mx_generation {
    mx_generation_request request;
    int32_t n_ctx;
    int32_t n_new; /* tokens drawn, an end token included */
    mx_finish finish;
    mx_sequence sequence;
    mx_sampler sampler;
    mx_stop_text stop_text;
    mx_detokenizer *detokenizer; /* owned */
    mx_buf piece;                /* text of the latest token */
} mx_generation;

/* Sets a request up on an engine; the tokenizer and the engine must outlive it.
 * MX_INVALID: an empty prompt, one that leaves no room in the context (with both numbers), a token that the vocabulary
 * does not have, a setting out of range. MX_NO_MEMORY. */
mx_status mx_generation_init(mx_generation *g, mx_engine *engine, const mx_tokenizer *tokenizer,
                             const mx_generation_request *request, mx_error *err) MX_NODISCARD;

/* Gives pages and memory back. A zeroed object is fine. */
void mx_generation_deinit(mx_generation *g);

/* The part of the next step: up to max_rows (at least 1) tokens of the prompt, or the token drawn last. */
void mx_generation_plan(mx_generation *g, int32_t max_rows, mx_step_part *part);

/* After the step: draws the next token when the prompt is through. *text is what may be shown now, whole characters,
 * borrowed until the next call; empty most times in a prompt. Sets g->finish at the end; the last text comes with it.
 * MX_DEVICE (no finite logits), MX_INVALID, MX_NO_MEMORY. */
mx_status mx_generation_take(mx_generation *g, const mx_step_part *part, mx_str *text, mx_error *err) MX_NODISCARD;

/* Ends the text here. *text is what was held back. */
mx_status mx_generation_cancel(mx_generation *g, mx_str *text, mx_error *err) MX_NODISCARD;

#endif
