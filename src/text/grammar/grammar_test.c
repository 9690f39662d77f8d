/* Which texts a grammar allows, by examples on both sides of each rule; and which tokens, by trying every one. */
#include "text/grammar/grammar.h"

#include "base/mem.h"
#include "tests/test.h"

typedef enum fit {
    WHOLE,   /* the text may end here */
    OPEN,    /* it fits so far */
    REFUSED, /* it does not fit */
    BROKEN,  /* the grammar does not compile */
} fit;

static fit try_text(mx_grammar_kind kind, const char *source, mx_str text)
{
    static const mx_token_table no_tokens = {0};
    mx_error err;
    mx_grammar *grammar = NULL;
    mx_matcher *matcher = NULL;
    fit found = BROKEN;
    if (MX_CHECK_OK(mx_grammar_open(kind, mx_str_from(source), &grammar, &err), &err) &&
        MX_CHECK_OK(mx_matcher_new(grammar, &no_tokens, &matcher, &err), &err)) {
        found = mx_matcher_accept_bytes(matcher, text, &err) != MX_OK ? REFUSED
                : mx_matcher_can_end(matcher)                         ? WHOLE
                                                                      : OPEN;
    }
    mx_matcher_free(matcher);
    mx_grammar_close(grammar);
    return found;
}

static void check_texts(mx_grammar_kind kind, const char *source, const char *const *texts, fit wanted)
{
    for (; *texts; texts++) {
        const fit found = try_text(kind, source, mx_str_from(*texts));
        if (found != wanted) {
            MX_TEST_FAIL("%s: \"%s\" is %d, wanted %d", source, *texts, (int)found, (int)wanted);
        }
    }
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static void check(mx_grammar_kind kind, const char *source, const char *const *whole, const char *const *open,
                  const char *const *refused)
{
    check_texts(kind, source, whole, WHOLE);
    check_texts(kind, source, open, OPEN);
    check_texts(kind, source, refused, REFUSED);
}

static void check_broken(mx_grammar_kind kind, const char *source, mx_status wanted, const char *piece)
{
    mx_error err;
    mx_grammar *grammar = NULL;
    MX_CHECK_FAILS(mx_grammar_open(kind, mx_str_from(source), &grammar, &err), wanted, &err, piece);
    mx_grammar_close(grammar);
}

MX_TEST(gbnf_has_literals_classes_groups_and_repetitions)
{
    check(MX_GRAMMAR_GBNF, "root ::= \"yes\" | \"no\" tail? # comment\ntail ::= [ \\t]+ (\"x\" | [0-9a-f]){2,3}\n",
          LIST("yes", "no", "no ab", "no \txx0"), LIST("", "y", "n", "no ", "no a"),
          LIST("Yes", "yes ", "no xxxx", "nox"));
    check(MX_GRAMMAR_GBNF, "root ::= (\n  \"a\" |\n  \"b\"\n)* \"!\"\n", LIST("!", "abba!"), LIST("", "ab"),
          LIST("c", "!!"));
    check(MX_GRAMMAR_GBNF, "root ::=\n  \"a\"\n  | \"b\"\n", LIST("a", "b"), LIST(""), LIST("ab"));
    check(MX_GRAMMAR_GBNF, "root ::= \"\\x41\\u00e9\\n\\\"\" [^\\]a-c]",
          LIST("A\xC3\xA9\n\"d", "A\xC3\xA9\n\"\xF0\x9F\x98\x80"), LIST("A\xC3", "A\xC3\xA9\n\""),
          LIST("A\xC3\xA8", "A\xC3\xA9\n\"]", "A\xC3\xA9\n\"b"));
    check(MX_GRAMMAR_GBNF, "root ::= . \"x\"", LIST("ax", "\xE4\xB8\x96x"), LIST("a", "\xE4\xB8"),
          LIST("x\xFF", "aax"));
}

MX_TEST(gbnf_calls_rules_to_any_depth)
{
    check(MX_GRAMMAR_GBNF, "root ::= \"(\" root \")\" | \"x\"", LIST("x", "(x)", "((((x))))"), LIST("", "((", "((x)"),
          LIST("(x))", ")"));
    check(MX_GRAMMAR_GBNF, "root ::= a\na ::= \"q\" a | \"\"", LIST("", "qqqqqqqqqqqqqqqqqqqqqqqq"), LIST("q") + 1,
          LIST("p"));
}

MX_TEST(gbnf_that_is_wrong_is_named_by_its_line)
{
    check_broken(MX_GRAMMAR_GBNF, "root ::= \"a\"\nother ::= missing\n", MX_INVALID, "no rule \"missing\"");
    check_broken(MX_GRAMMAR_GBNF, "root ::= \"a", MX_INVALID, "line 1");
    check_broken(MX_GRAMMAR_GBNF, "root ::= \"a\"\n\nroot ::= \"b\"", MX_INVALID, "line 3");
    check_broken(MX_GRAMMAR_GBNF, "root ::= (\"a\"", MX_INVALID, "parenthesis");
    check_broken(MX_GRAMMAR_GBNF, "root ::= [a", MX_INVALID, "bracket");
    check_broken(MX_GRAMMAR_GBNF, "root ::= \"a\"{3,2}", MX_INVALID, "{n,m}");
    check_broken(MX_GRAMMAR_GBNF, "root ::= \"\\q\"", MX_INVALID, "escape");
    check_broken(MX_GRAMMAR_GBNF, "root ::= \"\\ud800\"", MX_INVALID, "no character");
    check_broken(MX_GRAMMAR_GBNF, "other ::= \"a\"", MX_INVALID, "no rule \"root\"");
    check_broken(MX_GRAMMAR_GBNF, "root ::= (\"a\"{9999}){9999}", MX_INVALID, "too large");
    char deep[4096] = "root ::= ";
    memset(deep + 9, '(', 4000);
    check_broken(MX_GRAMMAR_GBNF, deep, MX_INVALID, "too deeply");
}

MX_TEST(a_rule_that_begins_with_itself_ends_in_words)
{
    static const mx_token_table no_tokens = {0};
    mx_error err;
    mx_grammar *grammar = NULL;
    mx_matcher *matcher = NULL;
    MX_CHECK_OK(mx_grammar_open(MX_GRAMMAR_GBNF, MX_STR("root ::= root \"a\" | \"b\""), &grammar, &err), &err);
    MX_CHECK_FAILS(mx_matcher_new(grammar, &no_tokens, &matcher, &err), MX_INVALID, &err, "places");
    mx_grammar_close(grammar);
    MX_CHECK_OK(mx_grammar_open(MX_GRAMMAR_GBNF, MX_STR("root ::= root"), &grammar, &err), &err);
    MX_CHECK_FAILS(mx_matcher_new(grammar, &no_tokens, &matcher, &err), MX_INVALID, &err, "allows no text");
    mx_grammar_close(grammar);
}

MX_TEST(expressions_match_the_whole_text)
{
    check(MX_GRAMMAR_REGEX, "(ab|cd?)+\\d{2,3}", LIST("ab12", "cab123", "cdcd00"), LIST("", "ab", "c1"),
          LIST("b", "ab1234"));
    check(MX_GRAMMAR_REGEX, "^[^a-c\\s]\\.(?:x|y){0,1}$", LIST("d.", "\xC3\xA9.y"), LIST("d"),
          LIST("a", " ", "d.z", "d.xx"));
    check(MX_GRAMMAR_REGEX, "\\w+@\\w+\\.com|none", LIST("me@a.com", "none"), LIST("me@", "non"), LIST("@"));
    check(MX_GRAMMAR_REGEX, "a{2,}b{3}", LIST("aabbb", "aaaabbb"), LIST("aabb"), LIST("ab", "aabbbb"));
    check(MX_GRAMMAR_REGEX, ".\\x41\\u00e9", LIST("?A\xC3\xA9"), LIST("?A"), LIST("\n"));
    check_broken(MX_GRAMMAR_REGEX, "a(?=b)", MX_UNSUPPORTED, "look-around");
    check_broken(MX_GRAMMAR_REGEX, "(a)\\1", MX_UNSUPPORTED, "escape");
    check_broken(MX_GRAMMAR_REGEX, "a+?", MX_UNSUPPORTED, "lazy");
    check_broken(MX_GRAMMAR_REGEX, "a^b", MX_UNSUPPORTED, "^ and $");
    check_broken(MX_GRAMMAR_REGEX, "a)", MX_INVALID, "character 2");
    check_broken(MX_GRAMMAR_REGEX, "*a", MX_INVALID, "nothing to repeat");
    check_broken(MX_GRAMMAR_REGEX, "[b-a]", MX_INVALID, "ends before");
}

MX_TEST(every_character_is_read_as_utf8_says)
{
    static const int32_t cps[] = {0x20,   0x7F,   0x80,   0x7FF,  0x800,   0xFFF,
                                  0x1000, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF};
    check(MX_GRAMMAR_REGEX, "[\\u0100-\\u2fff]", LIST("\xC4\x80", "\xE2\xBF\xBF"), LIST("\xC4"),
          LIST("\xC3", "\xE3", "\xE2\xC0"));
    for (size_t i = 0; i < MX_COUNTOF(cps); i++) {
        for (size_t j = i; j < MX_COUNTOF(cps); j++) { /* a class from one to the other */
            char source[64];
            snprintf(source, sizeof source, "root ::= [\\U%08x-\\U%08x]", (unsigned)cps[i], (unsigned)cps[j]);
            for (size_t k = 0; k < MX_COUNTOF(cps); k++) {
                char text[4];
                const int32_t cp = cps[k];
                const size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
                text[0] = (char)(n == 1 ? cp : n == 2 ? 0xC0 | cp >> 6 : n == 3 ? 0xE0 | cp >> 12 : 0xF0 | cp >> 18);
                for (size_t b = 1; b < n; b++) {
                    text[b] = (char)(0x80 | (cp >> (6 * (n - 1 - b)) & 0x3F));
                }
                const fit found = try_text(MX_GRAMMAR_GBNF, source, (mx_str){text, n});
                MX_CHECK((found == WHOLE) == (k >= i && k <= j));
            }
        }
    }
    MX_CHECK(try_text(MX_GRAMMAR_GBNF, "root ::= [\\U00000000-\\U0010ffff]", MX_STR("\xED\xA0\x80")) ==
             REFUSED); /* a surrogate */
}

MX_TEST(schemas_of_plain_types)
{
    check(MX_GRAMMAR_JSON_SCHEMA, "{\"type\": \"integer\"}", LIST("0", "-12", "999"), LIST("", "-"),
          LIST("01", "1.5", "a"));
    check(MX_GRAMMAR_JSON_SCHEMA, "{\"type\": \"number\"}", LIST("0", "-1.25", "6e23", "1E-7"), LIST("1.", "1e"),
          LIST(".5", "1e999"));
    check(MX_GRAMMAR_JSON_SCHEMA, "{\"type\": \"boolean\"}", LIST("true", "false"), LIST("t"), LIST("null", "True"));
    check(MX_GRAMMAR_JSON_SCHEMA, "{\"type\": [\"string\", \"null\"], \"maxLength\": 3}",
          LIST("null", "\"abc\"", "\"\\n\\u00e9\xF0\x9F\x98\x80\""), LIST("\"ab"),
          LIST("\"abcd", "\"\n", "\"\\x", "\"\\ud83d"));
    check(MX_GRAMMAR_JSON_SCHEMA, "{\"enum\": [\"a\\\"b\", 1, null, {\"x\": [true]}]}",
          LIST("\"a\\\"b\"", "1", "null", "{\"x\":[true]}"), LIST("\"a"), LIST("2", "\"a\""));
    check(MX_GRAMMAR_JSON_SCHEMA, "{\"const\": \"only\"}", LIST("\"only\""), LIST("\"on"), LIST("\"x"));
    check(MX_GRAMMAR_JSON_SCHEMA, "{}", LIST("1", "\"x\"", "[1, {\"a\": []}]", "{\"a\":\n  {\"b\": null}}"),
          LIST("[", "{\"a\""), LIST("]", "nul1"));
}

MX_TEST(schemas_of_numbers_with_limits)
{
    for (int lo = -120; lo <= 120; lo += 37) {
        for (int hi = lo; hi <= 1300; hi += 211) {
            char source[128];
            snprintf(source, sizeof source, "{\"type\": \"integer\", \"minimum\": %d, \"maximum\": %d}", lo, hi);
            for (int value = -140; value <= 1400; value += 7) {
                char text[16];
                snprintf(text, sizeof text, "%d", value);
                MX_CHECK((try_text(MX_GRAMMAR_JSON_SCHEMA, source, mx_str_from(text)) == WHOLE) ==
                         (value >= lo && value <= hi));
            }
        }
    }
    check(MX_GRAMMAR_JSON_SCHEMA, "{\"type\": \"number\", \"minimum\": -1, \"maximum\": 2}",
          LIST("-1", "0", "2", "-0.5", "1.999", "0.0"), LIST("1."), LIST("-1.5", "2.1", "3", "-2"));
    check(MX_GRAMMAR_JSON_SCHEMA, "{\"type\": \"number\", \"exclusiveMinimum\": 0}", LIST("1", "7.5", "123456"),
          LIST("") + 1, LIST("-"));
    check_broken(MX_GRAMMAR_JSON_SCHEMA, "{\"type\": \"integer\", \"minimum\": 3, \"exclusiveMaximum\": 3}", MX_INVALID,
                 "no whole number");
}

MX_TEST(schemas_of_strings_with_patterns_and_formats)
{
    check(MX_GRAMMAR_JSON_SCHEMA, "{\"type\": \"string\", \"pattern\": \"^[a-z\\\"]+$\"}",
          LIST("\"abc\"", "\"a\\\"b\""), LIST("\""), LIST("\"A", "\"\""));
    check(MX_GRAMMAR_JSON_SCHEMA, "{\"type\": \"string\", \"pattern\": \"b\"}", LIST("\"abc\"", "\"b\""), LIST("\"ac"),
          LIST("\"ac\""));
    check(MX_GRAMMAR_JSON_SCHEMA, "{\"type\": \"string\", \"format\": \"date\"}", LIST("\"2026-11-28\""),
          LIST("\"2026-1"), LIST("\"2026-13", "\"26-"));
    check(MX_GRAMMAR_JSON_SCHEMA, "{\"type\": \"string\", \"format\": \"ipv4\"}", LIST("\"10.0.0.255\""), LIST("\"10."),
          LIST("\"256"));
    check(MX_GRAMMAR_JSON_SCHEMA, "{\"type\": \"string\", \"format\": \"uuid\"}",
          LIST("\"01234567-89ab-cdef-0123-456789abcdef\""), LIST("\"0"), LIST("\"g"));
    check_broken(MX_GRAMMAR_JSON_SCHEMA, "{\"type\": \"string\", \"format\": \"colour\"}", MX_UNSUPPORTED, "format");
    check_broken(MX_GRAMMAR_JSON_SCHEMA, "{\"type\": \"string\", \"pattern\": \"(?!a)\"}", MX_UNSUPPORTED, "pattern");
}

static const char person[] =
    "{\"type\": \"object\", \"properties\": {\"name\": {\"type\": \"string\"}, \"age\": {\"type\": \"integer\"}, "
    "\"tags\": {\"type\": \"array\", \"items\": {\"enum\": [\"x\", \"y\"]}, \"minItems\": 1, \"maxItems\": 2}}, "
    "\"required\": [\"name\"], \"additionalProperties\": false, \"description\": \"somebody\"}";

MX_TEST(schemas_of_objects_and_arrays)
{
    check(MX_GRAMMAR_JSON_SCHEMA, person,
          LIST("{\"name\":\"a\"}", "{\"name\": \"a\", \"age\": 3}",
               "{\n  \"name\": \"a\",\n  \"tags\": [\"x\", \"y\"]\n}", "{\"name\":\"\",\"age\":0,\"tags\":[\"y\"]}"),
          LIST("{\"name\":", "{"),
          LIST("{}", "{\"age\"", "{\"name\":\"a\",\"name\"", "{\"name\":\"a\",\"tags\":[]",
               "{\"name\":\"a\",\"tags\":[\"x\",\"x\",", "{\"name\":\"a\",}", "{\"name\":\"a\"} "));
    check(MX_GRAMMAR_JSON_SCHEMA, "{\"type\": \"object\", \"properties\": {\"a\": {}, \"b\": {}, \"c\": {}}}",
          LIST("{}", "{\"b\":1}", "{\"a\":1,\"c\":2}", "{\"c\":2}"), LIST("{\"b\":1,"),
          LIST("{,", "{\"b\":1,\"a\"", "{\"d\""));
    check(MX_GRAMMAR_JSON_SCHEMA, "{\"type\": \"object\", \"additionalProperties\": {\"type\": \"integer\"}}",
          LIST("{}", "{\"x\":1,\"y\":2}"), LIST("{\"x\":"), LIST("{\"x\":\"y\""));
    check(MX_GRAMMAR_JSON_SCHEMA,
          "{\"type\": \"object\", \"properties\": {\"ab\": {\"type\": \"null\"}}, \"additionalProperties\": {\"type\": "
          "\"integer\"}}",
          LIST("{\"ab\":null}", "{\"ab\":null,\"a\":1,\"abc\":2}", "{\"b\":3}", "{\"\":1}"), LIST("{\"ab\":n"),
          LIST("{\"ab\":1", "{\"a\":null", "{\"b\":1,\"ab\":1", "{\"\\u0061b\":1"));
    check(MX_GRAMMAR_JSON_SCHEMA,
          "{\"type\": \"array\", \"prefixItems\": [{\"type\": \"null\"}, {\"type\": \"boolean\"}], \"items\": "
          "{\"type\": \"integer\"}}",
          LIST("[null,true]", "[null, false, 1, 2]"), LIST("[null"), LIST("[true", "[null]", "[null,true,true"));
}

MX_TEST(keywords_beside_alternatives_hold_or_are_refused)
{
    static const struct {
        const char *schema;
        const char *piece;
    } refused[] = {
        {"{\"type\": \"string\", \"anyOf\": [{\"type\": \"integer\"}]}", "schema at #: type is supported beside anyOf"},
        {"{\"type\": \"string\", \"anyOf\": [{\"type\": \"string\"}, {\"const\": 1}]}",
         "type is supported beside anyOf"},
        {"{\"type\": \"integer\", \"anyOf\": [{\"type\": \"number\"}]}", "type is supported beside anyOf"},
        {"{\"type\": \"integer\", \"anyOf\": [{\"type\": [\"integer\", \"null\"]}]}", "type is supported beside anyOf"},
        {"{\"type\": [\"string\"], \"anyOf\": [{\"type\": \"integer\"}]}", "type is supported beside anyOf"},
        {"{\"type\": \"null\", \"oneOf\": [{\"type\": \"string\"}]}", "type is supported beside oneOf"},
        {"{\"type\": \"null\", \"allOf\": [{\"type\": \"string\"}]}", "type is supported beside allOf"},
        {"{\"anyOf\": [{\"type\": \"string\"}], \"allOf\": [{\"type\": \"null\"}]}", "allOf is not supported here"},
        {"{\"anyOf\": [{\"type\": \"string\"}], \"oneOf\": [{\"type\": \"null\"}]}", "oneOf is not supported here"},
        {"{\"oneOf\": [{\"type\": \"string\"}], \"allOf\": [{\"type\": \"null\"}]}", "allOf is not supported here"},
    };
    for (size_t i = 0; i < MX_COUNTOF(refused); i++) {
        check_broken(MX_GRAMMAR_JSON_SCHEMA, refused[i].schema, MX_UNSUPPORTED, refused[i].piece);
    }
    check(MX_GRAMMAR_JSON_SCHEMA,
          "{\"type\": \"number\", \"anyOf\": [{\"type\": \"integer\"}, {\"type\": \"number\", \"minimum\": 5}]}",
          LIST("3", "7"), LIST("-"), LIST("n", "\""));
}

MX_TEST(schemas_made_of_others)
{
    check(MX_GRAMMAR_JSON_SCHEMA, "{\"anyOf\": [{\"type\": \"integer\"}, {\"type\": \"null\"}]}", LIST("3", "null"),
          LIST("n"), LIST("\""));
    check(MX_GRAMMAR_JSON_SCHEMA,
          "{\"$ref\": \"#/$defs/node\", \"$defs\": {\"node\": {\"type\": \"object\", \"properties\": {\"v\": "
          "{\"type\": \"integer\"}, "
          "\"next\": {\"anyOf\": [{\"$ref\": \"#/$defs/node\"}, {\"type\": \"null\"}]}}, \"required\": [\"v\", "
          "\"next\"]}}}",
          LIST("{\"v\":1,\"next\":null}", "{\"v\":1,\"next\":{\"v\":2,\"next\":{\"v\":3,\"next\":null}}}"),
          LIST("{\"v\":1,\"next\":{"), LIST("{\"v\":1}", "{\"v\":1,\"next\":{}"));
    check(MX_GRAMMAR_JSON_SCHEMA,
          "{\"oneOf\": [{\"type\": \"object\", \"properties\": {\"k\": {\"const\": \"a\"}}, \"required\": [\"k\"]}, "
          "{\"type\": \"object\", \"properties\": {\"k\": {\"const\": \"b\"}}, \"required\": [\"k\"]}]}",
          LIST("{\"k\":\"a\"}", "{\"k\":\"b\"}"), LIST("{"), LIST("{\"k\":\"c\""));
    check_broken(MX_GRAMMAR_JSON_SCHEMA, "{\"oneOf\": [{\"type\": \"string\"}, {\"type\": \"string\"}]}",
                 MX_UNSUPPORTED, "oneOf");
    check_broken(MX_GRAMMAR_JSON_SCHEMA, "{\"allOf\": [{}, {}]}", MX_UNSUPPORTED, "allOf");
    check_broken(MX_GRAMMAR_JSON_SCHEMA, "{\"properties\": {\"a\": {\"type\": \"array\", \"uniqueItems\": true}}}",
                 MX_UNSUPPORTED, "#/properties/a: uniqueItems");
    check_broken(MX_GRAMMAR_JSON_SCHEMA, "{\"not\": {}}", MX_UNSUPPORTED, "not");
    check_broken(MX_GRAMMAR_JSON_SCHEMA, "{\"$ref\": \"http://example.com/x\"}", MX_UNSUPPORTED, "$ref");
    check_broken(MX_GRAMMAR_JSON_SCHEMA, "{\"type\": \"thing\"}", MX_INVALID, "type");
    check_broken(MX_GRAMMAR_JSON_SCHEMA, "[", MX_INVALID, "the schema");
    char deep[6000];
    size_t n = 0;
    for (int i = 0; i < 100; i++) {
        n += (size_t)snprintf(deep + n, sizeof deep - n, "{\"items\":");
    }
    n += (size_t)snprintf(deep + n, sizeof deep - n, "{}");
    memset(deep + n, '}', 100);
    deep[n + 100] = '\0';
    check_broken(MX_GRAMMAR_JSON_SCHEMA, deep, MX_INVALID, "too deeply");
}

/* ---- tokens ---- */

/* A table of these texts, sorted by hand. */
#define N_TEXTS 16
static const char *const texts[N_TEXTS] = {"\"", "\":", "\"a", "\"ag", "\"age\":", "\"name\":", " ", "\"}",
                                           "1",  "12",  ",",   ",\"",  "a",        "abc",       "{", "{\""};

static void fill_table(mx_token_table *table)
{
    static char bytes[256];
    static uint32_t offsets[N_TEXTS + 1];
    static int32_t ids[N_TEXTS];
    static int32_t shared[N_TEXTS];
    uint32_t n = 0;
    for (int32_t i = 0; i < N_TEXTS; i++) {
        offsets[i] = n;
        memcpy(bytes + n, texts[i], strlen(texts[i]));
        n += (uint32_t)strlen(texts[i]);
        ids[i] = i;
    }
    offsets[N_TEXTS] = n;
    for (int32_t i = 1; i < N_TEXTS; i++) {
        for (int32_t j = i; j > 0 && strcmp(texts[ids[j - 1]], texts[ids[j]]) > 0; j--) {
            const int32_t id = ids[j];
            ids[j] = ids[j - 1];
            ids[j - 1] = id;
        }
    }
    for (int32_t i = 1; i < N_TEXTS; i++) {
        shared[i] = 0;
        while (texts[ids[i]][shared[i]] && texts[ids[i]][shared[i]] == texts[ids[i - 1]][shared[i]]) {
            shared[i]++;
        }
    }
    *table = (mx_token_table){.n_vocab = N_TEXTS,
                              .n_tokens = N_TEXTS,
                              .ids = ids,
                              .n_shared = shared,
                              .offsets = offsets,
                              .bytes = bytes,
                              .n_longest = 8};
}

MX_TEST(allowed_tokens_are_those_that_fit)
{
    static const char *const so_far[] = {"",
                                         "{",
                                         "{\"name\":",
                                         "{\"name\":\"",
                                         "{\"name\":\"abc",
                                         "{\"name\":\"abc\"",
                                         "{\"name\":\"abc\",",
                                         "{\"name\":\"abc\",\"age\":",
                                         "{\"name\":\"abc\",\"age\":1",
                                         "{\"name\":\"abc\",\"age\":1}"};
    mx_error err;
    mx_token_table table;
    mx_grammar *grammar = NULL;
    fill_table(&table);
    MX_CHECK_OK(mx_grammar_open(MX_GRAMMAR_JSON_SCHEMA, mx_str_from(person), &grammar, &err), &err);
    for (size_t i = 0; i < MX_COUNTOF(so_far); i++) {
        const uint32_t *allowed = NULL;
        mx_matcher *m = NULL;
        MX_CHECK_OK(mx_matcher_new(grammar, &table, &m, &err), &err);
        MX_CHECK_OK(mx_matcher_accept_bytes(m, mx_str_from(so_far[i]), &err), &err);
        MX_CHECK_OK(mx_matcher_get_allowed(m, &allowed, &err), &err);
        for (int32_t id = 0; id < N_TEXTS; id++) {
            char text[128];
            snprintf(text, sizeof text, "%s%s", so_far[i], texts[id]);
            const bool fits = try_text(MX_GRAMMAR_JSON_SCHEMA, person, mx_str_from(text)) != REFUSED;
            if ((allowed[0] >> id & 1u) != fits) {
                MX_TEST_FAIL("\"%s\" is %s", text, fits ? "not allowed" : "allowed");
            }
        }
        MX_CHECK(mx_matcher_must_end(m) == (i + 1 == MX_COUNTOF(so_far)));
        mx_matcher_free(m);
    }
    mx_grammar_close(grammar);
}

MX_TEST(a_long_text_forgets_what_it_need_not_know)
{
    static const mx_token_table no_tokens = {0};
    mx_error err;
    mx_grammar *grammar = NULL;
    mx_matcher *m = NULL;
    MX_CHECK_OK(mx_grammar_open(MX_GRAMMAR_GBNF, MX_STR("root ::= ([ab]{10000} \"c\")+"), &grammar, &err), &err);
    MX_CHECK_OK(mx_matcher_new(grammar, &no_tokens, &m, &err), &err);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 10000; i++) {
            if (mx_matcher_accept_bytes(m, MX_STR("a"), &err) != MX_OK) {
                MX_TEST_FAIL("at %d: %s", i, err.message);
                break;
            }
        }
        MX_CHECK_OK(mx_matcher_accept_bytes(m, MX_STR("c"), &err), &err);
        MX_CHECK(mx_matcher_can_end(m));
    }
    mx_matcher_free(m);
    mx_grammar_close(grammar);
}

MX_TEST(a_text_with_too_many_places_ends_in_words)
{
    static const mx_token_table no_tokens = {0};
    static char text[10000];
    mx_error err;
    mx_grammar *grammar = NULL;
    mx_matcher *m = NULL;
    memset(text, 'a', sizeof text);
    MX_CHECK_OK(mx_grammar_open(MX_GRAMMAR_GBNF, MX_STR("root ::= [ab]{10000} \"c\""), &grammar, &err), &err);
    MX_CHECK_OK(mx_matcher_new(grammar, &no_tokens, &m, &err), &err);
    MX_CHECK_FAILS(mx_matcher_accept_bytes(m, (mx_str){text, sizeof text}, &err), MX_INVALID, &err, "too many places");
    mx_matcher_free(m);
    mx_grammar_close(grammar);
}

MX_TEST(every_failed_allocation_is_told_in_grammars)
{
    static const mx_token_table no_tokens = {0};
    for (int n = 1; n < 60; n++) {
        mx_error err;
        mx_grammar *grammar = NULL;
        mx_matcher *m = NULL;
        mx_mem_fail_at(n);
        mx_status st = mx_grammar_open(MX_GRAMMAR_JSON_SCHEMA, mx_str_from(person), &grammar, &err);
        st = st == MX_OK ? mx_matcher_new(grammar, &no_tokens, &m, &err) : st;
        st = st == MX_OK ? mx_matcher_accept_bytes(m, MX_STR("{\"name\":\"x\"}"), &err) : st;
        mx_mem_fail_at(0);
        MX_CHECK(st == MX_OK || st == MX_NO_MEMORY || st == MX_INVALID);
        mx_matcher_free(m);
        mx_grammar_close(grammar);
    }
}

MX_TEST_MAIN(MX_CASE(gbnf_has_literals_classes_groups_and_repetitions), MX_CASE(gbnf_calls_rules_to_any_depth),
             MX_CASE(gbnf_that_is_wrong_is_named_by_its_line), MX_CASE(a_rule_that_begins_with_itself_ends_in_words),
             MX_CASE(expressions_match_the_whole_text), MX_CASE(every_character_is_read_as_utf8_says),
             MX_CASE(schemas_of_plain_types), MX_CASE(schemas_of_numbers_with_limits),
             MX_CASE(schemas_of_strings_with_patterns_and_formats), MX_CASE(schemas_of_objects_and_arrays),
             MX_CASE(schemas_made_of_others), MX_CASE(keywords_beside_alternatives_hold_or_are_refused),
             MX_CASE(allowed_tokens_are_those_that_fit), MX_CASE(a_long_text_forgets_what_it_need_not_know),
             MX_CASE(a_text_with_too_many_places_ends_in_words), MX_CASE(every_failed_allocation_is_told_in_grammars))
