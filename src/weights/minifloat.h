/* minifloat.h - the 4- and 8-bit number formats of the float modes. Private to weights/, and for tests and back ends
 * that decode them.
 *
 * Source: OCP Microscaling Formats (MX) Specification 1.0; OCP 8-bit Floating Point Specification 1.0.
 */
#ifndef MX_WEIGHTS_MINIFLOAT_H
#define MX_WEIGHTS_MINIFLOAT_H

#include <stdint.h>

#include "base/bytes.h"

/* e2m1: 0, 0.5, 1, 1.5, 2, 3, 4, 6, and the negatives. The upper half of code is ignored. */
static inline float mx_e2m1_to_f32(uint8_t code)
{
    static const float magnitudes[8] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
    const float value = magnitudes[code & 7];
    return code & 8 ? -value : value;
}

/* e4m3fn: no infinities; 0x7F and 0xFF are NaN; the largest value is 448. */
static inline float mx_e4m3_to_f32(uint8_t code)
{
    const uint32_t sign = (uint32_t)(code & 0x80u) << 24;
    const uint32_t exponent = code >> 3 & 15u;
    const uint32_t mantissa = code & 7u;
    if ((code & 0x7Fu) == 0x7Fu) {
        return mx_f32_from_bits(sign | 0x7FC00000u);
    }
    if (exponent == 0) {
        const float value = (float)mantissa * 0x1p-9f;
        return sign ? -value : value;
    }
    return mx_f32_from_bits(sign | (exponent + 120u) << 23 | mantissa << 20);
}

/* e8m0: 2^(code - 127), where code 0 is the subnormal 2^-127; 255 is NaN. */
static inline float mx_e8m0_to_f32(uint8_t code)
{
    if (code == 0) {
        return mx_f32_from_bits(0x00400000u);
    }
    return mx_f32_from_bits(code == 255 ? 0x7FC00000u : (uint32_t)code << 23);
}

#endif
