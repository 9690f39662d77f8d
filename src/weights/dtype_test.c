#include "weights/dtype.h"

#include "base/bytes.h"
#include "tests/test.h"
#include "weights/minifloat.h"

MX_TEST(names_and_sizes_are_those_of_safetensors)
{
    mx_dtype dtype;
    MX_CHECK(mx_dtype_from_name(MX_STR("BF16"), &dtype));
    MX_CHECK_I64(dtype, MX_DTYPE_BF16);
    MX_CHECK_I64(mx_dtype_size(dtype), 2);
    MX_CHECK_CSTR(mx_dtype_name(dtype), "BF16");
    MX_CHECK(mx_dtype_from_name(MX_STR("BOOL"), &dtype));
    MX_CHECK_I64(mx_dtype_size(dtype), 1);
    MX_CHECK(!mx_dtype_from_name(MX_STR("bf16"), &dtype));
    MX_CHECK(!mx_dtype_from_name(MX_STR(""), &dtype));
    MX_CHECK(!mx_dtype_from_name(MX_STR("F32 "), &dtype));
}

MX_TEST(every_f16_comes_back_from_f32)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        const float value = mx_f16_to_f32((uint16_t)bits);
        if (value != value) {
            MX_CHECK((mx_f16_from_f32(value) & 0x7C00) == 0x7C00 && (mx_f16_from_f32(value) & 0x3FF) != 0);
        } else if (mx_f16_from_f32(value) != bits) {
            MX_TEST_FAIL("%04x came back as %04x", (unsigned)bits, (unsigned)mx_f16_from_f32(value));
        }
    }
}

MX_TEST(every_bf16_comes_back_from_f32)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        const float value = mx_bf16_to_f32((uint16_t)bits);
        if (value != value) {
            MX_CHECK((mx_bf16_from_f32(value) & 0x7FFF) > 0x7F80);
        } else if (mx_bf16_from_f32(value) != bits) {
            MX_TEST_FAIL("%04x came back as %04x", (unsigned)bits, (unsigned)mx_bf16_from_f32(value));
        }
    }
}

/* Between two neighbours a and b: just below the middle gives a, just above gives b, the middle the even one. */
static void check_rounding(uint16_t (*from)(float), float (*to)(uint16_t), uint16_t last)
{
    for (uint32_t a = 0; a < last; a++) {
        const float lo = to((uint16_t)a);
        const float hi = to((uint16_t)(a + 1));
        const float middle = (float)(((double)lo + (double)hi) / 2);
        const uint16_t even = (uint16_t)(a + (a & 1));
        if (from(middle) != even || from(nextafterf(middle, 0.0f)) != a || from(nextafterf(middle, hi)) != a + 1 ||
            from(-middle) != (even | 0x8000)) {
            MX_TEST_FAIL("rounding between %04x and the next", (unsigned)a);
        }
    }
}

MX_TEST(f16_rounds_to_nearest_even)
{
    check_rounding(mx_f16_from_f32, mx_f16_to_f32, 0x7BFF);
    MX_CHECK_I64(mx_f16_from_f32(65519.996f), 0x7BFF);
    MX_CHECK_I64(mx_f16_from_f32(65520.0f), 0x7C00);
    MX_CHECK_I64(mx_f16_from_f32(1e30f), 0x7C00);
    MX_CHECK_I64(mx_f16_from_f32(-INFINITY), 0xFC00);
    MX_CHECK_I64(mx_f16_from_f32(-0.0f), 0x8000);
    MX_CHECK_I64(mx_f16_from_f32(1e-30f), 0);
}

MX_TEST(bf16_rounds_to_nearest_even)
{
    check_rounding(mx_bf16_from_f32, mx_bf16_to_f32, 0x7F7E);
    MX_CHECK_I64(mx_bf16_from_f32(3.4e38f), 0x7F80);
    MX_CHECK_I64(mx_bf16_from_f32(INFINITY), 0x7F80);
    MX_CHECK_I64(mx_bf16_from_f32(mx_f32_from_bits(0xFF800001u)), 0xFFC0);
}

MX_TEST(runs_are_read_from_any_alignment)
{
    uint8_t bytes[1 + 12] = {0xEE, 0x00, 0x00, 0x80, 0x3F, 0x00, 0x00, 0x00, 0xC0, 0x00, 0x3C, 0x01, 0x80};
    float out[3];
    mx_dtype_to_f32(out, bytes + 1, MX_DTYPE_F32, 2);
    MX_CHECK(out[0] == 1.0f && out[1] == -2.0f);
    mx_dtype_to_f32(out, bytes + 1, MX_DTYPE_BF16, 2);
    MX_CHECK(out[0] == 0.0f && out[1] == 1.0f);
    mx_dtype_to_f32(out, bytes + 9, MX_DTYPE_F16, 2);
    MX_CHECK(out[0] == 1.0f && out[1] == -0x1p-24f);
}

MX_TEST(small_floats_are_those_of_their_specifications)
{
    const float e2m1[] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
    for (uint8_t i = 0; i < 8; i++) {
        MX_CHECK(mx_e2m1_to_f32(i) == e2m1[i]);
        MX_CHECK(mx_e2m1_to_f32((uint8_t)(i + 8)) == -e2m1[i]);
    }
    MX_CHECK(mx_e4m3_to_f32(0x7E) == 448.0f);
    MX_CHECK(mx_e4m3_to_f32(0x38) == 1.0f);
    MX_CHECK(mx_e4m3_to_f32(0x01) == 0x1p-9f);
    MX_CHECK(mx_e4m3_to_f32(0x88) == -0x1p-6f);
    MX_CHECK(isnan(mx_e4m3_to_f32(0x7F)) && isnan(mx_e4m3_to_f32(0xFF)));
    MX_CHECK(mx_e8m0_to_f32(0) == 0x1p-127f);
    MX_CHECK(mx_e8m0_to_f32(1) == 0x1p-126f);
    MX_CHECK(mx_e8m0_to_f32(0x7E) == 0.5f);
    MX_CHECK(mx_e8m0_to_f32(0xFE) == 0x1p127f);
    MX_CHECK(isnan(mx_e8m0_to_f32(0xFF)));
}

MX_TEST_MAIN(MX_CASE(names_and_sizes_are_those_of_safetensors), MX_CASE(every_f16_comes_back_from_f32),
             MX_CASE(every_bf16_comes_back_from_f32), MX_CASE(f16_rounds_to_nearest_even),
             MX_CASE(bf16_rounds_to_nearest_even), MX_CASE(runs_are_read_from_any_alignment),
             MX_CASE(small_floats_are_those_of_their_specifications))
