/* charsmap.h - sentencepiece's "precompiled_charsmap": which short strings become which.
 *
 * base64 of:  size of the trie in bytes (u32, little endian) | units of a double-array trie (u32) | strings, each with
 * a zero byte at its end. A value of the trie is the place of a string. Source: google/sentencepiece,
 * src/normalizer.cc, and darts-clone for the units. */
#ifndef MX_TEXT_TOKENIZER_CHARSMAP_H
#define MX_TEXT_TOKENIZER_CHARSMAP_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

typedef struct mx_charsmap {
    char *data;           /* owned; decoded */
    size_t n_units;       /* at data + 4 */
    mx_str strings;       /* in data */
    bool maps_ascii[128]; /* the character by itself becomes something */
} mx_charsmap;

/* Decodes a map. MX_FORMAT, MX_NO_MEMORY. */
mx_status mx_charsmap_init(mx_charsmap *map, mx_str base64, mx_error *err) MX_NODISCARD;
void mx_charsmap_deinit(mx_charsmap *map);

/* What the shortest key becomes that part begins with; false when no key is a prefix of part. (The library that defines
 * the format takes the shortest and drops the rest of part.) */
bool mx_charsmap_find(const mx_charsmap *map, mx_str part, mx_str *replacement);

#endif
