/* gguf_blocks.c - one function a block format. In a block of 32 nibbles, byte i holds value i below and 16 + i above.
 */
#include "weights/gguf_blocks.h"

#include <stddef.h>

#include "base/bytes.h"
#include "base/compiler.h"

static float load_f16(const uint8_t *p)
{
    return mx_f16_to_f32(mx_load_le16(p));
}

static void unpack_nibbles(const uint8_t *qs, uint8_t *q)
{
    for (int i = 0; i < 16; i++) {
        q[i] = qs[i] & 15;
        q[16 + i] = qs[i] >> 4;
    }
}

/* The fifth bits of 32 values, one bit each. */
static void add_fifth_bits(const uint8_t *qh, uint8_t *q)
{
    const uint32_t bits = mx_load_le32(qh);
    for (int i = 0; i < 32; i++) {
        q[i] |= (uint8_t)((bits >> i & 1) << 4);
    }
}

/* d * (q - 8): f16 d, 16 bytes */
static void unpack_q4_0(const uint8_t *b, uint8_t *q, float *scales, float *biases)
{
    unpack_nibbles(b + 2, q);
    scales[0] = load_f16(b);
    biases[0] = -8.0f * scales[0];
}

/* d * q + m: f16 d, f16 m, 16 bytes */
static void unpack_q4_1(const uint8_t *b, uint8_t *q, float *scales, float *biases)
{
    unpack_nibbles(b + 4, q);
    scales[0] = load_f16(b);
    biases[0] = load_f16(b + 2);
}

/* d * (q - 16): f16 d, 4 bytes of fifth bits, 16 bytes */
static void unpack_q5_0(const uint8_t *b, uint8_t *q, float *scales, float *biases)
{
    unpack_nibbles(b + 6, q);
    add_fifth_bits(b + 2, q);
    scales[0] = load_f16(b);
    biases[0] = -16.0f * scales[0];
}

/* d * q + m: f16 d, f16 m, 4 bytes of fifth bits, 16 bytes */
static void unpack_q5_1(const uint8_t *b, uint8_t *q, float *scales, float *biases)
{
    unpack_nibbles(b + 8, q);
    add_fifth_bits(b + 4, q);
    scales[0] = load_f16(b);
    biases[0] = load_f16(b + 2);
}

/* d * q, q signed: f16 d, 32 bytes */
static void unpack_q8_0(const uint8_t *b, uint8_t *q, float *scales, float *biases)
{
    for (int i = 0; i < 32; i++) {
        q[i] = (uint8_t)(b[2 + i] ^ 0x80); /* q + 128 */
    }
    scales[0] = load_f16(b);
    biases[0] = -128.0f * scales[0];
}

/* The 6-bit scale and minimum of group j of 8, out of 12 bytes. */
static void get_scale_min(const uint8_t *s, int j, uint8_t *scale, uint8_t *min)
{
    if (j < 4) {
        *scale = s[j] & 63;
        *min = s[j + 4] & 63;
    } else {
        *scale = (uint8_t)((s[j + 4] & 15) | (s[j - 4] >> 6) << 4);
        *min = (uint8_t)((s[j + 4] >> 4) | (s[j] >> 6) << 4);
    }
}

static void get_scales(const uint8_t *b, float *scales, float *biases)
{
    const float d = load_f16(b);
    const float d_min = load_f16(b + 2);
    for (int j = 0; j < 8; j++) {
        uint8_t scale;
        uint8_t min;
        get_scale_min(b + 4, j, &scale, &min);
        scales[j] = d * (float)scale;
        biases[j] = -d_min * (float)min;
    }
}

/* Eight groups of d * s * q - dmin * m: f16 d, f16 dmin, 12 bytes of s and m, 128 bytes, 32 of which hold two groups.
 */
static void unpack_q4_k(const uint8_t *b, uint8_t *q, float *scales, float *biases)
{
    get_scales(b, scales, biases);
    for (int pair = 0; pair < 4; pair++) {
        for (int i = 0; i < 32; i++) {
            q[64 * pair + i] = b[16 + 32 * pair + i] & 15;
            q[64 * pair + 32 + i] = b[16 + 32 * pair + i] >> 4;
        }
    }
}

/* The same with 32 bytes of fifth bits before the 128: bit j of byte i belongs to value i of group j. */
static void unpack_q5_k(const uint8_t *b, uint8_t *q, float *scales, float *biases)
{
    get_scales(b, scales, biases);
    for (int pair = 0; pair < 4; pair++) {
        for (int i = 0; i < 32; i++) {
            const uint8_t low = b[48 + 32 * pair + i];
            const uint8_t high = b[16 + i];
            q[64 * pair + i] = (uint8_t)((low & 15) | (high >> (2 * pair) & 1) << 4);
            q[64 * pair + 32 + i] = (uint8_t)(low >> 4 | (high >> (2 * pair + 1) & 1) << 4);
        }
    }
}

/* Sixteen groups of 16, d * s * (q - 32): 128 bytes of low nibbles, 64 of two high bits, 16 signed s, f16 d. */
static void dequantise_q6_k(const uint8_t *b, float *w)
{
    const float d = load_f16(b + 208);
    for (int i = 0; i < 256; i++) {
        const int half = i / 128;
        const int quarter = i % 128 / 32;
        const int lane = i % 32;
        const uint8_t low = b[64 * half + 32 * (quarter % 2) + lane];
        const uint8_t high = b[128 + 32 * half + lane];
        const int q = (quarter < 2 ? low & 15 : low >> 4) | (high >> (2 * quarter) & 3) << 4;
        w[i] = d * (float)(int8_t)b[192 + i / 16] * (float)(q - 32);
    }
}

static const mx_gguf_format formats[] = {
    {"F32", 0, 1, 4, MX_GGUF_IS_FLOAT, MX_DTYPE_F32, 0, NULL, NULL},
    {"F16", 1, 1, 2, MX_GGUF_IS_FLOAT, MX_DTYPE_F16, 0, NULL, NULL},
    {"BF16", 30, 1, 2, MX_GGUF_IS_FLOAT, MX_DTYPE_BF16, 0, NULL, NULL},
    {"Q4_0", 2, 32, 18, MX_GGUF_IS_EXACT, MX_DTYPE_F16, 4, unpack_q4_0, NULL},
    {"Q4_1", 3, 32, 20, MX_GGUF_IS_EXACT, MX_DTYPE_F16, 4, unpack_q4_1, NULL},
    {"Q5_0", 6, 32, 22, MX_GGUF_IS_EXACT, MX_DTYPE_F16, 5, unpack_q5_0, NULL},
    {"Q5_1", 7, 32, 24, MX_GGUF_IS_EXACT, MX_DTYPE_F16, 5, unpack_q5_1, NULL},
    {"Q8_0", 8, 32, 34, MX_GGUF_IS_EXACT, MX_DTYPE_F16, 8, unpack_q8_0, NULL},
    {"Q4_K", 12, 256, 144, MX_GGUF_ROUNDS, MX_DTYPE_F16, 4, unpack_q4_k, NULL},
    {"Q5_K", 13, 256, 176, MX_GGUF_ROUNDS, MX_DTYPE_F16, 5, unpack_q5_k, NULL},
    {"Q6_K", 14, 256, 210, MX_GGUF_REQUANTISED, MX_DTYPE_F16, 8, NULL, dequantise_q6_k},
};

const mx_gguf_format *mx_gguf_format_find(uint32_t number)
{
    for (size_t i = 0; i < MX_COUNTOF(formats); i++) {
        if (formats[i].number == number) {
            return &formats[i];
        }
    }
    return NULL;
}
