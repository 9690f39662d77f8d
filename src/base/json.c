/* json.c - the glue over yyjson. */
#include "base/json.h"

#include "base/mem.h"
#include "base/utf8.h"

static void *yy_malloc(void *ctx, size_t n_bytes)
{
    (void)ctx;
    return mx_malloc(n_bytes);
}

static void *yy_realloc(void *ctx, void *ptr, size_t old_n_bytes, size_t n_bytes)
{
    (void)ctx;
    (void)old_n_bytes;
    return mx_realloc(ptr, n_bytes);
}

static void yy_free(void *ctx, void *ptr)
{
    (void)ctx;
    mx_free(ptr);
}

const yyjson_alc mx_json_heap = {yy_malloc, yy_realloc, yy_free, NULL};

static mx_status parse(mx_str text, const char *name, yyjson_read_flag flags, mx_json *out, mx_error *err)
{
    *out = (mx_json){0};
    yyjson_read_err why = {0};
    /* Without YYJSON_READ_INSITU yyjson copies the text and does not write to it, whatever its signature says. */
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)text.ptr, text.len, flags, &mx_json_heap, &why);
    if (!doc && why.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION) {
        return mx_fail(err, MX_NO_MEMORY, "%s: out of memory while parsing %zu bytes of JSON", name, text.len);
    }
    if (!doc) {
        size_t line = 1;
        size_t column = 1;
        for (size_t i = 0; i < why.pos && i < text.len; i++) {
            column = text.ptr[i] == '\n' ? 1 : column + 1;
            line += text.ptr[i] == '\n';
        }
        return mx_fail(err, MX_FORMAT, "%s: not valid JSON at line %zu, column %zu: %s", name, line, column,
                       why.msg ? why.msg : "unknown error");
    }
    *out = (mx_json){.doc = doc, .root = yyjson_doc_get_root(doc)};
    return MX_OK;
}

mx_status mx_json_parse(mx_str text, const char *name, mx_json *out, mx_error *err)
{
    return parse(text, name, YYJSON_READ_ALLOW_INF_AND_NAN, out, err);
}

mx_status mx_json_parse_exact(mx_str text, const char *name, mx_json *out, mx_error *err)
{
    return parse(text, name, YYJSON_READ_BIGNUM_AS_RAW, out, err);
}

void mx_json_close(mx_json *json)
{
    yyjson_doc_free(json->doc);
    *json = (mx_json){0};
}

const char *mx_json_kind(yyjson_val *val)
{
    switch (yyjson_get_type(val)) {
    case YYJSON_TYPE_NULL: return "null";
    case YYJSON_TYPE_BOOL: return yyjson_get_bool(val) ? "true" : "false";
    case YYJSON_TYPE_RAW: /* a number too large for its type */
    case YYJSON_TYPE_NUM: return "a number";
    case YYJSON_TYPE_STR: return "a string";
    case YYJSON_TYPE_ARR: return "a list";
    case YYJSON_TYPE_OBJ: return "an object";
    default: return "nothing";
    }
}

/* The member, or NULL where it is absent or null. */
static yyjson_val *get_member(yyjson_val *obj, const char *key)
{
    yyjson_val *val = yyjson_obj_get(obj, key);
    return yyjson_is_null(val) ? NULL : val;
}

static mx_status fail_type(mx_error *err, const char *key, const char *wanted, yyjson_val *found)
{
    return mx_fail(err, MX_FORMAT, "\"%s\" must be %s, found %s", key, wanted, mx_json_kind(found));
}

mx_status mx_json_get_i64(yyjson_val *obj, const char *key, int64_t min, int64_t max, int64_t *out, mx_error *err)
{
    yyjson_val *val = get_member(obj, key);
    if (!val) {
        return MX_OK;
    }
    int64_t value = 0;
    if (yyjson_is_int(val)) {
        if (yyjson_is_uint(val) && yyjson_get_uint(val) > INT64_MAX) {
            return mx_fail(err, MX_FORMAT, "\"%s\" is too large", key);
        }
        value = yyjson_get_sint(val);
    } else if (yyjson_is_real(val) && yyjson_get_real(val) >= -9.0e15 && yyjson_get_real(val) <= 9.0e15 &&
               (double)(int64_t)yyjson_get_real(val) == yyjson_get_real(val)) {
        value = (int64_t)yyjson_get_real(val); /* 1e4 and 8.0 occur in published files */
    } else {
        return fail_type(err, key, "a whole number", val);
    }
    if (value < min || value > max) {
        return mx_fail(err, MX_FORMAT, "\"%s\" is %lld, must be from %lld to %lld", key, (long long)value,
                       (long long)min, (long long)max);
    }
    *out = value;
    return MX_OK;
}

mx_status mx_json_get_f64(yyjson_val *obj, const char *key, double *out, mx_error *err)
{
    yyjson_val *val = get_member(obj, key);
    if (val && !yyjson_is_num(val)) {
        return fail_type(err, key, "a number", val);
    }
    if (val) {
        *out = yyjson_get_num(val);
    }
    return MX_OK;
}

mx_status mx_json_get_bool(yyjson_val *obj, const char *key, bool *out, mx_error *err)
{
    yyjson_val *val = get_member(obj, key);
    if (val && !yyjson_is_bool(val)) {
        return fail_type(err, key, "true or false", val);
    }
    if (val) {
        *out = yyjson_get_bool(val);
    }
    return MX_OK;
}

mx_status mx_json_get_str(yyjson_val *obj, const char *key, mx_str *out, mx_error *err)
{
    yyjson_val *val = get_member(obj, key);
    if (val && !yyjson_is_str(val)) {
        return fail_type(err, key, "a string", val);
    }
    if (val) {
        *out = mx_json_view_str(val);
    }
    return MX_OK;
}

mx_status mx_json_get_obj(yyjson_val *obj, const char *key, yyjson_val **out, mx_error *err)
{
    *out = get_member(obj, key);
    if (*out && !yyjson_is_obj(*out)) {
        return fail_type(err, key, "an object", *out);
    }
    return MX_OK;
}

mx_status mx_json_get_arr(yyjson_val *obj, const char *key, yyjson_val **out, mx_error *err)
{
    *out = get_member(obj, key);
    if (*out && !yyjson_is_arr(*out)) {
        return fail_type(err, key, "an array", *out);
    }
    return MX_OK;
}

static mx_status append_escaped(mx_buf *out, char c, mx_error *err)
{
    static const char short_escapes[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs: the byte, its letter */
    for (size_t i = 0; i + 1 < sizeof short_escapes; i += 2) {
        if (c == short_escapes[i]) {
            return mx_buf_append(out, (mx_str){(const char[]){'\\', short_escapes[i + 1]}, 2}, err);
        }
    }
    return mx_buf_printf(out, err, "\\u%04x", (unsigned)(unsigned char)c);
}

mx_status mx_json_append_str(mx_buf *out, mx_str s, mx_error *err)
{
    MX_TRY(mx_buf_append_char(out, '"', err));
    size_t start = 0; /* of the stretch that needs no escape */
    for (size_t i = 0; i < s.len; i++) {
        const unsigned char c = (unsigned char)s.ptr[i];
        if (c < 0x20 || c == '"' || c == '\\') {
            MX_TRY(mx_utf8_append_lossy(out, mx_str_slice(s, start, i), err));
            MX_TRY(append_escaped(out, s.ptr[i], err));
            start = i + 1;
        }
    }
    MX_TRY(mx_utf8_append_lossy(out, mx_str_slice(s, start, s.len), err));
    return mx_buf_append_char(out, '"', err);
}
