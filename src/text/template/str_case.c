/* str_case.c - upper, lower, title and the like, with Unicode's full mappings as Python has them. */
#include "text/template/chars.h"
#include "text/template/strings.h"

#define CAPITAL_SIGMA     0x3A3
#define SMALL_SIGMA       0x3C3
#define SMALL_FINAL_SIGMA 0x3C2

/* A capital sigma ends a word when a cased letter is before it and none after it, letters that count for nothing
 * (apostrophes, accents) passed over. */
static bool is_final_sigma(mx_str s, size_t from, size_t to)
{
    int32_t c = 0;
    size_t at = from;
    while (at > 0) {
        c = mx_tpl_char_before(s, &at);
        if (!mx_tpl_is_case_ignorable(c)) {
            break;
        }
        c = 0;
    }
    if (c == 0 || !mx_tpl_is_cased(c)) {
        return false;
    }
    at = to;
    while (at < s.len) {
        c = mx_tpl_char_at(s, &at);
        if (!mx_tpl_is_case_ignorable(c)) {
            return !mx_tpl_is_cased(c);
        }
    }
    return true;
}

static mx_status put_mapped(mx_tpl_run *run, mx_str s, size_t from, size_t to, mx_tpl_case style, int32_t c)
{
    int32_t mapped[3];
    if (style == MX_TPL_LOWER && c == CAPITAL_SIGMA) {
        return mx_tpl_put_code(run, is_final_sigma(s, from, to) ? SMALL_FINAL_SIGMA : SMALL_SIGMA);
    }
    const int n = mx_tpl_map_case(style, c, mapped);
    for (int i = 0; i < n; i++) {
        MX_TRY(mx_tpl_put_code(run, mapped[i]));
    }
    return MX_OK;
}

mx_status mx_tpl_put_case(mx_tpl_run *run, mx_str s, mx_tpl_case_style style)
{
    bool after_cased = false;
    for (size_t at = 0; at < s.len;) {
        const size_t from = at;
        const int32_t c = mx_tpl_char_at(s, &at);
        mx_tpl_case to = MX_TPL_LOWER;
        switch (style) {
        case MX_TPL_CASE_LOWER: break;
        case MX_TPL_CASE_UPPER: to = MX_TPL_UPPER; break;
        case MX_TPL_CASE_FOLD: to = MX_TPL_FOLD; break;
        case MX_TPL_CASE_TITLE:
            to = after_cased ? MX_TPL_LOWER : MX_TPL_TITLE;
            after_cased = mx_tpl_is_cased(c);
            break;
        case MX_TPL_CASE_CAPITALIZE: to = from == 0 ? MX_TPL_TITLE : MX_TPL_LOWER; break;
        case MX_TPL_CASE_SWAP:
            if (!mx_tpl_is_upper(c) && !mx_tpl_is_lower(c)) {
                MX_TRY(mx_tpl_put_code(run, c));
                continue;
            }
            to = mx_tpl_is_upper(c) ? MX_TPL_LOWER : MX_TPL_UPPER;
            break;
        }
        MX_TRY(put_mapped(run, s, from, at, to, c));
    }
    return MX_OK;
}

mx_status mx_tpl_str_case(mx_tpl_run *run, mx_tpl_value s, mx_tpl_case_style style, mx_tpl_value *out)
{
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_put_case(run, mx_tpl_view(s), style));
    return mx_tpl_take(run, mark, s.flags & MX_TPL_MARKUP, out);
}
