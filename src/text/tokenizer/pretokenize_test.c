/* pretokenize_test.c - the pieces that each pre-tokenizer makes. */
#include "text/tokenizer/pretokenizer.h"

#include "base/mem.h"
#include "tests/tokenizer_testing.h"

static mx_status put_piece(void *ctx, mx_str piece, mx_error *err)
{
    mx_buf *out = ctx;
    MX_TRY(mx_buf_append_char(out, '[', err));
    MX_TRY(mx_buf_append(out, piece, err));
    return mx_buf_append_char(out, ']', err);
}

/* The pieces of a text, each in brackets; or the error. */
static const char *cut(const char *json, const char *text)
{
    static char out[2048];
    static mx_unicode unicode;
    mx_error err;
    mx_json doc = {0};
    mx_regex_scratch scratch = {0};
    mx_buf pieces = {.max = TESTING_MAX};
    mx_buf bufs[MX_PRETOKENIZER_MAX_STAGES];
    mx_pretokenizer *pre = mx_calloc(1, sizeof *pre);
    mx_unicode_init(&unicode);
    for (size_t i = 0; i < MX_COUNTOF(bufs); i++) {
        bufs[i] = (mx_buf){.max = TESTING_MAX};
    }
    const mx_pretokenizer_run run = {pre, &unicode, &scratch, bufs, put_piece, &pieces};
    mx_status st =
        pre ? mx_json_parse(mx_str_from(json), "pre_tokenizer", &doc, &err) : mx_fail(&err, MX_NO_MEMORY, "no memory");
    st = st == MX_OK ? mx_pretokenizer_init(pre, doc.root, &err) : st;
    st = st == MX_OK ? mx_pretokenize(&run, (mx_piece){text, strlen(text), *text ? 1u : 0u}, &err) : st;
    if (st == MX_OK) {
        snprintf(out, sizeof out, "%.*s", (int)pieces.len, pieces.len ? pieces.data : "");
        mx_pretokenizer_deinit(pre);
    } else {
        snprintf(out, sizeof out, "%s", err.message);
    }
    for (size_t i = 0; i < MX_COUNTOF(bufs); i++) {
        mx_buf_deinit(&bufs[i]);
    }
    mx_free(pre);
    mx_buf_deinit(&pieces);
    mx_regex_scratch_deinit(&scratch);
    mx_json_close(&doc);
    return out;
}

typedef struct row {
    const char *json, *text, *wanted;
} row;

static void check(const row *rows, size_t n_rows)
{
    for (size_t i = 0; i < n_rows; i++) {
        const char *found = cut(rows[i].json, rows[i].text);
        if (strcmp(found, rows[i].wanted) != 0) {
            MX_TEST_FAIL("%s on \"%s\": %s, wanted %s", rows[i].json, rows[i].text, found, rows[i].wanted);
        }
    }
}

#define SPLIT(pattern, behavior, invert) \
    "{\"type\":\"Split\",\"pattern\":" pattern ",\"behavior\":\"" behavior "\",\"invert\":" invert "}"
#define DASH "{\"String\":\"-\"}"

MX_TEST(matches_are_kept_dropped_or_joined_as_the_behaviour_says)
{
    static const row rows[] = {
        {SPLIT(DASH, "Removed", "false"), "the-final--countdown", "[the][final][countdown]"},
        {SPLIT(DASH, "Isolated", "false"), "the-final--countdown", "[the][-][final][-][-][countdown]"},
        {SPLIT(DASH, "MergedWithPrevious", "false"), "the-final--countdown", "[the-][final-][-][countdown]"},
        {SPLIT(DASH, "MergedWithNext", "false"), "the-final--countdown", "[the][-final][-][-countdown]"},
        {SPLIT(DASH, "Contiguous", "false"), "the-final--countdown", "[the][-][final][--][countdown]"},
        {SPLIT(DASH, "MergedWithPrevious", "false"), "-a-", "[-][a-]"},
        {SPLIT(DASH, "MergedWithNext", "false"), "-a-", "[-a][-]"},
        {SPLIT(DASH, "Removed", "true"), "a-b--", "[-][-][-]"},
        {SPLIT(DASH, "MergedWithNext", "true"), "a-b--", "[a-][b-][-]"},
        {SPLIT(DASH, "Contiguous", "true"), "a-b--", "[a][-][b][--]"},
        {SPLIT("{\"Regex\":\"x*\"}", "Isolated", "false"), "axxb", "[a][xx][b]"},
        {SPLIT("{\"String\":\"\"}", "Isolated", "false"), "ab", "[a][b]"},
    };
    check(rows, MX_COUNTOF(rows));
}

MX_TEST(every_kind_cuts_where_it_should)
{
    static const row rows[] = {
        {"null", "a b", "[a b]"},
        {"null", "", ""},
        {"{\"type\":\"Whitespace\"}", "Hey, \u00e9t\u00e9-x_1!? ", "[Hey][,][\u00e9t\u00e9][-][x_1][!?]"},
        {"{\"type\":\"WhitespaceSplit\"}",
         " a,b \t\u3000"
         "c",
         "[a,b][c]"},
        {"{\"type\":\"BertPreTokenizer\"}", "a,b c", "[a][,][b][c]"},
        {"{\"type\":\"Punctuation\"}", "a,b", "[a][,][b]"},
        {"{\"type\":\"Punctuation\",\"behavior\":\"Contiguous\"}", "a,,b", "[a][,,][b]"},
        {"{\"type\":\"Digits\"}", "a12\u00bd", "[a][12\u00bd]"},
        {"{\"type\":\"Digits\",\"individual_digits\":true}", "a12", "[a][1][2]"},
        {"{\"type\":\"CharDelimiterSplit\",\"delimiter\":\"\u65e5\"}",
         "a\u65e5"
         "b",
         "[a][b]"},
        {"{\"type\":\"FixedLength\",\"length\":2}",
         "\u65e5"
         "abcd",
         "[\u65e5"
         "a][bc][d]"},
        {"{\"type\":\"Metaspace\",\"replacement\":\"_\"}", "a  b", "[_a][_][_b]"},
        {"{\"type\":\"Metaspace\",\"replacement\":\"_\",\"split\":false}", " a b", "[_a_b]"},
        {"{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"never\"}", "a b", "[a][_b]"},
        {"{\"type\":\"Metaspace\",\"replacement\":\"_\",\"add_prefix_space\":false}", "a b", "[a][_b]"},
        {"{\"type\":\"ByteLevel\",\"add_prefix_space\":true}", "a b\n\u00e9",
         "[\u0120a][\u0120b][\u010a][\u00c3\u00a9]"},
        {"{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}", "a b", "[a\u0120b]"},
    };
    check(rows, MX_COUNTOF(rows));
}

MX_TEST(steps_of_a_sequence_follow_each_other)
{
    static const row rows[] = {
        {"{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"WhitespaceSplit\"},{\"type\":\"Digits\",\"individual_"
         "digits\":true}]}",
         "a1 2b", "[a][1][2][b]"},
        {"{\"type\":\"Sequence\",\"pretokenizers\":[]}", "a b", "[a b]"},
        /* First means the first piece of the text only. */
        {"{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"WhitespaceSplit\"},"
         "{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"first\"}]}",
         "a b", "[_a][b]"},
    };
    check(rows, MX_COUNTOF(rows));
}

MX_TEST(what_is_wrong_is_named)
{
    static const row rows[] = {
        {"7", "", "must be an object, found a number"},
        {"{\"type\":\"Nonsense\"}", "", "the type \"Nonsense\" is not known"},
        {"{\"type\":\"UnicodeScripts\"}", "", "the type \"UnicodeScripts\" is not known"},
        {"{\"type\":\"Split\",\"pattern\":{\"Regex\":\"a\"}}", "", "a Split without \"behavior\""},
        {SPLIT("{\"Regex\":\"a\"}", "Sideways", "false"), "", "\"behavior\" is \"Sideways\", which is no way to split"},
        {SPLIT("{\"Regex\":\"(\"}", "Removed", "false"), "", "the pattern \"(\": a ( without )"},
        {SPLIT("{\"Word\":\"a\"}", "Removed", "false"), "",
         "\"pattern\" must be {\"String\": ...} or {\"Regex\": ...}"},
        {"{\"type\":\"Metaspace\",\"replacement\":\"ab\"}", "", "\"replacement\" must be one character"},
        {"{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"x\"}", "",
         "\"prepend_scheme\" is \"x\", must be always, first or never"},
        {"{\"type\":\"FixedLength\",\"length\":0}", "", "\"length\" is 0, must be from 1 to 2147483647"},
        {"{\"type\":\"Sequence\"}", "", "a Sequence without \"pretokenizers\""},
    };
    check(rows, MX_COUNTOF(rows));
}

MX_TEST(endless_nesting_and_endless_lists_are_refused)
{
    char json[8192] = "";
    for (int i = 0; i < 60; i++) {
        strcat(json, "{\"type\":\"Sequence\",\"pretokenizers\":[");
    }
    for (int i = 0; i < 60; i++) {
        strcat(json, "]}");
    }
    MX_CHECK(strstr(cut(json, "a"), "nested deeper than"));
    strcpy(json, "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\"}");
    for (int i = 0; i < 60; i++) {
        strcat(json, ",{\"type\":\"Digits\"}");
    }
    strcat(json, "]}");
    MX_CHECK(strstr(cut(json, "a"), "more than 32 steps"));
}

MX_TEST_MAIN(MX_CASE(matches_are_kept_dropped_or_joined_as_the_behaviour_says),
             MX_CASE(every_kind_cuts_where_it_should), MX_CASE(steps_of_a_sequence_follow_each_other),
             MX_CASE(what_is_wrong_is_named), MX_CASE(endless_nesting_and_endless_lists_are_refused))
