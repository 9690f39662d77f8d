/* onig_class.c - escapes, properties and classes of Oniguruma in PCRE2's words.
 *
 * The meanings were measured over all of Unicode against the library that tokenizer files are written for; the unit
 * test holds the counts. */
#include "text/tokenizer/onig_class.h"

#include "base/compiler.h"
#include "base/utf8.h"
#include "text/tokenizer/unicode.h"

#define CLASS_MAX_DEPTH 32

#define SPACE \
    "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}"
#define HEX "0-9A-Fa-f"

/* name (lower case, without separators), what it is between brackets, and the same as a POSIX bracket where that
 * differs */
typedef struct property {
    const char *name, *items, *posix;
} property;

static const property properties[] = {
    {"alnum", "\\p{Alphabetic}\\p{Nd}", NULL},
    {"alpha", "\\p{Alphabetic}", NULL},
    {"blank", "\\p{Zs}\\t", NULL},
    {"cntrl", "\\p{Cc}", NULL},
    {"digit", "\\p{Nd}", NULL},
    {"lower", "\\p{Lowercase}", NULL},
    {"punct", "\\p{P}", "\\p{P}\\p{S}"},
    {"space", SPACE, NULL},
    {"upper", "\\p{Uppercase}", NULL},
    {"xdigit", HEX, NULL},
    {"word", MX_ONIG_WORD_IN_CLASS, NULL},
    {"graph", "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Cf}\\p{Co}\\p{Cs}", NULL},
    {"print", "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Cf}\\p{Co}\\p{Cs}\\p{Zs}", NULL},
    {"ascii", "\\x{0}-\\x{7f}", NULL},
    {"any", "\\x{0}-\\x{10ffff}", NULL},
    {"letter", "\\p{L}", NULL},
    {"casedletter", "\\p{Lu}\\p{Ll}\\p{Lt}", NULL},
    {"lc", "\\p{Lu}\\p{Ll}\\p{Lt}", NULL},
    {"uppercaseletter", "\\p{Lu}", NULL},
    {"lowercaseletter", "\\p{Ll}", NULL},
    {"titlecaseletter", "\\p{Lt}", NULL},
    {"modifierletter", "\\p{Lm}", NULL},
    {"otherletter", "\\p{Lo}", NULL},
    {"mark", "\\p{M}", NULL},
    {"combiningmark", "\\p{M}", NULL},
    {"nonspacingmark", "\\p{Mn}", NULL},
    {"spacingmark", "\\p{Mc}", NULL},
    {"enclosingmark", "\\p{Me}", NULL},
    {"number", "\\p{N}", NULL},
    {"decimalnumber", "\\p{Nd}", NULL},
    {"letternumber", "\\p{Nl}", NULL},
    {"othernumber", "\\p{No}", NULL},
    {"punctuation", "\\p{P}", NULL},
    {"connectorpunctuation", "\\p{Pc}", NULL},
    {"dashpunctuation", "\\p{Pd}", NULL},
    {"openpunctuation", "\\p{Ps}", NULL},
    {"closepunctuation", "\\p{Pe}", NULL},
    {"initialpunctuation", "\\p{Pi}", NULL},
    {"finalpunctuation", "\\p{Pf}", NULL},
    {"otherpunctuation", "\\p{Po}", NULL},
    {"symbol", "\\p{S}", NULL},
    {"mathsymbol", "\\p{Sm}", NULL},
    {"currencysymbol", "\\p{Sc}", NULL},
    {"modifiersymbol", "\\p{Sk}", NULL},
    {"othersymbol", "\\p{So}", NULL},
    {"separator", "\\p{Z}", NULL},
    {"spaceseparator", "\\p{Zs}", NULL},
    {"lineseparator", "\\p{Zl}", NULL},
    {"paragraphseparator", "\\p{Zp}", NULL},
    {"other", "\\p{C}", NULL},
    {"control", "\\p{Cc}", NULL},
    {"format", "\\p{Cf}", NULL},
    {"surrogate", "\\p{Cs}", NULL},
    {"privateuse", "\\p{Co}", NULL},
    {"unassigned", "\\p{Cn}", NULL},
    {"assigned", "\\P{Cn}", NULL},
    {"whitespace", SPACE, NULL},
};

/* Names that PCRE2 knows as they are: two-letter categories and properties of yes and no. Any other is a script. */
static const char *const plain_names[] = {
    "l",
    "lu",
    "ll",
    "lt",
    "lm",
    "lo",
    "m",
    "mn",
    "mc",
    "me",
    "n",
    "nd",
    "nl",
    "no",
    "p",
    "pc",
    "pd",
    "ps",
    "pe",
    "pi",
    "pf",
    "po",
    "s",
    "sm",
    "sc",
    "sk",
    "so",
    "z",
    "zs",
    "zl",
    "zp",
    "c",
    "cc",
    "cf",
    "cn",
    "co",
    "cs",
    "alphabetic",
    "uppercase",
    "lowercase",
    "ideographic",
    "emoji",
    "emojipresentation",
    "emojimodifier",
    "emojimodifierbase",
    "emojicomponent",
    "extendedpictographic",
    "unifiedideograph",
    "joincontrol",
    "variationselector",
    "math",
    "dash",
    "diacritic",
    "extender",
    "hexdigit",
    "asciihexdigit",
    "quotationmark",
    "idstart",
    "idcontinue",
    "xidstart",
    "xidcontinue",
    "cased",
    "caseignorable",
    "radical",
    "graphemebase",
    "graphemeextend",
    "defaultignorablecodepoint",
    "patternwhitespace",
    "noncharactercodepoint",
    "regionalindicator",
    "softdotted",
    "terminalpunctuation",
    "sentenceterminal",
    "bidicontrol",
    "logicalorderexception",
    "deprecated",
};

static const property *find_property(const char *name)
{
    for (size_t i = 0; i < MX_COUNTOF(properties); i++) {
        if (strcmp(properties[i].name, name) == 0) {
            return &properties[i];
        }
    }
    return NULL;
}

/* Lower case, without spaces, '-' and '_'; false when it is too long to be the name of anything. */
static bool simplify_name(mx_str name, char out[40])
{
    size_t n = 0;
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.ptr[i];
        if (c == ' ' || c == '_' || c == '-') {
            continue;
        }
        if (n + 1 >= 40) {
            return false;
        }
        out[n++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    out[n] = '\0';
    return n > 0;
}

/* Writes a set given by its items: alone as a class of its own, inside a class as more items of it. */
static mx_status put_set(mx_onig *o, const char *items, bool is_negated, bool in_class)
{
    if (in_class && !is_negated) {
        return mx_onig_put(o, items);
    }
    o->needs_sets |= in_class;
    MX_TRY(mx_onig_put(o, is_negated ? "[^" : "["));
    MX_TRY(mx_onig_put(o, items));
    return mx_onig_put(o, "]");
}

static mx_status put_property(mx_onig *o, mx_str name, bool is_negated, bool in_class)
{
    char simple[40];
    if (name.len && name.ptr[0] == '^') {
        is_negated = !is_negated;
        name = mx_str_slice(name, 1, name.len);
    }
    if (!simplify_name(name, simple)) {
        return mx_fail(o->err, MX_FORMAT, "\"%.*s\" is not a property of characters", (int)MX_MIN(name.len, (size_t)60),
                       name.ptr);
    }
    const property *known = find_property(simple);
    if (known) {
        return put_set(o, known->items, is_negated, in_class);
    }
    bool is_plain = false;
    for (size_t i = 0; i < MX_COUNTOF(plain_names); i++) {
        is_plain = is_plain || strcmp(plain_names[i], simple) == 0;
    }
    return mx_buf_printf(o->out, o->err, "\\%c{%s%s}", is_negated ? 'P' : 'p', is_plain ? "" : "sc:", simple);
}

mx_status mx_onig_shorthand(mx_onig *o, bool in_class, bool *is_one)
{
    static const struct {
        char letter;
        bool is_negated;
        const char *items, *outside;
    } table[] = {
        {'s', false, SPACE, SPACE},
        {'S', true, SPACE, SPACE},
        {'d', false, "\\p{Nd}", "\\p{Nd}"},
        {'D', true, "\\p{Nd}", "\\p{Nd}"},
        {'w', false, MX_ONIG_WORD_IN_CLASS, MX_ONIG_WORD},
        {'W', true, MX_ONIG_WORD_IN_CLASS, MX_ONIG_WORD},
        {'h', false, HEX, HEX},
        {'H', true, HEX, HEX},
    };
    *is_one = true;
    const char letter = mx_onig_peek(o, 1);
    for (size_t i = 0; i < MX_COUNTOF(table); i++) {
        if (table[i].letter == letter) {
            o->at += 2;
            return put_set(o, in_class ? table[i].items : table[i].outside, table[i].is_negated, in_class);
        }
    }
    if ((letter == 'p' || letter == 'P') && mx_onig_peek(o, 2) == '{') {
        const size_t start = o->at + 3;
        const size_t end = mx_str_find(o->pattern, MX_STR("}"), start);
        if (end == MX_STR_NPOS) {
            return mx_fail(o->err, MX_FORMAT, "\\%c{ without }", letter);
        }
        o->at = end + 1;
        return put_property(o, mx_str_slice(o->pattern, start, end), letter == 'P', in_class);
    }
    *is_one = false;
    return MX_OK;
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Reads up to max_digits hexadecimal digits at o->at. */
static size_t read_hex(mx_onig *o, size_t max_digits, int32_t *value)
{
    size_t n = 0;
    *value = 0;
    while (n < max_digits && hex_value(mx_onig_peek(o, 0)) >= 0 && !mx_onig_at_end(o)) {
        *value = *value * 16 + hex_value(mx_onig_peek(o, 0));
        o->at++;
        n++;
    }
    return n;
}

static mx_status read_code_point(mx_onig *o, char letter, int32_t *code_point)
{
    const bool has_braces = letter == 'x' && mx_onig_peek(o, 0) == '{';
    o->at += has_braces;
    const size_t max_digits = has_braces ? 6 : letter == 'x' ? 2 : 4;
    const size_t n = read_hex(o, max_digits, code_point);
    if (n == 0 || (letter == 'u' && n < 4) || (has_braces && mx_onig_peek(o, 0) != '}')) {
        return mx_fail(o->err, MX_FORMAT, "\\%c without a character's number", letter);
    }
    o->at += has_braces;
    if (letter == 'x' && !has_braces && *code_point > 0x7F) {
        return mx_fail(o->err, MX_UNSUPPORTED, "\\x%02X is part of a character; write \\x{...}", (unsigned)*code_point);
    }
    if (*code_point > 0x10FFFF || (*code_point >= 0xD800 && *code_point < 0xE000)) {
        return mx_fail(o->err, MX_FORMAT, "U+%04X is not a character", (unsigned)*code_point);
    }
    return MX_OK;
}

mx_status mx_onig_escaped_char(mx_onig *o, int32_t *code_point)
{
    static const char letters[] = "t\tn\nr\rf\fa\av\ve\x1b"; /* pairs: the letter, its character */
    o->at++;
    if (mx_onig_at_end(o)) {
        return mx_fail(o->err, MX_FORMAT, "the pattern ends with a backslash");
    }
    const char c = mx_onig_peek(o, 0);
    size_t size;
    *code_point = mx_utf8_next(o->pattern.ptr + o->at, &size);
    o->at += size;
    for (size_t i = 0; i + 1 < sizeof letters; i += 2) {
        if (c == letters[i]) {
            *code_point = (uint8_t)letters[i + 1];
            return MX_OK;
        }
    }
    if (c == 'x' || c == 'u') {
        return read_code_point(o, c, code_point);
    }
    if (c == '0') {
        int32_t value = 0;
        for (size_t n = 0; n < 2 && mx_onig_peek(o, 0) >= '0' && mx_onig_peek(o, 0) <= '7'; n++, o->at++) {
            value = value * 8 + (mx_onig_peek(o, 0) - '0');
        }
        *code_point = value;
    }
    return MX_OK;
}

mx_status mx_onig_put_char(mx_onig *o, int32_t code_point)
{
    const bool is_plain = (code_point >= '0' && code_point <= '9') || (code_point >= 'a' && code_point <= 'z') ||
                          (code_point >= 'A' && code_point <= 'Z');
    if (is_plain) {
        return mx_buf_append_char(o->out, (char)code_point, o->err);
    }
    return mx_buf_printf(o->out, o->err, "\\x{%x}", (unsigned)code_point);
}

/* [:alpha:] or [:^alpha:] at o->at; *is_one is false when what is there is a nested class. */
static mx_status posix_bracket(mx_onig *o, bool *is_one)
{
    *is_one = false;
    const size_t start = o->at + 2;
    const size_t end = mx_str_find(o->pattern, MX_STR(":]"), start);
    if (end == MX_STR_NPOS || end - start > 16) {
        return MX_OK;
    }
    mx_str name = mx_str_slice(o->pattern, start, end);
    const bool is_negated = name.len && name.ptr[0] == '^';
    name = mx_str_slice(name, is_negated, name.len);
    char simple[40];
    const property *known = simplify_name(name, simple) ? find_property(simple) : NULL;
    if (!known) {
        return MX_OK;
    }
    *is_one = true;
    o->at = end + 2;
    return put_set(o, known->posix ? known->posix : known->items, is_negated, true);
}

static mx_status class_char(mx_onig *o, int32_t *code_point)
{
    if (mx_onig_peek(o, 0) == '\\') {
        if (mx_onig_peek(o, 1) == 'b') {
            o->at += 2;
            *code_point = '\b';
            return MX_OK;
        }
        return mx_onig_escaped_char(o, code_point);
    }
    size_t size;
    *code_point = mx_utf8_next(o->pattern.ptr + o->at, &size);
    o->at += size;
    return MX_OK;
}

/* A character, or a range of them. */
static mx_status class_range(mx_onig *o)
{
    int32_t first;
    MX_TRY(class_char(o, &first));
    MX_TRY(mx_onig_put_char(o, first));
    const char next = mx_onig_peek(o, 1);
    if (mx_onig_peek(o, 0) != '-' || next == ']' || next == '\0' || next == '[') {
        return MX_OK;
    }
    if (next == '\\' && mx_onig_peek(o, 2) != '\0' && strchr("sSdDwWhHpP", mx_onig_peek(o, 2))) {
        return MX_OK; /* a-\d: no range; the minus stands for itself */
    }
    o->at++;
    int32_t last;
    MX_TRY(class_char(o, &last));
    if (last < first) {
        return mx_fail(o->err, MX_FORMAT, "a range of characters from U+%04X down to U+%04X", (unsigned)first,
                       (unsigned)last);
    }
    MX_TRY(mx_onig_put(o, "-"));
    return mx_onig_put_char(o, last);
}

static mx_status class_at_depth(mx_onig *o, bool is_nested, int depth);

/* The items up to && or ]; *n_items counts them. */
static mx_status class_items(mx_onig *o, int depth, size_t *n_items)
{
    for (*n_items = 0;; (*n_items)++) {
        if (mx_onig_at_end(o)) {
            return mx_fail(o->err, MX_FORMAT, "[ without ]");
        }
        const char c = mx_onig_peek(o, 0);
        bool is_one = false;
        if ((c == ']' && *n_items > 0) || (c == '&' && mx_onig_peek(o, 1) == '&')) {
            return MX_OK;
        }
        if (c == '\\') {
            MX_TRY(mx_onig_shorthand(o, true, &is_one));
        } else if (c == '[') {
            if (mx_onig_peek(o, 1) == ':') {
                MX_TRY(posix_bracket(o, &is_one));
            }
            if (!is_one) {
                MX_TRY(class_at_depth(o, true, depth + 1));
                is_one = true;
            }
        }
        if (!is_one) {
            MX_TRY(class_range(o));
        }
    }
}

/* A class inside a class: if it is neither negated nor intersected its items simply join those around it. */
static mx_status class_at_depth(mx_onig *o, bool is_nested, int depth)
{
    if (depth > CLASS_MAX_DEPTH) {
        return mx_fail(o->err, MX_FORMAT, "classes are nested deeper than %d", CLASS_MAX_DEPTH);
    }
    o->at++;
    const bool is_negated = mx_onig_peek(o, 0) == '^' && !mx_onig_at_end(o);
    o->at += is_negated;
    const size_t start = o->out->len;
    size_t n_items;
    MX_TRY(class_items(o, depth, &n_items));
    const bool is_intersected = mx_onig_peek(o, 0) == '&';
    if (!is_nested || is_negated || is_intersected) {
        const char *open = is_intersected ? (is_negated ? "[^[" : "[[") : (is_negated ? "[^" : "[");
        const size_t n = strlen(open);
        MX_TRY(mx_buf_append(o->out, (mx_str){open, n}, o->err)); /* makes room; then the items move behind it */
        memmove(o->out->data + start + n, o->out->data + start, o->out->len - n - start);
        memcpy(o->out->data + start, open, n);
        o->needs_sets |= is_nested || is_intersected;
    }
    while (mx_onig_peek(o, 0) == '&') {
        o->at += 2;
        MX_TRY(mx_onig_put(o, "]&&["));
        MX_TRY(class_items(o, depth, &n_items));
    }
    o->at++; /* the ] */
    MX_TRY(mx_onig_put(o, is_intersected ? "]]" : is_nested && !is_negated ? "" : "]"));
    return MX_OK;
}

mx_status mx_onig_class(mx_onig *o)
{
    return class_at_depth(o, false, 0);
}
