/* lookup.h - guesses at what comes next from the text itself, for speculation without a second model. */
#ifndef MX_ENGINE_LOOKUP_H
#define MX_ENGINE_LOOKUP_H

#include <stdint.h>

/* Where the end of tokens [n_tokens] has occurred before, copies what followed then to drafts, at most max_drafts.
 * The longest end of up to four tokens and at least two that is found counts, at its latest place. Returns how many.
 * Takes time proportional to n_tokens.
 * Source: Saxena, "Prompt lookup decoding", 2023. */
int32_t mx_lookup_drafts(const int32_t *tokens, int32_t n_tokens, int32_t *drafts, int32_t max_drafts);

#endif
