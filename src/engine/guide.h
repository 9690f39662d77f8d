/* guide.h - holds an answer to a grammar, from its beginning or from where a given text has come.
 *
 * Before that text (the end of thinking, the mark of a tool call) every token is free. The guide is one text's.
 */
#ifndef MX_ENGINE_GUIDE_H
#define MX_ENGINE_GUIDE_H

#include "text/grammar/grammar.h"

typedef struct mx_guide {
    const mx_tokenizer *tokenizer; /* borrowed, like the next */
    const mx_token_table *table;
    mx_matcher *matcher; /* owned */
    mx_str after;        /* borrowed; ptr NULL: from the beginning */
    mx_buf tail;         /* of the text, while it waits for `after` */
    bool is_active;
} mx_guide;

/* All that is borrowed must outlive it. MX_NO_MEMORY, MX_INVALID (a grammar that allows no text). */
mx_status mx_guide_init(mx_guide *guide, const mx_tokenizer *tokenizer, const mx_token_table *table,
                        const mx_grammar *grammar, mx_str after, mx_error *err) MX_NODISCARD;

/* A zeroed guide is fine. */
void mx_guide_deinit(mx_guide *guide);

/* Tokens that may come next, as mx_matcher_get_allowed; NULL: all. can_end: end tokens as well. MX_INVALID when there
 * is none at all. */
mx_status mx_guide_get_allowed(mx_guide *guide, const uint32_t **allowed, bool *can_end, mx_error *err) MX_NODISCARD;

/* Goes on by a token. */
mx_status mx_guide_accept(mx_guide *guide, int32_t token_id, mx_error *err) MX_NODISCARD;

/* Whether the text can only end now. */
bool mx_guide_must_end(const mx_guide *guide);

#endif
