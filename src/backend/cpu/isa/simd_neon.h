/* simd_neon.h - the vectors of attend_impl.h by NEON. */
#include <arm_neon.h>
#include <stdint.h>

#include "base/compiler.h"

#define VF_WIDTH   4
#define VF_QUERIES 2 /* rows whose sums fit the registers */

typedef float32x4_t vf;

static MX_FORCE_INLINE vf vf_load(const float *src)
{
    return vld1q_f32(src);
}

static MX_FORCE_INLINE vf vf_load_f16(const uint16_t *src)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(src)));
}

static MX_FORCE_INLINE void vf_store(float *dst, vf a)
{
    vst1q_f32(dst, a);
}

static MX_FORCE_INLINE void vf_store_f16(uint16_t *dst, vf a)
{
    vst1_u16(dst, vreinterpret_u16_f16(vcvt_f16_f32(a)));
}

static MX_FORCE_INLINE vf vf_set(float x)
{
    return vdupq_n_f32(x);
}

static MX_FORCE_INLINE vf vf_mul(vf a, vf b)
{
    return vmulq_f32(a, b);
}

static MX_FORCE_INLINE vf vf_fma(vf a, vf b, vf c)
{
    return vfmaq_f32(c, a, b);
}
