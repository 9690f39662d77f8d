/* grammar_regex.h - regular expressions as grammars.
 *
 * What the common dialects share and JSON schemas use: characters, . \d \w \s and their opposites, classes, groups ( )
 * and
 * (?: ), |, * + ? {n} {n,} {n,m}, escapes \n \r \t \f \v \0 \xHH \uHHHH, and ^ and $ at the ends. The dot matches no
 * line end. What an automaton does not have (references back, look-around, lazy and possessive repetition, anchors
 * inside) is MX_UNSUPPORTED by name.
 */
#ifndef MX_TEXT_GRAMMAR_GRAMMAR_REGEX_H
#define MX_TEXT_GRAMMAR_GRAMMAR_REGEX_H

#include "text/grammar/grammar_ast.h"

/* The whole text matches. */
mx_status mx_grammar_regex_read(mx_grammar_builder *b, mx_str text, int32_t *i_root, mx_error *err) MX_NODISCARD;

/* A node for the expression. Characters go through `map`, unless it is NULL: what stands for one character, for
 * expressions about the contents of JSON strings, where some are escaped. is_search: the text need only contain a
 * match, as far as ^ and $ do not say more; `any` stands for the rest then. */
typedef struct mx_regex_context {
    mx_gnode *(*map)(mx_grammar_builder *b, const mx_cp_range *ranges, int32_t n_ranges, bool is_negated);
    mx_gnode *any; /* any text; NULL: the whole text is to match */
} mx_regex_context;
mx_status mx_grammar_regex_node(mx_grammar_builder *b, mx_str text, const mx_regex_context *context, mx_gnode **out,
                                mx_error *err) MX_NODISCARD;

#endif
