/* lanes.h - sums in a fixed order and an exponential, in plain C that compilers turn into vector code.
 *
 * Sums have 16 partial sums, joined in one fixed way, so that every instruction set gives the same bits.
 */
#ifndef MX_BACKEND_CPU_ISA_LANES_H
#define MX_BACKEND_CPU_ISA_LANES_H

#include "base/bytes.h"
#include "base/compiler.h"

#define LANES      16
#define ROUND_FROM 12582912.0f /* 1.5 * 2^23: adding it rounds a small float to an integer, ties to even */

static MX_FORCE_INLINE float join_lanes(float lanes[LANES])
{
    for (int32_t n = LANES / 2; n > 0; n /= 2) {
        for (int32_t i = 0; i < n; i++) {
            lanes[i] += lanes[i + n];
        }
    }
    return lanes[0];
}

/* exp(x) within 2 units of the last place for x in [-87, 88], clamped outside. Cephes' polynomial. */
static MX_FORCE_INLINE float exp_near(float x)
{
    x = x < -87.0f ? -87.0f : x;
    x = x > 88.0f ? 88.0f : x;
    const float rounded = x * 1.44269504f + ROUND_FROM;
    const float n = rounded - ROUND_FROM;
    const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r + 1.0f;
    return p * mx_f32_from_bits((mx_f32_bits(rounded) + 127u) << 23); /* the low bits of `rounded` are n */
}

static MX_FORCE_INLINE float tanh_near(float x)
{
    const float e = exp_near(2.0f * x);
    return 1.0f - 2.0f / (e + 1.0f);
}

#endif
