/* json_schema.c - one function a kind of schema; every keyword is known, refused or an annotation. */
#include "text/grammar/json_schema.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "text/grammar/grammar_regex.h"
#include "text/grammar/json_nodes.h"

enum {
    MAX_PATH = 256,
    MAX_REFS = 1024,
    MAX_PROPERTIES = 2048,
    MAX_ALTERNATIVES = 256,
    MAX_NAMES = 64, /* of an object that allows others, too */
    MAX_NAME_BYTES = 48,
    MAX_COUNT = 100000, /* minLength and the like */
};

/* A schema that $ref names, and its rule. */
typedef struct target {
    yyjson_val *schema;
    int32_t i_rule;
} target;

typedef struct reader {
    mx_grammar_builder *b;
    yyjson_val *root;
    mx_json_rules rules;
    target targets[MAX_REFS];
    int32_t n_targets;
    int32_t depth;
    char path[MAX_PATH]; /* "#/properties/name" */
    mx_error *err;
} reader;

static mx_status fail(const reader *r, mx_status status, const char *keyword, const char *what)
{
    return mx_fail(r->err, status, "the schema at %s: %s%s%s", r->path, keyword, *keyword ? " " : "", what);
}

static mx_status read_schema(reader *r, yyjson_val *schema, const char *step, mx_gnode **out);

/* ---- keywords ---- */

static const char *const annotations[] = {
    "$schema",         "$id",        "$comment",     "$defs",
    "definitions",     "title",      "description",  "default",
    "examples",        "deprecated", "readOnly",     "writeOnly",
    "discriminator",   "strict",     "$anchor",      "contentMediaType",
    "contentEncoding", "example",    "externalDocs",
};

/* What a schema may have beside annotations, by what it is read as. */
static const char *const of_object[] = {"type", "properties", "required", "additionalProperties", NULL};
static const char *const of_array[] = {"type", "items", "prefixItems", "minItems", "maxItems", NULL};
static const char *const of_string[] = {"type", "minLength", "maxLength", "pattern", "format", NULL};
static const char *const of_number[] = {"type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", NULL};
static const char *const of_type[] = {"type", NULL};
static const char *const of_ref[] = {"$ref", NULL};
static const char *const of_any[] = {"anyOf", "oneOf", "allOf", "type", NULL};
static const char *const of_enum[] = {"enum", "const", "type", NULL};

static bool is_one_of(const char *name, const char *const *list)
{
    for (; *list; list++) {
        if (strcmp(name, *list) == 0) {
            return true;
        }
    }
    return false;
}

static mx_status check_keywords(const reader *r, yyjson_val *schema, const char *const *known)
{
    size_t i, n;
    yyjson_val *key, *value;
    yyjson_obj_foreach(schema, i, n, key, value)
    {
        const char *name = yyjson_get_str(key);
        bool is_fine = is_one_of(name, known);
        for (size_t j = 0; !is_fine && j < MX_COUNTOF(annotations); j++) {
            is_fine = strcmp(name, annotations[j]) == 0;
        }
        if (!is_fine) {
            char safe[64];
            (void)snprintf(safe, sizeof safe, "%.48s", name);
            return fail(r, MX_UNSUPPORTED, safe, "is not supported here");
        }
    }
    return MX_OK;
}

static mx_status read_count(const reader *r, yyjson_val *schema, const char *key, int32_t *out)
{
    yyjson_val *value = yyjson_obj_get(schema, key);
    if (value && !(yyjson_is_uint(value) && yyjson_get_uint(value) <= MAX_COUNT)) {
        return fail(r, MX_INVALID, key, "must be a whole number of at most 100000");
    }
    *out = value ? (int32_t)yyjson_get_uint(value) : *out;
    return MX_OK;
}

/* ---- values that are given ---- */

static mx_status read_literal(reader *r, yyjson_val *value, mx_gnode *list)
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

static mx_status read_enum(reader *r, yyjson_val *schema, mx_gnode **out)
{
    yyjson_val *values = yyjson_obj_get(schema, "enum");
    yyjson_val *constant = yyjson_obj_get(schema, "const");
    MX_TRY(check_keywords(r, schema, of_enum));
    *out = mx_gnode_list(r->b, MX_GNODE_ALT);
    if (constant && values) {
        return fail(r, MX_UNSUPPORTED, "enum", "is not supported beside const");
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
    return !*out || (*out)->n_items > 0 ? MX_OK : fail(r, MX_INVALID, constant ? "const" : "enum", "leaves no value");
}

/* ---- numbers ---- */

static mx_status read_limit(const reader *r, yyjson_val *schema, const char *key, double *out, bool *is_set)
{
    yyjson_val *value = yyjson_obj_get(schema, key);
    *is_set = value != NULL;
    if (value && !yyjson_is_num(value)) {
        return fail(r, MX_INVALID, key, "must be a number");
    }
    *out = value ? yyjson_get_num(value) : 0.0;
    return MX_OK;
}

static int64_t clamp(double value)
{
    return value <= -1e15 ? -1000000000000000 : value >= 1e15 ? 1000000000000000 : (int64_t)value;
}

static mx_status read_number(reader *r, yyjson_val *schema, bool is_integer, mx_gnode **out)
{
    double least, above, most, below;
    bool has_least, has_above, has_most, has_below;
    MX_TRY(check_keywords(r, schema, of_number));
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
        return fail(r, is_integer ? MX_INVALID : MX_UNSUPPORTED, "minimum",
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

static mx_status read_pattern(reader *r, mx_str pattern, const char *keyword, mx_gnode **out)
{
    mx_error why;
    mx_gnode *contents = NULL;
    const mx_regex_context context = {mx_json_char, mx_json_chars(r->b, 0, MX_GRAMMAR_NO_LIMIT)};
    const mx_status st = mx_grammar_regex_node(r->b, pattern, &context, &contents, &why);
    if (st != MX_OK) {
        return fail(r, st, keyword, why.message);
    }
    *out = mx_gnode_list(r->b, MX_GNODE_SEQ);
    mx_gnode_add(r->b, *out, mx_gnode_text(r->b, "\""));
    mx_gnode_add(r->b, *out, contents);
    mx_gnode_add(r->b, *out, mx_gnode_text(r->b, "\""));
    return MX_OK;
}

static mx_status read_format(reader *r, yyjson_val *format, mx_gnode **out)
{
    const char *name = yyjson_get_str(format);
    for (size_t i = 0; name && i < MX_COUNTOF(formats); i++) {
        if (strcmp(name, formats[i].name) == 0) {
            return read_pattern(r, mx_str_from(formats[i].pattern), "format", out);
        }
    }
    return fail(r, MX_UNSUPPORTED, "format", "names one that is not known");
}

static mx_status read_string(reader *r, yyjson_val *schema, mx_gnode **out)
{
    int32_t least = 0;
    int32_t most = MX_GRAMMAR_NO_LIMIT;
    yyjson_val *pattern = yyjson_obj_get(schema, "pattern");
    yyjson_val *format = yyjson_obj_get(schema, "format");
    MX_TRY(check_keywords(r, schema, of_string));
    MX_TRY(read_count(r, schema, "minLength", &least));
    MX_TRY(read_count(r, schema, "maxLength", &most));
    if (most >= 0 && most < least) {
        return fail(r, MX_INVALID, "maxLength", "is less than minLength");
    }
    if ((pattern != NULL) + (format != NULL) + (least > 0 || most >= 0) > 1) {
        return fail(r, MX_UNSUPPORTED, pattern ? "pattern" : "format", "is not supported beside a length or a format");
    }
    if (pattern && !yyjson_is_str(pattern)) {
        return fail(r, MX_INVALID, "pattern", "must be a string");
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

/* ---- arrays ---- */

/* [a, b, c, more...]: all of prefixItems, then items as far as they may be. */
static mx_status read_tuple(reader *r, yyjson_val *prefix, mx_gnode *item, int32_t least, int32_t most, mx_gnode **out)
{
    const int32_t n_prefix = (int32_t)yyjson_arr_size(prefix);
    mx_gnode *space = mx_gnode_ref(r->b, r->rules.i_space);
    if (most >= 0 && most < n_prefix) {
        return fail(r, MX_UNSUPPORTED, "maxItems", "is not supported below the length of prefixItems");
    }
    *out = mx_gnode_list(r->b, MX_GNODE_SEQ);
    mx_gnode_add(r->b, *out, mx_gnode_text(r->b, "["));
    mx_gnode_add(r->b, *out, space);
    for (int32_t i = 0; i < n_prefix; i++) {
        mx_gnode *one = NULL;
        MX_TRY(read_schema(r, yyjson_arr_get(prefix, (size_t)i), "prefixItems", &one));
        if (i > 0) {
            mx_gnode_add(r->b, *out, mx_gnode_text(r->b, ","));
            mx_gnode_add(r->b, *out, space);
        }
        mx_gnode_add(r->b, *out, one);
    }
    if (item) {
        mx_gnode *more = mx_gnode_list(r->b, MX_GNODE_SEQ);
        mx_gnode_add(r->b, more, mx_gnode_text(r->b, ","));
        mx_gnode_add(r->b, more, space);
        mx_gnode_add(r->b, more, item);
        mx_gnode_add(r->b, *out,
                     mx_gnode_repeat(r->b, more, MX_MAX(least - n_prefix, 0),
                                     most >= 0 ? most - n_prefix : MX_GRAMMAR_NO_LIMIT));
    } else if (least > n_prefix) {
        return fail(r, MX_INVALID, "minItems", "asks for more items than there may be");
    }
    mx_gnode_add(r->b, *out, space);
    mx_gnode_add(r->b, *out, mx_gnode_text(r->b, "]"));
    return MX_OK;
}

static mx_status read_array(reader *r, yyjson_val *schema, mx_gnode **out)
{
    int32_t least = 0;
    int32_t most = MX_GRAMMAR_NO_LIMIT;
    yyjson_val *items = yyjson_obj_get(schema, "items");
    yyjson_val *prefix = yyjson_obj_get(schema, "prefixItems");
    mx_gnode *item = NULL;
    MX_TRY(check_keywords(r, schema, of_array));
    MX_TRY(read_count(r, schema, "minItems", &least));
    MX_TRY(read_count(r, schema, "maxItems", &most));
    if (most >= 0 && most < least) {
        return fail(r, MX_INVALID, "maxItems", "is less than minItems");
    }
    if (items && !yyjson_is_false(items)) {
        MX_TRY(read_schema(r, items, "items", &item));
    } else if (!items && !prefix) {
        item = mx_gnode_ref(r->b, r->rules.i_value);
    }
    if (prefix && !(yyjson_is_arr(prefix) && yyjson_arr_size(prefix) > 0 && yyjson_arr_size(prefix) < MAX_COUNT)) {
        return fail(r, MX_INVALID, "prefixItems", "must be a list of schemas");
    }
    if (prefix) {
        return read_tuple(r, prefix, item, least, most, out);
    }
    *out = mx_json_list(r->b, &r->rules, "[", item, least, item ? most : 0, "]");
    return item || least == 0 ? MX_OK : fail(r, MX_INVALID, "minItems", "asks for items that may not be");
}

/* ---- objects ---- */

static bool is_required(yyjson_val *required, yyjson_val *name)
{
    size_t i, n;
    yyjson_val *item;
    yyjson_arr_foreach(required, i, n, item)
    {
        if (yyjson_equals(item, name)) {
            return true;
        }
    }
    return false;
}

static mx_status check_required(const reader *r, yyjson_val *properties, yyjson_val *required)
{
    size_t i, n;
    yyjson_val *item;
    if (required && !(yyjson_is_arr(required) && yyjson_arr_size(required) <= MAX_PROPERTIES)) {
        return fail(r, MX_INVALID, "required", "must be a list of at most 2048 names");
    }
    yyjson_arr_foreach(required, i, n, item)
    {
        if (!yyjson_is_str(item) || !yyjson_obj_getn(properties, yyjson_get_str(item), yyjson_get_len(item))) {
            return fail(r, MX_UNSUPPORTED, "required", "names a member that is not among the properties");
        }
    }
    return MX_OK;
}

/* "name": value */
static mx_status read_member(reader *r, yyjson_val *key, yyjson_val *schema, mx_gnode **out)
{
    mx_gnode *value = NULL;
    mx_buf name = {.max = (size_t)1 << 20};
    char step[80];
    (void)snprintf(step, sizeof step, "properties/%.60s", yyjson_get_str(key));
    *out = mx_gnode_list(r->b, MX_GNODE_SEQ);
    mx_status st = mx_json_append_str(&name, mx_json_view_str(key), r->err);
    if (st == MX_OK) {
        mx_gnode_add(r->b, *out, mx_gnode_bytes(r->b, mx_buf_view(&name)));
        mx_gnode_add(r->b, *out, mx_gnode_text(r->b, ":"));
        mx_gnode_add(r->b, *out, mx_gnode_ref(r->b, r->rules.i_space));
        st = read_schema(r, schema, step, &value);
        mx_gnode_add(r->b, *out, value);
    }
    mx_buf_deinit(&name);
    return st;
}

/* Members that are not among the properties: NULL where there may be none. */
static mx_status read_others(reader *r, yyjson_val *properties, yyjson_val *additional, mx_gnode **out)
{
    mx_str names[MAX_NAMES];
    int32_t n_names = 0;
    mx_gnode *value = NULL;
    *out = NULL;
    if (!additional || yyjson_is_false(additional)) {
        return MX_OK;
    }
    size_t i, n;
    yyjson_val *key, *schema;
    yyjson_obj_foreach(properties, i, n, key, schema)
    {
        const mx_str name = mx_json_view_str(key);
        bool is_plain = n_names < MAX_NAMES && name.len <= MAX_NAME_BYTES;
        for (size_t j = 0; j < name.len; j++) {
            is_plain =
                is_plain && name.ptr[j] >= 0x20 && name.ptr[j] < 0x7F && name.ptr[j] != '"' && name.ptr[j] != '\\';
        }
        if (!is_plain) {
            return fail(r, MX_UNSUPPORTED, "additionalProperties",
                        "is not supported beside so many properties, or such names");
        }
        names[n_names++] = name;
    }
    MX_TRY(read_schema(r, additional, "additionalProperties", &value));
    *out = mx_gnode_list(r->b, MX_GNODE_SEQ);
    mx_gnode_add(r->b, *out, mx_json_other_name(r->b, names, n_names));
    mx_gnode_add(r->b, *out, mx_gnode_text(r->b, ":"));
    mx_gnode_add(r->b, *out, mx_gnode_ref(r->b, r->rules.i_space));
    mx_gnode_add(r->b, *out, value);
    return MX_OK;
}

/* The members in order, from the last to the first: `first` is what may come where no member has been written yet,
 * `rest` where one has, with the comma before each. Each becomes a rule, so that it is there once. */
static mx_status read_members(reader *r, yyjson_val *properties, yyjson_val *required, mx_gnode *others, mx_gnode **out)
{
    mx_grammar_builder *b = r->b;
    const size_t n_members = yyjson_obj_size(properties);
    size_t i, n;
    yyjson_val *key, *schema;
    if (n_members > MAX_PROPERTIES) {
        return fail(r, MX_INVALID, "properties", "are too many");
    }
    mx_gnode **members = mx_arena_array(&b->arena, mx_gnode *, n_members);
    yyjson_val **keys = mx_arena_array(&b->arena, yyjson_val *, n_members);
    if (!members || !keys) {
        return fail(r, MX_INVALID, "properties", "are too many");
    }
    yyjson_obj_foreach(properties, i, n, key, schema)
    {
        keys[i] = key;
        MX_TRY(read_member(r, key, schema, &members[i]));
    }
    mx_gnode *comma = mx_gnode_list(b, MX_GNODE_SEQ);
    mx_gnode_add(b, comma, mx_gnode_text(b, ","));
    mx_gnode_add(b, comma, mx_gnode_ref(b, r->rules.i_space));
    mx_gnode *rest = mx_gnode_text(b, "");
    mx_gnode *first = mx_gnode_text(b, "");
    if (others) {
        mx_gnode *more = mx_gnode_list(b, MX_GNODE_SEQ);
        mx_gnode_add(b, more, comma);
        mx_gnode_add(b, more, others);
        rest = mx_gnode_repeat(b, more, 0, MX_GRAMMAR_NO_LIMIT);
        mx_gnode *some = mx_gnode_list(b, MX_GNODE_SEQ);
        mx_gnode_add(b, some, others);
        mx_gnode_add(b, some, rest);
        first = mx_gnode_repeat(b, some, 0, 1);
    }
    for (i = n_members; i-- > 0;) {
        const bool is_needed = is_required(required, keys[i]);
        mx_gnode *begun = mx_gnode_list(b, MX_GNODE_SEQ); /* this member as the first one */
        mx_gnode *added = mx_gnode_list(b, MX_GNODE_SEQ); /* this member behind others */
        mx_gnode *rest_rule = mx_gnode_ref(b, mx_grammar_new_rule(b, rest));
        mx_gnode_add(b, begun, members[i]);
        mx_gnode_add(b, begun, rest_rule);
        mx_gnode_add(b, added, comma);
        mx_gnode_add(b, added, members[i]);
        mx_gnode *skipped = mx_gnode_list(b, MX_GNODE_ALT);
        mx_gnode_add(b, skipped, begun);
        mx_gnode_add(b, skipped, is_needed ? NULL : mx_gnode_ref(b, mx_grammar_new_rule(b, first)));
        mx_gnode *next = mx_gnode_list(b, MX_GNODE_SEQ);
        mx_gnode_add(b, next, is_needed ? added : mx_gnode_repeat(b, added, 0, 1));
        mx_gnode_add(b, next, rest_rule);
        first = skipped;
        rest = next;
    }
    *out = first;
    return mx_grammar_builder_status(b, r->err);
}

static mx_status read_object(reader *r, yyjson_val *schema, mx_gnode **out)
{
    mx_grammar_builder *b = r->b;
    yyjson_val *properties = yyjson_obj_get(schema, "properties");
    yyjson_val *additional = yyjson_obj_get(schema, "additionalProperties");
    mx_gnode *others = NULL;
    mx_gnode *members = NULL;
    MX_TRY(check_keywords(r, schema, of_object));
    if (properties && !yyjson_is_obj(properties)) {
        return fail(r, MX_INVALID, "properties", "must be an object");
    }
    MX_TRY(check_required(r, properties, yyjson_obj_get(schema, "required")));
    if (!properties && (!additional || yyjson_is_true(additional))) {
        *out = mx_gnode_ref(b, r->rules.i_object);
        return MX_OK;
    }
    MX_TRY(read_others(r, properties, additional, &others));
    MX_TRY(read_members(r, properties, yyjson_obj_get(schema, "required"), others, &members));
    *out = mx_gnode_list(b, MX_GNODE_SEQ);
    mx_gnode_add(b, *out, mx_gnode_text(b, "{"));
    mx_gnode_add(b, *out, mx_gnode_ref(b, r->rules.i_space));
    mx_gnode_add(b, *out, members);
    mx_gnode_add(b, *out, mx_gnode_ref(b, r->rules.i_space));
    mx_gnode_add(b, *out, mx_gnode_text(b, "}"));
    return MX_OK;
}

/* ---- schemas made of others ---- */

/* Whether no value fits two of the alternatives: they have different types, or a member that each requires to be
 * another constant. */
static bool are_apart(yyjson_val *a, yyjson_val *b)
{
    yyjson_val *type_a = yyjson_obj_get(a, "type");
    yyjson_val *type_b = yyjson_obj_get(b, "type");
    if (yyjson_is_str(type_a) && yyjson_is_str(type_b) && !yyjson_equals(type_a, type_b)) {
        return !(is_one_of(yyjson_get_str(type_a), of_number) || is_one_of(yyjson_get_str(type_b), of_number)) &&
               !((yyjson_equals_str(type_a, "integer") && yyjson_equals_str(type_b, "number")) ||
                 (yyjson_equals_str(type_a, "number") && yyjson_equals_str(type_b, "integer")));
    }
    size_t i, n;
    yyjson_val *key, *member;
    yyjson_obj_foreach(yyjson_obj_get(a, "properties"), i, n, key, member)
    {
        yyjson_val *other = yyjson_obj_get(yyjson_obj_get(b, "properties"), yyjson_get_str(key));
        yyjson_val *const_a = yyjson_obj_get(member, "const");
        yyjson_val *const_b = yyjson_obj_get(other, "const");
        if (const_a && const_b && !yyjson_equals(const_a, const_b) && is_required(yyjson_obj_get(a, "required"), key) &&
            is_required(yyjson_obj_get(b, "required"), key)) {
            return true;
        }
    }
    return false;
}

/* The place in the document that "#/$defs/name" names. */
static yyjson_val *resolve(const reader *r, yyjson_val *ref)
{
    const char *text = yyjson_get_str(ref);
    if (!text || text[0] != '#') {
        return NULL;
    }
    return text[1] == '\0' ? r->root : yyjson_ptr_getn(r->root, text + 1, yyjson_get_len(ref) - 1);
}

static mx_status read_ref(reader *r, yyjson_val *schema, mx_gnode **out)
{
    yyjson_val *to = resolve(r, yyjson_obj_get(schema, "$ref"));
    MX_TRY(check_keywords(r, schema, of_ref));
    if (!to) {
        return fail(r, MX_UNSUPPORTED, "$ref", "names nothing in this document");
    }
    for (int32_t i = 0; i < r->n_targets; i++) {
        if (r->targets[i].schema == to) {
            *out = mx_gnode_ref(r->b, r->targets[i].i_rule);
            return MX_OK;
        }
    }
    if (r->n_targets == MAX_REFS) {
        return fail(r, MX_INVALID, "$ref", "is used for too many schemas");
    }
    const int32_t i_rule = mx_grammar_new_rule(r->b, NULL); /* known before it is read, since it may contain itself */
    r->targets[r->n_targets++] = (target){to, i_rule};
    mx_gnode *node = NULL;
    MX_TRY(read_schema(r, to, "$ref", &node));
    MX_TRY(mx_grammar_builder_status(r->b, r->err));
    r->b->rules[i_rule].node = node;
    *out = mx_gnode_ref(r->b, i_rule);
    return MX_OK;
}

static mx_status read_alternatives(reader *r, yyjson_val *schema, const char *keyword, mx_gnode **out)
{
    yyjson_val *list = yyjson_obj_get(schema, keyword);
    const size_t n = yyjson_arr_size(list);
    MX_TRY(check_keywords(r, schema, of_any));
    if (n == 0 || n > MAX_ALTERNATIVES) {
        return fail(r, MX_INVALID, keyword, "must be a list of at most 256 schemas");
    }
    for (size_t i = 0; strcmp(keyword, "oneOf") == 0 && i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            if (!are_apart(yyjson_arr_get(list, i), yyjson_arr_get(list, j))) {
                return fail(r, MX_UNSUPPORTED, "oneOf", "is supported for alternatives that exclude each other alone");
            }
        }
    }
    *out = mx_gnode_list(r->b, MX_GNODE_ALT);
    for (size_t i = 0; i < n; i++) {
        mx_gnode *one = NULL;
        char step[40];
        (void)snprintf(step, sizeof step, "%s/%zu", keyword, i);
        MX_TRY(read_schema(r, yyjson_arr_get(list, i), step, &one));
        mx_gnode_add(r->b, *out, one);
    }
    return MX_OK;
}

/* ---- types ---- */

static mx_status read_type(reader *r, yyjson_val *schema, const char *type, mx_gnode **out)
{
    if (strcmp(type, "object") == 0) {
        return read_object(r, schema, out);
    }
    if (strcmp(type, "array") == 0) {
        return read_array(r, schema, out);
    }
    if (strcmp(type, "string") == 0) {
        return read_string(r, schema, out);
    }
    if (strcmp(type, "integer") == 0 || strcmp(type, "number") == 0) {
        return read_number(r, schema, type[0] == 'i', out);
    }
    MX_TRY(check_keywords(r, schema, of_type));
    if (strcmp(type, "null") == 0) {
        *out = mx_gnode_text(r->b, "null");
        return MX_OK;
    }
    if (strcmp(type, "boolean") == 0) {
        *out = mx_gnode_list(r->b, MX_GNODE_ALT);
        mx_gnode_add(r->b, *out, mx_gnode_text(r->b, "true"));
        mx_gnode_add(r->b, *out, mx_gnode_text(r->b, "false"));
        return MX_OK;
    }
    return fail(r, MX_INVALID, "type", "is none of JSON's");
}

/* A schema with a list of types: each keyword belongs to the type that has it. */
static mx_status read_types(reader *r, yyjson_val *schema, yyjson_val *types, mx_gnode **out)
{
    const char *wanting = NULL; /* the type that takes the keywords */
    size_t i, n;
    yyjson_val *type;
    *out = mx_gnode_list(r->b, MX_GNODE_ALT);
    yyjson_arr_foreach(types, i, n, type)
    {
        mx_gnode *one = NULL;
        const char *name = yyjson_is_str(type) ? yyjson_get_str(type) : "";
        if (strcmp(name, "null") == 0) {
            one = mx_gnode_text(r->b, "null");
        } else if (wanting && yyjson_obj_size(schema) > 1 && check_keywords(r, schema, of_type) != MX_OK) {
            return fail(r, MX_UNSUPPORTED, "type", "lists several types beside keywords of one of them");
        } else {
            wanting = name;
            MX_TRY(read_type(r, schema, name, &one));
        }
        mx_gnode_add(r->b, *out, one);
    }
    return n > 0 ? MX_OK : fail(r, MX_INVALID, "type", "is an empty list");
}

/* The type that a schema without one means by its keywords; NULL for any value. */
static const char *guess_type(yyjson_val *schema)
{
    static const struct {
        const char *type;
        const char *const *keywords;
    } rows[] = {{"object", of_object}, {"array", of_array}, {"string", of_string}, {"number", of_number}};
    for (size_t i = 0; i < MX_COUNTOF(rows); i++) {
        for (const char *const *keyword = rows[i].keywords + 1; *keyword; keyword++) {
            if (yyjson_obj_get(schema, *keyword)) {
                return rows[i].type;
            }
        }
    }
    return NULL;
}

static mx_status read_by_type(reader *r, yyjson_val *schema, mx_gnode **out)
{
    yyjson_val *type = yyjson_obj_get(schema, "type");
    if (yyjson_is_arr(type)) {
        return read_types(r, schema, type, out);
    }
    if (type && !yyjson_is_str(type)) {
        return fail(r, MX_INVALID, "type", "must be a name or a list of names");
    }
    const char *name = type ? yyjson_get_str(type) : guess_type(schema);
    if (name) {
        return read_type(r, schema, name, out);
    }
    MX_TRY(check_keywords(r, schema, of_type));
    *out = mx_gnode_ref(r->b, r->rules.i_value);
    return MX_OK;
}

static mx_status read_object_schema(reader *r, yyjson_val *schema, mx_gnode **out)
{
    yyjson_val *all = yyjson_obj_get(schema, "allOf");
    if (yyjson_obj_get(schema, "$ref")) {
        return read_ref(r, schema, out);
    }
    if (yyjson_obj_get(schema, "enum") || yyjson_obj_get(schema, "const")) {
        return read_enum(r, schema, out);
    }
    if (yyjson_obj_get(schema, "anyOf")) {
        return read_alternatives(r, schema, "anyOf", out);
    }
    if (yyjson_obj_get(schema, "oneOf")) {
        return read_alternatives(r, schema, "oneOf", out);
    }
    if (all) {
        return yyjson_arr_size(all) == 1 ? read_alternatives(r, schema, "allOf", out)
                                         : fail(r, MX_UNSUPPORTED, "allOf", "is supported with one schema alone");
    }
    return read_by_type(r, schema, out);
}

static mx_status read_schema(reader *r, yyjson_val *schema, const char *step, mx_gnode **out)
{
    const size_t n_path = strlen(r->path);
    *out = NULL;
    if (++r->depth > MX_GRAMMAR_MAX_DEPTH) {
        return fail(r, MX_INVALID, "", "it is nested too deeply");
    }
    if (*step) {
        (void)snprintf(r->path + n_path, sizeof r->path - n_path, "/%s", step);
    }
    mx_status st = MX_OK;
    if (yyjson_is_true(schema)) {
        *out = mx_gnode_ref(r->b, r->rules.i_value);
    } else if (yyjson_is_obj(schema)) {
        st = read_object_schema(r, schema, out);
    } else {
        st = fail(r, yyjson_is_false(schema) ? MX_UNSUPPORTED : MX_INVALID, "",
                  yyjson_is_false(schema) ? "false allows nothing" : "a schema must be an object");
    }
    r->path[n_path] = '\0';
    r->depth--;
    return st == MX_OK ? mx_grammar_builder_status(r->b, r->err) : st;
}

mx_status mx_json_schema_read(mx_grammar_builder *b, mx_str text, int32_t *i_root, mx_error *err)
{
    mx_json json = {0};
    mx_gnode *node = NULL;
    mx_error why;
    mx_status st = mx_json_parse(text, "the schema", &json, &why);
    if (st != MX_OK) {
        return mx_fail(err, st == MX_FORMAT ? MX_INVALID : st, "%s", why.message);
    }
    reader r = {.b = b, .root = json.root, .path = "#", .err = err};
    mx_json_rules_init(&r.rules, b);
    MX_TRY_OR(done, st, read_schema(&r, json.root, "", &node));
    *i_root = mx_grammar_new_rule(b, node);
    st = mx_grammar_builder_status(b, err);
done:
    mx_json_close(&json);
    return st;
}
