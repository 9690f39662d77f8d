/* strings.h - what filters and methods do to strings. Results keep the markup flag of the string that they come from.
 */
#ifndef MX_TEXT_TEMPLATE_STRINGS_H
#define MX_TEXT_TEMPLATE_STRINGS_H

#include "text/template/run.h"

typedef enum mx_tpl_case_style {
    MX_TPL_CASE_LOWER,
    MX_TPL_CASE_UPPER,
    MX_TPL_CASE_FOLD,
    MX_TPL_CASE_TITLE,
    MX_TPL_CASE_CAPITALIZE,
    MX_TPL_CASE_SWAP,
} mx_tpl_case_style;
mx_status mx_tpl_str_case(mx_tpl_run *run, mx_tpl_value s, mx_tpl_case_style style, mx_tpl_value *out) MX_NODISCARD;
mx_status mx_tpl_put_case(mx_tpl_run *run, mx_str s, mx_tpl_case_style style) MX_NODISCARD;

/* chars: NONE or MISSING for white space, else a string. */
mx_status mx_tpl_str_strip(mx_tpl_run *run, mx_tpl_value s, mx_tpl_value chars, bool left, bool right,
                           mx_tpl_value *out) MX_NODISCARD;

/* count < 0: all of them. Puts the text. */
mx_status mx_tpl_put_replaced(mx_tpl_run *run, mx_str s, mx_str old, mx_str new_text, int64_t count) MX_NODISCARD;

/* sep: NONE or MISSING for runs of white space. max_split < 0: no limit. A list. */
mx_status mx_tpl_str_split(mx_tpl_run *run, mx_tpl_value s, mx_tpl_value sep, int64_t max_split, bool from_right,
                           mx_tpl_value *out) MX_NODISCARD;
mx_status mx_tpl_str_splitlines(mx_tpl_run *run, mx_tpl_value s, bool keep_ends, mx_tpl_vec *out) MX_NODISCARD;

/* Pads to width characters; `left` and `right` tell on which sides (both: centred, as Python does it). */
mx_status mx_tpl_str_pad(mx_tpl_run *run, mx_tpl_value s, int64_t width, mx_str fill, bool left, bool right,
                         mx_tpl_value *out) MX_NODISCARD;

/* The part of s with a's markup flag, borrowing its bytes. */
mx_tpl_value mx_tpl_part(mx_tpl_value s, size_t from, size_t to);

/* Bytes of the first characters, the whole where there are fewer. */
mx_tpl_value mx_tpl_first_chars(mx_tpl_value s, int64_t n);

/* html.unescape */
mx_status mx_tpl_put_unescaped(mx_tpl_run *run, mx_str s) MX_NODISCARD;

/* textwrap.wrap of one line into lines. */
mx_status mx_tpl_wrap_line(mx_tpl_run *run, mx_tpl_value line, int64_t width, bool break_long, bool break_hyphens,
                           mx_tpl_vec *lines) MX_NODISCARD;

#endif
