/* dtype.c - names, sizes and conversions of number formats. Source: IEEE 754; bfloat16 is its binary32 cut in half. */
#include "weights/dtype.h"

#include "base/bytes.h"
#include "base/compiler.h"

static const struct {
    const char *name;
    size_t n_bytes;
} dtype_info[] = {
#define X(name, spelling, n_bytes) {spelling, n_bytes},
    MX_DTYPE_LIST(X)
#undef X
};

size_t mx_dtype_size(mx_dtype dtype)
{
    return dtype_info[dtype].n_bytes;
}

const char *mx_dtype_name(mx_dtype dtype)
{
    return dtype_info[dtype].name;
}

bool mx_dtype_from_name(mx_str name, mx_dtype *out)
{
    for (size_t i = 0; i < MX_COUNTOF(dtype_info); i++) {
        if (mx_str_eq_cstr(name, dtype_info[i].name)) {
            *out = (mx_dtype)i;
            return true;
        }
    }
    return false;
}

bool mx_dtype_is_weight_float(mx_dtype dtype)
{
    return dtype == MX_DTYPE_F32 || dtype == MX_DTYPE_F16 || dtype == MX_DTYPE_BF16;
}

uint16_t mx_bf16_from_f32(float value)
{
    const uint32_t bits = mx_f32_bits(value);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) {
        return (uint16_t)(bits >> 16 | 0x40u); /* quiet, and not an infinity when the low half held the payload */
    }
    return (uint16_t)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

float mx_bf16_to_f32(uint16_t bits)
{
    return mx_f32_from_bits((uint32_t)bits << 16);
}

uint16_t mx_f16_from_f32(float value)
{
    const uint32_t bits = mx_f32_bits(value);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    const uint32_t magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) {
        return (uint16_t)(sign | 0x7E00u);
    }
    if (magnitude >= 0x477FF000u) { /* 65520: half way to the value that does not exist, and above */
        return (uint16_t)(sign | 0x7C00u);
    }
    if (magnitude < 0x38800000u) { /* below 2^-14: the result counts 2^-24, and so does the sum with 0.5 */
        const float sum = mx_f32_from_bits(magnitude) + 0.5f;
        return (uint16_t)(sign | (mx_f32_bits(sum) - 0x3F000000u));
    }
    const uint32_t rounded = magnitude + 0xFFFu + (magnitude >> 13 & 1u);
    return (uint16_t)(sign | ((rounded >> 13) - (112u << 10)));
}

float mx_f16_to_f32(uint16_t bits)
{
    const uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
    const uint32_t exponent = bits >> 10 & 31u;
    const uint32_t mantissa = bits & 0x3FFu;
    if (exponent == 31u) {
        return mx_f32_from_bits(sign | 0x7F800000u | mantissa << 13);
    }
    if (exponent == 0) {
        const float value = (float)mantissa * 0x1p-24f;
        return sign ? -value : value;
    }
    return mx_f32_from_bits(sign | (exponent + 112u) << 23 | mantissa << 13);
}

void mx_dtype_to_f32(float *dst, const void *src, mx_dtype dtype, int64_t n)
{
    const uint8_t *bytes = (const uint8_t *)src;
    if (dtype == MX_DTYPE_F32) {
        for (int64_t i = 0; i < n; i++) {
            dst[i] = mx_f32_from_bits(mx_load_le32(bytes + 4 * i));
        }
    } else if (dtype == MX_DTYPE_BF16) {
        for (int64_t i = 0; i < n; i++) {
            dst[i] = mx_bf16_to_f32(mx_load_le16(bytes + 2 * i));
        }
    } else {
        for (int64_t i = 0; i < n; i++) {
            dst[i] = mx_f16_to_f32(mx_load_le16(bytes + 2 * i));
        }
    }
}
