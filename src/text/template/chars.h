/* chars.h - characters as Python's str sees them. */
#ifndef MX_TEXT_TEMPLATE_CHARS_H
#define MX_TEXT_TEMPLATE_CHARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* str.isspace and the like of one character; \s of re is the same as isspace. */
bool mx_tpl_is_space(int32_t c);
bool mx_tpl_is_alpha(int32_t c);
bool mx_tpl_is_decimal(int32_t c);
bool mx_tpl_is_digit(int32_t c);
bool mx_tpl_is_numeric(int32_t c);
bool mx_tpl_is_alnum(int32_t c);
bool mx_tpl_is_printable(int32_t c);
bool mx_tpl_is_lower(int32_t c);
bool mx_tpl_is_upper(int32_t c);
bool mx_tpl_is_title(int32_t c);
bool mx_tpl_is_cased(int32_t c);
bool mx_tpl_is_case_ignorable(int32_t c);
bool mx_tpl_is_identifier_start(int32_t c); /* XID_Start and _ */
bool mx_tpl_is_identifier_part(int32_t c);  /* XID_Continue */

/* The value of a decimal digit of any script, or -1. */
int mx_tpl_decimal_value(int32_t c);

typedef enum mx_tpl_case { MX_TPL_LOWER, MX_TPL_UPPER, MX_TPL_TITLE, MX_TPL_FOLD } mx_tpl_case;

/* The one to three characters that c becomes; returns how many. */
int mx_tpl_map_case(mx_tpl_case to, int32_t c, int32_t out[3]);

/* Decodes the character at s[at]; *at moves past it. s is valid UTF-8 and at < s.len. */
int32_t mx_tpl_char_at(mx_str s, size_t *at);

/* Decodes the character that ends before s[at] and moves *at to its beginning; at > 0. */
int32_t mx_tpl_char_before(mx_str s, size_t *at);

size_t mx_tpl_count_chars(mx_str s);

/* Byte where the character number i begins, s.len where there are not so many. */
size_t mx_tpl_char_offset(mx_str s, size_t i);

/* The part without white space at the ends. */
mx_str mx_tpl_trim(mx_str s, bool left, bool right);

#endif
