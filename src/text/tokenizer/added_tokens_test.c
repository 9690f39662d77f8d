/* added_tokens_test.c - finding added tokens, with all their flags. Words of lower-case letters are text here: they are
 * the unknown token 0. */
#include "text/tokenizer/added_tokens.h"

#include "base/mem.h"
#include "tests/tokenizer_testing.h"

#define MODEL                 "{\"type\":\"WordLevel\",\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"in\":1}}"
#define TOKEN(content, flags) "{\"id\":0,\"content\":\"" content "\"," flags "}"
#define PLAIN                 "\"special\":false,\"normalized\":false"
#define SPECIAL               "\"special\":true,\"normalized\":false"

static void check(const char *added, const char *normalizer, const char *text, unsigned flags, const char *wanted)
{
    char json[4096];
    snprintf(json, sizeof json, "{\"added_tokens\":[%s],\"normalizer\":%s,\"model\":" MODEL "}", added, normalizer);
    mx_tokenizer *tok = testing_open(json);
    const char *found = testing_encode(tok, mx_str_from(text), flags);
    if (strcmp(found, wanted) != 0) {
        MX_TEST_FAIL("\"%s\" with %s: %s, wanted %s", text, added, found, wanted);
    }
    mx_tokenizer_close(tok);
}

MX_TEST(the_leftmost_and_then_the_longest_token_counts)
{
    const char *added = TOKEN("<a>", PLAIN) "," TOKEN("<a><b>", PLAIN) "," TOKEN("a><", PLAIN) "," TOKEN("b", PLAIN);
    check(added, "null", "<a>", 0, "2");
    check(added, "null", "<a><b>", 0, "3");
    check(added, "null", "x<a><c", 0, "0 2 0");
    check(added, "null", "xa><b>", 0, "0 4 5 0");
    check(added, "null", "", 0, "");
}

MX_TEST(special_tokens_are_text_where_they_are_not_asked_for)
{
    const char *added = TOKEN("<s>", SPECIAL) "," TOKEN("s", PLAIN);
    check(added, "null", "x<s>y", MX_ENCODE_SPECIAL, "0 2 0");
    check(added, "null", "x<s>y", 0, "0"); /* what lies inside the special token is not searched either */
    check(added, "null", "s<s>", 0, "3 0");
}

MX_TEST(tokens_keep_the_id_that_the_vocabulary_has)
{
    check(TOKEN("in", PLAIN) "," TOKEN("new", PLAIN), "null", "in new", 0, "1 0 2");
}

MX_TEST(stripping_takes_white_space_of_every_kind)
{
    check(TOKEN("<a>", PLAIN ",\"lstrip\":true"), "null", "x \u3000<a> y", 0, "0 2 0");
    check(TOKEN("<a>", PLAIN ",\"lstrip\":true"), "null", " \t\u3000<a>", 0, "2");
    check(TOKEN("<a>", PLAIN ",\"rstrip\":true"), "null", "<a>\n\u00a0 ", 0, "2");
    check(TOKEN("<a>", PLAIN ",\"lstrip\":true,\"rstrip\":true"), "null", " <a> <a> ", 0, "2 2");
    check(TOKEN("<a>", PLAIN ",\"rstrip\":true") "," TOKEN(" ", PLAIN), "null", "<a>  x", 0, "2 3 3 0");
}

MX_TEST(single_words_stand_alone)
{
    const char *added = TOKEN("ab", PLAIN ",\"single_word\":true");
    check(added, "null", "ab", 0, "2");
    check(added, "null", "ab-ab", 0, "2 0 2");
    check(added, "null", "abc", 0, "0");
    check(added, "null", "\u00e9ab", 0, "0");
    check(added, "null", "_ab", 0, "0");
}

MX_TEST(normalized_tokens_are_found_in_the_normalized_text)
{
    const char *lower = "{\"type\":\"Lowercase\"}";
    check(TOKEN("AB", "\"special\":false,\"normalized\":true"), lower, "x aB", 0, "0 2");
    check(TOKEN("AB", PLAIN), lower, "x aB", 0, "0");
    check(TOKEN("AB", PLAIN), lower, "x AB", 0, "0 2");
}

MX_TEST(hostile_near_misses_take_linear_time)
{
    /* Every place begins a token of 4000 letters that is missed at its last; a forward search would take 10^9 steps. */
    enum { N_LONG = 4000, N_TEXT = 400000 };
    char *json = mx_malloc(N_LONG + 1024);
    char *text = mx_malloc(N_TEXT);
    if (!json || !text) {
        MX_TEST_FAIL("out of memory");
        goto done;
    }
    char *end = json + sprintf(json, "{\"added_tokens\":[{\"content\":\"a\"," PLAIN "},{\"content\":\"");
    memset(end, 'a', N_LONG);
    strcpy(end + N_LONG, "b\"," PLAIN "}],\"model\":" MODEL "}");
    memset(text, 'a', N_TEXT);
    mx_tokenizer *tok = testing_open(json);
    mx_encoder *enc = NULL;
    mx_ids ids = {.max = TESTING_MAX};
    mx_error err;
    MX_CHECK_OK(mx_encoder_new(tok, &enc, &err), &err);
    MX_CHECK_OK(mx_encode(enc, (mx_str){text, N_TEXT}, 0, &ids, &err), &err);
    MX_CHECK_I64(ids.len, N_TEXT);
    mx_ids_deinit(&ids);
    mx_encoder_free(enc);
    mx_tokenizer_close(tok);
done:
    mx_free(json);
    mx_free(text);
}

MX_TEST(white_space_tokens_that_strip_take_linear_time)
{
    enum { N_TEXT = 1000000 };
    char *text = mx_malloc(N_TEXT);
    mx_error err;
    mx_encoder *enc = NULL;
    mx_ids ids = {.max = TESTING_MAX};
    mx_tokenizer *tok =
        testing_open("{\"added_tokens\":[" TOKEN(" ", PLAIN ",\"rstrip\":true") "],\"model\":" MODEL "}");
    if (text && tok) {
        memset(text, ' ', N_TEXT);
        MX_CHECK_OK(mx_encoder_new(tok, &enc, &err), &err);
        MX_CHECK_OK(mx_encode(enc, (mx_str){text, N_TEXT}, 0, &ids, &err), &err);
        MX_CHECK_I64(ids.len, N_TEXT);
    }
    mx_ids_deinit(&ids);
    mx_encoder_free(enc);
    mx_tokenizer_close(tok);
    mx_free(text);
}

MX_TEST(broken_lists_are_refused)
{
    static const char *const lists[][2] = {
        {"7", "must be an array"},
        {"[7]", "added_tokens: must be objects"},
        {"[{\"content\":5}]", "\"content\" must be a string"},
        {"[{\"content\":\"a\",\"special\":1}]", "\"special\" must be true or false"},
    };
    for (size_t i = 0; i < MX_COUNTOF(lists); i++) {
        char json[512];
        mx_error err;
        mx_tokenizer *tok = NULL;
        snprintf(json, sizeof json, "{\"added_tokens\":%s,\"model\":" MODEL "}", lists[i][0]);
        MX_CHECK_FAILS(mx_tokenizer_open(mx_str_from(json), "t.json", &tok, &err), MX_FORMAT, &err, lists[i][1]);
    }
}

MX_TEST_MAIN(MX_CASE(the_leftmost_and_then_the_longest_token_counts),
             MX_CASE(special_tokens_are_text_where_they_are_not_asked_for),
             MX_CASE(tokens_keep_the_id_that_the_vocabulary_has), MX_CASE(stripping_takes_white_space_of_every_kind),
             MX_CASE(single_words_stand_alone), MX_CASE(normalized_tokens_are_found_in_the_normalized_text),
             MX_CASE(hostile_near_misses_take_linear_time), MX_CASE(white_space_tokens_that_strip_take_linear_time),
             MX_CASE(broken_lists_are_refused))
