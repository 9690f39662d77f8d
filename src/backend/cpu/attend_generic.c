/* attend_generic.c - attention in plain C. */
#define MX_ATTEND_FILL mx_cpu_kernels_fill_attend_generic
#include "backend/cpu/isa/simd_generic.h"

#include "backend/cpu/isa/attend_impl.h"
