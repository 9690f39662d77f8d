/* regex.h - regular expressions of tokenizer files: Oniguruma's syntax, run by PCRE2's just-in-time compiler. */
#ifndef MX_TEXT_TOKENIZER_REGEX_H
#define MX_TEXT_TOKENIZER_REGEX_H

#include <pcre2.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

typedef struct mx_regex {
    pcre2_code *code;  /* owned */
    char *source;      /* owned; the pattern as the file has it, for errors */
    size_t source_len; /* bytes of it */
} mx_regex;

/* What matching needs besides the pattern; for one thread at a time. Made by the first match, kept for the next. */
typedef struct mx_regex_scratch {
    pcre2_match_data *data;       /* owned */
    pcre2_match_context *context; /* owned */
    pcre2_jit_stack *stack;       /* owned */
} mx_regex_scratch;

/* Compiles a pattern. MX_FORMAT names the pattern and what is wrong, MX_UNSUPPORTED, MX_NO_MEMORY. */
mx_status mx_regex_init(mx_regex *regex, mx_str pattern, mx_error *err) MX_NODISCARD;
void mx_regex_deinit(mx_regex *regex);

void mx_regex_scratch_deinit(mx_regex_scratch *scratch);

/* Finds the first match at or after byte `from` of well-formed UTF-8; *found, and its place in *start and *end.
 * MX_INVALID when the pattern takes more steps than it may, MX_NO_MEMORY. */
mx_status mx_regex_find(const mx_regex *regex, mx_regex_scratch *scratch, mx_str text, size_t from, bool *found,
                        size_t *start, size_t *end, mx_error *err) MX_NODISCARD;

#endif
