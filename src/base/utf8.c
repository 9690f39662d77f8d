/* utf8.c - the well-formed byte sequences are table 3-7 of the Unicode Standard. */
#include "base/utf8.h"

/* Bytes that a lead byte announces, and the range of its second byte. 0: never a lead byte. */
static size_t lead_info(uint8_t lead, uint8_t *lo, uint8_t *hi)
{
    *lo = 0x80;
    *hi = 0xBF;
    if (lead < 0x80) {
        return 1;
    }
    if (lead >= 0xC2 && lead <= 0xDF) {
        return 2;
    }
    if (lead >= 0xE0 && lead <= 0xEF) {
        *lo = lead == 0xE0 ? 0xA0 : 0x80;
        *hi = lead == 0xED ? 0x9F : 0xBF;
        return 3;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        *lo = lead == 0xF0 ? 0x90 : 0x80;
        *hi = lead == 0xF4 ? 0x8F : 0xBF;
        return 4;
    }
    return 0;
}

/* Bytes of the longest well-formed start at s; *n_wanted is what the lead byte announces (0: not a lead byte). */
static size_t well_formed_prefix(const uint8_t *s, size_t len, size_t *n_wanted)
{
    uint8_t lo;
    uint8_t hi;
    *n_wanted = lead_info(s[0], &lo, &hi);
    if (*n_wanted < 2) {
        return *n_wanted;
    }
    size_t n = 1;
    while (n < *n_wanted && n < len && s[n] >= lo && s[n] <= hi) {
        lo = 0x80;
        hi = 0xBF;
        n++;
    }
    return n;
}

size_t mx_utf8_decode(const char *s, size_t len, int32_t *code_point)
{
    static const uint8_t lead_mask[5] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    const uint8_t *p = (const uint8_t *)s;
    size_t n_wanted;
    const size_t n = well_formed_prefix(p, len, &n_wanted);
    if (n_wanted == 0 || n < n_wanted) {
        *code_point = -1;
        return n ? n : 1;
    }
    int32_t value = p[0] & lead_mask[n];
    for (size_t i = 1; i < n; i++) {
        value = value << 6 | (p[i] & 0x3F);
    }
    *code_point = value;
    return n;
}

size_t mx_utf8_encode(int32_t code_point, char out[4])
{
    const uint32_t c = (uint32_t)code_point;
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

size_t mx_utf8_incomplete_tail(mx_str s)
{
    for (size_t back = 1; back <= 3 && back <= s.len; back++) {
        const uint8_t *p = (const uint8_t *)s.ptr + (s.len - back);
        if ((*p & 0xC0) != 0x80) {
            size_t n_wanted;
            const size_t n = well_formed_prefix(p, back, &n_wanted);
            return n == back && n < n_wanted ? back : 0;
        }
    }
    return 0;
}

bool mx_utf8_is_valid(mx_str s)
{
    for (size_t at = 0; at < s.len;) {
        int32_t code_point;
        at += mx_utf8_decode(s.ptr + at, s.len - at, &code_point);
        if (code_point < 0) {
            return false;
        }
    }
    return true;
}

mx_status mx_utf8_append_lossy(mx_buf *out, mx_str s, mx_error *err)
{
    size_t start = 0; /* of the well-formed stretch that is not appended yet */
    for (size_t at = 0; at < s.len;) {
        int32_t code_point;
        const size_t n = mx_utf8_decode(s.ptr + at, s.len - at, &code_point);
        if (code_point < 0) {
            MX_TRY(mx_buf_append(out, mx_str_slice(s, start, at), err));
            MX_TRY(mx_buf_append(out, MX_STR("\xEF\xBF\xBD"), err));
            start = at + n;
        }
        at += n;
    }
    return mx_buf_append(out, mx_str_slice(s, start, s.len), err);
}
