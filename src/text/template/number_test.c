#include "tests/render_check.h"

MX_TEST(floats_are_printed_with_the_fewest_digits)
{
    static const mx_render_check checks[] = {
        {"{{ [0.1, 1e22, 1e16, 1e15, 1e-5, 0.0001, 100.0, -0.0] }}",
         "[0.1, 1e+22, 1e+16, 1000000000000000.0, 1e-05, 0.0001, "
         "100.0, -0.0]",
         NULL},
        {"{{ 5e-324 }} {{ 1.7976931348623157e308 }} {{ 2.0 ** -44 }} {{ 1e400 }}",
         "5e-324 1.7976931348623157e+308 5.684341886080802e-14 inf", NULL},
        {"{{ 0.1 + 0.2 }} {{ 2.5|round }} {{ 2.675|round(2) }}", "0.30000000000000004 2.0 2.67", NULL},
    };
    MX_CHECK_RENDERS(checks, NULL);
}

MX_TEST(division_rounds_down_and_rests_have_the_sign_of_the_divisor)
{
    static const mx_render_check checks[] = {
        {"{{ -7 // 2 }} {{ 7 // -2 }} {{ -7 % 3 }} {{ 7 % -3 }}", "-4 -4 2 -2", NULL},
        {"{{ -7.5 // 2 }} {{ 7.5 % -2 }} {{ 4 / 2 }} {{ 2 ** -1 }}", "-4.0 -0.5 2.0 0.5", NULL},
        {"{{ 1 / 0 }}", NULL, "division by zero"},
        {"{{ 1 % 0.0 }}", NULL, "division by zero"},
        {"{{ (-8) ** 0.5 }}", NULL, "complex"},
    };
    MX_CHECK_RENDERS(checks, NULL);
}

MX_TEST(integers_go_beyond_64_bits)
{
    static const mx_render_check checks[] = {
        {"{{ 9223372036854775807 + 1 }} {{ -9223372036854775808 - 1 }}", "9223372036854775808 -9223372036854775809",
         NULL},
        {"{{ -9223372036854775808 // -1 }} {{ 2 ** 100 }}", "9223372036854775808 1267650600228229401496703205376",
         NULL},
        {"{{ big }} {{ big * big // big == big }} {{ -big // 7 }} {{ -big % 7 }}",
         "123456789012345678901234567890 True -17636684144620811271604938270 0", NULL},
        {"{{ big|tojson }} {{ big / 3 }} {{ big > 1e29 }} {{ '%x' % big }}",
         "123456789012345678901234567890 4.115226300411523e+28 True 18ee90ff6c373e0ee4e3f0ad2", NULL},
        {"{{ {9007199254740993: 1}[9007199254740993] }} {{ 9007199254740993 == 9007199254740992.0 }}", "1 False", NULL},
        {"{{ 10 ** 5000 }}", NULL, "more than 4300 digits"},
    };
    MX_CHECK_RENDERS(checks, "{\"big\": 123456789012345678901234567890}");
}

MX_TEST(text_becomes_numbers_as_in_python)
{
    static const mx_render_check checks[] = {
        {"{{ ' 42 '|int }} {{ '4_2'|int }} {{ '0x1A'|int(0, 16) }} {{ '3.9'|int }} {{ 'x'|int(7) }}", "42 42 26 3 7",
         NULL},
        {"{{ '1e3'|float }} {{ 'nan'|float }} {{ '-inf'|float }} {{ 'x'|float }}", "1000.0 nan -inf 0.0", NULL},
        {"{{ 1_000 }} {{ 0x1F }} {{ 0b101 }} {{ 1.5E-3 }}", "1000 31 5 0.0015", NULL},
    };
    MX_CHECK_RENDERS(checks, NULL);
}

MX_TEST_MAIN(MX_CASE(floats_are_printed_with_the_fewest_digits),
             MX_CASE(division_rounds_down_and_rests_have_the_sign_of_the_divisor), MX_CASE(integers_go_beyond_64_bits),
             MX_CASE(text_becomes_numbers_as_in_python))
