/* shorthash.h - hashing and comparing strings of a few bytes, which tokens and words are. */
#ifndef MX_TEXT_TOKENIZER_SHORTHASH_H
#define MX_TEXT_TOKENIZER_SHORTHASH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

static inline uint64_t mx_load_u64(const char *p)
{
    uint64_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

static inline uint32_t mx_load_u32(const char *p)
{
    uint32_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

/* The last 0 to 7 bytes as one number; different for different bytes of the same length. */
static inline uint64_t mx_load_tail(const char *p, size_t n)
{
    if (n >= 4) {
        return mx_load_u32(p) | (uint64_t)mx_load_u32(p + n - 4) << 32;
    }
    if (n == 0) {
        return 0;
    }
    return (uint64_t)(uint8_t)p[0] | (uint64_t)(uint8_t)p[n / 2] << 8 | (uint64_t)(uint8_t)p[n - 1] << 16;
}

/* Not stable between machines, nor against keys made to collide. */
static inline uint64_t mx_short_hash(mx_str s)
{
    const uint64_t k = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t h = s.len * k;
    size_t n = s.len;
    const char *p = s.ptr;
    for (; n >= 8; n -= 8, p += 8) {
        h = (h ^ mx_load_u64(p)) * k;
        h ^= h >> 29;
    }
    h = (h ^ mx_load_tail(p, n)) * k;
    h ^= h >> 32;
    h *= UINT64_C(0xD6E8FEB86659FD93);
    return h ^ h >> 29;
}

static inline bool mx_short_eq(const char *a, const char *b, size_t n)
{
    for (; n >= 8; n -= 8, a += 8, b += 8) {
        if (mx_load_u64(a) != mx_load_u64(b)) {
            return false;
        }
    }
    return mx_load_tail(a, n) == mx_load_tail(b, n);
}

#endif
