/* regex_test.c - Oniguruma's syntax and meanings through PCRE2, and the limits. */
#include "text/tokenizer/regex.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "tests/tokenizer_testing.h"
#include "text/tokenizer/onig_syntax.h"

/* The matches of a pattern in a text, each in brackets; or the error. */
static const char *matches(const char *pattern, const char *text)
{
    static char out[1024];
    mx_error err;
    mx_regex regex;
    mx_regex_scratch scratch = {0};
    const mx_str subject = mx_str_from(text);
    size_t n = 0;
    out[0] = '\0';
    mx_status st = mx_regex_init(&regex, mx_str_from(pattern), &err);
    for (size_t from = 0; st == MX_OK && from <= subject.len;) {
        bool found = false;
        size_t start = 0;
        size_t end = 0;
        st = mx_regex_find(&regex, &scratch, subject, from, &found, &start, &end, &err);
        if (st != MX_OK || !found) {
            break;
        }
        n += (size_t)snprintf(out + n, sizeof out - n, "[%.*s]", (int)(end - start), text + start);
        from = end > from || end > start ? end : end + 1;
    }
    if (st != MX_OK) {
        snprintf(out, sizeof out, "%s", err.message);
    }
    mx_regex_deinit(&regex);
    mx_regex_scratch_deinit(&scratch);
    return out;
}

/* How many characters a pattern for one character matches. */
static int64_t count(const char *pattern)
{
    mx_error err;
    mx_regex regex;
    mx_regex_scratch scratch = {0};
    int64_t n = 0;
    MX_CHECK_OK(mx_regex_init(&regex, mx_str_from(pattern), &err), &err);
    for (int32_t c = 0; c < 0x110000 && regex.code; c++) {
        char bytes[4];
        bool found = false;
        size_t start = 0;
        size_t end = 0;
        if (c >= 0xD800 && c < 0xE000) {
            continue;
        }
        const mx_str text = {bytes, mx_utf8_encode(c, bytes)};
        MX_CHECK_OK(mx_regex_find(&regex, &scratch, text, 0, &found, &start, &end, &err), &err);
        n += found;
    }
    mx_regex_deinit(&regex);
    mx_regex_scratch_deinit(&scratch);
    return n;
}

/* The numbers are those of Oniguruma as tokenizers 0.23.3 ships it (Unicode 16). */
MX_TEST(classes_hold_what_oniguruma_says)
{
    static const struct {
        const char *pattern;
        int64_t n;
    } table[] = {
        {"\\p{L}", 141028},
        {"\\p{N}", 1911},
        {"\\p{M}", 2501},
        {"[\\p{P}\\p{S}]", 855 + 8514},
        {"\\s", 25},
        {"\\S", 1112064 - 25},
        {"\\w", 144671},
        {"[\\w]", 144665},
        {"\\d", 760},
        {"\\h", 22},
        {"[[:punct:]]", 9369},
        {"\\p{Punct}", 855},
        {"[[:space:]]", 25},
        {"[[:alpha:]]", 142759},
        {"[[:alnum:]]", 143519},
        {"[[:word:]]", 144665},
        {"[[:cntrl:]]", 65},
        {"[[:graph:]]", 292447},
        {"[[:print:]]", 292464},
        {"[[:blank:]]", 18},
        {"[[:upper:]]", 1978},
        {"[[:lower:]]", 2569},
        {"[[:xdigit:]]", 22},
        {".", 1112063},
        {"\\p{Han}", 99030},
        {"\\p{^L}", 1112064 - 141028},
        {"[^\\S\\n]", 24},
        {"\\P{Lu}", 1112064 - 1858},
    };
    for (size_t i = 0; i < MX_COUNTOF(table); i++) {
        const int64_t n = count(table[i].pattern);
        if (n != table[i].n) {
            MX_TEST_FAIL("%s matches %" PRId64 " characters, wanted %" PRId64, table[i].pattern, n, table[i].n);
        }
    }
}

MX_TEST(syntax_means_what_oniguruma_means)
{
    static const struct {
        const char *pattern, *text, *wanted;
    } table[] = {
        {"a{2}+", "aaaaa", "[aaaa]"},                       /* a group repeated, not possessive */
        {"a{2}?", "aaa", "[aa][][]"},                       /* an optional pair, not a lazy one */
        {"a**b", "aab", "[aab]"},                           /* stacked quantifiers */
        {"a{,2}b", "aaab", "[aab]"},                        /* no lower bound */
        {"x{", "ax{b", "[x{]"},                             /* a brace that is none */
        {"(?m:a.b)", "a\nb", "[a\nb]"},                     /* m lets the dot match newlines */
        {"a.b", "a\nb", ""},                                /* which it does not otherwise */
        {"^b$", "a\nb\nc", "[b]"},                          /* anchors are those of lines */
        {"a(?i)b|c", "aB aC ac", "[aB][aC][ac]"},           /* the option holds for both branches, behind the a */
        {"(?i:s)", "S\u017f", "[S][\u017f]"},               /* the long s */
        {"\\v", "a\vb\n", "[\v]"},                          /* a vertical tab, not vertical space */
        {"[a-c&&[^b]]", "abc", "[a][c]"},                   /* intersection */
        {" ?[^(\\s|[.,!?])]+", "ab (c), d", "[ab][c][ d]"}, /* a class in a class joins it */
        {"[]a]", "]b", "[]]"},                              /* a bracket that comes first */
        {"[a-]", "-", "[-]"},
        {"[\\d-x]", "5-x", "[5][-][x]"},
        {"\\bab\\b", "ab abc ab", "[ab][ab]"},
        {"(a|b)\\1", "abba", "[bb]"},
        {"(?<x>z)\\k<x>", "zazz", "[zz]"},
        {"(?<x>z)\\g<x>", "zz", "[zz]"},
        {"\\u4e00|\\x41|\\x{1F600}", "A\u4e00\U0001f600", "[A][\u4e00][\U0001f600]"},
        {"a(?#note)b", "ab", "[ab]"},
        {"\\.\\-\\#", ".-#", "[.-#]"},
        {"a++b", "aab", "[aab]"},
        {"\\O", "\n", "[\n]"},
        {"\\p{Uppercase_Letter}\\p{lowercase letter}", "Ab", "[Ab]"},
    };
    for (size_t i = 0; i < MX_COUNTOF(table); i++) {
        const char *found = matches(table[i].pattern, table[i].text);
        if (strcmp(found, table[i].wanted) != 0) {
            MX_TEST_FAIL("%s on \"%s\": %s, wanted %s", table[i].pattern, table[i].text, found, table[i].wanted);
        }
    }
}

MX_TEST(broken_patterns_are_named)
{
    static const struct {
        const char *pattern, *piece;
    } table[] = {
        {"(a", "( without )"},           {"a)", "too many"},
        {"[a", "[ without ]"},           {"*", "nothing to repeat"},
        {"\\", "ends with a backslash"}, {"\\p{Nonsense}", "Nonsense"},
        {"\\p{L", "without }"},          {"[z-a]", "down to"},
        {"(?~a)", "not supported"},      {"\\x{110000}", "not a character"},
        {"(?<a", "does not end"},        {"\\xE4", "part of a character"},
        {"(?x)a", "not supported"},      {"\\k<", "without <name>"},
    };
    for (size_t i = 0; i < MX_COUNTOF(table); i++) {
        if (!strstr(matches(table[i].pattern, ""), table[i].piece)) {
            MX_TEST_FAIL("%s gave \"%s\", wanted \"%s\"", table[i].pattern, matches(table[i].pattern, ""),
                         table[i].piece);
        }
    }
}

MX_TEST(gigantic_and_deep_patterns_are_refused)
{
    mx_error err;
    mx_regex regex;
    char *big = mx_malloc(20000);
    if (!big) {
        MX_TEST_FAIL("out of memory");
        return;
    }
    memset(big, '(', 20000);
    MX_CHECK_FAILS(mx_regex_init(&regex, (mx_str){big, 20000}, &err), MX_FORMAT, &err, "must have at most");
    MX_CHECK_FAILS(mx_regex_init(&regex, (mx_str){big, 1000}, &err), MX_FORMAT, &err, "deeper than");
    memset(big, '[', 20000);
    MX_CHECK_FAILS(mx_regex_init(&regex, (mx_str){big, 1000}, &err), MX_FORMAT, &err, "deeper than");
    mx_free(big);
}

MX_TEST(a_pattern_that_explodes_gives_up)
{
    mx_error err;
    mx_regex regex;
    mx_regex_scratch scratch = {0};
    bool found;
    size_t start;
    size_t end;
    MX_CHECK_OK(mx_regex_init(&regex, MX_STR("(a+)+[bc]"), &err), &err);
    char text[64];
    memset(text, 'a', sizeof text);
    MX_CHECK_FAILS(mx_regex_find(&regex, &scratch, (mx_str){text, sizeof text}, 0, &found, &start, &end, &err),
                   MX_INVALID, &err, "gives up");
    mx_regex_deinit(&regex);
    mx_regex_scratch_deinit(&scratch);
}

MX_TEST_MAIN(MX_CASE(classes_hold_what_oniguruma_says), MX_CASE(syntax_means_what_oniguruma_means),
             MX_CASE(broken_patterns_are_named), MX_CASE(gigantic_and_deep_patterns_are_refused),
             MX_CASE(a_pattern_that_explodes_gives_up))
