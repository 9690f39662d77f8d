/* rows_avx512.c - kernels on rows, compiled for AVX-512. */
#define MX_ROWS_FILL mx_cpu_kernels_fill_rows_avx512
#include "backend/cpu/isa/rows_impl.h"
