#include "tests/render_check.h"

static mx_error err;

MX_TEST(syntax_errors_name_line_and_construct)
{
    static const mx_render_check checks[] = {
        {"a\n{% if x %}b", NULL,
         "line 2: unexpected end of template; the 'if' of line 2 waits for 'elif' or 'else' or 'endif'"},
        {"{% endfor %}", NULL, "line 1: unknown tag 'endfor'"},
        {"{% if x %}\n{% foo %}{% endif %}", NULL, "line 2: unknown tag 'foo'; the 'if' of line 1 waits for"},
        {"{{ (1 }}", NULL, "unexpected '}', expected ')'"},
        {"{{ 1 ! 2 }}", NULL, "unexpected character: !"},
        {"{{ 'abc }}", NULL, "unexpected character: '"},
        {"{{ 1 2 }}", NULL, "expected 'end of print statement', found 'integer'"},
        {"{{ 'a\\x4' }}", NULL, "is cut off"},
        {"{{ '\\ud800' }}", NULL, "surrogate"},
        {"{# a", NULL, "missing end of comment"},
        {"{% raw %} a", NULL, "missing end of raw"},
        {"{% for x in xs %}{% set loop = 1 %}{% endfor %}", NULL, "special variable 'loop'"},
        {"{% break %}", NULL, "outside of a loop"},
        {"{% set 1 = 2 %}", NULL, "can't assign to a constant"},
        {"{{ f(a=1, a=2) }}", NULL, "keyword argument repeated: a"},
        {"{{ f(a=1, 2) }}", NULL, "invalid syntax for function call"},
        {"{% macro m(a=1, b) %}{% endmacro %}", NULL, "non-default argument"},
        {"{{ 1|nofilter }}", NULL, "no filter named 'nofilter'"},
        {"{{ 1 is notest }}", NULL, "no test named 'notest'"},
        {"{{ \xFF }}", NULL, "not valid UTF-8"},
    };
    MX_CHECK_RENDERS(checks, NULL);
}

/* n times `open`, then `middle`, then n times `close` */
static mx_template_fault render_nested(const char *open, const char *middle, const char *close, size_t n)
{
    mx_buf source = {.max = 1 << 20};
    mx_buf out = {.max = 1 << 20};
    mx_status st = MX_OK;
    for (size_t i = 0; i < n && st == MX_OK; i++) {
        st = mx_buf_append(&source, mx_str_from(open), &err);
    }
    st = st == MX_OK ? mx_buf_append(&source, mx_str_from(middle), &err) : st;
    for (size_t i = 0; i < n && st == MX_OK; i++) {
        st = mx_buf_append(&source, mx_str_from(close), &err);
    }
    const char *text = mx_buf_view_cstr(&source);
    const mx_template_fault fault = text ? mx_render(text, NULL, NULL, &out, &err) : MX_TEMPLATE_NO_MEMORY;
    mx_buf_deinit(&source);
    mx_buf_deinit(&out);
    return fault;
}

MX_TEST(as_much_nesting_as_python_takes_is_taken_and_more_refused)
{
    MX_CHECK_I64(render_nested("{% if true %}", "x", "{% endif %}", 98), MX_TEMPLATE_NO_FAULT);
    MX_CHECK_I64(render_nested("{% if true %}", "x", "{% endif %}", 5000), MX_TEMPLATE_SYNTAX);
    MX_CHECK_I64(render_nested("", "{{ ((((((((((((((((((((((((((((((1)))))))))))))))))))))))))))))) }}", "", 1),
                 MX_TEMPLATE_NO_FAULT);
    MX_CHECK_I64(render_nested("{{ [[[[[[[[[[[[[[[[", "1", "", 30), MX_TEMPLATE_SYNTAX);
    MX_CHECK_I64(render_nested("", "{{ 1", "+1", 190), MX_TEMPLATE_SYNTAX); /* no end tag, but deep enough */
    MX_CHECK_I64(render_nested("{{ -", "1", "", 5000), MX_TEMPLATE_SYNTAX);
}

/* A template of n pieces, each with its number, between `open` and `close`: "a0=1," "a1=1," ... */
static mx_template_fault render_numbered(const char *open, const char *piece, const char *close, int n)
{
    mx_buf source = {.max = 1 << 20};
    mx_buf out = {.max = 1 << 20};
    mx_status st = mx_buf_append(&source, mx_str_from(open), &err);
    for (int i = 0; i < n && st == MX_OK; i++) {
        char number[16];
        const mx_str text = mx_str_from(piece);
        const size_t at = mx_str_find(text, MX_STR("#"), 0);
        snprintf(number, sizeof number, "%d", i);
        st = mx_buf_append(&source, mx_str_slice(text, 0, at), &err);
        st = st == MX_OK ? mx_buf_append(&source, mx_str_from(number), &err) : st;
        st = st == MX_OK ? mx_buf_append(&source, mx_str_slice(text, at + 1, text.len), &err) : st;
    }
    st = st == MX_OK ? mx_buf_append(&source, mx_str_from(close), &err) : st;
    const char *text = mx_buf_view_cstr(&source);
    const mx_template_fault fault =
        st == MX_OK && text ? mx_render(text, NULL, NULL, &out, &err) : MX_TEMPLATE_NO_MEMORY;
    mx_buf_deinit(&source);
    mx_buf_deinit(&out);
    return fault;
}

MX_TEST(a_thousand_names_are_taken_and_more_refused)
{
    MX_CHECK_I64(render_numbered("{{ dict(", "a#=1,", ") }}", 1000), MX_TEMPLATE_NO_FAULT);
    MX_CHECK_I64(render_numbered("{{ dict(", "a#=1,", ") }}", 1001), MX_TEMPLATE_SYNTAX);
    MX_CHECK(strstr(err.message, "more than 1000 named arguments of a call"));
    MX_CHECK_I64(render_numbered("{% macro m(z", ",a#", ") %}{% endmacro %}", 1000), MX_TEMPLATE_SYNTAX);
    MX_CHECK(strstr(err.message, "more than 1000 parameters of a macro"));
    MX_CHECK_I64(render_numbered("", "{% block a# %}{% endblock %}", "", 1001), MX_TEMPLATE_SYNTAX);
    MX_CHECK(strstr(err.message, "more than 1000 blocks"));
}

MX_TEST(operators_bind_as_in_jinja)
{
    static const mx_render_check checks[] = {
        {"{{ 2 * 3 ~ 4 + 5 if false else 1 }}", "1", NULL},
        {"{{ -1|abs }} {{ 1 - 2|abs }} {{ -2 ** 2 }} {{ 2 ** 3 ** 2 }}", "1 -1 4 64", NULL},
        {"{{ 4 + 1 is odd }} {{ not 1 in [1] }} {{ 1 < 2 < 3 > 2 }}", "5 False True", NULL},
        {"{{ 1 or 2 and 0 }} {{ 'a' ~ 1 ~ 2.0 }} {{ (1,) }} {{ () }}", "1 a12.0 (1,) ()", NULL},
        {"{{ 10 is divisibleby 5 }} {{ 'a' 'b' }} {{ [1, 2,][-1] }} {{ {'a': 1,}.a }}", "True ab 2 1", NULL},
        {"{{ 'abc'[1:] }} {{ 'abc'[::-1] }} {{ [1, 2, 3][:-1] }} {{ [[1]].0.0 }}", "bc cba [1, 2] 1", NULL},
        {"{% print 1, 2 %}{% if 1: %}a{% endif %}", "12a", NULL},
    };
    MX_CHECK_RENDERS(checks, NULL);
}

MX_TEST(white_space_around_tags_goes_as_asked)
{
    static const mx_render_check checks[] = {
        {"  {% if 1 %}\n  a\n  {% endif %}\nb\n", "  a\nb", NULL},
        {"a  {%- if 1 -%}  b  {%- endif -%}  c", "abc", NULL},
        {"  {%+ if 1 +%}\nx{% endif %}", "  \nx", NULL},
        {"a {# c #}\n{#- d -#}\n b\n\n", "a b\n", NULL},
        {"a\r\n  {% raw %}\n {{ x }}\r{% endraw %}\n", "a\n\n {{ x }}\n", NULL},
        {"\xC2\xA0{{- 1 -}}\xE3\x80\x80", "1", NULL},
        {"x{#", "x", NULL},
    };
    MX_CHECK_RENDERS(checks, NULL);
}

MX_TEST_MAIN(MX_CASE(syntax_errors_name_line_and_construct),
             MX_CASE(as_much_nesting_as_python_takes_is_taken_and_more_refused),
             MX_CASE(a_thousand_names_are_taken_and_more_refused), MX_CASE(operators_bind_as_in_jinja),
             MX_CASE(white_space_around_tags_goes_as_asked))
