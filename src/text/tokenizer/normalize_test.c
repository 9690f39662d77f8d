/* normalize_test.c - what each normalizer makes of a text. */
#include "text/tokenizer/normalizer.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "tests/tokenizer_testing.h"

static mx_unicode unicode;

/* The normalized text, written to out; the length, or the error's message in out and 0. */
static size_t normalize(const char *json, mx_str text, char *out, size_t out_size)
{
    mx_error err;
    mx_json doc = {0};
    mx_regex_scratch regex = {0};
    mx_normalizer_run run = {0};
    mx_piece result = {0};
    mx_normalizer *norm = mx_calloc(1, sizeof *norm);
    mx_unicode_init(&unicode);
    mx_status st =
        norm ? mx_json_parse(mx_str_from(json), "normalizer", &doc, &err) : mx_fail(&err, MX_NO_MEMORY, "no memory");
    st = st == MX_OK ? mx_normalizer_init(norm, doc.root, &err) : st;
    if (st == MX_OK) {
        mx_normalizer_run_init(&run, norm, &unicode, &regex);
        st = mx_normalize(&run, (mx_piece){text.ptr, text.len, 0}, &result, &err);
    }
    const size_t n = st == MX_OK ? result.len : 0;
    snprintf(out, out_size, "%.*s", (int)(st == MX_OK ? n : sizeof err.message),
             st == MX_OK ? (n ? result.ptr : "") : err.message);
    mx_normalizer_run_deinit(&run);
    mx_regex_scratch_deinit(&regex);
    if (norm) {
        mx_normalizer_deinit(norm);
    }
    mx_free(norm);
    mx_json_close(&doc);
    return n;
}

typedef struct row {
    const char *json, *text, *wanted;
} row;

static void check(const row *rows, size_t n_rows)
{
    for (size_t i = 0; i < n_rows; i++) {
        char found[1024];
        normalize(rows[i].json, mx_str_from(rows[i].text), found, sizeof found);
        if (strcmp(found, rows[i].wanted) != 0) {
            MX_TEST_FAIL("%s on \"%s\": \"%s\", wanted \"%s\"", rows[i].json, rows[i].text, found, rows[i].wanted);
        }
    }
}

#define TYPE(name) "{\"type\":\"" name "\"}"
#define BERT(clean, chinese, accents, lower)                                                  \
    "{\"type\":\"BertNormalizer\",\"clean_text\":" clean ",\"handle_chinese_chars\":" chinese \
    ",\"strip_accents\":" accents ",\"lowercase\":" lower "}"

MX_TEST(every_kind_rewrites_as_it_should)
{
    static const row rows[] = {
        {"null", "Ab", "Ab"},
        {TYPE("NFC"), "e\u0301 \u1100\u1161\u11a8 \u212b plain", "\u00e9 \uac01 \u00c5 plain"},
        {TYPE("NFD"), "\u00e9\uac01", "e\u0301\u1100\u1161\u11a8"},
        {TYPE("NFKC"), "\ufb01 \uff21 \u2460 e\u0301", "fi A 1 \u00e9"},
        {TYPE("NFKD"), "\ufb01\u00e9", "fie\u0301"},
        {TYPE("NFC"), "a\u0301\u0327", "\u00e1\u0327"}, /* marks are put in order first */
        {TYPE("NFD"), "a\u0301\u0327", "a\u0327\u0301"},
        {TYPE("NFKC"), "\u32ff", "\u32ff"}, /* younger than the tables of the library */
        {TYPE("Lowercase"), "AbC\u0130\u00c9\u03a3", "abci\u0307\u00e9\u03c3"},
        {TYPE("StripAccents"), "e\u0301a\u0308", "ea"},
        {TYPE("Nmt"), "a\x01\u200b\tb\ufeff", "a  b "},
        {TYPE("ByteLevel"), "a \u00e9", "a\u0120\u00c3\u00a9"},
        {"{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":false}", " \u3000 a ", "a "},
        {"{\"type\":\"Strip\",\"strip_left\":false,\"strip_right\":true}", " a \n", " a"},
        {"{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":true}", " \t ", ""},
        {"{\"type\":\"Prepend\",\"prepend\":\"_\"}", "a", "_a"},
        {"{\"type\":\"Prepend\",\"prepend\":\"_\"}", "", ""},
        {"{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"_\"}", " a b", "_a_b"},
        {"{\"type\":\"Replace\",\"pattern\":{\"Regex\":\" {2,}\"},\"content\":\"_\"}", "a b   c", "a b_c"},
        {"{\"type\":\"Replace\",\"pattern\":{\"String\":\"\"},\"content\":\"-\"}", "ab", "-a-b-"},
        {BERT("true", "true", "null", "true"), "\tH\u00e9\x01 \u4e2d!", " he  \u4e2d !"},
        {BERT("false", "false", "false", "false"), "\tH\u00e9", "\tH\u00e9"},
        {BERT("false", "false", "null", "false"), "\u00e9", "\u00e9"}, /* accents go with the case unless told */
        {BERT("false", "false", "true", "false"), "\u00c9", "E"},
        {"{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Lowercase\"},{\"type\":\"NFD\"}]}", "\u00c9", "e\u0301"},
        {"{\"type\":\"Sequence\",\"normalizers\":[]}", "A", "A"},
    };
    check(rows, MX_COUNTOF(rows));
}

MX_TEST(what_is_wrong_is_named)
{
    static const row rows[] = {
        {"[]", "a", "must be an object, found a list"},
        {TYPE("Nonsense"), "a", "the type \"Nonsense\" is not known"},
        {TYPE("Sequence"), "a", "a Sequence without \"normalizers\""},
        {TYPE("Prepend"), "a", "\"prepend\" is missing"},
        {TYPE("Precompiled"), "a", "\"precompiled_charsmap\" is missing or empty"},
        {"{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"!\"}", "a", "the character map is not base64"},
        {"{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"////////\"}", "a",
         "the character map has 6 bytes, of which its trie takes 4294967295"},
        {"{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"[\"},\"content\":\"\"}", "a",
         "the pattern \"[\": [ without ]"},
    };
    check(rows, MX_COUNTOF(rows));
}

MX_TEST(a_long_run_of_marks_is_ordered_in_linear_time)
{
    enum { N = 200000 };
    static const char marks[4] = {'\xCC', '\x81', '\xCC', '\xA7'}; /* U+0301, U+0327 */
    char *text = mx_malloc(1 + 4 * N);
    char *out = mx_malloc(8 * N);
    if (text && out) {
        text[0] = 'x';
        for (size_t i = 0; i < N; i++) {
            memcpy(text + 1 + 4 * i, marks, sizeof marks);
        }
        MX_CHECK_I64(normalize(TYPE("NFD"), (mx_str){text, 1 + 4 * N}, out, 8 * N), 1 + 4 * N);
        MX_CHECK(memcmp(out + 1, "\u0327\u0327", 4) == 0);
        MX_CHECK(memcmp(out + 1 + 4 * N - 4, "\u0301\u0301", 4) == 0);
    }
    mx_free(text);
    mx_free(out);
}

MX_TEST(normalizing_in_parts_equals_normalizing_at_once)
{
    static const char *const pieces[] = {"a",      "e",      "\u0301", "\u0327", "\u00e9",     "\u4e2d",
                                         "\u1100", "\u1161", "\u11a8", "\uac00", "\u304b",     "\u3099",
                                         "\u0915", "\u093c", "\ufb01", "\u00bd", "\U0001f600", "\u0430",
                                         "\u0306", "\u0653", "\u0627", " "};
    mx_error err;
    uint64_t state = 3;
    mx_form_scratch scratch = {0};
    mx_unicode_init(&unicode);
    for (int round = 0; round < 4000; round++) {
        char text[128] = "";
        char found[1024];
        const uint32_t n = testing_random(&state) % 12;
        for (uint32_t i = 0; i < n; i++) {
            strcat(text, pieces[testing_random(&state) % MX_COUNTOF(pieces)]);
        }
        static const char *const names[] = {"NFC", "NFD", "NFKC", "NFKD"};
        const uint32_t form = testing_random(&state) % 4;
        char json[32];
        mx_buf whole = {.max = TESTING_MAX};
        snprintf(json, sizeof json, "{\"type\":\"%s\"}", names[form]);
        normalize(json, mx_str_from(text), found, sizeof found);
        MX_CHECK_OK(mx_form_append(&whole, mx_str_from(text), (mx_unicode_form)form, &unicode, &scratch, &err), &err);
        MX_CHECK_STR(mx_str_from(found), mx_buf_view(&whole));
        mx_buf_deinit(&whole);
    }
    mx_form_scratch_deinit(&scratch);
}

MX_TEST_MAIN(MX_CASE(every_kind_rewrites_as_it_should), MX_CASE(what_is_wrong_is_named),
             MX_CASE(a_long_run_of_marks_is_ordered_in_linear_time),
             MX_CASE(normalizing_in_parts_equals_normalizing_at_once))
