/* onig_class.h - the parts of a pattern that stand for one character: escapes, properties, bracketed classes. */
#ifndef MX_TEXT_TOKENIZER_ONIG_CLASS_H
#define MX_TEXT_TOKENIZER_ONIG_CLASS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

/* A place in a pattern, and where the translation goes. */
typedef struct mx_onig {
    mx_str pattern;
    size_t at;
    mx_buf *out;
    bool needs_sets; /* PCRE2_ALT_EXTENDED_CLASS */
    mx_error *err;
} mx_onig;

/* The characters of \w, between brackets. Outside brackets and for \b the superscripts and fractions of Latin-1 are
 * word characters too. */
#define MX_ONIG_WORD_IN_CLASS "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}"
#define MX_ONIG_WORD          MX_ONIG_WORD_IN_CLASS "\\x{b2}\\x{b3}\\x{b9}\\x{bc}-\\x{be}"

static inline bool mx_onig_at_end(const mx_onig *o)
{
    return o->at >= o->pattern.len;
}

/* The byte n places on, or 0 past the end. */
static inline char mx_onig_peek(const mx_onig *o, size_t n)
{
    return n < o->pattern.len - o->at ? o->pattern.ptr[o->at + n] : '\0';
}

static inline mx_status mx_onig_put(mx_onig *o, const char *text)
{
    return mx_buf_append(o->out, mx_str_from(text), o->err);
}

/* Translates the class whose '[' is at o->at, and moves behind its ']'. */
mx_status mx_onig_class(mx_onig *o) MX_NODISCARD;

/* Translates \s, \d, \w, \h, \p{...} and their negations at o->at, outside brackets or inside; *is_one is false when
 * there is none of them. */
mx_status mx_onig_shorthand(mx_onig *o, bool in_class, bool *is_one) MX_NODISCARD;

/* Reads an escape that stands for one character (\n, \x41, \x{4E00}, \u4E00, \., ...) at o->at. */
mx_status mx_onig_escaped_char(mx_onig *o, int32_t *code_point) MX_NODISCARD;

/* Writes one character so that PCRE2 takes it as itself, anywhere. */
mx_status mx_onig_put_char(mx_onig *o, int32_t code_point) MX_NODISCARD;

#endif
