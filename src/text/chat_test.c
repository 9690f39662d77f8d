#include "text/chat.h"

#include "base/mem.h"
#include "tests/test.h"

static mx_error err;

static void check_prompt(const mx_chat_files *files, const char *extra, const char *wanted)
{
    static const mx_chat_message messages[] = {{MX_STR_INIT("system"), MX_STR_INIT("Be \"brief\".")},
                                               {MX_STR_INIT("user"), MX_STR_INIT("Hi")}};
    mx_chat *chat = NULL;
    mx_buf out = {.max = 1000};
    if (MX_CHECK_OK(mx_chat_open(files, "model", &chat, &err), &err)) {
        MX_CHECK_OK(mx_chat_render(chat, messages, 2, true, mx_str_from(extra), NULL, &out, NULL, &err), &err);
        MX_CHECK_STR(mx_buf_view(&out), mx_str_from(wanted));
    }
    mx_buf_deinit(&out);
    mx_chat_close(chat);
}

#define TURNS "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ eos_token }}{% endfor %}"

MX_TEST(a_conversation_is_rendered_with_the_special_tokens)
{
    const mx_chat_files files = {
        .tokenizer_config_json =
            MX_STR("{\"chat_template\": \"" TURNS "\", \"bos_token\": \"<s>\","
                   "\"eos_token\": {\"content\": \"</s>\", \"lstrip\": false}, \"add_bos_token\": true}"),
    };
    check_prompt(&files, NULL, "<s><system>Be \"brief\".</s><user>Hi</s>");
}

MX_TEST(tokens_come_from_the_map_where_the_config_has_none)
{
    const mx_chat_files files = {
        .tokenizer_config_json = MX_STR("{\"bos_token\": \"<s>\", \"eos_token\": null}"),
        .special_tokens_map_json = MX_STR("{\"bos_token\": \"no\", \"eos_token\": {\"content\": \"</s>\"}}"),
        .chat_template_jinja = MX_STR("{{ bos_token }}{{ eos_token }}{{ add_generation_prompt }}{{ tools }}"),
    };
    check_prompt(&files, NULL, "<s></s>TrueNone");
}

MX_TEST(the_template_file_goes_before_the_config)
{
    mx_chat_files files = {
        .tokenizer_config_json = MX_STR("{\"chat_template\": \"config\"}"),
        .chat_template_json = MX_STR("{\"chat_template\": \"json\"}"),
        .chat_template_jinja = MX_STR("jinja"),
    };
    check_prompt(&files, NULL, "jinja");
    files.chat_template_jinja = (mx_str){0};
    check_prompt(&files, NULL, "json");
    files.chat_template_json = (mx_str){0};
    check_prompt(&files, NULL, "config");
}

MX_TEST(further_variables_replace_those_that_are_there)
{
    const mx_chat_files files = {
        .chat_template_jinja = MX_STR("{{ enable_thinking }} {{ documents }} {{ n }}"),
    };
    check_prompt(&files, "{\"enable_thinking\": false, \"documents\": [1], \"n\": 123456789012345678901}",
                 "False [1] 123456789012345678901");
}

MX_TEST(a_list_of_templates_has_one_for_tools)
{
    const mx_chat_files files = {
        .tokenizer_config_json = MX_STR("{\"chat_template\": [{\"name\": \"default\", \"template\": \"plain\"}, "
                                        "{\"name\": \"tool_use\", \"template\": \"{{ tools[0].name }}\"}]}"),
    };
    mx_chat *chat = NULL;
    mx_json messages = {0};
    mx_json tools = {0};
    mx_buf out = {.max = 1000};
    check_prompt(&files, NULL, "plain");
    MX_CHECK_OK(mx_chat_open(&files, "model", &chat, &err), &err);
    MX_CHECK_OK(mx_json_parse(MX_STR("[]"), "x", &messages, &err), &err);
    MX_CHECK_OK(mx_json_parse(MX_STR("[{\"name\": \"clock\"}]"), "x", &tools, &err), &err);
    MX_CHECK_OK(mx_chat_render_json(chat, messages.root, tools.root, true, NULL, NULL, &out, NULL, &err), &err);
    MX_CHECK_STR(mx_buf_view(&out), MX_STR("clock"));
    mx_buf_deinit(&out);
    mx_json_close(&messages);
    mx_json_close(&tools);
    mx_chat_close(chat);
}

MX_TEST(what_is_missing_or_broken_is_named)
{
    mx_chat *chat = NULL;
    mx_chat_files files = {.tokenizer_config_json = MX_STR("{}")};
    MX_CHECK_FAILS(mx_chat_open(&files, "the/model", &chat, &err), MX_NOT_FOUND, &err, "the/model: no file");
    files.tokenizer_config_json = MX_STR("{");
    MX_CHECK_FAILS(mx_chat_open(&files, "m", &chat, &err), MX_FORMAT, &err, "m: tokenizer_config.json: not valid JSON");
    files.tokenizer_config_json = MX_STR("{\"chat_template\": \"a\\n{% if %}\"}");
    MX_CHECK_FAILS(mx_chat_open(&files, "m", &chat, &err), MX_FORMAT, &err, "m: chat template: line 2");
}

MX_TEST(each_failing_allocation_is_reported)
{
    const mx_chat_files files = {
        .tokenizer_config_json = MX_STR("{\"chat_template\": \"" TURNS "\", \"bos_token\": \"<s>\"}"),
    };
    static const mx_chat_message messages[] = {{MX_STR_INIT("user"), MX_STR_INIT("Hi")}};
    mx_status st = MX_NO_MEMORY;
    for (int64_t n = 1; st == MX_NO_MEMORY && n < 1000; n++) {
        mx_chat *chat = NULL;
        mx_buf out = {.max = 1000};
        mx_mem_fail_at(n);
        st = mx_chat_open(&files, "model", &chat, &err);
        if (st == MX_OK) {
            st = mx_chat_render(chat, messages, 1, true, MX_STR("{\"a\": 1}"), NULL, &out, NULL, &err);
        }
        mx_mem_fail_at(0);
        MX_CHECK(st == MX_OK || st == MX_NO_MEMORY);
        mx_buf_deinit(&out);
        mx_chat_close(chat);
    }
    MX_CHECK_I64(st, MX_OK);
}

MX_TEST_MAIN(MX_CASE(a_conversation_is_rendered_with_the_special_tokens),
             MX_CASE(tokens_come_from_the_map_where_the_config_has_none),
             MX_CASE(the_template_file_goes_before_the_config), MX_CASE(further_variables_replace_those_that_are_there),
             MX_CASE(a_list_of_templates_has_one_for_tools), MX_CASE(what_is_missing_or_broken_is_named),
             MX_CASE(each_failing_allocation_is_reported))
