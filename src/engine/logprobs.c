/* logprobs.c - one pass for the sum, one for the best. */
#include "engine/logprobs.h"

#include <assert.h>
#include <math.h>

static float finish(double logprob)
{
    return logprob > (double)MX_LEAST_LOGPROB ? (float)(logprob < 0.0 ? logprob : 0.0) : MX_LEAST_LOGPROB;
}

/* Puts a token into the sorted list where it belongs; false when it is not among the best. */
static void insert(mx_logprob *top, int32_t *n, int32_t n_top, int32_t token_id, float logit)
{
    int32_t at = *n;
    while (at > 0 && top[at - 1].logprob < logit) {
        at--;
    }
    if (at == n_top) {
        return;
    }
    *n += *n < n_top;
    for (int32_t i = *n - 1; i > at; i--) {
        top[i] = top[i - 1];
    }
    top[at] = (mx_logprob){token_id, logit};
}

void mx_logprobs_get(const float *logits, int32_t n_vocab, int32_t token_id, float *logprob, mx_logprob *top,
                     int32_t n_top)
{
    assert(token_id >= 0 && token_id < n_vocab && n_top <= MX_MAX_TOP_LOGPROBS);
    float best = -INFINITY;
    for (int32_t i = 0; i < n_vocab; i++) {
        best = logits[i] > best ? logits[i] : best;
    }
    double total = 0.0;
    int32_t n = 0;
    for (int32_t i = 0; i < n_vocab; i++) {
        total += isnan(logits[i]) ? 0.0 : (double)expf(logits[i] - best);
        if (n < n_top || (n_top > 0 && logits[i] > top[n - 1].logprob)) {
            insert(top, &n, n_top, i, isnan(logits[i]) ? -INFINITY : logits[i]);
        }
    }
    const double log_total = log(total);
    *logprob = isnan(logits[token_id]) ? MX_LEAST_LOGPROB : finish((double)(logits[token_id] - best) - log_total);
    for (int32_t i = 0; i < n; i++) {
        top[i].logprob = finish((double)(top[i].logprob - best) - log_total);
    }
}
