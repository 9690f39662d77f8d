/* rng.c - Philox4x32-10. */
#include "engine/rng.h"

enum {
    PHILOX_ROUNDS = 10,
};
#define PHILOX_MUL_0  0xD2511F53u
#define PHILOX_MUL_1  0xCD9E8D57u
#define PHILOX_WEYL_0 0x9E3779B9u /* the golden ratio */
#define PHILOX_WEYL_1 0xBB67AE85u /* sqrt(3) - 1 */

void mx_rng_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
        const uint64_t p0 = (uint64_t)PHILOX_MUL_0 * c0;
        const uint64_t p1 = (uint64_t)PHILOX_MUL_1 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += PHILOX_WEYL_0;
        k1 += PHILOX_WEYL_1;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

double mx_rng_uniform(uint64_t seed, uint64_t n)
{
    const uint32_t counter[4] = {(uint32_t)n, (uint32_t)(n >> 32), 0, 0};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t words[4];
    mx_rng_philox4x32(counter, key, words);
    const uint64_t bits = ((uint64_t)words[0] << 32 | words[1]) >> 11;
    return (double)bits * 0x1p-53;
}
