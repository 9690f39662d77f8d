/* onig_syntax.h - patterns in the syntax of Oniguruma, said in the syntax of PCRE2. */
#ifndef MX_TEXT_TOKENIZER_ONIG_SYNTAX_H
#define MX_TEXT_TOKENIZER_ONIG_SYNTAX_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

/* Appends to out a PCRE2 pattern (for UTF, UCP and MULTILINE with LF as newline) that matches what `pattern` matches in
 * Oniguruma's own syntax. *needs_sets tells that it holds nested or intersected classes, which PCRE2 reads only with
 * PCRE2_ALT_EXTENDED_CLASS.
 *
 * What differs between the two and is translated: \s \d \w \h \v \b and the POSIX brackets, (?m) for dot-all, (?i) in
 * the middle of a group, X{n,m}+ and X{n}? and stacked quantifiers, {,n}, \u, names of properties, \p{Han} (PCRE2 takes
 * script extensions unless told otherwise), nested classes and &&.
 *
 * MX_FORMAT for a pattern that is broken, MX_UNSUPPORTED for constructs that no published tokenizer uses (absent
 * operators, bytes above 0x7F, options other than i and m), MX_NO_MEMORY, MX_INVALID at the cap of out. */
mx_status mx_onig_translate(mx_str pattern, mx_buf *out, bool *needs_sets, mx_error *err) MX_NODISCARD;

#endif
