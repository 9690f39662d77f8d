/* simd_avx512.h - the vectors of attend_impl.h by AVX-512. */
#include <immintrin.h>
#include <stdint.h>

#include "base/compiler.h"

#define VF_WIDTH   16
#define VF_QUERIES 8 /* rows whose sums fit the registers */

typedef __m512 vf;

static MX_FORCE_INLINE vf vf_load(const float *src)
{
    return _mm512_loadu_ps(src);
}

static MX_FORCE_INLINE vf vf_load_f16(const uint16_t *src)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)src));
}

static MX_FORCE_INLINE void vf_store(float *dst, vf a)
{
    _mm512_storeu_ps(dst, a);
}

static MX_FORCE_INLINE void vf_store_f16(uint16_t *dst, vf a)
{
    _mm256_storeu_si256((__m256i *)(void *)dst, _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
}

static MX_FORCE_INLINE vf vf_set(float x)
{
    return _mm512_set1_ps(x);
}

static MX_FORCE_INLINE vf vf_mul(vf a, vf b)
{
    return _mm512_mul_ps(a, b);
}

static MX_FORCE_INLINE vf vf_fma(vf a, vf b, vf c)
{
    return _mm512_fmadd_ps(a, b, c);
}
