/* bytechars.c - the mapping in closed form: bytes that are not printable are numbered from U+0100 on in their order. */
#include "text/tokenizer/bytechars.h"

#include "text/tokenizer/unicode.h"

static bool is_printable(int32_t c)
{
    return (c >= 0x21 && c <= 0x7E) || (c >= 0xA1 && c <= 0xAC) || (c >= 0xAE && c <= 0xFF);
}

int32_t mx_bytechar_from(uint8_t byte)
{
    if (is_printable(byte)) {
        return byte;
    }
    if (byte <= 0x20) {
        return 0x100 + byte;
    }
    return byte == 0xAD ? 0x143 : 0x121 + (byte - 0x7F);
}

int mx_bytechar_to(int32_t code_point)
{
    if (is_printable(code_point)) {
        return code_point;
    }
    if (code_point >= 0x100 && code_point <= 0x120) {
        return code_point - 0x100;
    }
    if (code_point >= 0x121 && code_point <= 0x142) {
        return code_point - 0x121 + 0x7F;
    }
    return code_point == 0x143 ? 0xAD : -1;
}

mx_status mx_bytechars_append(mx_buf *out, mx_str s, mx_error *err)
{
    MX_TRY(mx_buf_reserve(out, s.len * 2, err));
    char *to = out->data + out->len;
    for (size_t i = 0; i < s.len; i++) {
        const int32_t c = mx_bytechar_from((uint8_t)s.ptr[i]);
        if (c < 0x80) {
            *to++ = (char)c;
        } else {
            *to++ = (char)(0xC0 | c >> 6);
            *to++ = (char)(0x80 | (c & 0x3F));
        }
    }
    out->len = s.len ? (size_t)(to - out->data) : out->len;
    return MX_OK;
}

size_t mx_bytechars_decode(mx_str s, char *out)
{
    size_t n = 0;
    for (size_t at = 0, size; at < s.len; at += size) {
        const int byte = mx_bytechar_to(mx_utf8_next(s.ptr + at, &size));
        if (byte < 0) {
            return MX_STR_NPOS;
        }
        out[n++] = (char)byte;
    }
    return n;
}
