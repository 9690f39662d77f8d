#include "base/bytes.h"

#include "tests/test.h"

MX_TEST(numbers_are_little_endian_at_any_place)
{
    const uint8_t bytes[] = {0xFF, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x88};
    MX_CHECK_I64(mx_load_le16(bytes + 1), 0x0201);
    MX_CHECK_I64(mx_load_le32(bytes + 1), 0x04030201);
    MX_CHECK(mx_load_le32(bytes + 5) == 0x88070605u);
    MX_CHECK(mx_load_le64(bytes + 1) == UINT64_C(0x8807060504030201));
}

MX_TEST(floats_keep_their_bits)
{
    MX_CHECK(mx_f32_bits(1.0f) == 0x3F800000u && mx_f32_bits(-0.0f) == 0x80000000u);
    MX_CHECK(mx_f32_from_bits(0xC0000000u) == -2.0f);
    MX_CHECK(mx_f32_bits(mx_f32_from_bits(0x7FC12345u)) == 0x7FC12345u);
}

MX_TEST_MAIN(MX_CASE(numbers_are_little_endian_at_any_place), MX_CASE(floats_keep_their_bits))
