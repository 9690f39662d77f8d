/* scan.c - one function a family of patterns; the members differ in how many digits stay together and the like.
 *
 * All of them end with  \s*[\r\n]+ | \s+(?!\S) | \s+  (gpt2 without the first), which is `white_space` below. */
#include "text/tokenizer/scan.h"

#include "base/compiler.h"

const mx_str mx_scan_gpt2_pattern =
    MX_STR_INIT("'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+");

#define NOT_OTHER (MX_UC_SPACE | MX_UC_LETTER | MX_UC_NUMBER)

typedef struct text {
    const mx_unicode *unicode;
    const char *s;
    size_t len;
} text;

/* The classes of the character at byte `at`; 0 and size 0 at the end. */
static inline unsigned classes_at(const text *t, size_t at, size_t *size)
{
    if (at >= t->len) {
        *size = 0;
        return 0;
    }
    return mx_unicode_at(t->unicode, t->s + at, size);
}

static inline size_t skip(const text *t, size_t at, unsigned classes)
{
    return mx_unicode_skip(t->unicode, t->s, at, t->len, classes);
}

/* The first place at or after `at` whose character has one of the classes. */
static inline size_t skip_without(const text *t, size_t at, unsigned classes)
{
    size_t size;
    while (at < t->len && !(classes_at(t, at, &size) & classes)) {
        at += size;
    }
    return at;
}

/* \p{N}{1,max}: the end of a number that begins at `at`. */
static size_t digits(const text *t, size_t at, unsigned max)
{
    size_t size;
    for (unsigned n = 0; n < max && (classes_at(t, at, &size) & MX_UC_NUMBER); n++) {
        at += size;
    }
    return at;
}

/* [\r\n]* or [\r\n/]* */
static size_t newlines(const text *t, size_t at, bool with_slash)
{
    while (at < t->len && (t->s[at] == '\n' || t->s[at] == '\r' || (with_slash && t->s[at] == '/'))) {
        at++;
    }
    return at;
}

/* \s*[\r\n]+|\s+(?!\S)|\s+ at white space: up to the last newline of the run; else all of it but the character that
 * stands before something else; else that character. */
static size_t white_space(const text *t, size_t at, bool newlines_end)
{
    size_t end = at;
    size_t last = at; /* where the last character of the run begins */
    size_t after_newline = 0;
    size_t size;
    for (unsigned c; (c = classes_at(t, end, &size)) & MX_UC_SPACE; end += size) {
        last = end;
        if (c & MX_UC_NEWLINE) {
            after_newline = end + size;
        }
    }
    if (newlines_end && after_newline) {
        return after_newline;
    }
    return end == t->len || last == at ? end : last;
}

/* Bytes of 's, 't, 're, 've, 'm, 'll or 'd at `at`, 0 for none. Without case the long s (U+017F) is an s too. */
static size_t contraction(const text *t, size_t at, bool any_case)
{
    if (t->len - at < 2 || t->s[at] != '\'') {
        return 0;
    }
    const char fold = any_case ? 0x20 : 0;
    const char a = (char)(t->s[at + 1] | fold);
    if (a == 's' || a == 't' || a == 'm' || a == 'd') {
        return 2;
    }
    if (t->len - at < 3) {
        return 0;
    }
    if (any_case && (uint8_t)t->s[at + 1] == 0xC5 && (uint8_t)t->s[at + 2] == 0xBF) {
        return 3;
    }
    const char b = (char)(t->s[at + 2] | fold);
    return ((a == 'r' || a == 'v') && b == 'e') || (a == 'l' && b == 'l') ? 3 : 0;
}

static bool scan_gpt2(const mx_unicode *unicode, const char *s, size_t len, size_t from, size_t *start, size_t *end)
{
    if (from >= len) {
        return false;
    }
    const text t = {unicode, s, len};
    *start = from;
    const size_t n = contraction(&t, from, false);
    if (n) {
        *end = from + n;
        return true;
    }
    const size_t at = from + (s[from] == ' ');
    size_t size;
    const unsigned c = classes_at(&t, at, &size);
    if (size == 0 || (c & MX_UC_SPACE)) {
        *end = white_space(&t, from, false);
    } else if (c & (MX_UC_LETTER | MX_UC_NUMBER)) {
        *end = skip(&t, at + size, c & (MX_UC_LETTER | MX_UC_NUMBER));
    } else {
        *end = skip_without(&t, at + size, NOT_OTHER);
    }
    return true;
}

/* " ?[^\s\p{L}\p{N}]+[\r\n]*" at `at`: its end, or `at` when it does not match. */
static size_t other(const text *t, size_t at, bool with_slash)
{
    const size_t first = at + (t->s[at] == ' ');
    const size_t end = skip_without(t, first, NOT_OTHER);
    return end > first ? newlines(t, end, with_slash) : at;
}

/* cl100k_base, Llama 3, Qwen 2 and 3:
 * (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,n}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
 */
static bool scan_cl100k(const text *t, size_t from, unsigned max_digits, size_t *start, size_t *end)
{
    if (from >= t->len) {
        return false;
    }
    *start = from;
    size_t size;
    const unsigned c = classes_at(t, from, &size);
    if (c & MX_UC_LETTER) {
        *end = skip(t, from + size, MX_UC_LETTER);
        return true;
    }
    if (c & MX_UC_NUMBER) {
        *end = digits(t, from, max_digits);
        return true;
    }
    const size_t n = contraction(t, from, true);
    if (n) {
        *end = from + n;
        return true;
    }
    if (!(c & MX_UC_NEWLINE)) {
        const size_t word = skip(t, from + size, MX_UC_LETTER);
        if (word > from + size) {
            *end = word;
            return true;
        }
    }
    *end = other(t, from, false);
    if (*end == from) {
        *end = white_space(t, from, true);
    }
    return true;
}

static bool scan_cl100k_3(const mx_unicode *unicode, const char *s, size_t len, size_t from, size_t *start, size_t *end)
{
    return scan_cl100k(&(text){unicode, s, len}, from, 3, start, end);
}

static bool scan_cl100k_1(const mx_unicode *unicode, const char *s, size_t len, size_t from, size_t *start, size_t *end)
{
    return scan_cl100k(&(text){unicode, s, len}, from, 1, start, end);
}

/* [U]*[W]+ at `at`, where U is upperish and W lowerish: its end, or `at`. *upper_end becomes the end of [U]*.
 * Letters without case and marks are both, so when no W follows the U run, it gives back its end up to its last W. */
static size_t cased_word(const text *t, size_t at, size_t *upper_end)
{
    size_t after_last = at; /* the end of the last W in the U run */
    size_t end = at;
    size_t size;
    for (unsigned c; (c = classes_at(t, end, &size)) & MX_UC_UPPERISH; end += size) {
        if (c & MX_UC_LOWERISH) {
            after_last = end + size;
        }
    }
    *upper_end = end;
    const size_t lower_end = skip(t, end, MX_UC_LOWERISH);
    return lower_end > end ? lower_end : after_last;
}

/* o200k_base and Mistral's Tekken:
 * [^\r\n\p{L}\p{N}]?[U]*[W]+C?|[^\r\n\p{L}\p{N}]?[U]+[W]*C?|\p{N}{1,n}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|... */
static bool scan_o200k(const text *t, size_t from, unsigned max_digits, bool contractions, size_t *start, size_t *end)
{
    if (from >= t->len) {
        return false;
    }
    *start = from;
    size_t size;
    const unsigned c = classes_at(t, from, &size);
    const bool can_lead = !(c & (MX_UC_NEWLINE | MX_UC_LETTER | MX_UC_NUMBER));
    const size_t second = from + size;
    size_t upper_led = second; /* the ends of [U]* behind a leading character and without one */
    size_t upper = from;
    size_t word = can_lead ? cased_word(t, second, &upper_led) : second;
    if (word == second) {
        word = c & (MX_UC_LETTER | MX_UC_MARK) ? cased_word(t, from, &upper) : from;
        if (word == from) { /* no W anywhere: the second alternative, whose [W]* is then empty */
            word = can_lead && upper_led > second ? upper_led : upper;
        }
    }
    if (word > from) {
        *end = word + (contractions ? contraction(t, word, true) : 0);
    } else if (c & MX_UC_NUMBER) {
        *end = digits(t, from, max_digits);
    } else {
        *end = other(t, from, true);
        if (*end == from) {
            *end = white_space(t, from, true);
        }
    }
    return true;
}

static bool scan_o200k_gptoss(const mx_unicode *unicode, const char *s, size_t len, size_t from, size_t *start,
                              size_t *end)
{
    return scan_o200k(&(text){unicode, s, len}, from, 3, true, start, end);
}

static bool scan_o200k_tekken(const mx_unicode *unicode, const char *s, size_t len, size_t from, size_t *start,
                              size_t *end)
{
    return scan_o200k(&(text){unicode, s, len}, from, 1, false, start, end);
}

/* DeepSeek V3's first: \p{N}{1,3} */
static bool scan_digits_3(const mx_unicode *unicode, const char *s, size_t len, size_t from, size_t *start, size_t *end)
{
    const text t = {unicode, s, len};
    *start = skip_without(&t, from, MX_UC_NUMBER);
    *end = digits(&t, *start, 3);
    return *end > *start;
}

static bool is_deepseek_cjk(int32_t c)
{
    return (c >= 0x4E00 && c <= 0x9FA5) || (c >= 0x3040 && c <= 0x30FF);
}

/* DeepSeek V3's second, Chinese characters and kana. */
static bool scan_deepseek_cjk(const mx_unicode *unicode, const char *s, size_t len, size_t from, size_t *start,
                              size_t *end)
{
    (void)unicode;
    size_t at = from;
    size_t size;
    while (at < len && ((uint8_t)s[at] < 0xE3 || !is_deepseek_cjk(mx_utf8_next(s + at, &size)))) {
        at += mx_utf8_size(s[at]);
    }
    *start = at;
    while (at < len && is_deepseek_cjk(mx_utf8_next(s + at, &size))) {
        at += size;
    }
    *end = at;
    return *end > *start;
}

static bool is_ascii_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The match that begins at byte `from`, or `from`. */
static size_t deepseek_word(const text *t, size_t from)
{
    const unsigned word = MX_UC_LETTER | MX_UC_MARK;
    size_t size;
    const unsigned c = classes_at(t, from, &size);
    if (size == 1 && (c & MX_UC_PUNCT_SYM) && from + 1 < t->len && is_ascii_letter(t->s[from + 1])) {
        size_t end = from + 2;
        while (end < t->len && is_ascii_letter(t->s[end])) {
            end++;
        }
        return end;
    }
    if (!(c & (MX_UC_NEWLINE | MX_UC_LETTER | MX_UC_PUNCT_SYM))) {
        const size_t end = skip(t, from + size, word);
        if (end > from + size) {
            return end;
        }
    }
    if (c & word) {
        return skip(t, from + size, word);
    }
    const size_t first = from + (t->s[from] == ' ');
    const size_t end = skip(t, first, MX_UC_PUNCT_SYM);
    if (end > first) {
        return newlines(t, end, false);
    }
    return c & MX_UC_SPACE ? white_space(t, from, true) : from;
}

/* DeepSeek V3's third; numbers that no letter follows are matched by none of its alternatives. */
static bool scan_deepseek(const mx_unicode *unicode, const char *s, size_t len, size_t from, size_t *start, size_t *end)
{
    const text t = {unicode, s, len};
    for (size_t at = from; at < len; at += mx_utf8_size(s[at])) {
        *end = deepseek_word(&t, at);
        if (*end > at) {
            *start = at;
            return true;
        }
    }
    return false;
}

#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define SPACES       "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define UPPERISH     "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWERISH     "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define LEAD         "[^\\r\\n\\p{L}\\p{N}]?"

static const struct {
    mx_str pattern;
    mx_scan_fn scan;
} scanners[] = {
    {MX_STR_INIT("'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"), scan_gpt2},
    {MX_STR_INIT(CONTRACTIONS "|" LEAD "\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" SPACES), scan_cl100k_3},
    {MX_STR_INIT(CONTRACTIONS "|" LEAD "\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" SPACES), scan_cl100k_1},
    {MX_STR_INIT(LEAD UPPERISH "*" LOWERISH "+" CONTRACTIONS "?|" LEAD UPPERISH "+" LOWERISH "*" CONTRACTIONS
                               "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" SPACES),
     scan_o200k_gptoss},
    {MX_STR_INIT(LEAD UPPERISH "*" LOWERISH "+|" LEAD UPPERISH "+" LOWERISH
                               "*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" SPACES),
     scan_o200k_tekken},
    {MX_STR_INIT("\\p{N}{1,3}"), scan_digits_3},
    {MX_STR_INIT("[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"), scan_deepseek_cjk},
    {MX_STR_INIT("[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| "
                 "?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"),
     scan_deepseek},
};

mx_scan_fn mx_scan_find(mx_str pattern)
{
    for (size_t i = 0; i < MX_COUNTOF(scanners); i++) {
        if (mx_str_eq(scanners[i].pattern, pattern)) {
            return scanners[i].scan;
        }
    }
    return NULL;
}

mx_str mx_scan_pattern(size_t i)
{
    return i < MX_COUNTOF(scanners) ? scanners[i].pattern : (mx_str){NULL, 0};
}
