/* onig_syntax.c - groups, quantifiers and everything else between the classes. */
#include "text/tokenizer/onig_syntax.h"

#include "text/tokenizer/onig_class.h"
#include "text/tokenizer/unicode.h"

#define MAX_GROUPS 128
#define NO_ATOM    SIZE_MAX

#define BOUNDARY(here, not_here)                                                                                       \
    "(?:(?<=[" MX_ONIG_WORD "])(?" here "[" MX_ONIG_WORD "])|(?<![" MX_ONIG_WORD "])(?" not_here "[" MX_ONIG_WORD "])" \
    ")"

typedef struct translation {
    mx_onig o;
    size_t atom;        /* where in the output the part begins that a quantifier would repeat; NO_ATOM: none */
    bool is_quantified; /* it has a quantifier already */
    struct {
        size_t start;      /* of the group in the output */
        unsigned n_closes; /* groups that (?i) opened inside it, which end where it ends */
    } groups[MAX_GROUPS];
    size_t n_groups; /* open ones; groups[0] is the whole pattern */
} translation;

static mx_status put_atom(translation *t, const char *text)
{
    t->atom = t->o.out->len;
    t->is_quantified = false;
    return mx_onig_put(&t->o, text);
}

static mx_status insert(translation *t, size_t at, const char *text)
{
    mx_buf *out = t->o.out;
    const size_t n = strlen(text);
    MX_TRY(mx_onig_put(&t->o, text));
    memmove(out->data + at + n, out->data + at, out->len - n - at);
    memcpy(out->data + at, text, n);
    return MX_OK;
}

static size_t read_number(const mx_onig *o, size_t *at)
{
    size_t value = 0;
    const size_t start = *at;
    while (*at < o->pattern.len && o->pattern.ptr[*at] >= '0' && o->pattern.ptr[*at] <= '9' && *at - start < 6) {
        value = value * 10 + (size_t)(o->pattern.ptr[(*at)++] - '0');
    }
    return value;
}

/* {n}, {n,}, {,m} or {n,m} at o->at: its length, 0 when the brace stands for itself. */
static size_t interval_length(const mx_onig *o, bool *has_comma, bool *starts_with_comma)
{
    size_t at = o->at + 1;
    read_number(o, &at);
    const bool has_min = at > o->at + 1;
    *has_comma = at < o->pattern.len && o->pattern.ptr[at] == ',';
    *starts_with_comma = *has_comma && !has_min;
    bool has_max = false;
    if (*has_comma) {
        const size_t start = ++at;
        read_number(o, &at);
        has_max = at > start;
    }
    const bool is_closed = at < o->pattern.len && o->pattern.ptr[at] == '}';
    return is_closed && (has_min || has_max) ? at + 1 - o->at : 0;
}

/* A quantifier at o->at, with the suffix that belongs to it. A second quantifier on the same part repeats the first. */
static mx_status quantifier(translation *t)
{
    mx_onig *o = &t->o;
    bool has_comma = false;
    bool starts_with_comma = false;
    const bool is_interval = mx_onig_peek(o, 0) == '{';
    const size_t n = is_interval ? interval_length(o, &has_comma, &starts_with_comma) : 1;
    if (n == 0 || t->atom == NO_ATOM) {
        if (n != 0) {
            return mx_fail(o->err, MX_FORMAT, "the quantifier at byte %zu has nothing to repeat", o->at);
        }
        o->at++;
        return put_atom(t, "\\{");
    }
    if (t->is_quantified) {
        MX_TRY(insert(t, t->atom, "(?:"));
        MX_TRY(mx_onig_put(o, ")"));
    }
    if (starts_with_comma) {
        MX_TRY(mx_onig_put(o, "{0"));
    }
    MX_TRY(mx_buf_append(o->out, mx_str_slice(o->pattern, o->at + starts_with_comma, o->at + n), o->err));
    o->at += n;
    t->is_quantified = true;
    const char suffix = mx_onig_peek(o, 0);
    /* X{n,m}+ repeats X{n,m}, and X{n}? makes it optional; only after * + ? are these possessive and lazy. */
    const bool is_lazy = suffix == '?' && (!is_interval || has_comma);
    if (is_lazy || (suffix == '+' && !is_interval)) {
        o->at++;
        MX_TRY(mx_buf_append_char(o->out, suffix, o->err));
    }
    return MX_OK;
}

static mx_status open_group(translation *t, const char *text)
{
    if (t->n_groups == MAX_GROUPS) {
        return mx_fail(t->o.err, MX_FORMAT, "groups are nested deeper than %d", MAX_GROUPS);
    }
    t->groups[t->n_groups].start = t->o.out->len;
    t->groups[t->n_groups].n_closes = 0;
    t->n_groups++;
    t->atom = NO_ATOM;
    return mx_onig_put(&t->o, text);
}

/* (?im-im) or (?im-im:...) at o->at. (?x) would make white space mean nothing; nobody's tokenizer has it. */
static mx_status options(translation *t)
{
    mx_onig *o = &t->o;
    char text[24] = "(?";
    size_t n = 2;
    for (o->at += 2; mx_onig_peek(o, 0) != ')' && mx_onig_peek(o, 0) != ':'; o->at++) {
        const char c = mx_onig_peek(o, 0);
        if (n + 2 >= sizeof text || (c != 'i' && c != 'm' && c != '-')) {
            return mx_fail(o->err, MX_UNSUPPORTED, "the construct at byte %zu is not supported", o->at);
        }
        text[n++] = c == 'm' ? 's' : c;
    }
    text[n] = ':';
    const bool is_group = mx_onig_peek(o, 0) == ':';
    o->at++;
    if (is_group) {
        return open_group(t, text);
    }
    t->groups[t->n_groups - 1].n_closes++; /* a(?i)b|c is a(?i:b|c) */
    t->atom = NO_ATOM;
    return mx_onig_put(o, text);
}

static mx_status group(translation *t)
{
    static const char *const starts[] = {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!"};
    mx_onig *o = &t->o;
    const mx_str rest = mx_str_slice(o->pattern, o->at, o->pattern.len);
    for (size_t i = 0; i < MX_COUNTOF(starts); i++) {
        if (mx_str_starts_with(rest, mx_str_from(starts[i]))) {
            o->at += strlen(starts[i]);
            return open_group(t, starts[i]);
        }
    }
    if (mx_str_starts_with(rest, MX_STR("(?#"))) {
        const size_t end = mx_str_find(o->pattern, MX_STR(")"), o->at);
        if (end == MX_STR_NPOS) {
            return mx_fail(o->err, MX_FORMAT, "(?# without )");
        }
        o->at = end + 1;
        return MX_OK;
    }
    if (mx_str_starts_with(rest, MX_STR("(?<")) || mx_str_starts_with(rest, MX_STR("(?'"))) {
        const size_t end = mx_str_find(rest, rest.ptr[2] == '<' ? MX_STR(">") : MX_STR("'"), 3);
        char text[64];
        if (end == MX_STR_NPOS || end + 2 > sizeof text) {
            return mx_fail(o->err, MX_FORMAT, "the name of the group at byte %zu does not end", o->at);
        }
        memcpy(text, rest.ptr, end + 1);
        text[end + 1] = '\0';
        o->at += end + 1;
        return open_group(t, text);
    }
    if (mx_str_starts_with(rest, MX_STR("(?"))) {
        return options(t);
    }
    o->at++;
    return open_group(t, "(");
}

static mx_status close_group(translation *t)
{
    if (t->n_groups == 1) {
        return mx_fail(t->o.err, MX_FORMAT, "a ) too many at byte %zu", t->o.at);
    }
    const size_t i = --t->n_groups;
    for (unsigned n = 0; n <= t->groups[i].n_closes; n++) {
        MX_TRY(mx_onig_put(&t->o, ")"));
    }
    t->o.at++;
    t->atom = t->groups[i].start;
    t->is_quantified = false;
    return MX_OK;
}

/* \k<name>, \k<1> and \g<name>: PCRE2 takes names as they are and numbers as \g{1}. */
static mx_status reference(translation *t)
{
    mx_onig *o = &t->o;
    const bool is_call = mx_onig_peek(o, 1) == 'g';
    const size_t end = mx_str_find(o->pattern, MX_STR(">"), o->at);
    if (mx_onig_peek(o, 2) != '<' || end == MX_STR_NPOS || end - o->at > 64) {
        return mx_fail(o->err, MX_FORMAT, "\\%c without <name> at byte %zu", mx_onig_peek(o, 1), o->at);
    }
    const mx_str name = mx_str_slice(o->pattern, o->at + 3, end);
    const bool is_number = name.len && ((name.ptr[0] >= '0' && name.ptr[0] <= '9') || name.ptr[0] == '-');
    o->at = end + 1;
    MX_TRY(put_atom(t, ""));
    const char *format = is_call ? "\\g<%.*s>" : is_number ? "\\g{%.*s}" : "\\k<%.*s>";
    return mx_buf_printf(o->out, o->err, format, MX_STR_ARG(name)); /* NOLINT: one of three literals */
}

static mx_status escape(translation *t)
{
    static const struct {
        char letter;
        const char *text;
    } table[] = {
        {'b', BOUNDARY("!", "=")},
        {'B', BOUNDARY("=", "!")},
        {'A', "\\A"},
        {'z', "\\z"},
        {'Z', "\\Z"},
        {'G', "\\G"},
        {'K', "\\K"},
        {'R', "\\R"},
        {'X', "\\X"},
        {'N', "\\N"},
        {'O', "(?s:.)"},
    };
    mx_onig *o = &t->o;
    const char c = mx_onig_peek(o, 1);
    for (size_t i = 0; i < MX_COUNTOF(table); i++) {
        if (table[i].letter == c) {
            o->at += 2;
            return put_atom(t, table[i].text);
        }
    }
    if (c == 'k' || c == 'g') {
        return reference(t);
    }
    if (c >= '1' && c <= '9') {
        o->at += 2;
        MX_TRY(put_atom(t, ""));
        return mx_buf_printf(o->out, o->err, "\\g{%c}", c);
    }
    const size_t start = o->out->len;
    bool is_one;
    MX_TRY(mx_onig_shorthand(o, false, &is_one));
    if (!is_one) {
        int32_t code_point;
        MX_TRY(mx_onig_escaped_char(o, &code_point));
        MX_TRY(mx_onig_put_char(o, code_point));
    }
    t->atom = start;
    t->is_quantified = false;
    return MX_OK;
}

static mx_status literal(translation *t)
{
    size_t size;
    const int32_t code_point = mx_utf8_next(t->o.pattern.ptr + t->o.at, &size);
    t->o.at += size;
    MX_TRY(put_atom(t, ""));
    return mx_onig_put_char(&t->o, code_point);
}

static mx_status step(translation *t)
{
    mx_onig *o = &t->o;
    const char c = mx_onig_peek(o, 0);
    switch (c) {
    case '\\': return escape(t);
    case '(': return group(t);
    case ')': return close_group(t);
    case '*':
    case '+':
    case '?':
    case '{': return quantifier(t);
    case '[': {
        const size_t start = o->out->len;
        MX_TRY(mx_onig_class(o));
        t->atom = start;
        t->is_quantified = false;
        return MX_OK;
    }
    case '|':
        o->at++;
        MX_TRY(put_atom(t, "|"));
        t->atom = NO_ATOM;
        return MX_OK;
    case '.':
    case '^':
    case '$': {
        const char text[2] = {c, '\0'};
        o->at++;
        return put_atom(t, text);
    }
    }
    return literal(t);
}

mx_status mx_onig_translate(mx_str pattern, mx_buf *out, bool *needs_sets, mx_error *err)
{
    translation t = {.o = {.pattern = pattern, .out = out, .err = err}, .atom = NO_ATOM, .n_groups = 1};
    while (!mx_onig_at_end(&t.o)) {
        MX_TRY(step(&t));
    }
    if (t.n_groups > 1) {
        return mx_fail(err, MX_FORMAT, "a ( without )");
    }
    for (unsigned n = 0; n < t.groups[0].n_closes; n++) {
        MX_TRY(mx_onig_put(&t.o, ")"));
    }
    *needs_sets = t.o.needs_sets;
    return MX_OK;
}
