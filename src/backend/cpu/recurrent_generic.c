/* recurrent_generic.c - recurrences in plain C. */
#define MX_RECURRENT_FILL mx_cpu_kernels_fill_recurrent_generic
#include "backend/cpu/isa/simd_generic.h"

#include "backend/cpu/isa/recurrent_impl.h"
