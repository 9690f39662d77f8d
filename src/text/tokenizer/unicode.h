/* unicode.h - classes of characters, as the Rust library `tokenizers` sees them, and walking well-formed UTF-8. */
#ifndef MX_TEXT_TOKENIZER_UNICODE_H
#define MX_TEXT_TOKENIZER_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum {
    MX_UC_LETTER = 1 << 0,      /* \p{L} */
    MX_UC_NUMBER = 1 << 1,      /* \p{N} */
    MX_UC_MARK = 1 << 2,        /* \p{M} */
    MX_UC_PUNCT_SYM = 1 << 3,   /* \p{P} or \p{S} */
    MX_UC_SPACE = 1 << 4,       /* White_Space */
    MX_UC_UPPERISH = 1 << 5,    /* Lu Lt Lm Lo M: what may begin a capitalised word */
    MX_UC_LOWERISH = 1 << 6,    /* Ll Lm Lo M: what may end one */
    MX_UC_PUNCTUATION = 1 << 7, /* of the Punctuation and Bert pre-tokenizers */
    MX_UC_COMBINING = 1 << 8,   /* of the StripAccents normalizer */
    MX_UC_NONSPACING = 1 << 9,  /* of the Bert normalizer */
    MX_UC_NUMERIC = 1 << 10,    /* of the Digits pre-tokenizer */
    MX_UC_WORD = 1 << 11,       /* \w of the Whitespace pre-tokenizer and of single_word */
    MX_UC_CONTROL = 1 << 12,    /* of the Bert normalizer */
    MX_UC_NEWLINE = 1 << 13,    /* CR and LF */
};

#define MX_UNICODE_N_DIRECT 0x20000

/* A table with one entry a character below U+20000; the rest is searched for in the generated rows. 256 KiB. */
typedef struct mx_unicode {
    uint16_t direct[MX_UNICODE_N_DIRECT];
} mx_unicode;

void mx_unicode_init(mx_unicode *unicode);

/* The classes of a character at or above U+20000. */
uint16_t mx_unicode_find(int32_t code_point);

static inline uint16_t mx_unicode_get(const mx_unicode *unicode, int32_t code_point)
{
    return code_point < MX_UNICODE_N_DIRECT ? unicode->direct[code_point] : mx_unicode_find(code_point);
}

/* Bytes of the character that begins with this byte, in well-formed UTF-8. */
static inline size_t mx_utf8_size(char lead)
{
    const uint8_t c = (uint8_t)lead;
    return c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
}

/* Decodes one character of well-formed UTF-8: *size is its bytes. */
static inline int32_t mx_utf8_next(const char *s, size_t *size)
{
    const uint8_t *p = (const uint8_t *)s;
    if (p[0] < 0x80) {
        *size = 1;
        return p[0];
    }
    if (p[0] < 0xE0) {
        *size = 2;
        return (p[0] & 0x1F) << 6 | (p[1] & 0x3F);
    }
    if (p[0] < 0xF0) {
        *size = 3;
        return (p[0] & 0x0F) << 12 | (p[1] & 0x3F) << 6 | (p[2] & 0x3F);
    }
    *size = 4;
    return (p[0] & 0x07) << 18 | (p[1] & 0x3F) << 12 | (p[2] & 0x3F) << 6 | (p[3] & 0x3F);
}

/* Bytes of the last character of s[0..len), len above 0, in well-formed UTF-8. */
static inline size_t mx_utf8_last_size(const char *s, size_t len)
{
    size_t n = 1;
    while (n < len && ((uint8_t)s[len - n] & 0xC0) == 0x80) {
        n++;
    }
    return n;
}

/* The classes of the character at s; *size is its bytes. */
static inline uint16_t mx_unicode_at(const mx_unicode *unicode, const char *s, size_t *size)
{
    return mx_unicode_get(unicode, mx_utf8_next(s, size));
}

/* The first place at or after `at` whose character has none of the classes, or len. */
static inline size_t mx_unicode_skip(const mx_unicode *unicode, const char *s, size_t at, size_t len, unsigned classes)
{
    size_t size;
    while (at < len && (mx_unicode_at(unicode, s + at, &size) & classes)) {
        at += size;
    }
    return at;
}

#endif
