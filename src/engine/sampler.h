/* sampler.h - from a row of logits to the next token.
 *
 * Biases change logits, then the steps of the settings' order are taken one after the other, and one of the tokens that
 * are left is drawn. With temperature 0 the most probable token after biases and penalties is taken and nothing is
 * drawn. Equal logits are ordered by token id, lowest first, so a result depends on the logits, the settings, the text
 * so far, the seed and the number of draws alone.
 *
 * What a request must remember is an mx_sampler; the lists as long as the vocabulary are an mx_sampler_scratch that
 * all requests of one thread share.
 */
#ifndef MX_ENGINE_SAMPLER_H
#define MX_ENGINE_SAMPLER_H

#include <stdint.h>

#include "engine/candidates.h"
#include "engine/sampling.h"

typedef struct mx_sampler_scratch {
    int32_t n_vocab;
    int32_t max_history;
    mx_candidate *candidates; /* owned [n_vocab] */
    int32_t *n_seen;          /* owned [n_vocab]; all zero between calls */
    int32_t *matches;         /* owned [max_history] */
} mx_sampler_scratch;

/* For texts of up to max_history tokens. MX_NO_MEMORY. */
mx_status mx_sampler_scratch_init(mx_sampler_scratch *scratch, int32_t n_vocab, int32_t max_history,
                                  mx_error *err) MX_NODISCARD;

/* A zeroed object is fine. */
void mx_sampler_scratch_deinit(mx_sampler_scratch *scratch);

typedef struct mx_sampler {
    mx_sampling settings; /* its pointers are borrowed */
    uint64_t n_draws;
    float mirostat_mu; /* the surprise in bits above which tokens are dropped */
} mx_sampler;

/* The settings have passed mx_sampling_check. Allocates nothing. */
void mx_sampler_init(mx_sampler *sampler, const mx_sampling *settings);

/* What a choice depends on, besides the sampler. */
typedef struct mx_sampler_input {
    const float *logits;         /* [n_vocab]; NaN counts as -inf */
    const uint32_t *allowed;     /* bit set of the vocabulary: tokens that a grammar allows; NULL: all */
    const int32_t *also_allowed; /* [n_also_allowed] tokens that it allows, too */
    int32_t n_also_allowed;
    const int32_t *banned; /* [n_banned] tokens that may not come */
    int32_t n_banned;
    const int32_t *history; /* [n_history] the text so far: what the penalties look back at */
    int32_t n_history;
    int32_t n_prompt; /* of them are the prompt */
} mx_sampler_input;

/* The tokens that may come next, with their probabilities, whose sum is 1; lies in the scratch until the next call.
 * Changes nothing in the sampler but the count of draws, where XTC draws.
 * MX_DEVICE when no logit is a finite number: the weights or the device are broken. */
mx_status mx_sampler_get_candidates(mx_sampler *sampler, mx_sampler_scratch *scratch, const mx_sampler_input *input,
                                    mx_candidates *out, mx_error *err) MX_NODISCARD;

/* Draws the next token. The statuses of mx_sampler_get_candidates. */
mx_status mx_sampler_pick(mx_sampler *sampler, mx_sampler_scratch *scratch, const mx_sampler_input *input,
                          int32_t *token_id, mx_error *err) MX_NODISCARD;

#endif
