/* gguf.c - a cursor over the header that never passes the end of the file. */
#include "weights/gguf.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "weights/gguf_blocks.h"

#define MAX_VALUES  ((uint64_t)1 << 16)
#define MAX_TENSORS ((uint64_t)1 << 20)
#define MAX_ITEMS   ((uint64_t)1 << 26)
#define MAX_DIM     ((uint64_t)1 << 40)

typedef struct cursor {
    mx_arena *arena;
    const uint8_t *data;
    size_t n_bytes;
    size_t at;
    const char *path;
} cursor;

static mx_status fail_short(const cursor *c, mx_error *err)
{
    return mx_fail(err, MX_FORMAT, "%s: the GGUF header ends within a value, at byte %zu", c->path, c->at);
}

static mx_status take(cursor *c, size_t n, const uint8_t **out, mx_error *err)
{
    if (n > c->n_bytes - c->at) {
        return fail_short(c, err);
    }
    *out = c->data + c->at;
    c->at += n;
    return MX_OK;
}

static mx_status take_u32(cursor *c, uint32_t *out, mx_error *err)
{
    const uint8_t *bytes = NULL;
    MX_TRY(take(c, 4, &bytes, err));
    *out = mx_load_le32(bytes);
    return MX_OK;
}

static mx_status take_u64(cursor *c, uint64_t *out, mx_error *err)
{
    const uint8_t *bytes = NULL;
    MX_TRY(take(c, 8, &bytes, err));
    *out = mx_load_le64(bytes);
    return MX_OK;
}

static mx_status take_str(cursor *c, mx_str *out, mx_error *err)
{
    uint64_t n;
    const uint8_t *bytes = NULL;
    MX_TRY(take_u64(c, &n, err));
    if (n > c->n_bytes - c->at) {
        return fail_short(c, err);
    }
    MX_TRY(take(c, (size_t)n, &bytes, err));
    *out = (mx_str){(const char *)bytes, (size_t)n};
    return MX_OK;
}

static const uint8_t type_bytes[] = {
    [MX_GGUF_U8] = 1,  [MX_GGUF_I8] = 1,  [MX_GGUF_U16] = 2,  [MX_GGUF_I16] = 2, [MX_GGUF_U32] = 4,
    [MX_GGUF_I32] = 4, [MX_GGUF_F32] = 4, [MX_GGUF_BOOL] = 1, [MX_GGUF_STR] = 0, [MX_GGUF_ARRAY] = 0,
    [MX_GGUF_U64] = 8, [MX_GGUF_I64] = 8, [MX_GGUF_F64] = 8,
};

static mx_status take_strings(cursor *c, mx_gguf_value *v, mx_error *err)
{
    if (v->n > (c->n_bytes - c->at) / 8) { /* each has a length of 8 bytes */
        return fail_short(c, err);
    }
    v->strings = mx_arena_array(c->arena, mx_str, v->n);
    if (!v->strings) {
        return mx_fail(err, MX_NO_MEMORY, "%s: no memory for %" PRIu64 " strings", c->path, v->n);
    }
    for (uint64_t i = 0; i < v->n; i++) {
        MX_TRY(take_str(c, &v->strings[i], err));
    }
    return MX_OK;
}

static mx_status take_value(cursor *c, mx_gguf_value *v, mx_error *err)
{
    uint32_t type;
    MX_TRY(take_str(c, &v->key, err));
    MX_TRY(take_u32(c, &type, err));
    v->n = 1;
    v->is_array = type == MX_GGUF_ARRAY;
    if (v->is_array) {
        MX_TRY(take_u32(c, &type, err));
        MX_TRY(take_u64(c, &v->n, err));
    }
    if (type > MX_GGUF_F64 || type == MX_GGUF_ARRAY || v->n > MAX_ITEMS) {
        return mx_fail(err, MX_FORMAT, "%s: \"%.*s\" has a value of type %u, or too many", c->path, MX_STR_ARG(v->key),
                       (unsigned)type);
    }
    v->type = (mx_gguf_type)type;
    return v->type == MX_GGUF_STR ? take_strings(c, v, err) : take(c, (size_t)v->n * type_bytes[type], &v->data, err);
}

static mx_status take_tensor(cursor *c, mx_gguf_tensor *t, uint64_t *offset, mx_error *err)
{
    uint32_t n_dims;
    MX_TRY(take_str(c, &t->name, err));
    MX_TRY(take_u32(c, &n_dims, err));
    if (n_dims == 0 || n_dims > 4) {
        return mx_fail(err, MX_FORMAT, "%s: %.*s has %u dimensions", c->path, MX_STR_ARG(t->name), (unsigned)n_dims);
    }
    t->n_dims = (int32_t)n_dims;
    for (uint32_t i = 0; i < n_dims; i++) {
        uint64_t n;
        MX_TRY(take_u64(c, &n, err));
        if (n == 0 || n > MAX_DIM) {
            return mx_fail(err, MX_FORMAT, "%s: %.*s has a dimension of %" PRIu64, c->path, MX_STR_ARG(t->name), n);
        }
        t->shape[n_dims - 1 - i] = (int64_t)n;
    }
    MX_TRY(take_u32(c, &t->format, err));
    return take_u64(c, offset, err);
}

/* Where the tensor lies, once it is known where the data begins. */
static mx_status place_tensor(const cursor *c, mx_gguf_tensor *t, uint64_t offset, size_t start, mx_error *err)
{
    const mx_gguf_format *format = mx_gguf_format_find(t->format);
    if (!format) {
        return mx_fail(err, MX_UNSUPPORTED, "%s: %.*s is of GGUF format %u, which is not read", c->path,
                       MX_STR_ARG(t->name), (unsigned)t->format);
    }
    int64_t n_values = 1;
    for (int32_t i = 0; i < t->n_dims; i++) {
        if (!mx_mul_i64(n_values, t->shape[i], &n_values)) {
            return mx_fail(err, MX_FORMAT, "%s: %.*s is too large", c->path, MX_STR_ARG(t->name));
        }
    }
    int64_t n_bytes;
    if (t->shape[t->n_dims - 1] % format->n_values != 0 ||
        !mx_mul_i64(n_values / format->n_values, format->n_bytes, &n_bytes)) {
        return mx_fail(err, MX_FORMAT, "%s: the rows of %.*s are no whole blocks of %s", c->path, MX_STR_ARG(t->name),
                       format->name);
    }
    const size_t room = c->n_bytes - start;
    if (offset > room || (uint64_t)n_bytes > room - offset) {
        return mx_fail(err, MX_FORMAT, "%s: %.*s ends behind the file's %zu bytes; it is cut short", c->path,
                       MX_STR_ARG(t->name), c->n_bytes);
    }
    t->data = c->data + start + (size_t)offset;
    t->n_bytes = (size_t)n_bytes;
    return MX_OK;
}

static mx_status parse_tensors(cursor *c, mx_gguf *out, mx_error *err)
{
    const mx_gguf_value *alignment = mx_gguf_find(out, "general.alignment");
    const double wanted = alignment ? mx_gguf_number(alignment, 0) : 32.0;
    const size_t align = wanted >= 1.0 && wanted <= 65536.0 ? (size_t)wanted : 32;
    uint64_t *offsets = mx_arena_array(c->arena, uint64_t, out->n_tensors);
    if (!offsets) {
        return mx_fail(err, MX_NO_MEMORY, "%s: no memory for %zu tensors", c->path, out->n_tensors);
    }
    for (size_t i = 0; i < out->n_tensors; i++) {
        MX_TRY(take_tensor(c, &out->tensors[i], &offsets[i], err));
    }
    const size_t start = (c->at + align - 1) / align * align;
    if (start > c->n_bytes && out->n_tensors > 0) {
        return fail_short(c, err);
    }
    size_t room = out->n_tensors > 0 ? c->n_bytes - start : 0;
    for (size_t i = 0; i < out->n_tensors; i++) {
        MX_TRY(place_tensor(c, &out->tensors[i], offsets[i], start, err));
        if (out->tensors[i].n_bytes > room) { /* a small file could stand for any number of bytes */
            return mx_fail(err, MX_FORMAT, "%s: its tensors have more bytes than the file: some lie on each other",
                           c->path);
        }
        room -= out->tensors[i].n_bytes;
    }
    return MX_OK;
}

mx_status mx_gguf_parse(mx_arena *arena, const uint8_t *data, size_t n_bytes, const char *path, mx_gguf *out,
                        mx_error *err)
{
    cursor c = {.arena = arena, .data = data, .n_bytes = n_bytes, .path = path};
    uint32_t magic;
    uint32_t version;
    uint64_t n_tensors;
    uint64_t n_values;
    *out = (mx_gguf){0};
    MX_TRY(take_u32(&c, &magic, err));
    MX_TRY(take_u32(&c, &version, err));
    if (magic != 0x46554747u) {
        return mx_fail(err, MX_FORMAT, "%s: is no GGUF file", path);
    }
    if (version != 2 && version != 3) {
        return mx_fail(err, MX_UNSUPPORTED, "%s: GGUF version %u; versions 2 and 3 are read", path, (unsigned)version);
    }
    MX_TRY(take_u64(&c, &n_tensors, err));
    MX_TRY(take_u64(&c, &n_values, err));
    if (n_tensors > MAX_TENSORS || n_values > MAX_VALUES) {
        return mx_fail(err, MX_FORMAT, "%s: claims %" PRIu64 " tensors and %" PRIu64 " values", path, n_tensors,
                       n_values);
    }
    out->values = mx_arena_array(arena, mx_gguf_value, n_values);
    out->tensors = mx_arena_array(arena, mx_gguf_tensor, n_tensors);
    if (!out->values || !out->tensors) {
        return mx_fail(err, MX_NO_MEMORY, "%s: no memory for its header", path);
    }
    for (; out->n_values < n_values; out->n_values++) {
        MX_TRY(take_value(&c, &out->values[out->n_values], err));
    }
    out->n_tensors = (size_t)n_tensors;
    return parse_tensors(&c, out, err);
}

const mx_gguf_value *mx_gguf_find(const mx_gguf *gguf, const char *key)
{
    for (size_t i = 0; i < gguf->n_values; i++) {
        if (mx_str_eq_cstr(gguf->values[i].key, key)) {
            return &gguf->values[i];
        }
    }
    return NULL;
}

const mx_gguf_tensor *mx_gguf_find_tensor(const mx_gguf *gguf, const char *name)
{
    for (size_t i = 0; i < gguf->n_tensors; i++) {
        if (mx_str_eq_cstr(gguf->tensors[i].name, name)) {
            return &gguf->tensors[i];
        }
    }
    return NULL;
}

double mx_gguf_number(const mx_gguf_value *value, uint64_t i)
{
    if (!value || value->type == MX_GGUF_STR || i >= value->n) {
        return 0.0;
    }
    const uint8_t *p = value->data + (size_t)i * type_bytes[value->type];
    switch (value->type) {
    case MX_GGUF_U8:
    case MX_GGUF_BOOL: return (double)p[0];
    case MX_GGUF_I8: return (double)(int8_t)p[0];
    case MX_GGUF_U16: return (double)mx_load_le16(p);
    case MX_GGUF_I16: return (double)(int16_t)mx_load_le16(p);
    case MX_GGUF_U32: return (double)mx_load_le32(p);
    case MX_GGUF_I32: return (double)(int32_t)mx_load_le32(p);
    case MX_GGUF_F32: return (double)mx_f32_from_bits(mx_load_le32(p));
    case MX_GGUF_U64: return (double)mx_load_le64(p);
    case MX_GGUF_I64: return (double)(int64_t)mx_load_le64(p);
    case MX_GGUF_F64: {
        const uint64_t bits = mx_load_le64(p);
        double number;
        memcpy(&number, &bits, sizeof number);
        return number;
    }
    case MX_GGUF_STR:
    case MX_GGUF_ARRAY: break;
    }
    return 0.0;
}

mx_status mx_gguf_get_f64(const mx_gguf *gguf, const char *key, double min, double max, double *value, mx_error *err)
{
    const mx_gguf_value *v = mx_gguf_find(gguf, key);
    if (!v) {
        return MX_OK;
    }
    if (v->is_array || v->type == MX_GGUF_STR) {
        return mx_fail(err, MX_FORMAT, "the GGUF file's %s is a %s, where a single number is needed", key,
                       v->is_array ? "list" : "text");
    }
    const double number = mx_gguf_number(v, 0);
    if (!(number >= min && number <= max)) { /* NaN is neither */
        return mx_fail(err, MX_FORMAT, "the GGUF file's %s is %g, must be from %g to %g", key, number, min, max);
    }
    *value = number;
    return MX_OK;
}

mx_status mx_gguf_get_i64(const mx_gguf *gguf, const char *key, int64_t min, int64_t max, int64_t *value, mx_error *err)
{
    double number = (double)*value;
    MX_TRY(mx_gguf_get_f64(gguf, key, (double)min, (double)max, &number, err));
    const int64_t whole = (int64_t)number;
    if ((double)whole != number) {
        return mx_fail(err, MX_FORMAT, "the GGUF file's %s is %g, must be a whole number", key, number);
    }
    *value = whole;
    return MX_OK;
}

mx_str mx_gguf_view_str(const mx_gguf_value *value)
{
    return value && value->type == MX_GGUF_STR && !value->is_array ? value->strings[0] : (mx_str){0};
}
