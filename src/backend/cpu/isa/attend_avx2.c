/* attend_avx2.c - attention by AVX2. */
#define MX_ATTEND_FILL mx_cpu_kernels_fill_attend_avx2
#include "backend/cpu/isa/simd_avx2.h"

#include "backend/cpu/isa/attend_impl.h"
