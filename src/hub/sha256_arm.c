/* sha256_arm.c - the compression function with the SHA-2 instructions of ARMv8.
 *
 * Source: Arm Architecture Reference Manual, SHA256H, SHA256H2, SHA256SU0, SHA256SU1, which define what each does.
 */
#include <arm_neon.h>

#include "hub/sha256.h"

void mx_sha256_blocks_isa(uint32_t state[8], const uint8_t *blocks, size_t n_blocks)
{
    uint32x4_t abcd = vld1q_u32(state);
    uint32x4_t efgh = vld1q_u32(state + 4);
    for (; n_blocks > 0; n_blocks--, blocks += 64) {
        const uint32x4_t abcd_before = abcd;
        const uint32x4_t efgh_before = efgh;
        uint32x4_t w[4];
        for (int i = 0; i < 4; i++) {
            w[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(blocks + 16 * i)));
        }
        for (int i = 0; i < 16; i += 4) {
            for (int k = 0; k < 4; k++) {
                const uint32x4_t wk = vaddq_u32(w[k], vld1q_u32(mx_sha256_k + 4 * (i + k)));
                const uint32x4_t old = abcd;
                abcd = vsha256hq_u32(abcd, efgh, wk);
                efgh = vsha256h2q_u32(efgh, old, wk);
                w[k] = vsha256su1q_u32(vsha256su0q_u32(w[k], w[(k + 1) % 4]), w[(k + 2) % 4], w[(k + 3) % 4]);
            }
        }
        abcd = vaddq_u32(abcd, abcd_before);
        efgh = vaddq_u32(efgh, efgh_before);
    }
    vst1q_u32(state, abcd);
    vst1q_u32(state + 4, efgh);
}
