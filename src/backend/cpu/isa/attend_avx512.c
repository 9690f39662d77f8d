/* attend_avx512.c - attention by AVX-512. */
#define MX_ATTEND_FILL mx_cpu_kernels_fill_attend_avx512
#include "backend/cpu/isa/simd_avx512.h"

#include "backend/cpu/isa/attend_impl.h"
