/* sampling.h - how a request wants its tokens drawn: the settings, their ranges and the order of the steps.
 *
 * Names, meanings and the usual order are llama.cpp's, where it has the sampler. Every setting has a value that
 * switches it off; the struct zeroed is off everywhere but for top_p and repeat_penalty, where off is 1.
 */
#ifndef MX_ENGINE_SAMPLING_H
#define MX_ENGINE_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* The steps that an order names. Logit biases come before all of them; with mirostat the filters (top-n-sigma to XTC)
 * are left out, since it does their work. */
typedef enum mx_sampler_kind {
    MX_SAMPLER_PENALTIES, /* repetition, presence, frequency */
    MX_SAMPLER_DRY,
    MX_SAMPLER_TOP_N_SIGMA,
    MX_SAMPLER_TOP_K,
    MX_SAMPLER_TYPICAL,
    MX_SAMPLER_TOP_P,
    MX_SAMPLER_MIN_P,
    MX_SAMPLER_XTC,
    MX_SAMPLER_TEMPERATURE,
    MX_N_SAMPLERS,
} mx_sampler_kind;

typedef struct mx_logit_bias {
    int32_t token_id;
    float bias; /* added to the logit; -INFINITY bans the token */
} mx_logit_bias;

typedef struct mx_sampling {
    float temperature;       /* above or equal to 0; 0: the most probable token, whatever the filters say */
    float dynatemp_range;    /* 0: off; else the temperature moves by this much around its value with the entropy */
    float dynatemp_exponent; /* how; 0 counts as 1 */
    int32_t top_k;           /* keep the k most probable; 0: all */
    float top_p;             /* keep the fewest whose probabilities reach top_p; 1: all */
    float min_p;             /* keep those with at least min_p times the best one's probability; 0: all */
    float typical_p;         /* keep the fewest nearest to the expected surprise that reach it; 0 and 1: all */
    float top_n_sigma;       /* keep logits within n standard deviations of the best; 0: all */
    float xtc_probability;   /* of cutting, each time, all but the last of the tokens above xtc_threshold; 0: never */
    float xtc_threshold;     /* above 0.5 there can be only one such token, so nothing happens */
    float repeat_penalty;   /* above 0; 1: none. Logits of recent tokens are divided by it, or multiplied if negative */
    int32_t repeat_last_n;  /* tokens that count as recent, the prompt's too; 0: none, -1: all */
    float presence_penalty; /* subtracted once from the logit of each token of the answer so far; 0: none */
    float frequency_penalty;      /* subtracted as often as the token occurs in the answer so far; 0: none */
    float dry_multiplier;         /* 0: off. Weight of the penalty of tokens that would lengthen a repetition */
    float dry_base;               /* which grows by this factor with each token of it; at least 1 */
    int32_t dry_allowed_length;   /* repetitions shorter than this are free */
    int32_t dry_last_n;           /* tokens that are searched for them; -1: all */
    const uint32_t *dry_breakers; /* bit set of the vocabulary, borrowed: tokens that end a repetition; NULL: none */
    int32_t mirostat;             /* 0: off; 1 and 2: the versions of the paper */
    float mirostat_tau;           /* the surprise that it steers to, in bits */
    float mirostat_eta;           /* how fast */
    int32_t n_biases;
    const mx_logit_bias *biases; /* [n_biases] borrowed */
    uint64_t seed;
    int32_t n_order;              /* 0: the order of the enum above */
    uint8_t order[MX_N_SAMPLERS]; /* the steps to take, [n_order] of mx_sampler_kind; those left out are not taken */
} mx_sampling;

/* MX_INVALID: a setting out of its range, named. */
mx_status mx_sampling_check(const mx_sampling *settings, int32_t n_vocab, mx_error *err) MX_NODISCARD;

/* "top_k" -> MX_SAMPLER_TOP_K, by llama.cpp's names. False for a name that there is not. */
bool mx_sampler_kind_find(const char *name, mx_sampler_kind *kind);

/* Whether the next token is simply the one with the largest logit. */
bool mx_sampling_is_plain_greedy(const mx_sampling *settings);

#endif
