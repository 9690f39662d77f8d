#include "tests/render_check.h"

MX_TEST(numbers_in_the_context_keep_their_types_and_objects_their_order)
{
    static const mx_render_check checks[] = {
        {"{{ a }}", "{'z': 1, 'y': 1.0, 'x': None, 'w': [True, 1e-07]}", NULL},
        {"{{ u }} {{ m }}", "18446744073709551615 -9223372036854775808", NULL},
    };
    MX_CHECK_RENDERS(checks, "{\"a\": {\"z\": 1, \"y\": 1.0, \"x\": null, \"w\": [true, 1e-7]}, \"u\": "
                             "18446744073709551615, \"m\": -9223372036854775808}");
}

MX_TEST(keys_that_are_equal_are_one_key)
{
    static const mx_render_check checks[] = {
        {"{{ {1: 'a', true: 'b', 1.0: 'c', '1': 'd'} }}", "{1: 'c', '1': 'd'}", NULL},
        {"{{ {[1]: 2} }}", NULL, "unhashable type: 'list'"},
        {"{{ {(1, 'a'): 2}[(1.0, 'a')] }}", "2", NULL},
    };
    MX_CHECK_RENDERS(checks, NULL);
}

MX_TEST(a_large_dict_finds_every_key)
{
    static const mx_render_check checks[] = {
        {"{% set ns = namespace(n=0) %}{% for k in d %}{% if d[k] == k|length %}{% set ns.n = ns.n + 1 %}{% endif %}{% "
         "endfor %}"
         "{{ ns.n }}{{ d.nope is defined }}",
         "26False", NULL},
    };
    MX_CHECK_RENDERS(checks,
                     "{\"d\": {\"a\":1,\"b\":1,\"c\":1,\"dd\":2,\"e\":1,\"f\":1,\"g\":1,\"hh\":2,\"i\":1,\"j\":1,"
                     "\"k\":1,\"l\":1,\"m\":1,\"n\":1,\"o\":1,\"p\":1,\"q\":1,\"r\":1,\"s\":1,\"t\":1,\"u\":1,\"v\":1,"
                     "\"w\":1,\"x\":1,\"y\":1,\"z\":1}}");
}

MX_TEST(attributes_go_before_items_after_a_dot_and_behind_them_in_brackets)
{
    static const mx_render_check checks[] = {
        {"{{ {'items': 1}['items'] }}{{ {'items': 1}.items()|list }}{{ {'a': 1}['get']('a') }}", "1[('items', 1)]1",
         NULL},
        {"{{ [].append is defined }}{{ ''.__class__ }}{{ {}.pop is defined }}", "FalseFalse", NULL},
        {"{{ {}.update({}) }}", NULL, "access to attribute 'update' of 'dict' object is unsafe"},
        {"{{ nope.x }}", NULL, "'nope' is undefined"},
        {"{{ {}.a.b }}", NULL, "'dict object' has no attribute 'a'"},
        {"{{ nope }}{{ nope|list }}{{ nope == other }}{{ {}.a is defined }}", "[]TrueFalse", NULL},
    };
    MX_CHECK_RENDERS(checks, NULL);
}

MX_TEST(comparisons_are_pythons)
{
    static const mx_render_check checks[] = {
        {"{{ [1, 2] < [1, 3] }}{{ (1,) == [1] }}{{ 'b' > 'a' }}{{ {'a': 1} == {'a': 1.0} }}{{ none == false }}",
         "TrueFalseTrueTrueFalse", NULL},
        {"{{ 1 in [true] }}{{ 'b' in 'abc' }}{{ 2.0 in range(3) }}{{ ('a', 1) in {'a': 1}.items() }}",
         "TrueTrueTrueTrue", NULL},
        {"{{ 1 < 'a' }}", NULL, "'<' not supported between instances of 'int' and 'str'"},
        {"{{ 1 in 5 }}", NULL, "is not iterable"},
        {"{{ [3, 'a']|sort }}", NULL, "not supported"},
        {"{{ ['b', 'A', 'a']|sort }}{{ [1, 3, 2]|sort(true) }}{{ [{'a': 2}, {'a': 1}]|sort(attribute='a') }}",
         "['A', 'a', 'b'][3, 2, 1][{'a': 1}, {'a': 2}]", NULL},
    };
    MX_CHECK_RENDERS(checks, NULL);
}

MX_TEST_MAIN(MX_CASE(numbers_in_the_context_keep_their_types_and_objects_their_order),
             MX_CASE(keys_that_are_equal_are_one_key), MX_CASE(a_large_dict_finds_every_key),
             MX_CASE(attributes_go_before_items_after_a_dot_and_behind_them_in_brackets),
             MX_CASE(comparisons_are_pythons))
