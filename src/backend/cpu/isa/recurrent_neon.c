/* recurrent_neon.c - recurrences by NEON. */
#define MX_RECURRENT_FILL mx_cpu_kernels_fill_recurrent_neon
#include "backend/cpu/isa/simd_neon.h"

#include "backend/cpu/isa/recurrent_impl.h"
