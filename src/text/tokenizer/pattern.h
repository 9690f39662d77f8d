/* pattern.h - what a "pattern" of a tokenizer file may be: {"String": ...} or {"Regex": ...}. */
#ifndef MX_TEXT_TOKENIZER_PATTERN_H
#define MX_TEXT_TOKENIZER_PATTERN_H

#include "base/json.h"
#include "text/tokenizer/regex.h"
#include "text/tokenizer/scan.h"

typedef struct mx_pattern {
    mx_scan_fn scan; /* of a well-known expression; else NULL */
    char *literal;   /* owned; a plain string to search for, not empty; else NULL */
    size_t literal_len;
    mx_regex regex; /* used when the two above are NULL */
} mx_pattern;

/* A walk over the matches of a pattern in a text. Zeroed but for the text and the pattern at the start. */
typedef struct mx_pattern_walk {
    const mx_pattern *pattern;
    const mx_unicode *unicode;
    mx_regex_scratch *scratch;
    mx_str text;
    size_t from;       /* where to look next */
    size_t last_match; /* one more than the end of the last match; 0 before the first */
    size_t start, end; /* of the match found */
} mx_pattern_walk;

/* Reads the member "pattern" of obj. MX_FORMAT, MX_UNSUPPORTED, MX_NO_MEMORY. */
mx_status mx_pattern_init(mx_pattern *pattern, yyjson_val *obj, mx_error *err) MX_NODISCARD;
mx_status mx_pattern_init_regex(mx_pattern *pattern, mx_str regex, mx_error *err) MX_NODISCARD;
void mx_pattern_deinit(mx_pattern *pattern);

/* Goes to the next match; *found tells whether there is one. Empty matches count, except right behind another match.
 * The statuses of mx_regex_find. */
mx_status mx_pattern_next(mx_pattern_walk *walk, bool *found, mx_error *err) MX_NODISCARD;

#endif
