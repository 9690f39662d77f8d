/* decode_test.c - each decoder, at once and as a stream (testing_decode compares the two). */
#include "text/tokenizer/decoder.h"

#include "base/utf8.h"
#include "tests/tokenizer_testing.h"

#define WORDS(tokens)      "{\"type\":\"WordLevel\",\"unk_token\":\"?\",\"vocab\":{" tokens "}}"
#define SEQ(steps)         "{\"type\":\"Sequence\",\"decoders\":[" steps "]}"
#define REPLACE            "{\"type\":\"Replace\",\"pattern\":{\"String\":\"\u2581\"},\"content\":\" \"}"
#define FALLBACK           "{\"type\":\"ByteFallback\"}"
#define FUSE               "{\"type\":\"Fuse\"}"
#define STRIP(start, stop) "{\"type\":\"Strip\",\"content\":\" \",\"start\":" start ",\"stop\":" stop "}"

/* Tokens 0 to 9 of the tests below. */
#define TOKENS                                                                   \
    "\"\u2581a\":0,\"b\":1,\"##c\":2,\"<0xE6>\":3,\"<0x97>\":4,\"<0xA5>\":5,\" " \
    ".\":6,\"d</w>\":7,\"\u00e6\":8,\"\u0139\":9,\"\u2581\":10,"                 \
    "\"\u0120x\":11,\" do not\":12,\"<0x+A>\":13"

static void check(const char *decoder, const int32_t *ids, size_t n, const char *wanted)
{
    char json[2048];
    snprintf(json, sizeof json, "{\"decoder\":%s,\"model\":" WORDS(TOKENS) "}", decoder);
    mx_tokenizer *tok = testing_open(json);
    const char *found = tok ? testing_decode(tok, ids, n, false) : "";
    if (strcmp(found, wanted) != 0) {
        MX_TEST_FAIL("%s: \"%s\", wanted \"%s\"", decoder, found, wanted);
    }
    mx_tokenizer_close(tok);
}

#define CHECK(decoder, wanted, ...) \
    check(decoder, (const int32_t[]){__VA_ARGS__}, sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t), wanted)

MX_TEST(every_kind_joins_as_it_should)
{
    CHECK("null", "\u2581a b", 0, 1);
    CHECK(SEQ(""), "\u2581ab", 0, 1);
    CHECK(FUSE, "\u2581ab", 0, 1);
    CHECK(REPLACE, " a b", 0, 10, 1);
    CHECK("{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"[ab]\"},\"content\":\"<>\"}", "\u2581<><>", 0, 1);
    CHECK(SEQ(FUSE "," REPLACE), " a b", 0, 10, 1);
    CHECK("{\"type\":\"Metaspace\",\"replacement\":\"\u2581\"}", "a ab", 0, 0, 1);
    CHECK("{\"type\":\"Metaspace\",\"replacement\":\"\u2581\",\"prepend_scheme\":\"never\"}", " a a", 0, 0);
    CHECK("{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":false}", "bc b  .", 1, 2, 1, 6);
    CHECK("{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true}", "bc b .  don't", 1, 2, 1, 6, 12);
    CHECK("{\"type\":\"BPEDecoder\",\"suffix\":\"</w>\"}", "d bd", 7, 1, 7);
    CHECK("{\"type\":\"CTC\",\"pad_token\":\"##\",\"word_delimiter_token\":\"b\",\"cleanup\":true}", "c \u2581a", 2, 2,
          1, 0, 0);
}

MX_TEST(byte_level_characters_become_bytes_and_bad_ones_are_replaced)
{
    const char *bytes = "{\"type\":\"ByteLevel\"}";
    CHECK(bytes, " x", 11);
    CHECK(bytes, "b\xef\xbf\xbd", 1, 8); /* E6 alone */
    CHECK(bytes,
          "\xef\xbf\xbd"
          "b",
          8, 1); /* E6, then b */
    CHECK(bytes,
          "\u2581"
          "a",
          0);                                       /* a token of other characters stands for itself */
    CHECK(bytes, "\xef\xbf\xbd\xef\xbf\xbd", 8, 8); /* one for each ill-formed part */
}

MX_TEST(byte_tokens_are_one_unit_for_each_unbroken_run)
{
    CHECK(FALLBACK, "\u65e5", 3, 4, 5);
    CHECK(FALLBACK,
          "\xef\xbf\xbd\xef\xbf\xbd"
          "b",
          3, 4, 1);
    CHECK(FALLBACK, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 3, 4, 5,
          5); /* one bad byte spoils the whole run */
    CHECK(FALLBACK, "\n", 13);
    CHECK(SEQ(REPLACE "," FALLBACK "," FUSE "," STRIP("1", "0")), "a b\u65e5", 0, 10, 1, 3, 4, 5);
}

MX_TEST(strip_takes_no_more_than_it_may)
{
    CHECK(SEQ(REPLACE "," FUSE "," STRIP("1", "0")), "a a", 0, 0);
    CHECK(SEQ(REPLACE "," FUSE "," STRIP("2", "0")), " a", 10, 10, 0);
    CHECK(SEQ(REPLACE "," FUSE "," STRIP("0", "2")), "b ", 1, 10, 10, 10);
    CHECK(SEQ(REPLACE "," FUSE "," STRIP("0", "1")), "b b", 1, 10, 1, 10);
    CHECK(SEQ(REPLACE "," STRIP("1", "0")), "aa", 0, 0); /* of every token, where they are not fused */
}

MX_TEST(unknown_ids_are_left_out)
{
    CHECK(FUSE, "b", -1, 1, 99, 2147483647);
}

MX_TEST(special_tokens_go_before_the_decoder_sees_them)
{
    mx_tokenizer *tok =
        testing_open("{\"decoder\":" FALLBACK ",\"added_tokens\":[{\"content\":\"<s>\",\"special\":true},"
                     "{\"content\":\"<t>\",\"special\":false}],\"model\":" WORDS("\"<0xC3>\":0,\"<0xA9>\":1") "}");
    MX_CHECK_CSTR(TESTING_DECODE(tok, true, 0, 2, 1, 3), "\u00e9<t>");
    MX_CHECK_CSTR(TESTING_DECODE(tok, false, 0, 2, 1), "\xef\xbf\xbd<s>\xef\xbf\xbd");
    MX_CHECK(mx_tokenizer_is_special(tok, 2) && !mx_tokenizer_is_special(tok, 3) && !mx_tokenizer_is_special(tok, 99));
    mx_tokenizer_close(tok);
}

MX_TEST(a_stream_gives_what_is_settled_at_once)
{
    mx_error err;
    mx_buf out = {.max = TESTING_MAX};
    mx_detokenizer *detok = NULL;
    mx_tokenizer *tok = testing_open(
        "{\"decoder\":{\"type\":\"ByteLevel\"},\"model\":" WORDS("\"\u00e6\":0,\"\u0139\":1,\"\u00a5\":2,\"a\":3") "}");
    static const struct {
        int32_t id;
        const char *so_far;
    } steps[] = {{3, "a"},
                 {0, "a"},
                 {1, "a"},
                 {2, "a\xe6\x97\xa5"},
                 {0, "a\xe6\x97\xa5"},
                 {3, "a\xe6\x97\xa5\xef\xbf\xbd"
                     "a"}};
    MX_CHECK_OK(mx_detokenizer_new(tok, false, &detok, &err), &err);
    for (int round = 0; round < 2; round++) { /* finish makes it ready for another stream */
        out.len = 0;
        for (size_t i = 0; i < MX_COUNTOF(steps); i++) {
            MX_CHECK_OK(mx_detokenizer_push(detok, steps[i].id, &out, &err), &err);
            MX_CHECK_STR(mx_buf_view(&out), mx_str_from(steps[i].so_far));
        }
        MX_CHECK_OK(mx_detokenizer_finish(detok, &out, &err), &err);
    }
    MX_CHECK_OK(mx_detokenizer_push(detok, 0, &out, &err), &err);
    mx_detokenizer_reset(detok);
    out.len = 0;
    MX_CHECK_OK(mx_detokenizer_finish(detok, &out, &err), &err);
    MX_CHECK_I64(out.len, 0);
    mx_detokenizer_free(detok);
    mx_tokenizer_close(tok);
    mx_buf_deinit(&out);
}

MX_TEST(what_is_wrong_is_named)
{
    static const char *const decoders[][2] = {
        {"7", "decoder: must be an object"},
        {"{\"type\":\"Nonsense\"}", "the type \"Nonsense\" is not known"},
        {"{\"type\":\"Sequence\"}", "without \"decoders\""},
        {"{\"type\":\"Strip\",\"content\":\"ab\"}", "\"content\" must be one character"},
        {"{\"type\":\"Strip\",\"content\":\"a\",\"start\":-1}", "\"start\" is -1"},
        {"{\"type\":\"WordPiece\"}", "\"prefix\" is missing"},
        {"{\"type\":\"Replace\",\"content\":\"\"}", "\"pattern\" must be"},
    };
    for (size_t i = 0; i < MX_COUNTOF(decoders); i++) {
        char json[512];
        mx_error err;
        mx_tokenizer *tok = NULL;
        snprintf(json, sizeof json, "{\"decoder\":%s,\"model\":" WORDS("\"a\":0") "}", decoders[i][0]);
        const mx_status st = mx_tokenizer_open(mx_str_from(json), "t.json", &tok, &err);
        MX_CHECK_FAILS(st, i == 1 ? MX_UNSUPPORTED : MX_FORMAT, &err, decoders[i][1]);
    }
}

MX_TEST_MAIN(MX_CASE(every_kind_joins_as_it_should),
             MX_CASE(byte_level_characters_become_bytes_and_bad_ones_are_replaced),
             MX_CASE(byte_tokens_are_one_unit_for_each_unbroken_run), MX_CASE(strip_takes_no_more_than_it_may),
             MX_CASE(unknown_ids_are_left_out), MX_CASE(special_tokens_go_before_the_decoder_sees_them),
             MX_CASE(a_stream_gives_what_is_settled_at_once), MX_CASE(what_is_wrong_is_named))
