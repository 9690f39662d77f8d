#include "tests/render_check.h"

MX_TEST(case_follows_unicode)
{
    static const mx_render_check checks[] = {
        {"{{ 'straße ŉ'|upper }} {{ 'ΑΣ ΑΣΑ'.lower() }} {{ 'İ'.lower()|length }} {{ 'ǆ'.title() }}",
         "STRASSE ʼN ας ασα 2 ǅ", NULL},
        {"{{ \"it's o-k\".title() }} {{ \"it's o-k\"|title }} {{ 'ß'.casefold() }} {{ 'aBc'.swapcase() }}",
         "It'S O-K It's O-K ss AbC", NULL},
        {"{{ '½'.isnumeric() }}{{ '²'.isdigit() }}{{ '٣'.isdecimal() }}{{ 'a b'.isidentifier() }}", "TrueTrueTrueFalse",
         NULL},
        {"[{{ '\xC2\xA0 a\xE3\x80\x80'.strip() }}]", "[a]", NULL},
    };
    MX_CHECK_RENDERS(checks, NULL);
}

MX_TEST(strings_are_taken_apart_as_in_python)
{
    static const mx_render_check checks[] = {
        {"{{ ' a  b '.split() }}{{ 'a,b,,c'.split(',', 1) }}{{ ' a b '.split(none, 1) }}{{ ' a b '.rsplit(none, 1) }}",
         "['a', 'b']['a', 'b,,c']['a', 'b '][' a', 'b']", NULL},
        {"{{ 'a\\nb\\r\\nc'.splitlines(true) }}{{ 'k=v=w'.partition('=') }}{{ 'k=v=w'.rpartition('=') }}",
         "['a\\n', 'b\\r\\n', 'c']('k', '=', 'v=w')('k=v', '=', 'w')", NULL},
        {"{{ 'abcab'.find('b', 2) }}{{ 'hé'.index('é') }}{{ 'aaa'.count('aa') }}{{ 'x'.replace('', '-') }}", "411-x-",
         NULL},
        {"{{ 'a'.index('b') }}", NULL, "substring not found"},
        {"{{ 'a'.split('') }}", NULL, "empty separator"},
    };
    MX_CHECK_RENDERS(checks, NULL);
}

MX_TEST(values_are_put_into_text_as_in_python)
{
    static const mx_render_check checks[] = {
        {"{{ '%s|%5.1f|%-4d|%05d|%x|%r' % ('a', 2.25, 7, -7, 255, 'q') }}", "a|  2.2|7   |-0007|ff|'q'", NULL},
        {"{{ '%(a)s' % {'a': 1} }}{{ '%s' % [1] }}{{ '100%%' % () }}", "1[1]100%", NULL},
        {"{{ '{} {0}'.format(1) }}", NULL, "cannot switch"},
        {"{{ '{:>6,d}|{:+.1f}|{:#x}|{!r:>5}|{a[k]}'.format(1234, 2.55, 255, 'x', a={'k': 'v'}) }}",
         " 1,234|+2.5|0xff|  'x'|v", NULL},
        {"{{ '%d' % 'x' }}", NULL, "a real number is required"},
        {"{{ '%s %s' % (1,) }}", NULL, "not enough arguments"},
        {"{{ '{0.__class__}'.format(1) }}", "", NULL},
    };
    MX_CHECK_RENDERS(checks, NULL);
}

MX_TEST(repr_and_json_choose_quotes_and_escapes_as_python)
{
    static const mx_render_check checks[] = {
        {"{{ [\"it's\", 'say \"x\"', 'both \\' \"', '\\n\\x00\\u200b'] }}",
         "[\"it's\", 'say \"x\"', 'both \\' \"', '\\n\\x00\\u200b']", NULL},
        {"{{ {'a': [1, none], 'é': '<\\x01>'}|tojson }}", "{\"a\": [1, null], \"é\": \"<\\u0001>\"}", NULL},
        {"{{ {'b': 'é', 'a': []}|tojson(ensure_ascii=true, sort_keys=true, separators=(',', ':')) }}",
         "{\"a\":[],\"b\":\"\\u00e9\"}", NULL},
        {"{{ [1, {}]|tojson(indent=1) }}", "[\n 1,\n {}\n]", NULL},
        {"{{ x|tojson }}", NULL, "not JSON serializable"},
    };
    MX_CHECK_RENDERS(checks, NULL);
}

MX_TEST(dates_are_english_and_follow_the_clock_given)
{
    static const mx_render_check checks[] = {
        {"{{ strftime_now('%A, %d %B %Y %H:%M:%S') }}", "Friday, 26 July 2024 12:34:56", NULL},
        {"{{ strftime_now('%-d %e %I %p %j %U %W %V %G %u %w %y %%') }}", "26 26 12 PM 208 29 30 30 2024 5 5 24 %",
         NULL},
    };
    MX_CHECK_RENDERS(checks, NULL);
}

MX_TEST(marked_strings_escape_what_is_added)
{
    static const mx_render_check checks[] = {
        {"{{ '<b>'|safe + '<i>' }}{{ '<' ~ ('>'|safe) }}{{ '<'|e|e }}", "<b>&lt;i&gt;<>&lt;", NULL},
        {"{% autoescape true %}{{ '<' }}{{ '<'|safe }}{% endautoescape %}{{ '<' }}", "&lt;<<", NULL},
        {"{{ '<b>x</b>  &amp;&lt;'|striptags }}", "x &<", NULL},
    };
    MX_CHECK_RENDERS(checks, NULL);
}

MX_TEST_MAIN(MX_CASE(case_follows_unicode), MX_CASE(strings_are_taken_apart_as_in_python),
             MX_CASE(values_are_put_into_text_as_in_python), MX_CASE(repr_and_json_choose_quotes_and_escapes_as_python),
             MX_CASE(dates_are_english_and_follow_the_clock_given), MX_CASE(marked_strings_escape_what_is_added))
