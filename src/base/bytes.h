/* bytes.h - numbers in file bytes, read without alignment and without casts to a struct. */
#ifndef MX_BASE_BYTES_H
#define MX_BASE_BYTES_H

#include <stdint.h>
#include <string.h>

static inline uint16_t mx_load_le16(const void *src)
{
    const uint8_t *p = (const uint8_t *)src;
    return (uint16_t)(p[0] | (uint16_t)p[1] << 8);
}

static inline uint32_t mx_load_le32(const void *src)
{
    const uint8_t *p = (const uint8_t *)src;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t mx_load_le64(const void *src)
{
    const uint8_t *p = (const uint8_t *)src;
    return (uint64_t)mx_load_le32(p) | (uint64_t)mx_load_le32(p + 4) << 32;
}

static inline float mx_f32_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t mx_f32_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#endif
