/* unpack_impl.h - from the vectors of a block (pack.h) to one vector of bytes a quad, for any width of vector.
 *
 * The including file defines `mx_v8` (a part of the 64 bytes, or all of them) and on it
 *     v8_load(src)   v8_and(v, byte)   v8_or(a, b)   v8_shl(v, n)   v8_shr(v, n)   v8_lookup(v, table of 16)
 * where the shifts may move bits in from a neighbouring byte: every use is masked. `code` is a constant at each call,
 * so that after inlining nothing of the choice remains.
 */
#include "backend/cpu/pack.h"
#include "base/compiler.h"

#define VECTOR         64
#define PREFETCH_AHEAD 4096

/* 0 to 24 for the halves -12 to 12 that e2m1 codes stand for */
static const uint8_t e2m1_table[16] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};

static MX_FORCE_INLINE mx_v8 v8_move(mx_v8 v, int left)
{
    return left > 0 ? v8_shl(v, left) : left < 0 ? v8_shr(v, -left) : v;
}

static MX_FORCE_INLINE void unpack_nibbles(const uint8_t *src, mx_v8 *quads, int n_vectors)
{
    for (int v = 0; v < n_vectors; v++) {
        const mx_v8 both = v8_load(src + v * VECTOR);
        quads[2 * v] = v8_and(both, 15);
        quads[2 * v + 1] = v8_and(v8_shr(both, 4), 15);
    }
}

static MX_FORCE_INLINE void unpack_crumbs(const uint8_t *src, mx_v8 quads[8])
{
    for (int v = 0; v < 2; v++) {
        const mx_v8 four = v8_load(src + v * VECTOR);
        quads[4 * v] = v8_and(four, 3);
        quads[4 * v + 1] = v8_and(v8_shr(four, 2), 3);
        quads[4 * v + 2] = v8_and(v8_shr(four, 4), 3);
        quads[4 * v + 3] = v8_and(v8_shr(four, 6), 3);
    }
}

/* Bit q of each byte at src becomes bit `place` of quad q. */
static MX_FORCE_INLINE void unpack_bit_plane(const uint8_t *src, mx_v8 quads[8], int place)
{
    const mx_v8 bits = v8_load(src);
    for (int q = 0; q < 8; q++) {
        quads[q] = v8_or(quads[q], v8_and(v8_move(bits, place - q), (uint8_t)(1 << place)));
    }
}

/* Bits 2i, 2i + 1 of vector v become bits 4, 5 of quad 4v + i. */
static MX_FORCE_INLINE void unpack_crumb_plane(const uint8_t *src, mx_v8 quads[8])
{
    for (int v = 0; v < 2; v++) {
        const mx_v8 four = v8_load(src + v * VECTOR);
        for (int i = 0; i < 4; i++) {
            quads[4 * v + i] = v8_or(quads[4 * v + i], v8_and(v8_move(four, 4 - 2 * i), 0x30));
        }
    }
}

/* The n_quads quads (8, or 4 for half a block of e2m1) of the block at src. */
static MX_FORCE_INLINE void unpack_block(mx_pack_code code, const uint8_t *src, mx_v8 quads[8], int n_quads)
{
    switch (code) {
    case MX_CODE_U2: unpack_crumbs(src, quads); break;
    case MX_CODE_U3:
        unpack_crumbs(src, quads);
        unpack_bit_plane(src + 2 * VECTOR, quads, 2);
        break;
    case MX_CODE_U5:
        unpack_nibbles(src, quads, 4);
        unpack_bit_plane(src + 4 * VECTOR, quads, 4);
        break;
    case MX_CODE_U6:
        unpack_nibbles(src, quads, 4);
        unpack_crumb_plane(src + 4 * VECTOR, quads);
        break;
    case MX_CODE_U8:
        for (int q = 0; q < 8; q++) {
            quads[q] = v8_load(src + q * VECTOR);
        }
        break;
    case MX_CODE_E2M1:
        unpack_nibbles(src, quads, n_quads / 2);
        for (int q = 0; q < n_quads; q++) {
            quads[q] = v8_lookup(quads[q], e2m1_table);
        }
        break;
    default: unpack_nibbles(src, quads, 4); break;
    }
}

/* Asks for the block that is read some 4 KiB later: the processor's own prefetching stops at each page. */
static MX_FORCE_INLINE void prefetch_block(const uint8_t *src, int n_bytes)
{
    for (int i = 0; i < n_bytes; i += VECTOR) {
        MX_PREFETCH(src + PREFETCH_AHEAD + i);
    }
}

/* Bytes of a block of n_quads quads. */
static MX_FORCE_INLINE int block_bytes(mx_pack_code code, int n_quads)
{
    static const uint8_t bits[MX_CODE_COUNT] = {
#define X(name, n) [MX_CODE_##name] = (n),
        MX_PACK_CODE_LIST(X)
#undef X
    };
    return bits[code] * n_quads * 8; /* 64 bytes hold one bit of 8 quads eight times */
}
