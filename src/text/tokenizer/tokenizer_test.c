/* tokenizer_test.c - opening, looking up, encoding as a whole; failing memory; limits. */
#include "text/tokenizer/tokenizer.h"

#include "base/mem.h"
#include "tests/tokenizer_testing.h"

/* Uses every part once: added tokens of both kinds, normalizers with scratch memory, an expression without a scanner, a
 * stage that rewrites, BPE, a template, a chain of decoders. */
static const char everything[] =
    "{\"version\":\"1.0\",\"truncation\":{\"max_length\":1},\"padding\":null,"
    "\"added_tokens\":[{\"id\":7,\"content\":\"<s>\",\"special\":true,\"normalized\":false},"
    "{\"id\":8,\"content\":\"WORD\",\"special\":false,\"normalized\":true}],"
    "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"},{\"type\":\"Lowercase\"}]},"
    "\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\"[,.]\"},"
    "\"behavior\":\"Isolated\",\"invert\":false},{\"type\":\"Metaspace\",\"replacement\":\"_\"}]},"
    "\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<s>\",\"type_id\":0}},"
    "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}],\"pair\":[],\"special_tokens\":{\"<s>\":{\"id\":\"<s>\",\"ids\":[7],"
    "\"tokens\":[\"<s>\"]}}},"
    "\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"_\"},\"content\":"
    "\" \"},{\"type\":\"Fuse\"},"
    "{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0}]},"
    "\"model\":{\"type\":\"BPE\",\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"_\":1,\"a\":2,\"b\":3,\"ab\":4,\"_ab\":5,"
    "\"\u00e9\":6},"
    "\"merges\":[[\"a\",\"b\"],[\"_\",\"ab\"]]}}";

MX_TEST(encodes_through_all_parts)
{
    mx_tokenizer *tok = testing_open(everything);
    MX_CHECK_CSTR(testing_encode(tok, MX_STR("AB e\u0301,x"), 0), "5 1 6 1 0 1 0");
    MX_CHECK_CSTR(testing_encode(tok, MX_STR("ab<s>ab"), MX_ENCODE_SPECIAL | MX_ENCODE_TEMPLATE), "7 5 7 5");
    MX_CHECK_CSTR(testing_encode(tok, MX_STR("abWordab"), 0), "5 8 5");
    MX_CHECK_CSTR(testing_encode(tok, MX_STR(""), MX_ENCODE_TEMPLATE), "7");
    MX_CHECK_CSTR(TESTING_DECODE(tok, true, 7, 5, 6, 5), "ab\u00e9 ab");
    MX_CHECK_CSTR(TESTING_DECODE(tok, true, 8), "word"); /* as it was searched for */
    mx_tokenizer_close(tok);
}

MX_TEST(tokens_are_found_by_string_and_by_id)
{
    int32_t id = -1;
    mx_str token;
    size_t n_added;
    mx_tokenizer *tok = testing_open(everything);
    MX_CHECK(mx_tokenizer_find(tok, MX_STR("<s>"), &id) && id == 7);
    MX_CHECK(mx_tokenizer_find(tok, MX_STR("_ab"), &id) && id == 5);
    MX_CHECK(!mx_tokenizer_find(tok, MX_STR("none"), &id));
    MX_CHECK(mx_tokenizer_view_token(tok, 8, &token) && mx_str_eq_cstr(token, "WORD"));
    MX_CHECK(!mx_tokenizer_view_token(tok, 9, &token) && !mx_tokenizer_view_token(tok, -1, &token));
    MX_CHECK_I64(mx_tokenizer_n_tokens(tok), 9);
    MX_CHECK_I64(mx_tokenizer_n_ids(tok), 9);
    const mx_added_token *added = mx_tokenizer_view_added(tok, &n_added);
    MX_CHECK(n_added == 2 && added[0].id == 7 && added[0].is_special && added[1].is_normalized);
    mx_tokenizer_close(tok);
}

MX_TEST(text_that_is_not_utf8_counts_as_replaced)
{
    mx_tokenizer *tok = testing_open(
        "{\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"a\xef\xbf\xbd\":1}}}");
    MX_CHECK_CSTR(testing_encode(tok, MX_STR("a\xff"), 0), "1");
    MX_CHECK_CSTR(testing_encode(tok, MX_STR("a\xe6\x97"), 0), "1");
    mx_tokenizer_close(tok);
}

MX_TEST(the_word_cache_changes_nothing)
{
    mx_error err;
    mx_encoder *enc = NULL;
    mx_ids ids = {.max = TESTING_MAX};
    mx_tokenizer *tok = testing_open(everything);
    MX_CHECK_OK(mx_encoder_new(tok, &enc, &err), &err);
    for (int round = 0; round < 3; round++) {
        ids.len = 0;
        MX_CHECK_OK(mx_encode(enc, MX_STR("ab aab bab ab"), 0, &ids, &err), &err);
        static const int32_t wanted[] = {5, 1, 2, 4, 1, 3, 4, 5};
        MX_CHECK(ids.len == MX_COUNTOF(wanted) && memcmp(ids.data, wanted, sizeof wanted) == 0);
    }
    mx_mem_fail_at(1); /* the steady state allocates nothing */
    ids.len = 0;
    MX_CHECK_OK(mx_encode(enc, MX_STR("ab aab bab ab"), 0, &ids, &err), &err);
    mx_mem_fail_at(0);
    mx_ids_deinit(&ids);
    mx_encoder_free(enc);
    mx_tokenizer_close(tok);
}

MX_TEST(the_cap_of_the_ids_holds_and_leaves_them_as_they_were)
{
    mx_error err;
    mx_encoder *enc = NULL;
    mx_ids ids = {.max = 4};
    mx_tokenizer *tok = testing_open(everything);
    MX_CHECK_OK(mx_encoder_new(tok, &enc, &err), &err);
    MX_CHECK_OK(mx_encode(enc, MX_STR("ab ab"), 0, &ids, &err), &err);
    MX_CHECK_FAILS(mx_encode(enc, MX_STR("ab ab ab"), 0, &ids, &err), MX_INVALID, &err, "more than 4 tokens");
    MX_CHECK_I64(ids.len, 2);
    mx_ids_deinit(&ids);
    mx_encoder_free(enc);
    mx_tokenizer_close(tok);
}

MX_TEST(a_normalizer_that_swells_the_text_is_stopped)
{
    static char json[70000];
    mx_error err;
    mx_encoder *enc = NULL;
    mx_ids ids = {.max = TESTING_MAX};
    size_t n = (size_t)snprintf(json, sizeof json,
                                "{\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\"},\"content\":\"");
    memset(json + n, 'b', 60000);
    snprintf(json + n + 60000, sizeof json - n - 60000,
             "\"},\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"?\",\"vocab\":{\"?\":0}}}");
    mx_tokenizer *tok = testing_open(json);
    MX_CHECK_OK(mx_encoder_new(tok, &enc, &err), &err);
    char text[1000];
    memset(text, 'a', sizeof text);
    MX_CHECK_FAILS(mx_encode(enc, (mx_str){text, sizeof text}, 0, &ids, &err), MX_INVALID, &err, "limit");
    mx_ids_deinit(&ids);
    mx_encoder_free(enc);
    mx_tokenizer_close(tok);
}

/* Opens, encodes and decodes; MX_OK only if all went well. */
static mx_status use_all(mx_error *err)
{
    mx_tokenizer *tok = NULL;
    mx_encoder *enc = NULL;
    mx_ids ids = {.max = TESTING_MAX};
    mx_buf text = {.max = TESTING_MAX};
    char word[3000];
    memset(word, 'b', sizeof word);
    mx_status st = mx_tokenizer_open(mx_str_from(everything), "t.json", &tok, err);
    MX_TRY_OR(done, st, st);
    MX_TRY_OR(done, st, mx_encoder_new(tok, &enc, err));
    MX_TRY_OR(done, st, mx_encode(enc, MX_STR("AB e\u0301,x<s>Word \xff"), MX_ENCODE_SPECIAL, &ids, err));
    MX_TRY_OR(done, st, mx_encode(enc, (mx_str){word, sizeof word}, 0, &ids, err));
    MX_TRY_OR(done, st, mx_decode(tok, ids.data, ids.len, false, &text, err));
done:
    mx_buf_deinit(&text);
    mx_ids_deinit(&ids);
    mx_encoder_free(enc);
    mx_tokenizer_close(tok);
    return st;
}

MX_TEST(every_failing_allocation_is_reported_and_nothing_leaks)
{
    for (int64_t n = 1; n < 10000; n++) {
        mx_error err = {0};
        mx_mem_fail_at(n);
        const mx_status st = use_all(&err);
        const bool was_reached = mx_mem_count() >= n;
        mx_mem_fail_at(0);
        if (!was_reached) {
            MX_CHECK_OK(st, &err);
            MX_CHECK(n > 50);
            return;
        }
        if (st != MX_OK) { /* PCRE2 does without its just-in-time code and its larger stack */
            MX_CHECK_I64(st, MX_NO_MEMORY);
            MX_CHECK(strstr(err.message, "memory") != NULL);
        }
    }
    MX_TEST_FAIL("the work never ends");
}

MX_TEST(broken_files_are_refused_by_name)
{
    static const struct {
        const char *json;
        mx_status status;
        const char *piece;
    } table[] = {
        {"", MX_FORMAT, "t.json: not valid JSON"},
        {"[]", MX_FORMAT, "t.json: must be a JSON object"},
        {"{}", MX_FORMAT, "t.json: model: must be an object, found nothing"},
        {"{\"model\":{\"type\":\"LSTM\"}}", MX_UNSUPPORTED, "t.json: model: the type \"LSTM\" is not known"},
        {"{\"version\":\"2.0\"}", MX_UNSUPPORTED, "t.json: version \"2.0\" is not known"},
        {"{\"version\":7}", MX_FORMAT, "t.json: \"version\" must be a string"},
        {"{\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"a\":\"b\"}}}", MX_FORMAT,
         "t.json: model: token \"a\" must have"},
        {"{\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"a\":18446744073709551615}}}", MX_FORMAT,
         "token \"a\" must have"},
        {"{\"normalizer\":{\"type\":3},\"model\":{}}", MX_FORMAT, "t.json: normalizer: \"type\" must be a string"},
    };
    for (size_t i = 0; i < MX_COUNTOF(table); i++) {
        mx_error err;
        mx_tokenizer *tok = NULL;
        MX_CHECK_FAILS(mx_tokenizer_open(mx_str_from(table[i].json), "t.json", &tok, &err), table[i].status, &err,
                       table[i].piece);
        MX_CHECK(tok == NULL);
    }
}

MX_TEST(models_from_before_types_were_written_are_told_by_what_they_hold)
{
    static const char *const models[][2] = {
        {"{\"vocab\":{\"a\":0,\"aa\":1},\"merges\":[\"#version: 0.2\",\"a a\"]}", "1"},
        {"{\"vocab\":[[\"aa\",-1]],\"unk_id\":0}", "0"},
        {"{\"vocab\":{\"a\":5,\"##a\":6},\"max_input_chars_per_word\":9,\"continuing_subword_prefix\":\"##\"}", "5 6"},
        {"{\"vocab\":{\"aa\":3},\"unk_token\":\"?\"}", "3"},
    };
    for (size_t i = 0; i < MX_COUNTOF(models); i++) {
        char json[512];
        snprintf(json, sizeof json, "{\"model\":%s}", models[i][0]);
        mx_tokenizer *tok = testing_open(json);
        MX_CHECK_CSTR(testing_encode(tok, MX_STR("aa"), 0), models[i][1]);
        mx_tokenizer_close(tok);
    }
}

MX_TEST_MAIN(MX_CASE(encodes_through_all_parts), MX_CASE(tokens_are_found_by_string_and_by_id),
             MX_CASE(text_that_is_not_utf8_counts_as_replaced), MX_CASE(the_word_cache_changes_nothing),
             MX_CASE(the_cap_of_the_ids_holds_and_leaves_them_as_they_were),
             MX_CASE(a_normalizer_that_swells_the_text_is_stopped),
             MX_CASE(every_failing_allocation_is_reported_and_nothing_leaks), MX_CASE(broken_files_are_refused_by_name),
             MX_CASE(models_from_before_types_were_written_are_told_by_what_they_hold))
