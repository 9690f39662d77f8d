/* json_nodes.c - strings, numbers, lists. */
#include "text/grammar/json_nodes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

enum {
    MAX_INDENT = 64,
    MAX_DIGITS = 16,
};
#define MAX_INTEGER 999999999999999 /* where a range has no end */

static mx_gnode *seq(mx_grammar_builder *b, mx_gnode *x, mx_gnode *y, mx_gnode *z)
{
    mx_gnode *list = mx_gnode_list(b, MX_GNODE_SEQ);
    mx_gnode_add(b, list, x);
    mx_gnode_add(b, list, y);
    mx_gnode_add(b, list, z);
    return list;
}

static mx_gnode *alt(mx_grammar_builder *b, mx_gnode *x, mx_gnode *y, mx_gnode *z)
{
    mx_gnode *list = mx_gnode_list(b, MX_GNODE_ALT);
    mx_gnode_add(b, list, x);
    mx_gnode_add(b, list, y);
    mx_gnode_add(b, list, z);
    return list;
}

static mx_gnode *range(mx_grammar_builder *b, int32_t first, int32_t last)
{
    return mx_gnode_class(b, &(mx_cp_range){first, last}, 1, false);
}

static mx_gnode *digits(mx_grammar_builder *b, int32_t least, int32_t most)
{
    return mx_gnode_repeat(b, range(b, '0', '9'), least, most);
}

/* ---- strings ---- */

static bool is_in(int32_t cp, const mx_cp_range *ranges, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        if (cp >= ranges[i].first && cp <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

mx_gnode *mx_json_char(mx_grammar_builder *b, const mx_cp_range *ranges, int32_t n_ranges, bool is_negated)
{
    static const char short_names[] = "bfnrt";
    static const char short_chars[] = "\b\f\n\r\t";
    mx_gnode *all = mx_gnode_class(b, ranges, n_ranges, is_negated);
    mx_gnode *list = mx_gnode_list(b, MX_GNODE_ALT);
    if (!all || !list) {
        return NULL;
    }
    for (int32_t i = 0; i < all->n_ranges; i++) { /* what may stand as it is */
        static const mx_cp_range plain[] = {{0x20, 0x21}, {0x23, 0x5B}, {0x5D, MX_GRAMMAR_MAX_CODEPOINT}};
        for (size_t j = 0; j < MX_COUNTOF(plain); j++) {
            const int32_t first = MX_MAX(all->ranges[i].first, plain[j].first);
            const int32_t last = MX_MIN(all->ranges[i].last, plain[j].last);
            if (first <= last) {
                mx_gnode_add(b, list, range(b, first, last));
            }
        }
    }
    for (int32_t cp = 0; cp <= '\\'; cp++) {
        char text[8];
        const char *known = cp > 0 && cp < 0x20 ? strchr(short_chars, cp) : NULL;
        if ((cp >= 0x20 && cp != '"' && cp != '\\') || !is_in(cp, all->ranges, all->n_ranges)) {
            continue;
        }
        if (cp >= 0x20) {
            (void)snprintf(text, sizeof text, "\\%c", (char)cp);
        } else if (known) {
            (void)snprintf(text, sizeof text, "\\%c", short_names[known - short_chars]);
        } else {
            (void)snprintf(text, sizeof text, "\\u%04x", (unsigned)cp);
        }
        mx_gnode_add(b, list, mx_gnode_text(b, text));
    }
    return list;
}

/* Any character of a string, in any of the ways to write it. */
static mx_gnode *any_char(mx_grammar_builder *b)
{
    static const mx_cp_range plain[] = {{0x20, 0x21}, {0x23, 0x5B}, {0x5D, MX_GRAMMAR_MAX_CODEPOINT}};
    static const mx_cp_range escapes[] = {{'"', '"'}, {'/', '/'}, {'\\', '\\'}, {'b', 'b'},
                                          {'f', 'f'}, {'n', 'n'}, {'r', 'r'},   {'t', 't'}};
    static const mx_cp_range hex[] = {{'0', '9'}, {'A', 'F'}, {'a', 'f'}};
    /* no \uD800 to \uDFFF: halves of a pair would have to match */
    static const mx_cp_range not_d[] = {{'0', '9'}, {'A', 'C'}, {'E', 'F'}, {'a', 'c'}, {'e', 'f'}};
    mx_gnode *hex_digit = mx_gnode_class(b, hex, MX_COUNTOF(hex), false);
    mx_gnode *low =
        seq(b, mx_gnode_class(b, not_d, MX_COUNTOF(not_d), false), mx_gnode_repeat(b, hex_digit, 3, 3), NULL);
    mx_gnode *d = seq(b, mx_gnode_class(b, (const mx_cp_range[]){{'D', 'D'}, {'d', 'd'}}, 2, false), range(b, '0', '7'),
                      mx_gnode_repeat(b, hex_digit, 2, 2));
    mx_gnode *escaped = alt(b, mx_gnode_class(b, escapes, MX_COUNTOF(escapes), false),
                            seq(b, mx_gnode_text(b, "u"), alt(b, low, d, NULL), NULL), NULL);
    return alt(b, mx_gnode_class(b, plain, MX_COUNTOF(plain), false), seq(b, mx_gnode_text(b, "\\"), escaped, NULL),
               NULL);
}

mx_gnode *mx_json_chars(mx_grammar_builder *b, int32_t least, int32_t most)
{
    return mx_gnode_repeat(b, any_char(b), least, most);
}

/* Contents that go on behind `n_shared` bytes which the names [n_names] have in common, with the closing mark. Names
 * are plain: letters, digits and the like, each a byte. */
static mx_gnode *other_rest(mx_grammar_builder *b, const mx_str *names, int32_t n_names, size_t n_shared)
{
    mx_cp_range taken[128];
    int32_t n_taken = 0;
    bool is_name = false; /* what was read so far */
    mx_gnode *list = mx_gnode_list(b, MX_GNODE_ALT);
    for (int32_t i = 0; i < n_names; i++) {
        if (names[i].len == n_shared) {
            is_name = true;
            continue;
        }
        const int32_t next = (uint8_t)names[i].ptr[n_shared];
        if (is_in(next, taken, n_taken)) {
            continue;
        }
        mx_str same[128];
        int32_t n_same = 0;
        for (int32_t j = i; j < n_names; j++) {
            if (names[j].len > n_shared && (uint8_t)names[j].ptr[n_shared] == next) {
                same[n_same++] = names[j];
            }
        }
        mx_gnode_add(b, list, seq(b, range(b, next, next), other_rest(b, same, n_same, n_shared + 1), NULL));
        taken[n_taken++] = (mx_cp_range){next, next};
    }
    mx_cp_range free_chars[128];
    int32_t n_free = 0;
    for (int32_t i = 0; i < n_taken; i++) {
        free_chars[n_free++] = taken[i];
    }
    free_chars[n_free++] = (mx_cp_range){0, 0x1F};
    free_chars[n_free++] = (mx_cp_range){'"', '"'};
    free_chars[n_free++] = (mx_cp_range){'\\', '\\'};
    mx_gnode_add(b, list,
                 seq(b, mx_gnode_class(b, free_chars, n_free, true), mx_json_chars(b, 0, MX_GRAMMAR_NO_LIMIT),
                     mx_gnode_text(b, "\"")));
    if (!is_name) {
        mx_gnode_add(b, list, mx_gnode_text(b, "\""));
    }
    return list;
}

mx_gnode *mx_json_other_name(mx_grammar_builder *b, const mx_str *names, int32_t n_names)
{
    return seq(b, mx_gnode_text(b, "\""), other_rest(b, names, n_names, 0), NULL);
}

/* ---- numbers ---- */

static mx_gnode *natural(mx_grammar_builder *b)
{
    return alt(b, mx_gnode_text(b, "0"), seq(b, range(b, '1', '9'), digits(b, 0, MAX_DIGITS - 1), NULL), NULL);
}

static mx_gnode *minus(mx_grammar_builder *b)
{
    return mx_gnode_repeat(b, mx_gnode_text(b, "-"), 0, 1);
}

static mx_gnode *fraction(mx_grammar_builder *b)
{
    return seq(b, mx_gnode_text(b, "."), digits(b, 1, MAX_DIGITS), NULL);
}

mx_gnode *mx_json_integer(mx_grammar_builder *b)
{
    return seq(b, minus(b), natural(b), NULL);
}

mx_gnode *mx_json_number(mx_grammar_builder *b)
{
    static const mx_cp_range e[] = {{'E', 'E'}, {'e', 'e'}};
    static const mx_cp_range sign[] = {{'+', '+'}, {'-', '-'}};
    mx_gnode *exponent =
        seq(b, mx_gnode_class(b, e, 2, false), mx_gnode_repeat(b, mx_gnode_class(b, sign, 2, false), 0, 1),
            digits(b, 1, 2)); /* two digits stay within the range of doubles */
    return seq(b, mx_json_integer(b), mx_gnode_repeat(b, fraction(b), 0, 1), mx_gnode_repeat(b, exponent, 0, 1));
}

/* Numbers of one length from lo to hi, from digit `at` on. */
static mx_gnode *same_length(mx_grammar_builder *b, const char *lo, const char *hi, int32_t at, bool is_low,
                             bool is_high)
{
    const int32_t n_left = (int32_t)strlen(lo) - at;
    if (n_left == 0 || (!is_low && !is_high)) {
        return digits(b, n_left, n_left);
    }
    const char from = is_low ? lo[at] : '0';
    const char to = is_high ? hi[at] : '9';
    if (from == to) {
        return seq(b, range(b, from, to), same_length(b, lo, hi, at + 1, is_low, is_high), NULL);
    }
    mx_gnode *list = mx_gnode_list(b, MX_GNODE_ALT);
    const char middle_from = (char)(from + is_low);
    const char middle_to = (char)(to - is_high);
    if (is_low) {
        mx_gnode_add(b, list, seq(b, range(b, from, from), same_length(b, lo, hi, at + 1, true, false), NULL));
    }
    if (middle_from <= middle_to) {
        mx_gnode_add(b, list, seq(b, range(b, middle_from, middle_to), digits(b, n_left - 1, n_left - 1), NULL));
    }
    if (is_high) {
        mx_gnode_add(b, list, seq(b, range(b, to, to), same_length(b, lo, hi, at + 1, false, true), NULL));
    }
    return list;
}

/* From lo to hi, both at least 0; NULL where there is none. */
static mx_gnode *naturals(mx_grammar_builder *b, int64_t lo, int64_t hi)
{
    if (lo > hi) {
        return NULL;
    }
    mx_gnode *list = mx_gnode_list(b, MX_GNODE_ALT);
    for (int64_t from = lo; from <= hi;) {
        char lo_text[24], hi_text[24];
        int64_t most = 9; /* of as many digits */
        while (most < from) {
            most = most * 10 + 9;
        }
        const int64_t to = MX_MIN(most, hi);
        (void)snprintf(lo_text, sizeof lo_text, "%" PRId64, from);
        (void)snprintf(hi_text, sizeof hi_text, "%" PRId64, to);
        mx_gnode_add(b, list, same_length(b, lo_text, hi_text, 0, true, true));
        from = to + 1;
    }
    return list;
}

mx_gnode *mx_json_range(mx_grammar_builder *b, int64_t least, int64_t most, bool has_fraction)
{
    least = MX_MAX(least, -MAX_INTEGER);
    most = MX_MIN(most, MAX_INTEGER);
    if (least > most) {
        return NULL;
    }
    mx_gnode *list = mx_gnode_list(b, MX_GNODE_ALT);
    mx_gnode_add(b, list, naturals(b, MX_MAX(least, 0), most));
    mx_gnode *below = least < 0 ? naturals(b, MX_MAX(-most, 1), -least) : NULL;
    if (below) {
        mx_gnode_add(b, list, seq(b, mx_gnode_text(b, "-"), below, NULL));
    }
    if (has_fraction) { /* n.f lies between n and n + 1, -n.f between -n - 1 and -n */
        mx_gnode *above = naturals(b, MX_MAX(least, 0), most - 1);
        below = least < 0 ? naturals(b, MX_MAX(-most, 0), -least - 1) : NULL;
        if (above) {
            mx_gnode_add(b, list, seq(b, above, fraction(b), NULL));
        }
        if (below) {
            mx_gnode_add(b, list, seq(b, mx_gnode_text(b, "-"), below, fraction(b)));
        }
    }
    return list;
}

/* ---- lists and the rules of a document ---- */

mx_gnode *mx_json_list(mx_grammar_builder *b, const mx_json_rules *rules, const char *open, mx_gnode *item,
                       int32_t least, int32_t most, const char *close)
{
    mx_gnode *space = mx_gnode_ref(b, rules->i_space);
    mx_gnode *all = mx_gnode_list(b, MX_GNODE_SEQ);
    mx_gnode_add(b, all, mx_gnode_text(b, open));
    mx_gnode_add(b, all, space);
    if (most != 0) {
        mx_gnode *more = mx_gnode_list(b, MX_GNODE_SEQ);
        mx_gnode_add(b, more, mx_gnode_text(b, ","));
        mx_gnode_add(b, more, space);
        mx_gnode_add(b, more, item);
        mx_gnode *items = seq(
            b, item, mx_gnode_repeat(b, more, MX_MAX(least - 1, 0), most > 0 ? most - 1 : MX_GRAMMAR_NO_LIMIT), space);
        mx_gnode_add(b, all, least > 0 ? items : mx_gnode_repeat(b, items, 0, 1));
    }
    mx_gnode_add(b, all, mx_gnode_text(b, close));
    return all;
}

void mx_json_rules_init(mx_json_rules *rules, mx_grammar_builder *b)
{
    static const mx_cp_range blank[] = {{'\t', '\t'}, {' ', ' '}};
    mx_gnode *line =
        seq(b, mx_gnode_text(b, "\n"), mx_gnode_repeat(b, mx_gnode_class(b, blank, 2, false), 0, MAX_INDENT), NULL);
    rules->i_space = mx_grammar_new_rule(b, mx_gnode_repeat(b, alt(b, mx_gnode_text(b, " "), line, NULL), 0, 1));
    rules->i_string = mx_grammar_new_rule(
        b, seq(b, mx_gnode_text(b, "\""), mx_json_chars(b, 0, MX_GRAMMAR_NO_LIMIT), mx_gnode_text(b, "\"")));
    rules->i_value = mx_grammar_new_rule(b, NULL);
    mx_gnode *value = mx_gnode_ref(b, rules->i_value);
    mx_gnode *string = mx_gnode_ref(b, rules->i_string);
    mx_gnode *member = mx_gnode_list(b, MX_GNODE_SEQ);
    mx_gnode_add(b, member, string);
    mx_gnode_add(b, member, mx_gnode_text(b, ":"));
    mx_gnode_add(b, member, mx_gnode_ref(b, rules->i_space));
    mx_gnode_add(b, member, value);
    rules->i_object = mx_grammar_new_rule(b, mx_json_list(b, rules, "{", member, 0, MX_GRAMMAR_NO_LIMIT, "}"));
    rules->i_array = mx_grammar_new_rule(b, mx_json_list(b, rules, "[", value, 0, MX_GRAMMAR_NO_LIMIT, "]"));
    mx_gnode *any = mx_gnode_list(b, MX_GNODE_ALT);
    mx_gnode_add(b, any, mx_gnode_ref(b, rules->i_object));
    mx_gnode_add(b, any, mx_gnode_ref(b, rules->i_array));
    mx_gnode_add(b, any, string);
    mx_gnode_add(b, any, mx_json_number(b));
    mx_gnode_add(b, any, mx_gnode_text(b, "true"));
    mx_gnode_add(b, any, mx_gnode_text(b, "false"));
    mx_gnode_add(b, any, mx_gnode_text(b, "null"));
    if (!b->has_failed) {
        b->rules[rules->i_value].node = any;
    }
}
