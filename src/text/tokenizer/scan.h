/* scan.h - hand-written scanners for the patterns that published tokenizers share.
 *
 * Each gives exactly what its regular expression gives (the unit test compares them over random text), several times
 * faster. They are chosen by the exact text of the pattern; every other pattern goes to regex.h. */
#ifndef MX_TEXT_TOKENIZER_SCAN_H
#define MX_TEXT_TOKENIZER_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "text/tokenizer/unicode.h"

/* Finds the first match at or after byte `from`, below len, of well-formed UTF-8: false when there is none, else its
 * place in *start and *end. Matches are never empty. */
typedef bool (*mx_scan_fn)(const mx_unicode *unicode, const char *s, size_t len, size_t from, size_t *start,
                           size_t *end);

/* The scanner for a pattern, or NULL. */
mx_scan_fn mx_scan_find(mx_str pattern);

/* The pattern that the ByteLevel pre-tokenizer has built in. */
extern const mx_str mx_scan_gpt2_pattern;

/* The i-th pattern that has a scanner; ptr NULL past the last. For tests. */
mx_str mx_scan_pattern(size_t i);

#endif
