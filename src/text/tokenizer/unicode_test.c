/* unicode_test.c - classes, walking UTF-8, the characters that stand for bytes, lower case. */
#include "text/tokenizer/unicode.h"

#include "base/utf8.h"
#include "tests/tokenizer_testing.h"
#include "text/tokenizer/bytechars.h"
#include "text/tokenizer/unicode_form.h"

static mx_unicode unicode;

MX_TEST(the_direct_table_and_the_rows_agree)
{
    mx_unicode_init(&unicode);
    for (int32_t c = 0; c < MX_UNICODE_N_DIRECT; c++) {
        const unsigned newline = c == '\n' || c == '\r' ? MX_UC_NEWLINE : 0;
        if (unicode.direct[c] != (mx_unicode_find(c) | newline)) {
            MX_TEST_FAIL("U+%04X: %x and %x", (unsigned)c, unicode.direct[c], mx_unicode_find(c));
        }
    }
}

MX_TEST(classes_are_those_of_the_characters)
{
    mx_unicode_init(&unicode);
    static const struct {
        int32_t code_point;
        unsigned classes;
    } table[] = {
        {'A', MX_UC_LETTER | MX_UC_UPPERISH | MX_UC_WORD},
        {'a', MX_UC_LETTER | MX_UC_LOWERISH | MX_UC_WORD},
        {'1', MX_UC_NUMBER | MX_UC_NUMERIC | MX_UC_WORD},
        {'$', MX_UC_PUNCT_SYM | MX_UC_PUNCTUATION},
        {'_', MX_UC_PUNCT_SYM | MX_UC_PUNCTUATION | MX_UC_WORD},
        {' ', MX_UC_SPACE},
        {'\n', MX_UC_SPACE | MX_UC_NEWLINE},
        {0x301, MX_UC_MARK | MX_UC_COMBINING | MX_UC_NONSPACING | MX_UC_UPPERISH | MX_UC_LOWERISH | MX_UC_WORD},
        {0x4E00, MX_UC_LETTER | MX_UC_UPPERISH | MX_UC_LOWERISH | MX_UC_WORD},
        {0x20000, MX_UC_LETTER | MX_UC_UPPERISH | MX_UC_LOWERISH | MX_UC_WORD},
        {0x1F600, MX_UC_PUNCT_SYM},
        {0x180E, MX_UC_CONTROL},
        {0x10FFFF, 0},
    };
    for (size_t i = 0; i < MX_COUNTOF(table); i++) {
        if (mx_unicode_get(&unicode, table[i].code_point) != table[i].classes) {
            MX_TEST_FAIL("U+%04X is %x", (unsigned)table[i].code_point, mx_unicode_get(&unicode, table[i].code_point));
        }
    }
}

MX_TEST(utf8_is_walked_forwards_and_backwards)
{
    for (int32_t c = 1; c < 0x110000; c += c < 0x3000 ? 1 : 97) {
        char bytes[8] = "x";
        size_t size;
        if (c >= 0xD800 && c < 0xE000) {
            continue;
        }
        const size_t n = mx_utf8_encode(c, bytes + 1);
        MX_CHECK(mx_utf8_next(bytes + 1, &size) == c && size == n);
        MX_CHECK(mx_utf8_size(bytes[1]) == n && mx_utf8_last_size(bytes, n + 1) == n);
    }
}

MX_TEST(every_byte_has_a_character_of_its_own)
{
    bool seen[0x200] = {false};
    for (int b = 0; b < 256; b++) {
        const int32_t c = mx_bytechar_from((uint8_t)b);
        MX_CHECK(c >= 0x21 && c < 0x144 && !seen[c]);
        seen[c] = true;
        MX_CHECK_I64(mx_bytechar_to(c), b);
    }
    MX_CHECK_I64(mx_bytechar_from(' '), 0x120);
    MX_CHECK_I64(mx_bytechar_from('\n'), 0x10A);
    MX_CHECK_I64(mx_bytechar_from(0xAD), 0x143);
    MX_CHECK_I64(mx_bytechar_to(' '), -1);
    MX_CHECK_I64(mx_bytechar_to(0x144), -1);
    MX_CHECK_I64(mx_bytechar_to(0xAD), -1);
}

MX_TEST(lower_case_is_that_of_single_characters)
{
    int32_t lower[2];
    MX_CHECK(mx_unicode_lower('Q', lower) == 1 && lower[0] == 'q');
    MX_CHECK(mx_unicode_lower(0x3A3, lower) == 1 && lower[0] == 0x3C3);
    MX_CHECK(mx_unicode_lower(0x130, lower) == 2 && lower[0] == 'i' && lower[1] == 0x307);
    MX_CHECK(mx_unicode_lower(0x10D50, lower) == 1 && lower[0] == 0x10D70);
    MX_CHECK(mx_unicode_lower(0xA7DC, lower) == 1 && lower[0] == 0x19B);
}

MX_TEST_MAIN(MX_CASE(the_direct_table_and_the_rows_agree), MX_CASE(classes_are_those_of_the_characters),
             MX_CASE(utf8_is_walked_forwards_and_backwards), MX_CASE(every_byte_has_a_character_of_its_own),
             MX_CASE(lower_case_is_that_of_single_characters))
