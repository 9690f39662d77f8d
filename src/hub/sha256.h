/* sha256.h - SHA-256 of a stream of bytes, with the processor's own instructions where it has them.
 *
 * Source: FIPS 180-4. Every function is safe from any thread on its own object and cannot fail.
 */
#ifndef MX_HUB_SHA256_H
#define MX_HUB_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

typedef struct mx_sha256 {
    uint32_t state[8];
    uint64_t n_bytes;
    uint8_t block[64]; /* the n_bytes % 64 last bytes, which do not fill a block yet */
} mx_sha256;

typedef struct mx_sha256_digest {
    uint8_t bytes[32];
} mx_sha256_digest;

void mx_sha256_init(mx_sha256 *sha);
void mx_sha256_update(mx_sha256 *sha, const void *bytes, size_t n_bytes);

/* The digest of all bytes so far. The object is then to be initialised anew. */
mx_sha256_digest mx_sha256_end(mx_sha256 *sha);

/* Reads 64 hexadecimal digits; false for anything else. */
bool mx_sha256_from_hex(mx_str hex, mx_sha256_digest *out);

/* Writes 64 hexadecimal digits and a zero byte. */
void mx_sha256_to_hex(const mx_sha256_digest *digest, char out[65]);

/* Compression of n_blocks blocks of 64 bytes: the plain C function, and those of instruction sets, which are there
 * where the processor family is (sha256_x86.c, sha256_arm.c). For tests. */
void mx_sha256_blocks_c(uint32_t state[8], const uint8_t *blocks, size_t n_blocks);
void mx_sha256_blocks_isa(uint32_t state[8], const uint8_t *blocks, size_t n_blocks);

extern const uint32_t mx_sha256_k[64];

#endif
