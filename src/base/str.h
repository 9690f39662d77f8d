/* str.h - borrowed byte strings: a pointer and a length, not terminated, any bytes. */
#ifndef MX_BASE_STR_H
#define MX_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct mx_str {
    const char *ptr;
    size_t len;
} mx_str;

/* A string literal as mx_str; the second form is for static tables. */
#define MX_STR(literal) ((mx_str){"" literal, sizeof(literal) - 1})
#define MX_STR_INIT(literal)            \
    {                                   \
        "" literal, sizeof(literal) - 1 \
    }

/* printf("%.*s", MX_STR_ARG(s)) */
#define MX_STR_ARG(s) (int)((s).len > 4096 ? 4096 : (s).len), (s).ptr

#define MX_STR_NPOS SIZE_MAX

static inline mx_str mx_str_from(const char *cstr)
{
    return (mx_str){cstr, cstr ? strlen(cstr) : 0};
}

static inline bool mx_str_eq(mx_str a, mx_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool mx_str_eq_cstr(mx_str a, const char *b)
{
    return mx_str_eq(a, mx_str_from(b));
}

/* The part from byte `from` up to, not including, byte `to`; both are clamped to the string. */
static inline mx_str mx_str_slice(mx_str s, size_t from, size_t to)
{
    to = to > s.len ? s.len : to;
    from = from > to ? to : from;
    return (mx_str){s.ptr ? s.ptr + from : s.ptr, to - from};
}

static inline bool mx_str_starts_with(mx_str s, mx_str prefix)
{
    return s.len >= prefix.len && mx_str_eq(mx_str_slice(s, 0, prefix.len), prefix);
}

static inline bool mx_str_ends_with(mx_str s, mx_str suffix)
{
    return s.len >= suffix.len && mx_str_eq(mx_str_slice(s, s.len - suffix.len, s.len), suffix);
}

/* Bytewise order, shorter first where one is a prefix: <0, 0, >0. */
int mx_str_compare(mx_str a, mx_str b);

/* Place of the first `needle` at or after byte `from`, or MX_STR_NPOS. An empty needle is found at `from`.
 * Takes time for s.len + needle.len bytes at most, whatever they are. */
size_t mx_str_find(mx_str s, mx_str needle, size_t from);

/* Place of the last `needle`, or MX_STR_NPOS. An empty needle is found at s.len. The time is the same. */
size_t mx_str_find_last(mx_str s, mx_str needle);

/* 64-bit hash for tables in memory; not stable between versions, not for untrusted-key denial of service. */
uint64_t mx_str_hash(mx_str s);

/* Edits (insert, delete, replace) between two short names, for "did you mean"; strings over 64 bytes count as far. */
size_t mx_str_distance(mx_str a, mx_str b);

#endif
