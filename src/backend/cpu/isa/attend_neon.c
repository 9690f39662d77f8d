/* attend_neon.c - attention by NEON. */
#define MX_ATTEND_FILL mx_cpu_kernels_fill_attend_neon
#include "backend/cpu/isa/simd_neon.h"

#include "backend/cpu/isa/attend_impl.h"
