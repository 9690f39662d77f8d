#include "text/template/template.h"

#include "base/mem.h"
#include "platform/thread.h"
#include "tests/render_check.h"

static mx_error err;

static void check_limit(const char *source, const mx_template_options *options, const char *piece)
{
    mx_buf out = {.max = (size_t)1 << 30};
    MX_CHECK_I64(mx_render(source, NULL, options, &out, &err), MX_TEMPLATE_LIMIT);
    MX_CHECK(strstr(err.message, piece) != NULL);
    MX_CHECK_I64(out.len, 0);
    mx_buf_deinit(&out);
}

MX_TEST(a_template_is_rendered_many_times)
{
    mx_template *tpl = NULL;
    mx_buf out = {.max = 100};
    MX_CHECK_OK(mx_template_open(MX_STR("{% for i in range(3) %}{{ i }}{% endfor %};"), "t", &tpl, &err), &err);
    MX_CHECK_OK(mx_template_render(tpl, NULL, NULL, &out, NULL, &err), &err);
    MX_CHECK_OK(mx_template_render(tpl, NULL, NULL, &out, NULL, &err), &err);
    MX_CHECK_STR(mx_buf_view(&out), MX_STR("012;012;"));
    mx_buf_deinit(&out);
    mx_template_close(tpl);
    mx_template_close(NULL);
}

MX_TEST(the_message_of_raise_exception_is_kept_whole)
{
    mx_template *tpl = NULL;
    mx_template_report report;
    mx_buf out = {.max = 100};
    MX_CHECK_OK(mx_template_open(MX_STR("a\n{{ raise_exception('long ' * 1000) }}"), "t", &tpl, &err), &err);
    MX_CHECK_FAILS(mx_template_render(tpl, NULL, NULL, &out, &report, &err), MX_INVALID, &err, "t: line 2: long long");
    MX_CHECK_I64(report.fault, MX_TEMPLATE_RAISED);
    MX_CHECK_I64(report.line, 2);
    MX_CHECK_I64(report.message.len, 5000);
    mx_template_report_deinit(&report);
    mx_template_close(tpl);
    mx_buf_deinit(&out);
}

MX_TEST(faults_are_told_apart)
{
    mx_buf out = {.max = 100};
    MX_CHECK_I64(mx_render("{{ 1 +", NULL, NULL, &out, &err), MX_TEMPLATE_SYNTAX);
    MX_CHECK_I64(mx_render("{{ a.b }}", NULL, NULL, &out, &err), MX_TEMPLATE_UNDEFINED);
    MX_CHECK_I64(mx_render("{{ 'a' + 1 }}", NULL, NULL, &out, &err), MX_TEMPLATE_RUNTIME);
    MX_CHECK_I64(mx_render("{{ [].append(1) }}", NULL, NULL, &out, &err), MX_TEMPLATE_RUNTIME);
    MX_CHECK_I64(out.len, 0);
    mx_buf_deinit(&out);
}

MX_TEST(hostile_templates_end_with_an_error)
{
    static const char endless[] = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}";
    const mx_template_options little = {.max_memory_bytes = 1 << 20};
    const mx_template_options short_out = {.max_output_bytes = 1000};
    check_limit(endless, NULL, "steps");
    check_limit("{% macro m(x) %}{{ m(x) }}{% endmacro %}{{ m(1) }}", NULL, "endless recursion");
    check_limit("{% for x in [1] recursive %}{{ loop([x]) }}{% endfor %}", NULL, "nested");
    check_limit("{% set ns = namespace(t=(1,)) %}{% for i in range(99) %}{% set ns.t = (ns.t, ns.t) %}{% endfor %}"
                "{{ {ns.t: 1} }}",
                NULL, "steps");
    check_limit("{{ 'a' * 1000000000 }}", NULL, "text");
    check_limit("{{ 'ab' * 501 }}", &short_out, "1000 bytes");
    check_limit("{{ [0] * 1000000 }}", &little, "memory");
    check_limit("{% set ns = namespace(x=[]) %}{% for i in range(500) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
                NULL, "nested more than");
    check_limit("{% set ns = namespace(g=[1]) %}{% for i in range(9999) %}{% set ns.g = ns.g|map('int') %}{% endfor %}"
                "{{ ns.g|list }}",
                NULL, "nested");
}

static bool stop_at_third(void *arg)
{
    return ++*(int *)arg == 3;
}

MX_TEST(whoever_waits_may_stop_a_render)
{
    int n_asked = 0;
    const mx_template_options options = {.should_stop = stop_at_third, .stop_arg = &n_asked};
    mx_buf out = {.max = 100};
    MX_CHECK_I64(mx_render("{% for i in range(99999) %}{% endfor %}", NULL, &options, &out, &err), MX_TEMPLATE_STOPPED);
    MX_CHECK_I64(n_asked, 3);
    mx_buf_deinit(&out);
}

MX_TEST(a_full_output_buffer_is_an_error)
{
    mx_buf out = {.max = 3};
    MX_CHECK_I64(mx_render("four", NULL, NULL, &out, &err), MX_TEMPLATE_LIMIT);
    mx_buf_deinit(&out);
}

MX_TEST(adding_to_a_string_again_and_again_is_not_quadratic)
{
    const mx_template_options little = {.max_memory_bytes = 16 << 20};
    mx_buf out = {.max = 1 << 20};
    const char *source = "{% set ns = namespace(s='') %}{% for i in range(20000) %}{% set ns.s = ns.s ~ 'ten bytes.' %}"
                         "{% set t = i ~ ',' %}{% endfor %}{{ ns.s|length }}";
    MX_CHECK_I64(mx_render(source, NULL, &little, &out, &err), MX_TEMPLATE_NO_FAULT);
    MX_CHECK_STR(mx_buf_view(&out), MX_STR("200000"));
    mx_buf_deinit(&out);
}

#define BUSY                                                                                                        \
    "{% macro m(a, b=2) %}{{ a }}{{ caller() if caller }}{% endmacro %}{% call m('x' * 300) %}{{ [1, {'k': "        \
    "'v'}]|tojson }}"                                                                                               \
    "{% endcall %}{% for x in xs|map('string')|sort %}{{ loop.last }}{{ x ~ 'y' * 300 }}{% endfor %}{{ 10 ** 30 }}" \
    "{% set q %}{{ 'a-b'.split('-') }}{% endset %}{{ q|upper|replace('A', 'c') }}"

MX_TEST(each_failing_allocation_is_reported)
{
    mx_template_fault fault = MX_TEMPLATE_NO_MEMORY;
    int64_t n = 1;
    for (; fault == MX_TEMPLATE_NO_MEMORY && n < 1000; n++) {
        mx_buf out = {.max = 1 << 20};
        mx_mem_fail_at(n);
        fault = mx_render(BUSY, "{\"xs\": [3, 1]}", NULL, &out, &err);
        mx_mem_fail_at(0);
        MX_CHECK(fault == MX_TEMPLATE_NO_MEMORY || out.len > 300);
        mx_buf_deinit(&out);
    }
    MX_CHECK_I64(fault, MX_TEMPLATE_NO_FAULT);
    MX_CHECK(n > 5);
}

static void render_in_thread(void *arg)
{
    const mx_template *tpl = arg;
    for (int i = 0; i < 50; i++) {
        mx_error own;
        mx_buf out = {.max = 1 << 20};
        if (mx_template_render(tpl, NULL, NULL, &out, NULL, &own) != MX_OK || out.len < 300) {
            abort();
        }
        mx_buf_deinit(&out);
    }
}

MX_TEST(threads_render_one_template_at_once)
{
    mx_template *tpl = NULL;
    mx_thread threads[3] = {{0}};
    MX_CHECK_OK(mx_template_open(MX_STR(BUSY), "t", &tpl, &err), &err);
    for (size_t i = 0; i < MX_COUNTOF(threads); i++) {
        MX_CHECK_OK(mx_thread_start(&threads[i], "render", render_in_thread, tpl, &err), &err);
    }
    for (size_t i = 0; i < MX_COUNTOF(threads); i++) {
        mx_thread_join(&threads[i]);
    }
    mx_template_close(tpl);
}

MX_TEST_MAIN(MX_CASE(a_template_is_rendered_many_times), MX_CASE(the_message_of_raise_exception_is_kept_whole),
             MX_CASE(faults_are_told_apart), MX_CASE(hostile_templates_end_with_an_error),
             MX_CASE(whoever_waits_may_stop_a_render), MX_CASE(a_full_output_buffer_is_an_error),
             MX_CASE(adding_to_a_string_again_and_again_is_not_quadratic), MX_CASE(each_failing_allocation_is_reported),
             MX_CASE(threads_render_one_template_at_once))
