/* unigram_test.c - the best segmentation against all of them, and unknown characters. */
#include "text/tokenizer/unigram.h"

#include "tests/tokenizer_testing.h"

static const struct {
    const char *token;
    double score;
} pieces[] = {{"<unk>", 0}, {"a", -1.5},    {"b", -1.25},  {"ab", -2.0},
              {"ba", -3.5}, {"aba", -3.25}, {"bb", -2.25}, {"abab", -4.5}};

#define PIECES                                                                                                         \
    "[[\"<unk>\",0],[\"a\",-1.5],[\"b\",-1.25],[\"ab\",-2.0],[\"ba\",-3.5],[\"aba\",-3.25],[\"bb\",-2.25],[\"abab\",-" \
    "4.5]]"

/* The best sum of scores over all ways to cut the word. */
static double best_score(const char *word)
{
    double best = *word ? -1e9 : 0;
    for (size_t i = 1; i < MX_COUNTOF(pieces) && *word; i++) {
        const size_t n = strlen(pieces[i].token);
        if (strncmp(word, pieces[i].token, n) == 0) {
            best = fmax(best, pieces[i].score + best_score(word + n));
        }
    }
    return best;
}

MX_TEST(no_segmentation_has_a_higher_score)
{
    mx_error err;
    uint64_t state = 9;
    mx_encoder *enc = NULL;
    mx_ids ids = {.max = TESTING_MAX};
    mx_tokenizer *tok = testing_open(
        TESTING_JSON("null", "null", "null", "", "{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":" PIECES "}"));
    MX_CHECK_OK(mx_encoder_new(tok, &enc, &err), &err);
    for (int round = 0; round < 300; round++) {
        char word[16] = "";
        const size_t n = 1 + testing_random(&state) % 14;
        for (size_t i = 0; i < n; i++) {
            word[i] = (char)('a' + testing_random(&state) % 2);
        }
        ids.len = 0;
        MX_CHECK_OK(mx_encode(enc, mx_str_from(word), 0, &ids, &err), &err);
        double score = 0;
        char joined[64] = "";
        for (size_t i = 0; i < ids.len; i++) {
            score += pieces[ids.data[i]].score;
            strncat(joined, pieces[ids.data[i]].token, sizeof joined - strlen(joined) - 1);
        }
        MX_CHECK_CSTR(joined, word);
        MX_CHECK_NEAR(score, best_score(word), 1e-9);
    }
    mx_ids_deinit(&ids);
    mx_encoder_free(enc);
    mx_tokenizer_close(tok);
}

MX_TEST(neighbouring_unknown_characters_become_one_token)
{
    mx_tokenizer *tok = testing_open(
        TESTING_JSON("null", "null", "null", "", "{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":" PIECES "}"));
    MX_CHECK_CSTR(testing_encode(tok, MX_STR("axy\u65e5b"), 0), "1 0 2");
    mx_tokenizer_close(tok);
}

MX_TEST(unknown_characters_become_bytes_where_all_bytes_have_tokens)
{
    mx_tokenizer *tok = testing_open(TESTING_JSON("null", "null", "null", "",
                                                  "{\"type\":\"Unigram\",\"unk_id\":0,\"byte_fallback\":true,\"vocab\":"
                                                  "[[\"<unk>\",0],[\"<0x78>\",-9],[\"<0x79>\",-9]]}"));
    MX_CHECK_CSTR(testing_encode(tok, MX_STR("xy"), 0), "1 2");
    MX_CHECK_CSTR(testing_encode(tok, MX_STR("xz"), 0), "0");
    mx_tokenizer_close(tok);
}

MX_TEST(a_model_without_an_unknown_token_says_so_when_it_needs_one)
{
    mx_tokenizer *tok =
        testing_open(TESTING_JSON("null", "null", "null", "", "{\"type\":\"Unigram\",\"vocab\":[[\"a\",-1]]}"));
    MX_CHECK_CSTR(testing_encode(tok, MX_STR("aa"), 0), "0 0");
    MX_CHECK(strstr(testing_encode(tok, MX_STR("ab"), 0), "\"b\" has no token"));
    mx_tokenizer_close(tok);
}

MX_TEST(broken_vocabularies_are_refused)
{
    static const struct {
        const char *model, *piece;
    } table[] = {
        {"{\"type\":\"Unigram\",\"vocab\":[]}", "is empty"},
        {"{\"type\":\"Unigram\",\"vocab\":[[\"a\"]]}", "entry 0 of \"vocab\""},
        {"{\"type\":\"Unigram\",\"vocab\":[[\"a\",1],[\"b\",\"c\"]]}", "entry 1 of \"vocab\""},
        {"{\"type\":\"Unigram\",\"unk_id\":1,\"vocab\":[[\"a\",1]]}", "\"unk_id\" is 1"},
        {"{\"type\":\"Unigram\",\"vocab\":{}}", "must be an array"},
    };
    for (size_t i = 0; i < MX_COUNTOF(table); i++) {
        char json[512];
        mx_error err;
        mx_tokenizer *tok = NULL;
        snprintf(json, sizeof json, TESTING_JSON("null", "null", "null", "", "%s"), table[i].model);
        MX_CHECK_FAILS(mx_tokenizer_open(mx_str_from(json), "t.json", &tok, &err), MX_FORMAT, &err, table[i].piece);
    }
}

MX_TEST_MAIN(MX_CASE(no_segmentation_has_a_higher_score), MX_CASE(neighbouring_unknown_characters_become_one_token),
             MX_CASE(unknown_characters_become_bytes_where_all_bytes_have_tokens),
             MX_CASE(a_model_without_an_unknown_token_says_so_when_it_needs_one),
             MX_CASE(broken_vocabularies_are_refused))
