/* gbnf.c - recursive descent; depth and repetitions are bounded. */
#include "text/grammar/gbnf.h"

#include <string.h>

#include "base/utf8.h"

enum {
    MAX_REPEAT = 10000,
    MAX_RANGES = 1024, /* of one class */
    MAX_SUFFIXES = 4,  /* *, +, ? or {} behind one item */
};

typedef struct reader {
    mx_grammar_builder *b;
    mx_str text;
    size_t at;
    int32_t depth;
    mx_error *err;
} reader;

static mx_status fail(reader *r, const char *what)
{
    int32_t line = 1;
    for (size_t i = 0; i < r->at && i < r->text.len; i++) {
        line += r->text.ptr[i] == '\n';
    }
    return mx_fail(r->err, MX_INVALID, "line %d of the grammar: %s", (int)line, what);
}

static char peek(const reader *r)
{
    return r->at < r->text.len ? r->text.ptr[r->at] : '\0';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* White space and comments; line ends too where they do not end the rule. */
static void skip(reader *r, bool has_lines)
{
    while (r->at < r->text.len) {
        const char c = peek(r);
        if (c == '#') {
            while (r->at < r->text.len && peek(r) != '\n') {
                r->at++;
            }
        } else if (c == ' ' || c == '\t' || c == '\r' || (has_lines && c == '\n')) {
            r->at++;
        } else {
            return;
        }
    }
}

static mx_str read_name(reader *r)
{
    const size_t from = r->at;
    while (is_word(peek(r))) {
        r->at++;
    }
    return mx_str_slice(r->text, from, r->at);
}

static mx_status read_hex(reader *r, int32_t n_digits, int32_t *cp)
{
    *cp = 0;
    for (int32_t i = 0; i < n_digits; i++, r->at++) {
        const char c = peek(r);
        const char lower = (char)(c | 0x20);
        const int32_t digit = c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
        if (digit < 0 || *cp > MX_GRAMMAR_MAX_CODEPOINT) {
            return fail(r, "an escape needs hexadecimal digits");
        }
        *cp = *cp * 16 + digit;
    }
    const bool is_surrogate = *cp >= 0xD800 && *cp <= 0xDFFF;
    return *cp <= MX_GRAMMAR_MAX_CODEPOINT && !is_surrogate ? MX_OK : fail(r, "an escape names no character");
}

/* One character of a literal or a class, an escape resolved. */
static mx_status read_char(reader *r, int32_t *cp)
{
    static const char plain[] = "nrt\\\"[]-^";
    static const char meant[] = "\n\r\t\\\"[]-^";
    if (peek(r) == '\\') {
        r->at++;
        const char c = peek(r);
        const char *known = c ? strchr(plain, c) : NULL;
        r->at++;
        if (known) {
            *cp = (uint8_t)meant[known - plain];
            return MX_OK;
        }
        return c == 'x'   ? read_hex(r, 2, cp)
               : c == 'u' ? read_hex(r, 4, cp)
               : c == 'U' ? read_hex(r, 8, cp)
                          : fail(r, "there is no such escape");
    }
    r->at += mx_utf8_decode(r->text.ptr + r->at, r->text.len - r->at, cp);
    return *cp >= 0 ? MX_OK : fail(r, "it is not UTF-8");
}

static mx_status read_literal(reader *r, mx_gnode **out)
{
    mx_buf bytes = {.max = 1 << 20};
    mx_status st = MX_OK;
    r->at++;
    while (peek(r) != '"') {
        char utf8[4];
        int32_t cp = 0;
        if (r->at >= r->text.len || peek(r) == '\n') {
            st = fail(r, "a text has no closing quotation mark");
            goto done;
        }
        MX_TRY_OR(done, st, read_char(r, &cp));
        const size_t n = mx_utf8_encode(cp, utf8);
        MX_TRY_OR(done, st, mx_buf_append(&bytes, (mx_str){utf8, n}, r->err));
    }
    r->at++;
    *out = mx_gnode_bytes(r->b, mx_buf_view(&bytes));
done:
    mx_buf_deinit(&bytes);
    return st;
}

static mx_status read_class(reader *r, mx_gnode **out)
{
    mx_cp_range ranges[MAX_RANGES];
    int32_t n = 0;
    r->at++;
    const bool is_negated = peek(r) == '^';
    r->at += is_negated;
    while (peek(r) != ']') {
        mx_cp_range range = {0, 0};
        if (r->at >= r->text.len || n == MAX_RANGES) {
            return fail(r, n == MAX_RANGES ? "a class has too many ranges" : "a class has no closing bracket");
        }
        MX_TRY(read_char(r, &range.first));
        range.last = range.first;
        if (peek(r) == '-' && r->at + 1 < r->text.len && r->text.ptr[r->at + 1] != ']') {
            r->at++;
            MX_TRY(read_char(r, &range.last));
            if (range.last < range.first) {
                return fail(r, "a range of a class ends before it begins");
            }
        }
        ranges[n++] = range;
    }
    r->at++;
    *out = mx_gnode_class(r->b, ranges, n, is_negated);
    return MX_OK;
}

static mx_status read_number(reader *r, int32_t *out)
{
    const size_t from = r->at;
    *out = 0;
    while (peek(r) >= '0' && peek(r) <= '9' && *out <= MAX_REPEAT) {
        *out = *out * 10 + (peek(r) - '0');
        r->at++;
    }
    return r->at > from && *out <= MAX_REPEAT ? MX_OK : fail(r, "a repetition needs a number of at most 10000");
}

static mx_status read_repetition(reader *r, mx_gnode **node)
{
    int32_t least = 0;
    int32_t most = MX_GRAMMAR_NO_LIMIT;
    for (int32_t n = 0; n < MAX_SUFFIXES; n++) {
        skip(r, r->depth > 0);
        const char c = peek(r);
        if (c == '*' || c == '+' || c == '?') {
            least = c == '+';
            most = c == '?' ? 1 : MX_GRAMMAR_NO_LIMIT;
            r->at++;
        } else if (c == '{') {
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
                return fail(r, "a repetition is {n}, {n,} or {n,m}");
            }
            r->at++;
        } else {
            return MX_OK;
        }
        *node = mx_gnode_repeat(r->b, *node, least, most);
    }
    return fail(r, "too many repetitions of one item");
}

static mx_status read_alternatives(reader *r, mx_gnode **out);

/* True where a name begins the next rule. */
static bool is_at_rule(const reader *r)
{
    reader ahead = *r;
    const mx_str name = read_name(&ahead);
    skip(&ahead, false);
    return name.len > 0 && mx_str_starts_with(mx_str_slice(ahead.text, ahead.at, ahead.text.len), MX_STR("::="));
}

static mx_status read_group(reader *r, mx_gnode **out)
{
    if (++r->depth > MX_GRAMMAR_MAX_DEPTH) {
        return fail(r, "parentheses are nested too deeply");
    }
    r->at++;
    MX_TRY(read_alternatives(r, out));
    if (peek(r) != ')') {
        return fail(r, "a parenthesis is not closed");
    }
    r->at++;
    r->depth--;
    return MX_OK;
}

/* One item; *out stays NULL where there is none. */
static mx_status read_item(reader *r, mx_gnode **out)
{
    static const mx_cp_range any = {0, MX_GRAMMAR_MAX_CODEPOINT};
    const char c = peek(r);
    if (c == '"') {
        MX_TRY(read_literal(r, out));
    } else if (c == '[') {
        MX_TRY(read_class(r, out));
    } else if (c == '(') {
        MX_TRY(read_group(r, out));
    } else if (c == '.') {
        r->at++;
        *out = mx_gnode_class(r->b, &any, 1, false);
    } else if (is_word(c) && !is_at_rule(r)) {
        *out = mx_gnode_ref(r->b, mx_grammar_rule(r->b, read_name(r)));
    } else {
        return MX_OK;
    }
    MX_TRY(mx_grammar_builder_status(r->b, r->err));
    return read_repetition(r, out);
}

static mx_status read_sequence(reader *r, mx_gnode **out)
{
    *out = mx_gnode_list(r->b, MX_GNODE_SEQ);
    for (;;) {
        mx_gnode *item = NULL;
        skip(r, r->depth > 0);
        MX_TRY(read_item(r, &item));
        if (!item) {
            return mx_grammar_builder_status(r->b, r->err);
        }
        mx_gnode_add(r->b, *out, item);
    }
}

static mx_status read_alternatives(reader *r, mx_gnode **out)
{
    *out = mx_gnode_list(r->b, MX_GNODE_ALT);
    for (;;) {
        mx_gnode *sequence = NULL;
        skip(r, true); /* behind ::= and | a line may end */
        MX_TRY(read_sequence(r, &sequence));
        mx_gnode_add(r->b, *out, sequence);
        const size_t end = r->at;
        skip(r, true); /* the next line may go on with | */
        if (peek(r) != '|') {
            r->at = r->depth > 0 ? r->at : end;
            return MX_OK;
        }
        r->at++;
    }
}

mx_status mx_gbnf_read(mx_grammar_builder *b, mx_str text, int32_t *i_root, mx_error *err)
{
    reader r = {.b = b, .text = text, .err = err};
    for (skip(&r, true); r.at < text.len; skip(&r, true)) {
        const mx_str name = read_name(&r);
        const int32_t i_rule = name.len > 0 ? mx_grammar_rule(b, name) : -1;
        MX_TRY(mx_grammar_builder_status(b, err));
        skip(&r, false);
        if (name.len == 0 || !mx_str_starts_with(mx_str_slice(text, r.at, text.len), MX_STR("::="))) {
            return fail(&r, "a rule is wanted here: name ::= ...");
        }
        if (b->rules[i_rule].node) {
            return fail(&r, "a rule of this name is there already");
        }
        r.at += 3;
        mx_gnode *node = NULL;
        MX_TRY(read_alternatives(&r, &node));
        b->rules[i_rule].node = node;
        skip(&r, false);
        if (r.at < text.len && peek(&r) != '\n') {
            return fail(&r, "this belongs to no rule");
        }
    }
    *i_root = mx_grammar_rule(b, MX_STR("root"));
    MX_TRY(mx_grammar_builder_status(b, err));
    for (int32_t i = 0; i < b->n_rules; i++) {
        if (!b->rules[i].node && b->rules[i].name.ptr) {
            return mx_fail(err, MX_INVALID, "the grammar has no rule \"%.*s\"", MX_STR_ARG(b->rules[i].name));
        }
    }
    return MX_OK;
}
