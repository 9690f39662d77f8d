/* packed_dotprod.c - products with packed weights by NEON's dot product instruction (armv8.2, optional). */
#include <arm_neon.h>

#include "base/compiler.h"

static MX_FORCE_INLINE int32x4_t add_products(int32x4_t sum, int8x16_t w, int8x16_t x)
{
    return vdotq_s32(sum, w, x);
}

#include "backend/cpu/isa/packed_neon_impl.h"

void mx_cpu_kernels_fill_packed_dotprod(mx_cpu_kernels *k)
{
    fill_table(k);
}
