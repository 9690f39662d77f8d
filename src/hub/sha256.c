/* sha256.c - padding, and the compression function in plain C. */
#include "hub/sha256.h"

#include "base/compiler.h"
#include "platform/cpu.h"

const uint32_t mx_sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t load_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

static void store_be32(uint8_t *p, uint32_t value)
{
    p[0] = (uint8_t)(value >> 24);
    p[1] = (uint8_t)(value >> 16);
    p[2] = (uint8_t)(value >> 8);
    p[3] = (uint8_t)value;
}

static uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

void mx_sha256_blocks_c(uint32_t state[8], const uint8_t *blocks, size_t n_blocks)
{
    for (; n_blocks > 0; n_blocks--, blocks += 64) {
        uint32_t w[64];
        for (int i = 0; i < 16; i++) {
            w[i] = load_be32(blocks + 4 * i);
        }
        for (int i = 16; i < 64; i++) {
            const uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
            const uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        uint32_t v[8]; /* a to h of the standard */
        memcpy(v, state, sizeof v);
        for (int i = 0; i < 64; i++) {
            const uint32_t s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
            const uint32_t t1 = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + mx_sha256_k[i] + w[i];
            const uint32_t s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
            const uint32_t t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
            memmove(v + 1, v, 7 * sizeof *v);
            v[4] += t1;
            v[0] = t1 + t2;
        }
        for (int i = 0; i < 8; i++) {
            state[i] += v[i];
        }
    }
}

static void compress(uint32_t state[8], const uint8_t *blocks, size_t n_blocks)
{
    if (mx_cpu_has(MX_CPU_SHA_NI) || mx_cpu_has(MX_CPU_NEON_SHA2)) {
        mx_sha256_blocks_isa(state, blocks, n_blocks);
    } else {
        mx_sha256_blocks_c(state, blocks, n_blocks);
    }
}

void mx_sha256_init(mx_sha256 *sha)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(sha->state, start, sizeof start);
    sha->n_bytes = 0;
}

void mx_sha256_update(mx_sha256 *sha, const void *bytes, size_t n_bytes)
{
    const uint8_t *from = (const uint8_t *)bytes;
    const size_t n_held = sha->n_bytes % 64;
    sha->n_bytes += n_bytes;
    if (n_held > 0) {
        const size_t n = MX_MIN(n_bytes, 64 - n_held);
        memcpy(sha->block + n_held, from, n);
        from += n;
        n_bytes -= n;
        if (n_held + n < 64) {
            return;
        }
        compress(sha->state, sha->block, 1);
    }
    compress(sha->state, from, n_bytes / 64);
    memcpy(sha->block, from + n_bytes / 64 * 64, n_bytes % 64);
}

mx_sha256_digest mx_sha256_end(mx_sha256 *sha)
{
    static const uint8_t padding[64] = {0x80};
    const uint64_t n_bits = sha->n_bytes * 8;
    uint8_t length[8];
    mx_sha256_digest digest;
    store_be32(length, (uint32_t)(n_bits >> 32));
    store_be32(length + 4, (uint32_t)n_bits);
    mx_sha256_update(sha, padding, 1 + (119 - sha->n_bytes % 64) % 64);
    mx_sha256_update(sha, length, sizeof length);
    for (int i = 0; i < 8; i++) {
        store_be32(digest.bytes + 4 * i, sha->state[i]);
    }
    return digest;
}

bool mx_sha256_from_hex(mx_str hex, mx_sha256_digest *out)
{
    static const char digits[] = "0123456789abcdef";
    if (hex.len != 64) {
        return false;
    }
    for (size_t i = 0; i < 64; i++) {
        const char c = hex.ptr[i] >= 'A' && hex.ptr[i] <= 'F' ? (char)(hex.ptr[i] + 32) : hex.ptr[i];
        const char *digit = c ? strchr(digits, c) : NULL;
        if (!digit) {
            return false;
        }
        const uint8_t value = (uint8_t)(digit - digits);
        out->bytes[i / 2] = (uint8_t)(i % 2 ? out->bytes[i / 2] | value : value << 4);
    }
    return true;
}

void mx_sha256_to_hex(const mx_sha256_digest *digest, char out[65])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 64; i++) {
        out[i] = digits[digest->bytes[i / 2] >> (i % 2 ? 0 : 4) & 15];
    }
    out[64] = '\0';
}
