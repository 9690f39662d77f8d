/* packed_neon.c - products with packed weights by NEON as every aarch64 processor has it. */
#include <arm_neon.h>

#include "base/compiler.h"

static MX_FORCE_INLINE int32x4_t add_products(int32x4_t sum, int8x16_t w, int8x16_t x)
{
    const int32x4_t first = vpaddlq_s16(vmull_s8(vget_low_s8(w), vget_low_s8(x)));
    const int32x4_t second = vpaddlq_s16(vmull_high_s8(w, x));
    return vaddq_s32(sum, vpaddq_s32(first, second));
}

#include "backend/cpu/isa/packed_neon_impl.h"

void mx_cpu_kernels_fill_packed_neon(mx_cpu_kernels *k)
{
    fill_table(k);
}
