/* json_values.c - schemas of constants, numbers and strings. */
#include <math.h>
#include <string.h>

#include "text/grammar/grammar_regex.h"
#include "text/grammar/json_schema_private.h"

static const char *const of_enum[] = {"enum", "const", "type", NULL};

/* ---- values that are given ---- */

static mx_status read_literal(mx_schema_reader *r, yyjson_val *value, mx_gnode *list)
{
    size_t len = 0;
    char *text = yyjson_val_write_opts(value, 0, &mx_json_heap, &len, NULL);
    if (!text) {
        return mx_fail_at(r->err, MX_NO_MEMORY, 0, __FILE__, __LINE__, "no memory for a value of the schema");
    }
    mx_gnode_add(r->b, list, mx_gnode_bytes(r->b, (mx_str){text, len}));
    mx_json_heap.free(mx_json_heap.ctx, text);
    return MX_OK;
}

static bool is_of_type(yyjson_val *value, const char *type)
{
    return strcmp(type, "string") == 0    ? yyjson_is_str(value)
           : strcmp(type, "integer") == 0 ? yyjson_is_int(value)
           : strcmp(type, "number") == 0  ? yyjson_is_num(value)
           : strcmp(type, "boolean") == 0 ? yyjson_is_bool(value)
           : strcmp(type, "null") == 0    ? yyjson_is_null(value)
           : strcmp(type, "array") == 0   ? yyjson_is_arr(value)
                                          : yyjson_is_obj(value);
}

/* Whether the schema's type, a name or a list of names or absent, allows the value. */
static bool allows(yyjson_val *schema, yyjson_val *value)
{
    yyjson_val *type = yyjson_obj_get(schema, "type");
    if (!type || yyjson_is_str(type)) {
        return !type || is_of_type(value, yyjson_get_str(type));
    }
    size_t i, n;
    yyjson_val *item;
    yyjson_arr_foreach(type, i, n, item)
    {
        if (yyjson_is_str(item) && is_of_type(value, yyjson_get_str(item))) {
            return true;
        }
    }
    return false;
}

mx_status mx_schema_read_enum(mx_schema_reader *r, yyjson_val *schema, mx_gnode **out)
{
    yyjson_val *values = yyjson_obj_get(schema, "enum");
    yyjson_val *constant = yyjson_obj_get(schema, "const");
    MX_TRY(mx_schema_check_keywords(r, schema, of_enum));
    *out = mx_gnode_list(r->b, MX_GNODE_ALT);
    if (constant && values) {
        return mx_schema_fail(r, MX_UNSUPPORTED, "enum", "is not supported beside const");
    }
    if (constant && allows(schema, constant)) {
        MX_TRY(read_literal(r, constant, *out));
    }
    size_t i, n;
    yyjson_val *value;
    yyjson_arr_foreach(values, i, n, value)
    {
        if (allows(schema, value)) {
            MX_TRY(read_literal(r, value, *out));
        }
    }
    return !*out || (*out)->n_items > 0 ? MX_OK
                                        : mx_schema_fail(r, MX_INVALID, constant ? "const" : "enum", "leaves no value");
}

/* ---- numbers ---- */

static mx_status read_limit(const mx_schema_reader *r, yyjson_val *schema, const char *key, double *out, bool *is_set)
{
    yyjson_val *value = yyjson_obj_get(schema, key);
    *is_set = value != NULL;
    if (value && !yyjson_is_num(value)) {
        return mx_schema_fail(r, MX_INVALID, key, "must be a number");
    }
    *out = value ? yyjson_get_num(value) : 0.0;
    return MX_OK;
}

static int64_t clamp(double value)
{
    return value <= -1e15 ? -1000000000000000 : value >= 1e15 ? 1000000000000000 : (int64_t)value;
}

mx_status mx_schema_read_number(mx_schema_reader *r, yyjson_val *schema, bool is_integer, mx_gnode **out)
{
    double least, above, most, below;
    bool has_least, has_above, has_most, has_below;
    MX_TRY(mx_schema_check_keywords(r, schema, mx_schema_of_number));
    MX_TRY(read_limit(r, schema, "minimum", &least, &has_least));
    MX_TRY(read_limit(r, schema, "exclusiveMinimum", &above, &has_above));
    MX_TRY(read_limit(r, schema, "maximum", &most, &has_most));
    MX_TRY(read_limit(r, schema, "exclusiveMaximum", &below, &has_below));
    if (!has_least && !has_above && !has_most && !has_below) {
        *out = is_integer ? mx_json_integer(r->b) : mx_json_number(r->b);
        return MX_OK;
    }
    double lo = has_least ? ceil(least) : -1e15;
    lo = has_above ? fmax(lo, floor(above) + 1.0) : lo;
    double hi = has_most ? floor(most) : 1e15;
    hi = has_below ? fmin(hi, ceil(below) - 1.0) : hi;
    *out = lo <= hi ? mx_json_range(r->b, clamp(lo), clamp(hi), !is_integer) : NULL;
    if (!*out && !r->b->has_failed) {
        return mx_schema_fail(r, is_integer ? MX_INVALID : MX_UNSUPPORTED, "minimum",
                              "and maximum have no whole number between them");
    }
    return MX_OK;
}

/* ---- strings ---- */

static const struct {
    const char *name;
    const char *pattern;
} formats[] = {
    {"date", "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\\d|2[0-8])$"},
    {"time", "^([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,6})?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)$"},
    {"date-time", "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\\d|2[0-8])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,6})?(Z|[+-]"
                  "([01]\\d|2[0-3]):[0-5]\\d)$"},
    {"duration", "^P(\\d{1,6}W|\\d{1,6}D(T\\d{1,6}[HMS])?|T\\d{1,6}[HMS])$"},
    {"uuid", "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"},
    {"ipv4", "^((25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)\\.){3}(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)$"},
    {"ipv6", "^([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}$"},
    {"hostname", "^[a-zA-Z0-9]([a-zA-Z0-9-]{0,30}[a-zA-Z0-9])?(\\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,30}[a-zA-Z0-9])?){0,4}$"},
    {"email", "^[a-zA-Z0-9_+-]{1,30}(\\.[a-zA-Z0-9_+-]{1,20}){0,1}@[a-zA-Z0-9]{1,30}(\\.[a-zA-Z0-9]{1,20}){1,3}$"},
};

static mx_status read_pattern(mx_schema_reader *r, mx_str pattern, const char *keyword, mx_gnode **out)
{
    mx_error why;
    mx_gnode *contents = NULL;
    const mx_regex_context context = {mx_json_char, mx_json_chars(r->b, 0, MX_GRAMMAR_NO_LIMIT)};
    const mx_status st = mx_grammar_regex_node(r->b, pattern, &context, &contents, &why);
    if (st != MX_OK) {
        return mx_schema_fail(r, st, keyword, why.message);
    }
    *out = mx_gnode_list(r->b, MX_GNODE_SEQ);
    mx_gnode_add(r->b, *out, mx_gnode_text(r->b, "\""));
    mx_gnode_add(r->b, *out, contents);
    mx_gnode_add(r->b, *out, mx_gnode_text(r->b, "\""));
    return MX_OK;
}

static mx_status read_format(mx_schema_reader *r, yyjson_val *format, mx_gnode **out)
{
    const char *name = yyjson_get_str(format);
    for (size_t i = 0; name && i < MX_COUNTOF(formats); i++) {
        if (strcmp(name, formats[i].name) == 0) {
            return read_pattern(r, mx_str_from(formats[i].pattern), "format", out);
        }
    }
    return mx_schema_fail(r, MX_UNSUPPORTED, "format", "names one that is not known");
}

mx_status mx_schema_read_string(mx_schema_reader *r, yyjson_val *schema, mx_gnode **out)
{
    int32_t least = 0;
    int32_t most = MX_GRAMMAR_NO_LIMIT;
    yyjson_val *pattern = yyjson_obj_get(schema, "pattern");
    yyjson_val *format = yyjson_obj_get(schema, "format");
    MX_TRY(mx_schema_check_keywords(r, schema, mx_schema_of_string));
    MX_TRY(mx_schema_read_count(r, schema, "minLength", &least));
    MX_TRY(mx_schema_read_count(r, schema, "maxLength", &most));
    if (most >= 0 && most < least) {
        return mx_schema_fail(r, MX_INVALID, "maxLength", "is less than minLength");
    }
    if ((pattern != NULL) + (format != NULL) + (least > 0 || most >= 0) > 1) {
        return mx_schema_fail(r, MX_UNSUPPORTED, pattern ? "pattern" : "format",
                              "is not supported beside a length or a format");
    }
    if (pattern && !yyjson_is_str(pattern)) {
        return mx_schema_fail(r, MX_INVALID, "pattern", "must be a string");
    }
    if (pattern || format) {
        return pattern ? read_pattern(r, mx_json_view_str(pattern), "pattern", out) : read_format(r, format, out);
    }
    if (least == 0 && most < 0) {
        *out = mx_gnode_ref(r->b, r->rules.i_string);
        return MX_OK;
    }
    *out = mx_gnode_list(r->b, MX_GNODE_SEQ);
    mx_gnode_add(r->b, *out, mx_gnode_text(r->b, "\""));
    mx_gnode_add(r->b, *out, mx_json_chars(r->b, least, most));
    mx_gnode_add(r->b, *out, mx_gnode_text(r->b, "\""));
    return MX_OK;
}
