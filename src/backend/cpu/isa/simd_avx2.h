/* simd_avx2.h - the vectors of attend_impl.h by AVX2, FMA and F16C. */
#include <immintrin.h>
#include <stdint.h>

#include "base/compiler.h"

#define VF_WIDTH   8
#define VF_QUERIES 2 /* rows whose sums fit the registers */

typedef __m256 vf;

static MX_FORCE_INLINE vf vf_load(const float *src)
{
    return _mm256_loadu_ps(src);
}

static MX_FORCE_INLINE vf vf_load_f16(const uint16_t *src)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)src));
}

static MX_FORCE_INLINE void vf_store(float *dst, vf a)
{
    _mm256_storeu_ps(dst, a);
}

static MX_FORCE_INLINE void vf_store_f16(uint16_t *dst, vf a)
{
    _mm_storeu_si128((__m128i *)(void *)dst, _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
}

static MX_FORCE_INLINE vf vf_set(float x)
{
    return _mm256_set1_ps(x);
}

static MX_FORCE_INLINE vf vf_mul(vf a, vf b)
{
    return _mm256_mul_ps(a, b);
}

static MX_FORCE_INLINE vf vf_fma(vf a, vf b, vf c)
{
    return _mm256_fmadd_ps(a, b, c);
}
