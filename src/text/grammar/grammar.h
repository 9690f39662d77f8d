/* grammar.h - texts that a grammar allows: compiled grammars, and matchers that follow a text token by token.
 *
 * Whatever a caller writes (GBNF, a regular expression, a JSON schema) becomes one automaton over bytes with calls: a
 * state reads a byte, calls a rule, or returns. A matcher is in all the places at once where the text so far could be;
 * a set of places is numbered and kept, as are the moves between sets and the tokens that each set allows. So the first
 * token at a place costs a walk over the vocabulary, and every further one a look.
 *
 * A grammar does not change once it is compiled and may be shared by threads; a matcher is one text's.
 */
#ifndef MX_TEXT_GRAMMAR_GRAMMAR_H
#define MX_TEXT_GRAMMAR_GRAMMAR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "text/grammar/token_table.h"

typedef struct mx_grammar mx_grammar;

typedef enum mx_grammar_kind {
    MX_GRAMMAR_GBNF,        /* llama.cpp's notation */
    MX_GRAMMAR_REGEX,       /* the whole text matches the expression */
    MX_GRAMMAR_JSON_SCHEMA, /* the text is a JSON value that the schema allows */
} mx_grammar_kind;

/* Compiles. MX_INVALID: what the text asks for is wrong or too large, with its place; MX_UNSUPPORTED: it asks for
 * something that could not be held, with keyword and path; nothing is ever relaxed. MX_NO_MEMORY. */
mx_status mx_grammar_open(mx_grammar_kind kind, mx_str text, mx_grammar **out, mx_error *err) MX_NODISCARD;

/* NULL is fine. */
void mx_grammar_close(mx_grammar *grammar);

typedef struct mx_matcher mx_matcher;

/* At the beginning of a text. Grammar and table must outlive it. MX_NO_MEMORY. */
mx_status mx_matcher_new(const mx_grammar *grammar, const mx_token_table *table, mx_matcher **out,
                         mx_error *err) MX_NODISCARD;
void mx_matcher_free(mx_matcher *matcher);

/* Tokens that may come next, a bit set of the vocabulary, borrowed until the next call. Without end tokens: those may
 * come where mx_matcher_can_end. MX_NO_MEMORY, MX_INVALID (a grammar in too many places at once). */
mx_status mx_matcher_get_allowed(mx_matcher *matcher, const uint32_t **allowed, mx_error *err) MX_NODISCARD;

/* Goes on by a token that is allowed, or by bytes. MX_INVALID when they are not. */
mx_status mx_matcher_accept(mx_matcher *matcher, int32_t token_id, mx_error *err) MX_NODISCARD;
mx_status mx_matcher_accept_bytes(mx_matcher *matcher, mx_str bytes, mx_error *err) MX_NODISCARD;

/* Whether the text so far is whole, and whether it can only end now. */
bool mx_matcher_can_end(const mx_matcher *matcher);
bool mx_matcher_must_end(const mx_matcher *matcher);

#endif
