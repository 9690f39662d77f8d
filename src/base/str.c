/* str.c - ordering and hashing of byte strings; str_search.c finds things in them. */
#include "base/str.h"

#include "base/bytes.h"
#include "base/compiler.h"

int mx_str_compare(mx_str a, mx_str b)
{
    const size_t n = MX_MIN(a.len, b.len);
    const int order = n ? memcmp(a.ptr, b.ptr, n) : 0;
    if (order != 0) {
        return order;
    }
    return (a.len > b.len) - (a.len < b.len);
}

static uint64_t mix(uint64_t h)
{
    h ^= h >> 32;
    h *= UINT64_C(0xd6e8feb86659fd93);
    h ^= h >> 29;
    return h;
}

uint64_t mx_str_hash(mx_str s)
{
    /* The length is spread over all bits: xored in as it is, it would cancel against the tail's lowest byte. */
    uint64_t h = UINT64_C(0x9e3779b97f4a7c15) * ((uint64_t)s.len + 1);
    const uint8_t *p = (const uint8_t *)s.ptr;
    size_t n = s.len;
    for (; n >= 8; n -= 8, p += 8) {
        h = mix(h ^ mx_load_le64(p)) * UINT64_C(0x9e3779b97f4a7c15);
    }
    uint64_t tail = 0;
    for (size_t i = 0; i < n; i++) {
        tail |= (uint64_t)p[i] << (8 * i);
    }
    return mix(mix(h ^ tail));
}

size_t mx_str_distance(mx_str a, mx_str b)
{
    size_t row[65];
    if (a.len > 64 || b.len > 64) {
        return MX_STR_NPOS;
    }
    for (size_t j = 0; j <= b.len; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a.len; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            const size_t replaced = diagonal + (a.ptr[i - 1] != b.ptr[j - 1]);
            diagonal = row[j];
            row[j] = MX_MIN(replaced, MX_MIN(row[j], row[j - 1]) + 1);
        }
    }
    return row[b.len];
}
