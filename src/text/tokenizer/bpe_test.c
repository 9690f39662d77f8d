/* bpe_test.c - merging, against a plain version of it; unknown characters; cutting where no merge crosses. */
#include "text/tokenizer/bpe.h"

#include "base/mem.h"
#include "tests/tokenizer_testing.h"

/* Random merges over four letters: each joins two tokens that are there already. */
static const char *random_model(uint64_t *state, size_t n_merges)
{
    static char json[1 << 16];
    static char tokens[300][64];
    size_t n_tokens = 4;
    char merges[1 << 14] = "";
    for (size_t i = 0; i < 4; i++) {
        snprintf(tokens[i], sizeof tokens[i], "%c", (char)('a' + i));
    }
    size_t n = 0;
    for (size_t i = 0; i < n_merges; i++) {
        const char *left = tokens[testing_random(state) % n_tokens];
        const char *right = tokens[testing_random(state) % n_tokens];
        if (strlen(left) + strlen(right) > 12) {
            continue;
        }
        char joined[64];
        snprintf(joined, sizeof joined, "%s%s", left, right);
        n += (size_t)snprintf(merges + n, sizeof merges - n, "%s\"%s %s\"", n ? "," : "", left, right);
        memcpy(tokens[n_tokens++], joined, sizeof joined);
    }
    n = (size_t)snprintf(json, sizeof json, "{\"type\":\"BPE\",\"vocab\":{");
    for (size_t i = 0; i < n_tokens; i++) {
        bool is_new = true;
        for (size_t k = 0; k < i; k++) {
            is_new = is_new && strcmp(tokens[k], tokens[i]) != 0;
        }
        if (is_new) {
            n += (size_t)snprintf(json + n, sizeof json - n, "%s\"%s\":%zu", i ? "," : "", tokens[i], i);
        }
    }
    snprintf(json + n, sizeof json - n, "},\"merges\":[%s]}", merges);
    return json;
}

/* The definition: of all neighbours that merge, the first of those with the lowest rank; again until there is none. */
static size_t join_plainly(const mx_bpe *bpe, int32_t *ids, size_t n)
{
    for (;;) {
        size_t best = 0;
        uint32_t best_rank = MX_BPE_NO_RANK;
        for (size_t i = 0; i + 1 < n; i++) {
            const uint32_t rank = mx_bpe_find_rank(bpe, ids[i], ids[i + 1]);
            if (rank < best_rank) {
                best = i;
                best_rank = rank;
            }
        }
        if (best_rank == MX_BPE_NO_RANK) {
            return n;
        }
        ids[best] = bpe->merged[best_rank];
        n--;
        memmove(ids + best + 1, ids + best + 2, (n - best - 1) * sizeof *ids);
    }
}

/* Opens the model through a whole tokenizer's parts: vocabulary, then merges. */
static mx_status open_bpe(const char *json, mx_json *doc, mx_vocab *vocab, mx_bpe *bpe, mx_error *err)
{
    MX_TRY(mx_json_parse(mx_str_from(json), "model", doc, err));
    MX_TRY(mx_vocab_init(vocab, 16, 16, err));
    yyjson_obj_iter items = yyjson_obj_iter_with(yyjson_obj_get(doc->root, "vocab"));
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&items));) {
        MX_TRY(mx_vocab_add(vocab, mx_json_view_str(key), yyjson_get_sint(yyjson_obj_iter_get_val(key)), err));
    }
    return mx_bpe_init(bpe, vocab, doc->root, false, err);
}

static void compare_with_plain(uint64_t *state, const mx_bpe *bpe, mx_bpe_scratch *scratch, size_t len)
{
    mx_error err;
    char word[400];
    int32_t plain[400];
    mx_ids ids = {.max = TESTING_MAX};
    for (size_t i = 0; i < len; i++) {
        word[i] = (char)('a' + testing_random(state) % 4);
        plain[i] = mx_vocab_find(bpe->vocab, (mx_str){word + i, 1});
    }
    MX_CHECK_OK(mx_bpe_encode(bpe, scratch, (mx_str){word, len}, &ids, &err), &err);
    const size_t n = join_plainly(bpe, plain, len);
    if (ids.len != n || memcmp(ids.data, plain, n * sizeof *plain) != 0) {
        MX_TEST_FAIL("\"%.*s\" gives other tokens than the definition", (int)len, word);
    }
    mx_ids_deinit(&ids);
}

MX_TEST(words_of_every_length_are_merged_as_the_definition_says)
{
    mx_error err;
    uint64_t state = 5;
    for (int round = 0; round < 40; round++) {
        mx_json doc = {0};
        mx_vocab vocab = {0};
        mx_bpe bpe = {0};
        mx_bpe_scratch scratch = {0};
        if (MX_CHECK_OK(open_bpe(random_model(&state, 60), &doc, &vocab, &bpe, &err), &err)) {
            for (size_t len = 1; len < 60; len++) {
                compare_with_plain(&state, &bpe, &scratch, len);
            }
            compare_with_plain(&state, &bpe, &scratch, 400);
        }
        mx_bpe_scratch_deinit(&scratch);
        mx_bpe_deinit(&bpe);
        mx_vocab_deinit(&vocab);
        mx_json_close(&doc);
    }
}

#define CHARS(options)                                                                                          \
    "{\"type\":\"BPE\",\"vocab\":{\"<unk>\":0,\"a\":1,\"b\":2,\"ab\":3,\"\u65e5\":4,\"\U0001f600\":5}," options \
    "\"merges\":[\"a b\"]}"

MX_TEST(unknown_characters_become_the_unknown_token_alone_or_fused_or_nothing)
{
    static const struct {
        const char *model, *wanted;
    } table[] = {
        {CHARS("\"unk_token\":\"<unk>\","), "3 0 0 4 5 0 1"},
        {CHARS("\"unk_token\":\"<unk>\",\"fuse_unk\":true,"), "3 0 4 5 0 1"},
        {CHARS("\"unk_token\":null,"), "3 4 5 1"},
    };
    for (size_t i = 0; i < MX_COUNTOF(table); i++) {
        char json[1024];
        snprintf(json, sizeof json, TESTING_JSON("null", "null", "null", "", "%s"), table[i].model);
        mx_tokenizer *tok = testing_open(json);
        MX_CHECK_CSTR(testing_encode(tok, MX_STR("abxx\u65e5\U0001f600\u672ca"), 0), table[i].wanted);
        mx_tokenizer_close(tok);
    }
}

MX_TEST(a_missing_unknown_token_is_an_error_when_it_is_needed)
{
    mx_tokenizer *tok = testing_open(TESTING_JSON("null", "null", "null", "", CHARS("\"unk_token\":\"<none>\",")));
    MX_CHECK_CSTR(testing_encode(tok, MX_STR("ab"), 0), "3");
    MX_CHECK(strstr(testing_encode(tok, MX_STR("x"), 0), "unknown token is not in the vocabulary"));
    mx_tokenizer_close(tok);
}

MX_TEST(merges_that_cannot_be_are_refused_by_name)
{
    static const struct {
        const char *model, *piece;
    } table[] = {
        {"{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1},\"merges\":[\"a b\"]}",
         "model: merge 0 needs the token \"ab\""},
        {"{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"aa\":1},\"merges\":[\"a a\",\"a c\"]}",
         "merge 1 needs the token \"c\""},
        {"{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[\"a\"]}", "merge 0 must be two tokens"},
        {"{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[[\"a\"]]}", "merge 0 must be two tokens"},
        {"{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[\"a b c\"]}", "merge 0 must be two tokens"},
        {"{\"type\":\"BPE\",\"vocab\":{\"a\":0}}", "\"merges\" is missing"},
        {"{\"type\":\"BPE\",\"merges\":[]}", "\"vocab\" is missing"},
        {"{\"type\":\"BPE\",\"vocab\":{\"a\":-1},\"merges\":[]}", "whole number"},
        {"{\"type\":\"BPE\",\"vocab\":{\"a\":99999999},\"merges\":[]}", "has the id 99999999"},
        {"{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[],\"dropout\":0.5}", "\"dropout\" is 0.5"},
    };
    for (size_t i = 0; i < MX_COUNTOF(table); i++) {
        char json[1024];
        mx_error err;
        mx_tokenizer *tok = NULL;
        snprintf(json, sizeof json, TESTING_JSON("null", "null", "null", "", "%s"), table[i].model);
        const mx_status st = mx_tokenizer_open(mx_str_from(json), "t.json", &tok, &err);
        MX_CHECK(tok == NULL);
        MX_CHECK_FAILS(st, i == 9 ? MX_UNSUPPORTED : MX_FORMAT, &err, table[i].piece);
    }
}

MX_TEST(a_megabyte_of_one_letter_is_merged_like_a_word)
{
    mx_error err;
    mx_encoder *enc = NULL;
    mx_ids ids = {.max = TESTING_MAX};
    mx_tokenizer *tok = testing_open(TESTING_JSON("null", "null", "null", "",
                                                  "{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"aa\":1,\"aaaa\":2},"
                                                  "\"merges\":[\"a a\",\"aa aa\"]}"));
    const size_t n = (size_t)1 << 20;
    char *text = mx_malloc(n);
    if (text && tok) {
        memset(text, 'a', n);
        MX_CHECK_OK(mx_encoder_new(tok, &enc, &err), &err);
        MX_CHECK_OK(mx_encode(enc, (mx_str){text, n}, 0, &ids, &err), &err);
        MX_CHECK_I64(ids.len, n / 4);
        MX_CHECK_I64(ids.data[0], 2);
    }
    mx_free(text);
    mx_ids_deinit(&ids);
    mx_encoder_free(enc);
    mx_tokenizer_close(tok);
}

MX_TEST_MAIN(MX_CASE(words_of_every_length_are_merged_as_the_definition_says),
             MX_CASE(unknown_characters_become_the_unknown_token_alone_or_fused_or_nothing),
             MX_CASE(a_missing_unknown_token_is_an_error_when_it_is_needed),
             MX_CASE(merges_that_cannot_be_are_refused_by_name),
             MX_CASE(a_megabyte_of_one_letter_is_merged_like_a_word))
