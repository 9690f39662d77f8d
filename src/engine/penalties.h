/* penalties.h - logits of tokens that the text has had before. */
#ifndef MX_ENGINE_PENALTIES_H
#define MX_ENGINE_PENALTIES_H

#include "engine/sampler.h"

/* Divides (or multiplies) the logits of recent tokens by the repetition penalty, each once however often it occurs, and
 * subtracts the presence and frequency penalties of the answer's tokens. The list is unsorted afterwards. */
void mx_penalties_apply(const mx_sampling *s, mx_sampler_scratch *scratch, const mx_sampler_input *input,
                        mx_candidates *list);

/* "Don't repeat yourself": a token that would lengthen a repetition of n tokens (the end of the text, and the same
 * tokens somewhere before) loses dry_multiplier * dry_base^(n - dry_allowed_length). Breakers end a repetition and are
 * never penalised. The list is unsorted afterwards. Takes time proportional to the tokens searched.
 * Source: p-e-w, "DRY: a modern repetition penalty", 2024, text-generation-webui. */
void mx_penalties_apply_dry(const mx_sampling *s, mx_sampler_scratch *scratch, const mx_sampler_input *input,
                            mx_candidates *list);

#endif
