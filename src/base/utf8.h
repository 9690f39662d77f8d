/* utf8.h - decoding and encoding of UTF-8, with the replacement rule of the WHATWG and Unicode. */
#ifndef MX_BASE_UTF8_H
#define MX_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

#define MX_UTF8_REPLACEMENT 0xFFFDu

/* Decodes one code point at s[0..len). *code_point is the code point, or -1 for an ill-formed part; the return value is
 * the number of bytes that it takes (of an ill-formed part: its maximal length, at least 1). len must be above 0. */
size_t mx_utf8_decode(const char *s, size_t len, int32_t *code_point);

/* Writes 1 to 4 bytes; code_point must be a Unicode scalar value (not a surrogate, at most U+10FFFF). */
size_t mx_utf8_encode(int32_t code_point, char out[4]);

/* Bytes at the end of s that begin a character which is not finished: 0 to 3. */
size_t mx_utf8_incomplete_tail(mx_str s);

bool mx_utf8_is_valid(mx_str s);

/* Appends s with U+FFFD for each maximal ill-formed part. The statuses of mx_buf_append. */
mx_status mx_utf8_append_lossy(mx_buf *out, mx_str s, mx_error *err) MX_NODISCARD;

#endif
