/* rows_generic.c - kernels on rows for any processor. */
#define MX_ROWS_FILL mx_cpu_kernels_fill_rows_generic
#include "backend/cpu/isa/rows_impl.h"
