/* postprocessor_test.c - where the tokens around a text go. */
#include "text/tokenizer/postprocessor.h"

#include "tests/tokenizer_testing.h"

#define TEXT_ITEM   "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}"
#define TOKEN(name) "{\"SpecialToken\":{\"id\":\"" name "\",\"type_id\":0}}"
#define TEMPLATE(single)                                                     \
    "{\"type\":\"TemplateProcessing\",\"single\":[" single                   \
    "],\"pair\":[],\"special_tokens\":{\"<s>\":{\"id\":\"<s>\",\"ids\":[7]," \
    "\"tokens\":[\"<s>\"]},\"<e>\":{\"id\":\"<e>\",\"ids\":[8,9],\"tokens\":[\"a\",\"b\"]}}}"
#define BYTE_LEVEL "{\"type\":\"ByteLevel\",\"trim_offsets\":false}"

static mx_status open_with(const char *post, mx_tokenizer **tok, mx_error *err)
{
    char json[2048];
    snprintf(
        json, sizeof json,
        "{\"post_processor\":%s,\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"a\":1}}}",
        post);
    return mx_tokenizer_open(mx_str_from(json), "t.json", tok, err);
}

MX_TEST(tokens_go_around_the_text_when_they_are_asked_for)
{
    static const struct {
        const char *post, *with, *without;
    } table[] = {
        {"null", "1", "1"},
        {BYTE_LEVEL, "1", "1"},
        {TEMPLATE(TOKEN("<s>") "," TEXT_ITEM), "7 1", "1"},
        {TEMPLATE(TEXT_ITEM "," TOKEN("<e>")), "1 8 9", "1"},
        {TEMPLATE(TEXT_ITEM "," TEXT_ITEM), "1 1", "1 1"},
        {TEMPLATE(TOKEN("<s>")), "7", ""},
        {"{\"type\":\"BertProcessing\",\"sep\":[\"[SEP]\",3],\"cls\":[\"[CLS]\",2]}", "2 1 3", "1"},
        {"{\"type\":\"RobertaProcessing\",\"sep\":[\"x\",3],\"cls\":[\"y\",2],\"trim_offsets\":true}", "2 1 3", "1"},
        {"{\"type\":\"Sequence\",\"processors\":[" BYTE_LEVEL "," TEMPLATE(TOKEN("<s>") "," TEXT_ITEM) "]}", "7 1",
         "1"},
    };
    for (size_t i = 0; i < MX_COUNTOF(table); i++) {
        mx_error err;
        mx_tokenizer *tok = NULL;
        MX_CHECK_OK(open_with(table[i].post, &tok, &err), &err);
        MX_CHECK_CSTR(testing_encode(tok, MX_STR("a"), MX_ENCODE_TEMPLATE), table[i].with);
        MX_CHECK_CSTR(testing_encode(tok, MX_STR("a"), 0), table[i].without);
        mx_tokenizer_close(tok);
    }
}

MX_TEST(what_is_wrong_is_named)
{
    static const struct {
        const char *post;
        mx_status status;
        const char *piece;
    } table[] = {
        {"5", MX_FORMAT, "post_processor: must be an object"},
        {"{\"type\":\"Nonsense\"}", MX_UNSUPPORTED, "\"Nonsense\" is not known"},
        {TEMPLATE(TOKEN("<x>")), MX_FORMAT, "names \"<x>\", which \"special_tokens\" lacks"},
        {TEMPLATE("{\"Sequence\":{\"id\":\"B\",\"type_id\":0}}"), MX_FORMAT, "special tokens and sequence A"},
        {"{\"type\":\"TemplateProcessing\"}", MX_FORMAT, "without \"single\""},
        {"{\"type\":\"BertProcessing\",\"sep\":[\"a\",-1],\"cls\":[\"b\",2]}", MX_FORMAT,
         "an id must be a whole number"},
        {"{\"type\":\"Sequence\",\"processors\":[" TEMPLATE(TOKEN("<s>")) "," TEMPLATE(TOKEN("<s>")) "]}",
         MX_UNSUPPORTED, "more than one processor"},
    };
    for (size_t i = 0; i < MX_COUNTOF(table); i++) {
        mx_error err;
        mx_tokenizer *tok = NULL;
        MX_CHECK_FAILS(open_with(table[i].post, &tok, &err), table[i].status, &err, table[i].piece);
    }
}

MX_TEST_MAIN(MX_CASE(tokens_go_around_the_text_when_they_are_asked_for), MX_CASE(what_is_wrong_is_named))
