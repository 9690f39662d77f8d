#include "tests/render_check.h"

MX_TEST(what_a_body_sets_ends_with_it)
{
    static const mx_render_check checks[] = {
        {"{% set x = 0 %}{% for i in xs %}{{ x }}{% set x = i %}{{ x }}{% endfor %}{{ x }}", "0301020", NULL},
        {"{% if true %}{% set y = 1 %}{% endif %}{{ y }}", "1", NULL},
        {"{% for i in xs %}{% if i == 1 %}{% set n = 9 %}{% endif %}{{ n }}{% endfor %}{{ n }}", "7977", NULL},
        {"{% with a = 1, b = n %}{{ a }}{{ b }}{% set c = 2 %}{% endwith %}[{{ a }}{{ c }}]", "17[]", NULL},
        {"{% set q %}{% set n = 1 %}{{ n }}{% endset %}{{ q }}{{ n }}", "17", NULL},
        {"{% generation %}{% set n = 1 %}{% endgeneration %}{{ n }}", "7", NULL},
        {"{% set ns = namespace(a=1) %}{% for i in xs %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }}", "7", NULL},
    };
    MX_CHECK_RENDERS(checks, "{\"xs\": [3, 1, 2], \"n\": 7}");
}

MX_TEST(macros_see_the_variables_around_them_as_they_are_at_the_call)
{
    static const mx_render_check checks[] = {
        {"{% macro m() %}{{ x }}{% endmacro %}{% set x = 1 %}{{ m() }}{% set x = 2 %}{{ m() }}", "12", NULL},
        {"{% for i in xs %}{% macro m() %}{{ i }}{% endmacro %}{{ m() }}{% endfor %}[{{ m }}]", "312[]", NULL},
        {"{% macro a(x, y=x ~ '!') %}{{ y }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ a(1) }}{{ a(1, 2, 3, k=4) }}",
         "1!(){}2(3,){'k': 4}", NULL},
        {"{% macro o() %}<{{ caller(1) }}>{% endmacro %}{% call(v) o() %}{{ v }}{{ n }}{% endcall %}", "<17>", NULL},
        {"{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", NULL, "takes not more than 1"},
        {"{% macro m(a) %}{% endmacro %}{{ m(b=2) }}", NULL, "no keyword argument 'b'"},
        {"{% macro m(caller) %}{{ caller }}{% endmacro %}", NULL, "must be omitted"},
    };
    MX_CHECK_RENDERS(checks, "{\"xs\": [3, 1, 2], \"n\": 7}");
}

MX_TEST(loops_know_where_they_are)
{
    static const mx_render_check checks[] = {
        {"{% for x in xs if x != 1 %}{{ loop.index }}{{ loop.last }}{{ loop.length }}{{ loop.nextitem }};{% endfor %}",
         "1False22;2True2;", NULL},
        {"{% for x in xs %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% else %}none{% endfor %}", "32", NULL},
        {"{% for x in [] %}{% else %}none{% endfor %}{% for x in xs %}{% break %}{% else %}left{% endfor %}",
         "noneleft", NULL},
        {"{% for x in [[1, [2]], 3] recursive %}{{ loop.depth }}{{ loop(x) if x is iterable else x }}{% endfor %}",
         "12123213", NULL},
        {"{% for x in xs %}{{ loop(xs) }}{% endfor %}", NULL, "recursive"},
        {"{% for a, b in [[1]] %}{% endfor %}", NULL, "not enough values"},
        {"{% set g = xs|map('string') %}{{ g|list }}{{ g|list }}", "['3', '1', '2'][]", NULL},
    };
    MX_CHECK_RENDERS(checks, "{\"xs\": [3, 1, 2]}");
}

MX_TEST(blocks_see_what_the_top_level_has_set)
{
    static const mx_render_check checks[] = {
        {"{% set q = 5 %}{% block b %}{{ q }}{{ n }}{% set q = 6 %}{% endblock %}{{ q }}{{ self.b() }}", "57557", NULL},
        {"{% for i in [1, 2] %}{% block b scoped %}{{ i }}{% endblock %}{% endfor %}", "12", NULL},
        {"{% block a %}{% endblock %}{% block a %}{% endblock %}", NULL, "defined twice"},
    };
    MX_CHECK_RENDERS(checks, "{\"n\": 7}");
}

MX_TEST(unknown_filters_fail_only_where_they_are_reached_in_conditions)
{
    static const mx_render_check checks[] = {
        {"{% if false %}{{ 1|nope }}{% endif %}{{ 1|nope if false else 'ok' }}", "ok", NULL},
        {"{% if true %}{{ 1|nope }}{% endif %}", NULL, "no filter named 'nope'"},
        {"{% if false %}{% include 'x' %}{% endif %}", "", NULL},
        {"{% include 'x' %}", NULL, "needs other templates"},
    };
    MX_CHECK_RENDERS(checks, NULL);
}

MX_TEST_MAIN(MX_CASE(what_a_body_sets_ends_with_it),
             MX_CASE(macros_see_the_variables_around_them_as_they_are_at_the_call), MX_CASE(loops_know_where_they_are),
             MX_CASE(blocks_see_what_the_top_level_has_set),
             MX_CASE(unknown_filters_fail_only_where_they_are_reached_in_conditions))
