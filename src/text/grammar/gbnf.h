/* gbnf.h - grammars in llama.cpp's notation.
 *
 *     root  ::= "yes" | "no" tail?      # comment
 *     tail  ::= [ \t]+ [^"\x00-\x1F]{1,40}
 *
 * Literals and classes know the escapes \n \r \t \\ \" \[ \] \- \^ and \xHH \uHHHH \UHHHHHHHH; a dot is any character;
 * *, +, ?, {n}, {n,} and {n,m} repeat; parentheses group. A rule ends at a line end that is not inside parentheses and
 * not followed by more alternatives.
 */
#ifndef MX_TEXT_GRAMMAR_GBNF_H
#define MX_TEXT_GRAMMAR_GBNF_H

#include "text/grammar/grammar_ast.h"

/* Reads the text's rules into the builder. Rule "root" is the one to begin with. MX_INVALID names the line. */
mx_status mx_gbnf_read(mx_grammar_builder *b, mx_str text, int32_t *i_root, mx_error *err) MX_NODISCARD;

#endif
