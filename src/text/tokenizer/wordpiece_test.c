/* wordpiece_test.c - longest first, and whole words. */
#include "text/tokenizer/wordpiece.h"

#include "tests/tokenizer_testing.h"

#define MODEL(options)                 \
    "{\"type\":\"WordPiece\"," options \
    "\"vocab\":{\"[UNK]\":0,\"a\":1,\"ab\":2,\"##c\":3,\"##cd\":4,\"##b\":5,\"\u65e5\":6,\"##\u672c\":7}}"

MX_TEST(takes_the_longest_token_first)
{
    static const struct {
        const char *word, *wanted;
    } table[] = {{"ab", "2"}, {"abc", "2 3"}, {"abcd", "2 4"}, {"acb", "1 3 5"}, {"\u65e5\u672c", "6 7"},
                 {"c", "0"},  {"abx", "0"},   {"cab", "0"},    {"##c", "3"},     {"", ""}};
    mx_tokenizer *tok = testing_open(TESTING_JSON("null", "null", "null", "", MODEL("")));
    for (size_t i = 0; i < MX_COUNTOF(table); i++) {
        MX_CHECK_CSTR(testing_encode(tok, mx_str_from(table[i].word), 0), table[i].wanted);
    }
    mx_tokenizer_close(tok);
}

MX_TEST(words_that_are_too_long_are_unknown)
{
    mx_tokenizer *tok =
        testing_open(TESTING_JSON("null", "null", "null", "", MODEL("\"max_input_chars_per_word\":2,")));
    MX_CHECK_CSTR(testing_encode(tok, MX_STR("ab"), 0), "2");
    MX_CHECK_CSTR(testing_encode(tok, MX_STR("\u65e5\u672c"), 0), "6 7");
    MX_CHECK_CSTR(testing_encode(tok, MX_STR("abc"), 0), "0");
    mx_tokenizer_close(tok);
}

MX_TEST(other_prefixes_than_two_hashes_work)
{
    mx_tokenizer *tok = testing_open(TESTING_JSON("null", "null", "null", "",
                                                  "{\"type\":\"WordPiece\",\"continuing_subword_prefix\":\"\",\"unk_"
                                                  "token\":\"u\",\"vocab\":{\"u\":0,\"a\":1,\"b\":2}}"));
    MX_CHECK_CSTR(testing_encode(tok, MX_STR("abab"), 0), "1 2 1 2");
    mx_tokenizer_close(tok);
}

MX_TEST(word_level_knows_whole_words_only)
{
    mx_tokenizer *tok = testing_open(
        TESTING_JSON("null", "{\"type\":\"WhitespaceSplit\"}", "null", "",
                     "{\"type\":\"WordLevel\",\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"one\":1,\"two\":2}}"));
    MX_CHECK_CSTR(testing_encode(tok, MX_STR("one two\tonetwo one"), 0), "1 2 0 1");
    mx_tokenizer_close(tok);
}

MX_TEST(a_missing_unknown_token_is_an_error_when_it_is_needed)
{
    mx_tokenizer *tok = testing_open(
        TESTING_JSON("null", "null", "null", "", "{\"type\":\"WordLevel\",\"unk_token\":\"?\",\"vocab\":{\"one\":1}}"));
    MX_CHECK_CSTR(testing_encode(tok, MX_STR("one"), 0), "1");
    MX_CHECK(strstr(testing_encode(tok, MX_STR("three"), 0), "\"three\" has no token"));
    mx_tokenizer_close(tok);
}

MX_TEST_MAIN(MX_CASE(takes_the_longest_token_first), MX_CASE(words_that_are_too_long_are_unknown),
             MX_CASE(other_prefixes_than_two_hashes_work), MX_CASE(word_level_knows_whole_words_only),
             MX_CASE(a_missing_unknown_token_is_an_error_when_it_is_needed))
