/* unescape.c - HTML entities to characters, as Python's html.unescape reads them. */
#include "base/utf8.h"
#include "text/template/chars.h"
#include "text/template/html_entities.h"
#include "text/template/strings.h"

#define MAX_NAME 32

/* Numbers that HTML reads as the characters of Windows' code page 1252. */
static const uint16_t windows_1252[32] = {0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                          0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
                                          0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                          0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

static const mx_tpl_entity *find_entity(mx_str name)
{
    size_t low = 0;
    size_t high = mx_tpl_n_entities;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = mx_str_compare(mx_str_from(mx_tpl_entities[middle].name), name);
        if (order == 0) {
            return &mx_tpl_entities[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

static bool is_no_character(int64_t code)
{
    return (code >= 1 && code <= 8) || code == 0xB || (code >= 0xE && code <= 0x1F) || (code >= 0x7F && code <= 0x9F) ||
           (code >= 0xFDD0 && code <= 0xFDEF) || (code & 0xFFFE) == 0xFFFE;
}

static mx_status put_number(mx_tpl_run *run, int64_t code)
{
    if (code == 0 || (code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF) {
        return mx_tpl_put_code(run, (int32_t)MX_UTF8_REPLACEMENT);
    }
    if (code == 0x0D) {
        return mx_tpl_put_char(run, '\r');
    }
    if (code >= 0x80 && code <= 0x9F) {
        return mx_tpl_put_code(run, windows_1252[code - 0x80]);
    }
    return is_no_character(code) ? MX_OK : mx_tpl_put_code(run, (int32_t)code);
}

static int digit_of(char c, int base)
{
    const char lower = (char)(c | 0x20);
    const int digit = c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
    return digit < base ? digit : -1;
}

/* "&#123;" or "&#x7b;" at s[at]; *at moves behind it, or stays where there is none. */
static mx_status unescape_number(mx_tpl_run *run, mx_str s, size_t *at)
{
    size_t i = *at + 2;
    const bool is_hex = i < s.len && (s.ptr[i] | 0x20) == 'x';
    const size_t digits = i += is_hex;
    int64_t code = 0;
    for (; i < s.len && digit_of(s.ptr[i], is_hex ? 16 : 10) >= 0; i++) {
        code = MX_MIN(code * (is_hex ? 16 : 10) + digit_of(s.ptr[i], is_hex ? 16 : 10), 0x110000);
    }
    if (i == digits) {
        return MX_OK;
    }
    *at = i + (i < s.len && s.ptr[i] == ';');
    return put_number(run, code);
}

/* A name at s[at]; of a longer word the longest beginning that is a name is taken. */
static mx_status unescape_name(mx_tpl_run *run, mx_str s, size_t *at)
{
    size_t end = *at + 1;
    for (size_t n = 0; n < MAX_NAME && end < s.len && !strchr("\t\n\f <&#;", s.ptr[end]); n++) {
        (void)mx_tpl_char_at(s, &end);
    }
    if (end == *at + 1) {
        return MX_OK;
    }
    end += end < s.len && s.ptr[end] == ';';
    const mx_tpl_entity *entity = find_entity(mx_str_slice(s, *at + 1, end));
    for (; !entity && end > *at + 2; end--) {
        entity = find_entity(mx_str_slice(s, *at + 1, end - 1));
    }
    if (!entity) {
        return MX_OK;
    }
    *at = *at + 1 + strlen(entity->name);
    return mx_tpl_put(run, mx_str_from(entity->text));
}

mx_status mx_tpl_put_unescaped(mx_tpl_run *run, mx_str s)
{
    size_t from = 0;
    for (size_t at = 0; at < s.len;) {
        if (s.ptr[at] != '&' || at + 1 >= s.len) {
            at++;
            continue;
        }
        const size_t before = at;
        const size_t mark = mx_tpl_mark(run);
        MX_TRY(mx_tpl_put(run, mx_str_slice(s, from, before)));
        MX_TRY(s.ptr[at + 1] == '#' ? unescape_number(run, s, &at) : unescape_name(run, s, &at));
        if (at == before) {
            run->text.len = mark;
            at++;
        } else {
            from = at;
        }
    }
    return mx_tpl_put(run, mx_str_slice(s, from, s.len));
}
