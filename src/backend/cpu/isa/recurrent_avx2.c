/* recurrent_avx2.c - recurrences by AVX2. */
#define MX_RECURRENT_FILL mx_cpu_kernels_fill_recurrent_avx2
#include "backend/cpu/isa/simd_avx2.h"

#include "backend/cpu/isa/recurrent_impl.h"
