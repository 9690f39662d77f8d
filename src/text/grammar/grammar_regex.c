/* grammar_regex.c - recursive descent over an expression. */
#include "text/grammar/grammar_regex.h"

#include <string.h>

#include "base/utf8.h"

enum {
    MAX_REPEAT = 10000,
    MAX_RANGES = 512,
};

typedef struct reader {
    mx_grammar_builder *b;
    const mx_regex_context *context;
    mx_str text;
    size_t at;
    int32_t depth;
    mx_error *err;
} reader;

typedef struct ranges {
    mx_cp_range items[MAX_RANGES];
    int32_t n;
} ranges;

static const mx_cp_range digits[] = {{'0', '9'}};
static const mx_cp_range words[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
static const mx_cp_range spaces[] = {{'\t', '\r'}, {' ', ' '}};
static const mx_cp_range line_ends[] = {{'\n', '\n'}, {'\r', '\r'}};

static mx_status fail(reader *r, mx_status status, const char *what)
{
    return mx_fail(r->err, status, "character %zu of the expression \"%.*s\": %s", r->at + 1,
                   (int)MX_MIN(r->text.len, 100), r->text.ptr, what);
}

static char peek(const reader *r)
{
    return r->at < r->text.len ? r->text.ptr[r->at] : '\0';
}

static bool is_at_end(const reader *r)
{
    return r->at >= r->text.len;
}

static mx_gnode *class_node(reader *r, const mx_cp_range *items, int32_t n, bool is_negated)
{
    return r->context->map ? r->context->map(r->b, items, n, is_negated) : mx_gnode_class(r->b, items, n, is_negated);
}

static mx_status add_range(reader *r, ranges *to, mx_cp_range range)
{
    if (to->n == MAX_RANGES) {
        return fail(r, MX_INVALID, "a class has too many ranges");
    }
    to->items[to->n++] = range;
    return MX_OK;
}

/* Adds a named class or its opposite. */
static mx_status add_class(reader *r, ranges *to, const mx_cp_range *items, int32_t n, bool is_negated)
{
    int32_t from = 0;
    for (int32_t i = 0; i < n; i++) {
        if (!is_negated) {
            MX_TRY(add_range(r, to, items[i]));
        } else if (items[i].first > from) {
            MX_TRY(add_range(r, to, (mx_cp_range){from, items[i].first - 1}));
        }
        from = items[i].last + 1;
    }
    return is_negated ? add_range(r, to, (mx_cp_range){from, MX_GRAMMAR_MAX_CODEPOINT}) : MX_OK;
}

static mx_status read_hex(reader *r, int32_t n_digits, int32_t *cp)
{
    *cp = 0;
    for (int32_t i = 0; i < n_digits; i++, r->at++) {
        const char c = peek(r);
        const char lower = (char)(c | 0x20);
        const int32_t digit = c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
        if (digit < 0) {
            return fail(r, MX_INVALID, "an escape needs hexadecimal digits");
        }
        *cp = *cp * 16 + digit;
    }
    return MX_OK;
}

/* Behind a backslash: a class is added to *to, or *cp is a character and *is_char set. */
static mx_status read_escape(reader *r, ranges *to, int32_t *cp, bool *is_char)
{
    static const char named[] = "nrtfv0";
    static const char meant[] = "\n\r\t\f\v";
    static const char punctuation[] = "\\.^$|?*+()[]{}/-\"'#&%,:;<=>@_`~! ";
    const char c = peek(r);
    *is_char = false;
    switch (c) {
    case 'd':
    case 'D': r->at++; return add_class(r, to, digits, MX_COUNTOF(digits), c == 'D');
    case 'w':
    case 'W': r->at++; return add_class(r, to, words, MX_COUNTOF(words), c == 'W');
    case 's':
    case 'S': r->at++; return add_class(r, to, spaces, MX_COUNTOF(spaces), c == 'S');
    default: break;
    }
    *is_char = true;
    if (c == 'x' || c == 'u') {
        r->at++;
        return read_hex(r, c == 'x' ? 2 : 4, cp);
    }
    const char *name = c ? strchr(named, c) : NULL;
    if (name) {
        *cp = (uint8_t)meant[name - named];
    } else if (c && strchr(punctuation, c)) {
        *cp = (uint8_t)c;
    } else {
        return fail(r, MX_UNSUPPORTED, "this escape is not supported");
    }
    r->at++;
    return MX_OK;
}

static mx_status read_plain(reader *r, int32_t *cp)
{
    r->at += mx_utf8_decode(r->text.ptr + r->at, r->text.len - r->at, cp);
    return *cp >= 0 ? MX_OK : fail(r, MX_INVALID, "it is not UTF-8");
}

/* One end of a range in a class. */
static mx_status read_class_item(reader *r, ranges *to, int32_t *cp, bool *is_char)
{
    *is_char = true;
    if (peek(r) != '\\') {
        return read_plain(r, cp);
    }
    r->at++;
    if (peek(r) == 'b') {
        r->at++;
        *cp = '\b';
        return MX_OK;
    }
    return read_escape(r, to, cp, is_char);
}

static mx_status read_class(reader *r, mx_gnode **out)
{
    ranges list = {.n = 0};
    r->at++;
    const bool is_negated = peek(r) == '^';
    r->at += is_negated;
    while (peek(r) != ']') {
        mx_cp_range range = {0, 0};
        bool is_char;
        if (is_at_end(r)) {
            return fail(r, MX_INVALID, "a class has no closing bracket");
        }
        if (peek(r) == '[' && r->at + 1 < r->text.len && r->text.ptr[r->at + 1] == ':') {
            return fail(r, MX_UNSUPPORTED, "classes by name are not supported");
        }
        MX_TRY(read_class_item(r, &list, &range.first, &is_char));
        range.last = range.first;
        if (is_char && peek(r) == '-' && r->at + 1 < r->text.len && r->text.ptr[r->at + 1] != ']') {
            bool is_last_char;
            r->at++;
            MX_TRY(read_class_item(r, &list, &range.last, &is_last_char));
            if (!is_last_char || range.last < range.first) {
                return fail(r, MX_INVALID, "a range of a class ends before it begins");
            }
        }
        if (is_char) {
            MX_TRY(add_range(r, &list, range));
        }
    }
    r->at++;
    *out = class_node(r, list.items, list.n, is_negated);
    return MX_OK;
}

static mx_status read_number(reader *r, int32_t *out)
{
    *out = 0;
    while (peek(r) >= '0' && peek(r) <= '9') {
        *out = *out * 10 + (peek(r) - '0');
        r->at++;
        if (*out > MAX_REPEAT) {
            return fail(r, MX_INVALID, "a repetition goes beyond 10000");
        }
    }
    return MX_OK;
}

/* Whether a { begins a repetition rather than standing for itself. */
static bool is_at_braces(const reader *r)
{
    return peek(r) == '{' && r->at + 1 < r->text.len && r->text.ptr[r->at + 1] >= '0' && r->text.ptr[r->at + 1] <= '9';
}

static mx_status read_repetition(reader *r, mx_gnode **node)
{
    const char c = peek(r);
    int32_t least = c == '+';
    int32_t most = c == '?' ? 1 : MX_GRAMMAR_NO_LIMIT;
    if (c == '*' || c == '+' || c == '?') {
        r->at++;
    } else if (is_at_braces(r)) {
        r->at++;
        MX_TRY(read_number(r, &least));
        most = least;
        if (peek(r) == ',') {
            r->at++;
            most = MX_GRAMMAR_NO_LIMIT;
            if (peek(r) != '}') {
                MX_TRY(read_number(r, &most));
            }
        }
        if (peek(r) != '}' || (most >= 0 && most < least)) {
            return fail(r, MX_INVALID, "a repetition is {n}, {n,} or {n,m}");
        }
        r->at++;
    } else {
        return MX_OK;
    }
    if (peek(r) == '?' || peek(r) == '+') {
        return fail(r, MX_UNSUPPORTED, "lazy and possessive repetition is not supported");
    }
    *node = mx_gnode_repeat(r->b, *node, least, most);
    return peek(r) == '*' || is_at_braces(r) ? fail(r, MX_INVALID, "nothing to repeat") : MX_OK;
}

static mx_status read_alternatives(reader *r, mx_gnode **out);

static mx_status read_group(reader *r, mx_gnode **out)
{
    if (++r->depth > MX_GRAMMAR_MAX_DEPTH) {
        return fail(r, MX_INVALID, "groups are nested too deeply");
    }
    r->at++;
    if (peek(r) == '?') {
        if (r->at + 1 >= r->text.len || r->text.ptr[r->at + 1] != ':') {
            return fail(r, MX_UNSUPPORTED, "look-around, names and flags of groups are not supported");
        }
        r->at += 2;
    }
    MX_TRY(read_alternatives(r, out));
    if (peek(r) != ')') {
        return fail(r, MX_INVALID, "a parenthesis is not closed");
    }
    r->at++;
    r->depth--;
    return MX_OK;
}

static mx_status read_item(reader *r, mx_gnode **out)
{
    const char c = peek(r);
    if (c == '(') {
        return read_group(r, out);
    }
    if (c == '[') {
        return read_class(r, out);
    }
    if (c == '.') {
        r->at++;
        *out = class_node(r, line_ends, MX_COUNTOF(line_ends), true);
        return MX_OK;
    }
    if (c == '*' || c == '+' || c == '?' || is_at_braces(r)) {
        return fail(r, MX_INVALID, "nothing to repeat");
    }
    if (c == '^' || c == '$') {
        return fail(r, MX_UNSUPPORTED, "^ and $ are supported at the ends alone");
    }
    ranges list = {.n = 0};
    int32_t cp = 0;
    bool is_char = true;
    r->at += c == '\\';
    MX_TRY(c == '\\' ? read_escape(r, &list, &cp, &is_char) : read_plain(r, &cp));
    if (is_char) {
        list.items[list.n++] = (mx_cp_range){cp, cp};
    }
    *out = class_node(r, list.items, list.n, false);
    return MX_OK;
}

/* One alternative; at the top, anchors and the text around a match. */
static mx_status read_sequence(reader *r, mx_gnode **out)
{
    const bool is_top = r->depth == 0;
    *out = mx_gnode_list(r->b, MX_GNODE_SEQ);
    if (is_top && peek(r) == '^') {
        r->at++;
    } else if (is_top) {
        mx_gnode_add(r->b, *out, r->context->any);
    }
    bool is_anchored = false;
    while (!is_at_end(r) && peek(r) != '|' && peek(r) != ')') {
        mx_gnode *item = NULL;
        if (is_top && peek(r) == '$' && (r->at + 1 == r->text.len || r->text.ptr[r->at + 1] == '|')) {
            r->at++;
            is_anchored = true;
            break;
        }
        MX_TRY(read_item(r, &item));
        MX_TRY(mx_grammar_builder_status(r->b, r->err));
        MX_TRY(read_repetition(r, &item));
        mx_gnode_add(r->b, *out, item);
    }
    if (is_top && !is_anchored) {
        mx_gnode_add(r->b, *out, r->context->any);
    }
    return MX_OK;
}

static mx_status read_alternatives(reader *r, mx_gnode **out)
{
    *out = mx_gnode_list(r->b, MX_GNODE_ALT);
    for (;;) {
        mx_gnode *sequence = NULL;
        MX_TRY(read_sequence(r, &sequence));
        mx_gnode_add(r->b, *out, sequence);
        if (peek(r) != '|') {
            return MX_OK;
        }
        r->at++;
    }
}

mx_status mx_grammar_regex_node(mx_grammar_builder *b, mx_str text, const mx_regex_context *context, mx_gnode **out,
                                mx_error *err)
{
    reader r = {.b = b, .context = context, .text = text, .err = err};
    MX_TRY(read_alternatives(&r, out));
    if (!is_at_end(&r)) {
        return fail(&r, MX_INVALID, "this belongs to no group");
    }
    return mx_grammar_builder_status(b, err);
}

mx_status mx_grammar_regex_read(mx_grammar_builder *b, mx_str text, int32_t *i_root, mx_error *err)
{
    static const mx_regex_context plain = {NULL, NULL};
    mx_gnode *node = NULL;
    MX_TRY(mx_grammar_regex_node(b, text, &plain, &node, err));
    *i_root = mx_grammar_new_rule(b, node);
    return mx_grammar_builder_status(b, err);
}
