/* render_check.h - for the tests of chat templates: a template, its variables as JSON, and what it makes. */
#ifndef MX_TESTS_RENDER_CHECK_H
#define MX_TESTS_RENDER_CHECK_H

#include "base/json.h"
#include "tests/test.h"
#include "text/template/template.h"

typedef struct mx_render_check {
    const char *source;
    const char *wanted; /* the text; NULL: it fails */
    const char *piece;  /* of the error's message */
} mx_render_check;

/* Renders with variables (a JSON object's text; NULL: none). The fault, or MX_TEMPLATE_SYNTAX where it does not parse.
 */
static inline mx_template_fault mx_render(const char *source, const char *variables, const mx_template_options *options,
                                          mx_buf *out, mx_error *err)
{
    mx_template *tpl = NULL;
    mx_json json = {0};
    mx_template_report report = {.fault = MX_TEMPLATE_SYNTAX};
    mx_status st = mx_template_open(mx_str_from(source), "t", &tpl, err);
    if (st == MX_OK && variables) {
        st = mx_json_parse_exact(mx_str_from(variables), "variables", &json, err);
    }
    if (st == MX_OK) {
        st = mx_template_render(tpl, json.root, options, out, &report, err);
    }
    if (st == MX_NO_MEMORY) {
        report.fault = MX_TEMPLATE_NO_MEMORY;
    }
    const mx_template_fault fault = report.fault;
    mx_template_report_deinit(&report);
    mx_json_close(&json);
    mx_template_close(tpl);
    return fault;
}

static inline void mx_check_renders(const mx_render_check *checks, size_t n_checks, const char *variables)
{
    static const mx_template_clock clock = {2024, 7, 26, 12, 34, 56};
    const mx_template_options options = {.now = &clock};
    for (size_t i = 0; i < n_checks; i++) {
        mx_error err = {0};
        mx_buf out = {.max = 1 << 20};
        const mx_template_fault fault = mx_render(checks[i].source, variables, &options, &out, &err);
        if (checks[i].wanted && fault != MX_TEMPLATE_NO_FAULT) {
            MX_TEST_FAIL("%s: failed: %s", checks[i].source, err.message);
        } else if (checks[i].wanted && !mx_str_eq(mx_buf_view(&out), mx_str_from(checks[i].wanted))) {
            MX_TEST_FAIL("%s: made \"%.*s\", wanted \"%s\"", checks[i].source, MX_STR_ARG(mx_buf_view(&out)),
                         checks[i].wanted);
        } else if (!checks[i].wanted && (fault == MX_TEMPLATE_NO_FAULT || !strstr(err.message, checks[i].piece))) {
            MX_TEST_FAIL("%s: wanted an error with \"%s\", found \"%s\"", checks[i].source, checks[i].piece,
                         err.message);
        }
        mx_buf_deinit(&out);
    }
}

#define MX_CHECK_RENDERS(checks, variables) mx_check_renders((checks), MX_COUNTOF(checks), (variables))

#endif
