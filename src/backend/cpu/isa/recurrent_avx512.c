/* recurrent_avx512.c - recurrences by AVX-512. */
#define MX_RECURRENT_FILL mx_cpu_kernels_fill_recurrent_avx512
#include "backend/cpu/isa/simd_avx512.h"

#include "backend/cpu/isa/recurrent_impl.h"
