/* chars.c - characters as Python's str sees them: utf8proc's categories, and tables for what it does not tell. */
#include "text/template/chars.h"

#include <utf8proc.h>

#include "base/compiler.h"
#include "base/utf8.h"
#include "text/template/char_tables.h"

static bool in_ranges(int32_t c, const mx_tpl_char_range *ranges, size_t n)
{
    size_t low = 0;
    while (low < n) {
        const size_t middle = low + (n - low) / 2;
        if (c > ranges[middle].last) {
            low = middle + 1;
        } else {
            n = middle;
        }
        if (c >= ranges[middle].first && c <= ranges[middle].last) {
            return true;
        }
    }
    return false;
}

#define IN_RANGES(c, name) in_ranges((c), mx_tpl_##name, mx_tpl_n_##name)

static bool is_letter(int32_t c)
{
    const utf8proc_category_t category = utf8proc_category(c);
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool mx_tpl_is_space(int32_t c)
{
    if (c < 128) {
        return (c >= 9 && c <= 13) || (c >= 28 && c <= 32);
    }
    return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
           c == 0x202F || c == 0x205F || c == 0x3000;
}

bool mx_tpl_is_alpha(int32_t c)
{
    if (c < 128) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    }
    return is_letter(c);
}

bool mx_tpl_is_decimal(int32_t c)
{
    return c < 128 ? c >= '0' && c <= '9' : utf8proc_category(c) == UTF8PROC_CATEGORY_ND;
}

bool mx_tpl_is_digit(int32_t c)
{
    return mx_tpl_is_decimal(c) || (c >= 128 && IN_RANGES(c, other_digit));
}

bool mx_tpl_is_numeric(int32_t c)
{
    if (c < 128) {
        return mx_tpl_is_decimal(c);
    }
    const utf8proc_category_t category = utf8proc_category(c);
    return (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO) || IN_RANGES(c, other_numeric);
}

bool mx_tpl_is_alnum(int32_t c)
{
    return mx_tpl_is_alpha(c) || mx_tpl_is_numeric(c);
}

bool mx_tpl_is_printable(int32_t c)
{
    if (c < 128) {
        return c >= 32 && c < 127;
    }
    switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS: return false;
    default: return true;
    }
}

bool mx_tpl_is_lower(int32_t c)
{
    if (c < 128) {
        return c >= 'a' && c <= 'z';
    }
    return utf8proc_category(c) == UTF8PROC_CATEGORY_LL || IN_RANGES(c, other_lower);
}

bool mx_tpl_is_upper(int32_t c)
{
    if (c < 128) {
        return c >= 'A' && c <= 'Z';
    }
    return utf8proc_category(c) == UTF8PROC_CATEGORY_LU || IN_RANGES(c, other_upper);
}

bool mx_tpl_is_title(int32_t c)
{
    return c >= 128 && utf8proc_category(c) == UTF8PROC_CATEGORY_LT;
}

bool mx_tpl_is_cased(int32_t c)
{
    return mx_tpl_is_lower(c) || mx_tpl_is_upper(c) || mx_tpl_is_title(c);
}

bool mx_tpl_is_case_ignorable(int32_t c)
{
    static const int32_t punctuation[] = {0x27,   0x2E,   0x3A,   0xB7,   0x387,  0x55F,  0x5F4,  0x2018, 0x2019,
                                          0x2024, 0x2027, 0xFE13, 0xFE52, 0xFE55, 0xFF07, 0xFF0E, 0xFF1A};
    for (size_t i = 0; i < MX_COUNTOF(punctuation); i++) {
        if (c == punctuation[i]) {
            return true;
        }
    }
    switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK: return true;
    default: return false;
    }
}

bool mx_tpl_is_identifier_start(int32_t c)
{
    if (c < 128) {
        return c == '_' || mx_tpl_is_alpha(c);
    }
    return (is_letter(c) || utf8proc_category(c) == UTF8PROC_CATEGORY_NL) != IN_RANGES(c, id_start);
}

bool mx_tpl_is_identifier_part(int32_t c)
{
    if (c < 128) {
        return c == '_' || mx_tpl_is_alnum(c);
    }
    switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_PC: return !IN_RANGES(c, id_part);
    default: return is_letter(c) != IN_RANGES(c, id_part);
    }
}

/* Decimal digits come in runs of ten, 0 first. */
int mx_tpl_decimal_value(int32_t c)
{
    if (c < 128) {
        return c >= '0' && c <= '9' ? c - '0' : -1;
    }
    if (!mx_tpl_is_decimal(c)) {
        return -1;
    }
    if (c >= 0x1D7CE && c <= 0x1D7FF) { /* five styles of mathematical digits, one after the other */
        return (c - 0x1D7CE) % 10;
    }
    int value = 0;
    while (value < 9 && mx_tpl_is_decimal(c - value - 1)) {
        value++;
    }
    return value;
}

int mx_tpl_map_case(mx_tpl_case to, int32_t c, int32_t out[3])
{
    static const mx_tpl_case_run *const runs[] = {mx_tpl_lower_runs, mx_tpl_upper_runs, mx_tpl_title_runs,
                                                  mx_tpl_fold_runs};
    static const size_t *const n_runs[] = {&mx_tpl_n_lower_runs, &mx_tpl_n_upper_runs, &mx_tpl_n_title_runs,
                                           &mx_tpl_n_fold_runs};
    size_t low = 0;
    size_t high = *n_runs[to];
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const mx_tpl_case_run *run = &runs[to][middle];
        if (c > run->last) {
            low = middle + 1;
        } else if (c < run->first) {
            high = middle;
        } else if (run->to[0]) {
            out[0] = run->to[0];
            out[1] = run->to[1];
            out[2] = run->to[2];
            return 1 + (out[1] != 0) + (out[2] != 0);
        } else {
            out[0] = (c - run->first) % run->step == 0 ? c + run->delta : c;
            return 1;
        }
    }
    out[0] = c;
    return 1;
}

int32_t mx_tpl_char_at(mx_str s, size_t *at)
{
    const unsigned char first = (unsigned char)s.ptr[*at];
    if (first < 128) {
        (*at)++;
        return first;
    }
    int32_t c = 0;
    *at += mx_utf8_decode(s.ptr + *at, s.len - *at, &c);
    return c < 0 ? (int32_t)MX_UTF8_REPLACEMENT : c;
}

int32_t mx_tpl_char_before(mx_str s, size_t *at)
{
    size_t from = *at - 1;
    while (from > 0 && ((unsigned char)s.ptr[from] & 0xC0) == 0x80) {
        from--;
    }
    *at = from;
    return mx_tpl_char_at(s, &from);
}

size_t mx_tpl_count_chars(mx_str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++) {
        n += ((unsigned char)s.ptr[i] & 0xC0) != 0x80;
    }
    return n;
}

size_t mx_tpl_char_offset(mx_str s, size_t i)
{
    size_t at = 0;
    for (; at < s.len; at++) {
        if (((unsigned char)s.ptr[at] & 0xC0) != 0x80) {
            if (i == 0) {
                break;
            }
            i--;
        }
    }
    return at;
}

mx_str mx_tpl_trim(mx_str s, bool left, bool right)
{
    size_t from = 0;
    size_t to = s.len;
    while (left && from < to) {
        size_t next = from;
        if (!mx_tpl_is_space(mx_tpl_char_at(s, &next))) {
            break;
        }
        from = next;
    }
    while (right && to > from) {
        size_t before = to;
        if (!mx_tpl_is_space(mx_tpl_char_before(s, &before))) {
            break;
        }
        to = before;
    }
    return mx_str_slice(s, from, to);
}
