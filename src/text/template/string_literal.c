/* string_literal.c - escapes in quoted strings. */
#include "text/template/string_literal.h"

#include <stdio.h>

#include "base/utf8.h"
#include "text/template/chars.h"

static const char simple_escapes[][2] = {{'\\', '\\'}, {'\'', '\''}, {'"', '"'},  {'a', '\a'}, {'b', '\b'},
                                         {'f', '\f'},  {'n', '\n'},  {'r', '\r'}, {'t', '\t'}, {'v', '\v'}};

static int hex_value(char c)
{
    const char lower = (char)(c | 0x20);
    return c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Reads n_digits hexadecimal digits at s[at]; -1 where there are fewer or they are no character. */
static int32_t read_hex(mx_str s, size_t at, size_t n_digits, const char **why)
{
    int64_t code = 0;
    for (size_t i = 0; i < n_digits; i++) {
        const int digit = at + i < s.len ? hex_value(s.ptr[at + i]) : -1;
        if (digit < 0) {
            *why = "an escape with \\x, \\u or \\U is cut off";
            return -1;
        }
        code = code * 16 + digit;
    }
    if (code > 0x10FFFF) {
        *why = "illegal Unicode character";
        return -1;
    }
    if (code >= 0xD800 && code <= 0xDFFF) {
        *why = "a surrogate is no character; write the character itself or \\U with eight digits";
        return -1;
    }
    return (int32_t)code;
}

/* Python makes \xe9 of a character beyond ASCII before it looks for escapes, so a backslash before one escapes the
 * backslash of that: what remains is the backslash and the digits. */
static size_t spell_out(int32_t c, char *to)
{
    char digits[16];
    const int n = snprintf(digits, sizeof digits,
                           c < 0x100     ? "\\x%02x"
                           : c < 0x10000 ? "\\u%04x"
                                         : "\\U%08x",
                           (unsigned)c);
    memcpy(to, digits, (size_t)n);
    return (size_t)n;
}

/* The escape whose backslash is at s[*at - 1]. Appends to to[*n_written]; false as mx_tpl_decode_string. */
static bool decode_escape(mx_str s, size_t *at, char *to, size_t *n_written, const char **why)
{
    const char c = s.ptr[*at];
    for (size_t i = 0; i < MX_COUNTOF(simple_escapes); i++) {
        if (c == simple_escapes[i][0]) {
            to[(*n_written)++] = simple_escapes[i][1];
            (*at)++;
            return true;
        }
    }
    if (c == '\n') {
        (*at)++;
        return true;
    }
    const size_t n_digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (n_digits) {
        const int32_t code = read_hex(s, *at + 1, n_digits, why);
        if (code < 0) {
            return false;
        }
        *n_written += mx_utf8_encode(code, to + *n_written);
        *at += 1 + n_digits;
        return true;
    }
    if (c >= '0' && c <= '7') {
        int32_t code = 0;
        for (int i = 0; i < 3 && *at < s.len && s.ptr[*at] >= '0' && s.ptr[*at] <= '7'; i++) {
            code = code * 8 + (s.ptr[(*at)++] - '0');
        }
        *n_written += mx_utf8_encode(code, to + *n_written);
        return true;
    }
    if (c == 'N') {
        *why = "characters by name (\\N{...}) are not supported; write the character itself";
        return false;
    }
    const int32_t other = mx_tpl_char_at(s, at);
    if (other < 0x80) {
        to[(*n_written)++] = '\\';
        to[(*n_written)++] = (char)other;
    } else {
        *n_written += spell_out(other, to + *n_written);
    }
    return true;
}

bool mx_tpl_decode_string(mx_arena *arena, mx_str quoted, mx_tpl_value *out, const char **why)
{
    /* The longest growth is a backslash and a two-byte character that become \xe9: 3 bytes to 4. */
    char *text = quoted.len < MX_STR_NPOS / 4 ? mx_arena_alloc(arena, quoted.len * 2 + 16) : NULL;
    if (!text) {
        *why = "out of memory";
        return false;
    }
    size_t n = 0;
    for (size_t at = 0; at < quoted.len;) {
        if (quoted.ptr[at] != '\\') {
            text[n++] = quoted.ptr[at++];
            continue;
        }
        at++;
        if (at >= quoted.len) {
            *why = "\\ at end of string";
            return false;
        }
        if (!decode_escape(quoted, &at, text, &n, why)) {
            return false;
        }
    }
    *out = mx_tpl_str((mx_str){text, n});
    return true;
}
