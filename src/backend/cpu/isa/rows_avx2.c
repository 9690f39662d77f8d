/* rows_avx2.c - kernels on rows, compiled for AVX2. */
#define MX_ROWS_FILL mx_cpu_kernels_fill_rows_avx2
#include "backend/cpu/isa/rows_impl.h"
