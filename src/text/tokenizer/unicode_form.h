/* unicode_form.h - Unicode's normalization forms, over utf8proc. */
#ifndef MX_TEXT_TOKENIZER_UNICODE_FORM_H
#define MX_TEXT_TOKENIZER_UNICODE_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "text/tokenizer/unicode.h"

typedef enum mx_unicode_form { MX_FORM_NFC, MX_FORM_NFD, MX_FORM_NFKC, MX_FORM_NFKD } mx_unicode_form;

typedef struct mx_form_scratch {
    int32_t *chars, *sorted; /* owned */
    size_t chars_cap, sorted_cap;
} mx_form_scratch;

void mx_form_scratch_deinit(mx_form_scratch *scratch);

/* True for characters that the form leaves alone and that join nothing before them: normalization may stop before one
 * and go on with it. True only where that is certain. */
bool mx_form_is_safe(mx_unicode_form form, int32_t code_point);

/* Appends the normalized form of s. In time linear in s, whatever marks it holds. MX_NO_MEMORY, MX_INVALID. */
mx_status mx_form_append(mx_buf *out, mx_str s, mx_unicode_form form, const mx_unicode *unicode,
                         mx_form_scratch *scratch, mx_error *err) MX_NODISCARD;

/* The lower case of one character: 1 or 2 characters. */
size_t mx_unicode_lower(int32_t code_point, int32_t lower[2]);

#endif
