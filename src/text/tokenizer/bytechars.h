/* bytechars.h - the 256 characters that stand for bytes in byte-level vocabularies: printable Latin-1 for itself,
 * U+0100 and up for the rest. Source: `bytes_to_unicode` of GPT-2's encoder. */
#ifndef MX_TEXT_TOKENIZER_BYTECHARS_H
#define MX_TEXT_TOKENIZER_BYTECHARS_H

#include "base/buf.h"
#include "base/str.h"

/* The character for a byte, U+0021 to U+0143. */
int32_t mx_bytechar_from(uint8_t byte);

/* The byte that a character stands for, or -1. */
int mx_bytechar_to(int32_t code_point);

/* Appends the characters of all bytes of s. The statuses of mx_buf_append. */
mx_status mx_bytechars_append(mx_buf *out, mx_str s, mx_error *err) MX_NODISCARD;

/* Writes the bytes that the characters of s (well-formed UTF-8) stand for; `out` has room for s.len bytes. Returns how
 * many, or MX_STR_NPOS when a character stands for none. */
size_t mx_bytechars_decode(mx_str s, char *out);

#endif
