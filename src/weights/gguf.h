/* gguf.h - the header of a GGUF file: metadata, and names, formats, shapes and places of its tensors.
 *
 *     [ "GGUF" | u32 version | u64 n_tensors | u64 n_values | values | tensors | padding | data ]
 *
 * Source: https://github.com/ggml-org/ggml, docs/gguf.md. Versions 2 and 3, little-endian. Everything is checked
 * against the file's size before it is used; counts are capped.
 */
#ifndef MX_WEIGHTS_GGUF_H
#define MX_WEIGHTS_GGUF_H

#include "base/arena.h"
#include "base/error.h"

typedef enum mx_gguf_type {
    MX_GGUF_U8,
    MX_GGUF_I8,
    MX_GGUF_U16,
    MX_GGUF_I16,
    MX_GGUF_U32,
    MX_GGUF_I32,
    MX_GGUF_F32,
    MX_GGUF_BOOL,
    MX_GGUF_STR,
    MX_GGUF_ARRAY,
    MX_GGUF_U64,
    MX_GGUF_I64,
    MX_GGUF_F64,
} mx_gguf_type;

typedef struct mx_gguf_value {
    mx_str key;        /* borrowed from the file, as is the next */
    mx_gguf_type type; /* of the value, or of an array's items */
    bool is_array;
    uint64_t n;          /* items; 1 where it is no array */
    const uint8_t *data; /* numbers: n of them, little-endian, any alignment; strings: see mx_gguf_str */
    mx_str *strings;     /* [n], in the arena, where the type is MX_GGUF_STR */
} mx_gguf_value;

typedef struct mx_gguf_tensor {
    mx_str name;
    uint32_t format;  /* ggml's number for it; gguf_blocks.h knows those that we read */
    int32_t n_dims;   /* at most 4 */
    int64_t shape[4]; /* outermost first, as everywhere here; the file has the innermost first */
    const uint8_t *data;
    size_t n_bytes;
} mx_gguf_tensor;

typedef struct mx_gguf {
    mx_gguf_value *values; /* in the arena, as is the next */
    size_t n_values;
    mx_gguf_tensor *tensors;
    size_t n_tensors;
} mx_gguf;

/* Reads a whole file in memory. `path` names it in errors.
 * MX_FORMAT (a rule is broken: what, and where), MX_UNSUPPORTED (version, a tensor's format), MX_NO_MEMORY. */
mx_status mx_gguf_parse(mx_arena *arena, const uint8_t *data, size_t n_bytes, const char *path, mx_gguf *out,
                        mx_error *err) MX_NODISCARD;

/* NULL where the file has no such key or tensor. */
const mx_gguf_value *mx_gguf_find(const mx_gguf *gguf, const char *key);
const mx_gguf_tensor *mx_gguf_find_tensor(const mx_gguf *gguf, const char *name);

/* Item i of a value as a number; 0 for strings and past the end. */
double mx_gguf_number(const mx_gguf_value *value, uint64_t i);

/* A single number under `key`: left alone where the file has no such key. MX_FORMAT, with the key, where it is a list,
 * a string, no number (NaN) or outside of [min, max]; the first also where it is no whole number. */
mx_status mx_gguf_get_i64(const mx_gguf *gguf, const char *key, int64_t min, int64_t max, int64_t *value,
                          mx_error *err) MX_NODISCARD;
mx_status mx_gguf_get_f64(const mx_gguf *gguf, const char *key, double min, double max, double *value,
                          mx_error *err) MX_NODISCARD;

/* The text of a single string; ptr NULL where the value is none or NULL. */
mx_str mx_gguf_view_str(const mx_gguf_value *value);

#endif
