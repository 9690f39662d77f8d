/* str_search.c - finding a text in a text, in time that grows with their lengths and not with the product of them.
 *
 * Texts come from users and needles from templates and tokenizers, so the worst case will be met. Short needles are
 * tried at each place where their first byte is; long ones go through the two-way algorithm, which reads no byte of the
 * text more than twice and needs no table.
 *
 * Source: Crochemore & Perrin, "Two-way string-matching", Journal of the ACM 38 (1991).
 */
#include "base/compiler.h"
#include "base/str.h"

enum {
    SHORT_NEEDLE = 32, /* bytes; comparing as many is about as fast as comparing one */
};

/* A text that is read from its begin to its end, or the other way round. */
typedef struct bytes {
    const char *first;
    size_t len;
    bool is_reversed;
} bytes;

static bytes read_from(mx_str s, bool is_reversed)
{
    return (bytes){s.ptr + (is_reversed ? s.len - 1 : 0), s.len, is_reversed};
}

static unsigned char byte_at(const bytes *b, size_t i)
{
    return (unsigned char)*(b->is_reversed ? b->first - i : b->first + i);
}

/* Where the greatest of the needle's suffixes begins, in the order of bytes or in the opposite one, and its period. */
static size_t greatest_suffix(const bytes *needle, bool is_opposite, size_t *period)
{
    size_t start = 0;
    size_t other = 1; /* the suffix that is compared with it, equal in n_equal bytes */
    size_t n_equal = 0;
    *period = 1;
    while (other + n_equal < needle->len) {
        const unsigned char a = byte_at(needle, other + n_equal);
        const unsigned char b = byte_at(needle, start + n_equal);
        if (a == b) {
            n_equal++;
            if (n_equal == *period) {
                other += n_equal;
                n_equal = 0;
            }
        } else if ((a < b) != is_opposite) {
            other += n_equal + 1;
            n_equal = 0;
            *period = other - start;
        } else {
            start = other++;
            n_equal = 0;
            *period = 1;
        }
    }
    return start;
}

/* Where the needle is halved for the search: its right half is looked for first, from left to right, then its left
 * half, from right to left. *period is how far to go on after the right half has been found; *repeats tells that the
 * whole needle has that period, so that what it overlaps is known to be equal. */
static size_t halve(const bytes *needle, size_t *period, bool *repeats)
{
    size_t opposite_period;
    const size_t start = greatest_suffix(needle, false, period);
    const size_t opposite = greatest_suffix(needle, true, &opposite_period);
    const size_t middle = MX_MAX(start, opposite);
    *period = start > opposite ? *period : opposite_period;
    *repeats = true;
    for (size_t i = 0; i < middle && *repeats; i++) {
        *repeats = byte_at(needle, i) == byte_at(needle, i + *period);
    }
    *period = *repeats ? *period : MX_MAX(middle, needle->len - middle) + 1;
    return middle;
}

static size_t find_two_way(const bytes *text, const bytes *needle)
{
    size_t period;
    bool repeats;
    const size_t middle = halve(needle, &period, &repeats);
    size_t n_known = 0; /* bytes at the needle's begin that are known to be there */
    for (size_t at = 0; at + needle->len <= text->len;) {
        size_t i = MX_MAX(middle, n_known);
        while (i < needle->len && byte_at(needle, i) == byte_at(text, at + i)) {
            i++;
        }
        if (i < needle->len) {
            at += i - middle + 1;
            n_known = 0;
            continue;
        }
        for (i = middle; i > n_known && byte_at(needle, i - 1) == byte_at(text, at + i - 1);) {
            i--;
        }
        if (i <= n_known) {
            return at;
        }
        at += period;
        n_known = repeats ? needle->len - period : 0;
    }
    return MX_STR_NPOS;
}

size_t mx_str_find(mx_str s, mx_str needle, size_t from)
{
    if (from > s.len || needle.len > s.len - from) {
        return MX_STR_NPOS;
    }
    if (needle.len == 0) {
        return from;
    }
    if (needle.len > SHORT_NEEDLE) {
        const bytes text = read_from(mx_str_slice(s, from, s.len), false);
        const bytes wanted = read_from(needle, false);
        const size_t at = find_two_way(&text, &wanted);
        return at == MX_STR_NPOS ? at : from + at;
    }
    const size_t last = s.len - needle.len;
    for (size_t at = from; at <= last; at++) {
        const char *hit = memchr(s.ptr + at, needle.ptr[0], last - at + 1);
        if (!hit) {
            return MX_STR_NPOS;
        }
        at = (size_t)(hit - s.ptr);
        if (memcmp(hit, needle.ptr, needle.len) == 0) {
            return at;
        }
    }
    return MX_STR_NPOS;
}

size_t mx_str_find_last(mx_str s, mx_str needle)
{
    if (needle.len > s.len) {
        return MX_STR_NPOS;
    }
    if (needle.len > SHORT_NEEDLE) {
        const bytes text = read_from(s, true);
        const bytes wanted = read_from(needle, true);
        const size_t at = find_two_way(&text, &wanted);
        return at == MX_STR_NPOS ? at : s.len - needle.len - at;
    }
    for (size_t at = s.len - needle.len + 1; at-- > 0;) {
        if (needle.len == 0 || memcmp(s.ptr + at, needle.ptr, needle.len) == 0) {
            return at;
        }
    }
    return MX_STR_NPOS;
}
