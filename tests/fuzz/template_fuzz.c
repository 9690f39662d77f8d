/* template_fuzz.c - any bytes as a chat template, which is rendered for a small conversation within tight limits. */
#include <stdlib.h>

#include "base/json.h"
#include "tests/fuzz/fuzz.h"
#include "text/template/template.h"

#define MAX_OUTPUT ((size_t)1 << 20)

static const char context_text[] =
    "{\"messages\": [{\"role\": \"system\", \"content\": \"Be brief.\"}, {\"role\": \"user\", \"content\": \"Hi\\n\", "
    "\"n\": 3},"
    "{\"role\": \"assistant\", \"content\": null, \"tool_calls\": [{\"function\": {\"name\": \"f\", \"arguments\": "
    "{\"x\": "
    "1.5}}}]}],"
    "\"tools\": null, \"add_generation_prompt\": true, \"bos_token\": \"<s>\", \"xs\": [3, 1, 2.5, \"a\"], \"s\": "
    "\"h\xC3\xA9llo "
    "\xF0\x9F\x98\x80\","
    "\"n\": 7, \"big\": 123456789012345678901234567890, \"d\": {\"b\": 2, \"a\": {\"x\": []}}}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    static const mx_template_clock clock = {2024, 7, 26, 12, 34, 56};
    const mx_template_options options = {
        .now = &clock, .max_output_bytes = MAX_OUTPUT, .max_memory_bytes = (size_t)32 << 20, .max_steps = 200000};
    mx_error err;
    mx_template *tpl = NULL;
    mx_json context = {0};
    mx_template_report report = {0};
    mx_buf out = {.max = 2 * MAX_OUTPUT};
    if (mx_template_open((mx_str){(const char *)data, n_bytes}, "input", &tpl, &err) != MX_OK) {
        return 0;
    }
    if (mx_json_parse_exact(mx_str_from(context_text), "context", &context, &err) == MX_OK) {
        const mx_status st = mx_template_render(tpl, context.root, &options, &out, &report, &err);
        if ((st == MX_OK) != (report.fault == MX_TEMPLATE_NO_FAULT) || out.len > MAX_OUTPUT) {
            abort();
        }
    }
    mx_template_report_deinit(&report);
    mx_buf_deinit(&out);
    mx_json_close(&context);
    mx_template_close(tpl);
    return 0;
}
