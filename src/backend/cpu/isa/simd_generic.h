/* simd_generic.h - the vectors of attend_impl.h in plain C. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "weights/dtype.h"

#define VF_WIDTH   4
#define VF_QUERIES 2 /* rows whose sums fit the registers */

typedef struct vf {
    float v[VF_WIDTH];
} vf;

static MX_FORCE_INLINE vf vf_load(const float *src)
{
    vf a;
    memcpy(&a, src, sizeof a);
    return a;
}

static MX_FORCE_INLINE vf vf_load_f16(const uint16_t *src)
{
    vf a;
    for (int i = 0; i < VF_WIDTH; i++) {
        a.v[i] = mx_f16_to_f32(src[i]);
    }
    return a;
}

static MX_FORCE_INLINE void vf_store(float *dst, vf a)
{
    memcpy(dst, &a, sizeof a);
}

static MX_FORCE_INLINE void vf_store_f16(uint16_t *dst, vf a)
{
    for (int i = 0; i < VF_WIDTH; i++) {
        dst[i] = mx_f16_from_f32(a.v[i]);
    }
}

static MX_FORCE_INLINE vf vf_set(float x)
{
    return (vf){{x, x, x, x}};
}

static MX_FORCE_INLINE vf vf_mul(vf a, vf b)
{
    for (int i = 0; i < VF_WIDTH; i++) {
        a.v[i] *= b.v[i];
    }
    return a;
}

static MX_FORCE_INLINE vf vf_fma(vf a, vf b, vf c)
{
    for (int i = 0; i < VF_WIDTH; i++) {
        c.v[i] = fmaf(a.v[i], b.v[i], c.v[i]);
    }
    return c;
}
