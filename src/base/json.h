/* json.h - reading JSON through yyjson, with errors that name the document, the key and what was found.
 *
 * A document is parsed into a tree that borrows nothing from the text. Code may walk the tree with yyjson's own
 * functions (yyjson_obj_iter and the like); the getters here are for configuration objects, where a wrong type must be
 * told. Recursion over untrusted documents is bounded by whoever recurses, at MX_JSON_MAX_DEPTH.
 */
#ifndef MX_BASE_JSON_H
#define MX_BASE_JSON_H

#include <yyjson.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

#define MX_JSON_MAX_DEPTH 128

typedef struct mx_json {
    yyjson_doc *doc;  /* owned */
    yyjson_val *root; /* lives in doc */
} mx_json;

/* Memory for yyjson's own functions, from base/mem.h. */
extern const yyjson_alc mx_json_heap;

/* Parses strict JSON (RFC 8259, UTF-8). `name` names the document in errors: a path, "request body".
 * MX_FORMAT with line and column, MX_NO_MEMORY. */
mx_status mx_json_parse(mx_str text, const char *name, mx_json *out, mx_error *err) MX_NODISCARD;

/* The same, but integers beyond 64 bits and numbers beyond the range of doubles are left as they are written
 * (YYJSON_TYPE_RAW), where mx_json_parse makes the nearest double of the former and refuses the latter. */
mx_status mx_json_parse_exact(mx_str text, const char *name, mx_json *out, mx_error *err) MX_NODISCARD;

/* Frees the tree. A zeroed object is fine. */
void mx_json_close(mx_json *json);

/* Getters for members of an object. An absent or null member leaves *out as it is (the caller's default) and is MX_OK;
 * a member of another type or out of range is MX_FORMAT naming the key. `obj` NULL counts as an empty object. */
mx_status mx_json_get_i64(yyjson_val *obj, const char *key, int64_t min, int64_t max, int64_t *out,
                          mx_error *err) MX_NODISCARD;
mx_status mx_json_get_f64(yyjson_val *obj, const char *key, double *out, mx_error *err) MX_NODISCARD;
mx_status mx_json_get_bool(yyjson_val *obj, const char *key, bool *out, mx_error *err) MX_NODISCARD;

/* The string is borrowed from the document. */
mx_status mx_json_get_str(yyjson_val *obj, const char *key, mx_str *out, mx_error *err) MX_NODISCARD;

/* *out becomes NULL when the member is absent or null. */
mx_status mx_json_get_obj(yyjson_val *obj, const char *key, yyjson_val **out, mx_error *err) MX_NODISCARD;
mx_status mx_json_get_arr(yyjson_val *obj, const char *key, yyjson_val **out, mx_error *err) MX_NODISCARD;

/* What a node is, for messages: "a string", "a number", "an object", "nothing" for NULL. Static. */
const char *mx_json_kind(yyjson_val *val);

/* The string value of a node; ptr NULL when it is not a string. */
static inline mx_str mx_json_view_str(yyjson_val *val)
{
    return (mx_str){yyjson_get_str(val), yyjson_get_len(val)};
}

/* Appends s as a JSON string with its quotes: only what RFC 8259 asks is escaped; ill-formed UTF-8 becomes U+FFFD. */
mx_status mx_json_append_str(mx_buf *out, mx_str s, mx_error *err) MX_NODISCARD;

#endif
