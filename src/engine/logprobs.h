/* logprobs.h - how probable a token was, as the model said it: before penalties, temperature and filters. */
#ifndef MX_ENGINE_LOGPROBS_H
#define MX_ENGINE_LOGPROBS_H

#include <stdint.h>

#define MX_MAX_TOP_LOGPROBS 32
#define MX_LEAST_LOGPROB    -9999.0f /* stands for minus infinity, which JSON cannot say */

typedef struct mx_logprob {
    int32_t token_id;
    float logprob; /* ln p; finite, at most 0 */
} mx_logprob;

/* The natural logarithm of the softmax of logits [n_vocab] for one token, and the n_top (at most MX_MAX_TOP_LOGPROBS)
 * best with theirs, sorted; equal ones by token id. NaN counts as -inf. */
void mx_logprobs_get(const float *logits, int32_t n_vocab, int32_t token_id, float *logprob, mx_logprob *top,
                     int32_t n_top);

#endif
