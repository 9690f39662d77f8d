/* sha256_x86.c - the compression function with the SHA extensions. Four rounds use four words of the message, and the
 * four words that come sixteen later are made meanwhile.
 *
 * Source: Intel SDM, volume 2, SHA256RNDS2, SHA256MSG1, SHA256MSG2, which define what each does.
 */
#include <immintrin.h>

#include "hub/sha256.h"

void mx_sha256_blocks_isa(uint32_t state[8], const uint8_t *blocks, size_t n_blocks)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203); /* the words are big-endian */
    const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
    const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(badc, efgh, 8);
    __m128i cdgh = _mm_blend_epi16(efgh, badc, 0xf0);
    for (; n_blocks > 0; n_blocks--, blocks += 64) {
        const __m128i abef_before = abef;
        const __m128i cdgh_before = cdgh;
        __m128i w[4];
        for (int i = 0; i < 4; i++) {
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(blocks + 16 * i)), swap);
        }
        for (int i = 0; i < 16; i += 4) {
            for (int k = 0; k < 4; k++) {
                const __m128i next = w[(k + 1) % 4];
                const __m128i last = w[(k + 3) % 4];
                const __m128i wk = _mm_add_epi32(w[k], _mm_loadu_si128((const __m128i *)(mx_sha256_k + 4 * (i + k))));
                cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);
                abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(wk, 0x0e));
                w[k] = _mm_sha256msg2_epu32(
                    _mm_add_epi32(_mm_sha256msg1_epu32(w[k], next), _mm_alignr_epi8(last, w[(k + 2) % 4], 4)), last);
            }
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
    const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}
