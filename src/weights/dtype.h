/* dtype.h - the number formats of safetensors files, and conversion to f32. */
#ifndef MX_WEIGHTS_DTYPE_H
#define MX_WEIGHTS_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* name, safetensors' spelling, bytes */
#define MX_DTYPE_LIST(X)     \
    X(F32, "F32", 4)         \
    X(F16, "F16", 2)         \
    X(BF16, "BF16", 2)       \
    X(F64, "F64", 8)         \
    X(F8_E4M3, "F8_E4M3", 1) \
    X(F8_E5M2, "F8_E5M2", 1) \
    X(U8, "U8", 1)           \
    X(I8, "I8", 1)           \
    X(U16, "U16", 2)         \
    X(I16, "I16", 2)         \
    X(U32, "U32", 4)         \
    X(I32, "I32", 4)         \
    X(U64, "U64", 8)         \
    X(I64, "I64", 8)         \
    X(BOOL, "BOOL", 1)

typedef enum mx_dtype {
#define X(name, spelling, n_bytes) MX_DTYPE_##name,
    MX_DTYPE_LIST(X)
#undef X
} mx_dtype;

/* Bytes of one value; safetensors' spelling (static). */
size_t mx_dtype_size(mx_dtype dtype);
const char *mx_dtype_name(mx_dtype dtype);

/* The dtype that safetensors spells so; false when there is none. */
bool mx_dtype_from_name(mx_str name, mx_dtype *out);

/* f32, f16, bf16: what a dense weight, a scale or a bias may be stored in. */
bool mx_dtype_is_weight_float(mx_dtype dtype);

/* dst[i] = src[i] as f32, for F32, F16 and BF16 (mx_dtype_is_weight_float). src [n] little-endian, any alignment.
 * Exact. */
void mx_dtype_to_f32(float *dst, const void *src, mx_dtype dtype, int64_t n);

/* Round to nearest, ties to even; NaN stays NaN. */
uint16_t mx_bf16_from_f32(float value);
uint16_t mx_f16_from_f32(float value);
float mx_bf16_to_f32(uint16_t bits);
float mx_f16_to_f32(uint16_t bits);

#endif
