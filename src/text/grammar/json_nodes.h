/* json_nodes.h - the parts of JSON as grammar nodes. */
#ifndef MX_TEXT_GRAMMAR_JSON_NODES_H
#define MX_TEXT_GRAMMAR_JSON_NODES_H

#include "text/grammar/grammar_ast.h"

/* Rules made once for a document. */
typedef struct mx_json_rules {
    int32_t i_space;  /* nothing, a space, or a line end with its indentation */
    int32_t i_string; /* any string with its quotation marks */
    int32_t i_value;  /* any value */
    int32_t i_object; /* any object */
    int32_t i_array;
} mx_json_rules;

void mx_json_rules_init(mx_json_rules *rules, mx_grammar_builder *b);

/* One character of a string's contents out of a class, escaped where JSON asks for it. */
mx_gnode *mx_json_char(mx_grammar_builder *b, const mx_cp_range *ranges, int32_t n_ranges, bool is_negated);

/* The contents of a string, from `least` to `most` characters. */
mx_gnode *mx_json_chars(mx_grammar_builder *b, int32_t least, int32_t most);

/* A string whose contents are not one of names [n_names]. */
mx_gnode *mx_json_other_name(mx_grammar_builder *b, const mx_str *names, int32_t n_names);

/* Numbers. A range is of whole numbers, both ends included; fractions between them count with has_fraction. NULL where
 * there is none. */
mx_gnode *mx_json_integer(mx_grammar_builder *b);
mx_gnode *mx_json_number(mx_grammar_builder *b);
mx_gnode *mx_json_range(mx_grammar_builder *b, int64_t least, int64_t most, bool has_fraction);

/* open item ("," item)* close with spaces; from `least` to `most` items. */
mx_gnode *mx_json_list(mx_grammar_builder *b, const mx_json_rules *rules, const char *open, mx_gnode *item,
                       int32_t least, int32_t most, const char *close);

#endif
