/* candidates.h - the tokens that may come next, and the filters that shorten the list.
 *
 * Each filter keeps at least one token. Equal keys are ordered by token id, lowest first, so that a result depends on
 * the logits and settings alone. Probabilities below are the softmax of the logits of the tokens still in the list.
 */
#ifndef MX_ENGINE_CANDIDATES_H
#define MX_ENGINE_CANDIDATES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct mx_candidate {
    int32_t token_id;
    float logit;
    float p; /* the probability, after mx_candidates_set_p; while a list is being sorted, what it is sorted by */
} mx_candidate;

typedef struct mx_candidates {
    mx_candidate *items; /* borrowed; the first n count */
    int32_t n;           /* at least 1 */
    bool is_sorted;      /* by falling logit */
} mx_candidates;

/* The place of the largest logit, the first of equals. */
int32_t mx_candidates_find_best(const mx_candidates *c);

/* Sets the probabilities. */
void mx_candidates_set_p(mx_candidates *c);

/* Keeps the k best, sorted. k at least 1. */
void mx_candidates_keep_top_k(mx_candidates *c, int32_t k);

/* Keeps the fewest whose probabilities reach top_p, sorted. */
void mx_candidates_keep_top_p(mx_candidates *c, float top_p);

/* Keeps those with at least min_p times the best one's probability; the order stays. */
void mx_candidates_keep_min_p(mx_candidates *c, float min_p);

/* Keeps logits of at least best - n * (standard deviation of the finite logits); the order stays.
 * Source: Tang et al., "Top-n-sigma: not all logits are you need", arXiv 2411.07641. */
void mx_candidates_keep_top_n_sigma(mx_candidates *c, float n);

/* Keeps the fewest that reach the mass, taken in the order of |-ln p - entropy|; afterwards they are in that order.
 * Source: Meister et al., "Locally typical sampling", arXiv 2202.00666. */
void mx_candidates_keep_typical(mx_candidates *c, float mass);

/* Of the tokens with at least this probability, drops all but the least probable; the order stays.
 * Source: p-e-w, "Exclude top choices", 2024, text-generation-webui. */
void mx_candidates_cut_top_choices(mx_candidates *c, float threshold);

/* Divides logits by the temperature, which is above 0. */
void mx_candidates_apply_temperature(mx_candidates *c, float temperature);

/* The same with a temperature between `least` and `most`: least + (most - least) * (H / ln n)^exponent, H the entropy.
 */
void mx_candidates_apply_dynamic_temperature(mx_candidates *c, float least, float most, float exponent);

#endif
