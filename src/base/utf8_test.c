#include "base/utf8.h"

#include "tests/test.h"

MX_TEST(every_scalar_value_goes_there_and_back)
{
    for (int32_t c = 0; c <= 0x10FFFF; c++) {
        char bytes[4];
        int32_t back;
        if (c >= 0xD800 && c <= 0xDFFF) {
            continue;
        }
        const size_t n = mx_utf8_encode(c, bytes);
        if (mx_utf8_decode(bytes, n, &back) != n || back != c) {
            MX_TEST_FAIL("U+%04X", (unsigned)c);
        }
    }
}

typedef struct ill_formed {
    mx_str bytes;
    int32_t n_parts; /* maximal ill-formed parts, of which each becomes one U+FFFD */
} ill_formed;

static const ill_formed ill_formed_cases[] = {
    {MX_STR_INIT("\x80"), 1},                 /* a continuation alone */
    {MX_STR_INIT("\xC0\x80"), 2},             /* never a lead byte */
    {MX_STR_INIT("\xC3"), 1},                 /* cut off */
    {MX_STR_INIT("\xE6\xA8"), 1},             /* cut off after two of three */
    {MX_STR_INIT("\xF0\x9F\x98"), 1},         /* cut off after three of four */
    {MX_STR_INIT("\xE0\x80\x80"), 3},         /* overlong */
    {MX_STR_INIT("\xED\xA0\x80"), 3},         /* a surrogate */
    {MX_STR_INIT("\xF4\x90\x80\x80"), 4},     /* past U+10FFFF */
    {MX_STR_INIT("\xF8\x88\x80\x80\x80"), 5}, /* a five-byte form */
    {MX_STR_INIT("\xF0\x9F\xF0\x9F"), 2},
    {MX_STR_INIT("\xFF"), 1},
};

MX_TEST(each_maximal_ill_formed_part_becomes_one_replacement)
{
    for (size_t i = 0; i < MX_COUNTOF(ill_formed_cases); i++) {
        const ill_formed *c = &ill_formed_cases[i];
        mx_buf out = {.max = 100};
        mx_error err = {0};
        MX_CHECK(!mx_utf8_is_valid(c->bytes));
        MX_CHECK_OK(mx_utf8_append_lossy(&out, c->bytes, &err), &err);
        MX_CHECK_I64(out.len, 3 * c->n_parts);
        MX_CHECK(mx_utf8_is_valid(mx_buf_view(&out)));
        mx_buf_deinit(&out);
    }
}

MX_TEST(well_formed_stretches_pass_unchanged)
{
    mx_buf out = {.max = 100};
    mx_error err = {0};
    MX_CHECK_OK(mx_utf8_append_lossy(&out, MX_STR("a\xC3\xA9\xFFz\xE6"), &err), &err);
    MX_CHECK_STR(mx_buf_view(&out), MX_STR("a\xC3\xA9\xEF\xBF\xBDz\xEF\xBF\xBD"));
    mx_buf_deinit(&out);
    MX_CHECK(mx_utf8_is_valid(MX_STR("a\xC3\xA9\xE6\xA8\xA1\xF0\x9F\x98\x80")) && mx_utf8_is_valid((mx_str){0}));
}

MX_TEST(an_unfinished_character_at_the_end_is_measured)
{
    MX_CHECK_I64(mx_utf8_incomplete_tail(MX_STR("")), 0);
    MX_CHECK_I64(mx_utf8_incomplete_tail(MX_STR("abc")), 0);
    MX_CHECK_I64(mx_utf8_incomplete_tail(MX_STR("a\xC3")), 1);
    MX_CHECK_I64(mx_utf8_incomplete_tail(MX_STR("a\xC3\xA9")), 0);
    MX_CHECK_I64(mx_utf8_incomplete_tail(MX_STR("\xE6")), 1);
    MX_CHECK_I64(mx_utf8_incomplete_tail(MX_STR("\xE6\xA8")), 2);
    MX_CHECK_I64(mx_utf8_incomplete_tail(MX_STR("x\xF0\x9F\x98")), 3);
    MX_CHECK_I64(mx_utf8_incomplete_tail(MX_STR("x\xF0\x9F\x98\x80")), 0);
    MX_CHECK_I64(mx_utf8_incomplete_tail(MX_STR("\x80\x80\x80\x80")), 0); /* will never be one */
    MX_CHECK_I64(mx_utf8_incomplete_tail(MX_STR("\xED\xA0")), 0);
    MX_CHECK_I64(mx_utf8_incomplete_tail(MX_STR("\xFF")), 0);
}

MX_TEST_MAIN(MX_CASE(every_scalar_value_goes_there_and_back),
             MX_CASE(each_maximal_ill_formed_part_becomes_one_replacement),
             MX_CASE(well_formed_stretches_pass_unchanged), MX_CASE(an_unfinished_character_at_the_end_is_measured))
