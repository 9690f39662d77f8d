/* sampler.h - from a row of logits to the next token.
 *
 * The steps, in llama.cpp's order: the repetition penalty changes logits; top_k, top_p and min_p each keep a beginning
 * of the tokens sorted by probability; the temperature flattens or sharpens what is left; one is drawn. With
 * temperature 0 the most probable token is taken and nothing is drawn. Equal logits are ordered by token id, lowest
 * first, so a result depends on the logits, the settings, the seed and the number of draws alone.
 */
#ifndef MX_ENGINE_SAMPLER_H
#define MX_ENGINE_SAMPLER_H

#include <stdint.h>

#include "base/error.h"

typedef struct mx_sampling {
    float temperature;    /* above or equal to 0; 0: greedy */
    int32_t top_k;        /* keep the k most probable; 0: all */
    float top_p;          /* keep the fewest whose probabilities reach top_p; 1: all */
    float min_p;          /* keep those with at least min_p times the best one's probability; 0: all */
    float repeat_penalty; /* above 0; 1: none. Logits of recent tokens are divided by it, or multiplied when negative */
    int32_t repeat_last_n; /* tokens that count as recent; 0: none, -1: all */
    uint64_t seed;
} mx_sampling;

typedef struct mx_candidate {
    int32_t token_id;
    float logit; /* after the penalty */
    float p;     /* after everything; the candidates' sum is 1 */
} mx_candidate;

typedef struct mx_sampler {
    mx_sampling settings;
    int32_t n_vocab;
    uint64_t n_draws;
    mx_candidate *candidates; /* owned [n_vocab] */
    uint8_t *is_penalised;    /* owned [n_vocab]; all zero between calls */
} mx_sampler;

/* MX_INVALID (a setting out of its range, named), MX_NO_MEMORY. Nothing is allocated later. */
mx_status mx_sampler_init(mx_sampler *sampler, const mx_sampling *settings, int32_t n_vocab,
                          mx_error *err) MX_NODISCARD;

/* A zeroed sampler is fine. */
void mx_sampler_deinit(mx_sampler *sampler);

/* The tokens that may come next, with their probabilities.
 *
 * logits      [n_vocab]; NaN counts as -inf
 * history     [n_history] the sequence so far, prompt included: what the penalty looks back at
 * candidates  borrowed until the next call, at least one; sorted by falling probability where top_k or top_p is set or
 *             the temperature is 0, else by token id
 * MX_DEVICE when no logit is a finite number: the weights or the device are broken.
 */
mx_status mx_sampler_get_candidates(mx_sampler *sampler, const float *logits, const int32_t *history, int32_t n_history,
                                    const mx_candidate **candidates, int32_t *n_candidates, mx_error *err) MX_NODISCARD;

/* Draws the next token. The statuses of mx_sampler_get_candidates. */
mx_status mx_sampler_pick(mx_sampler *sampler, const float *logits, const int32_t *history, int32_t n_history,
                          int32_t *token_id, mx_error *err) MX_NODISCARD;

#endif
