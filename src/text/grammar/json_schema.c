/* json_schema.c - from schema to schema; every keyword is known, refused or an annotation. */
#include "text/grammar/json_schema.h"

#include <stdio.h>
#include <string.h>

#include "text/grammar/json_schema_private.h"

enum {
    MAX_ALTERNATIVES = 256,
};

mx_status mx_schema_fail(const mx_schema_reader *r, mx_status status, const char *keyword, const char *what)
{
    return mx_fail(r->err, status, "the schema at %s: %s%s%s", r->path, keyword, *keyword ? " " : "", what);
}

/* ---- keywords ---- */

static const char *const annotations[] = {
    "$schema",         "$id",        "$comment",     "$defs",
    "definitions",     "title",      "description",  "default",
    "examples",        "deprecated", "readOnly",     "writeOnly",
    "discriminator",   "strict",     "$anchor",      "contentMediaType",
    "contentEncoding", "example",    "externalDocs",
};

/* What a schema may have beside annotations, by what it is read as. */
const char *const mx_schema_of_object[] = {"type", "properties", "required", "additionalProperties", NULL};
const char *const mx_schema_of_array[] = {"type", "items", "prefixItems", "minItems", "maxItems", NULL};
const char *const mx_schema_of_string[] = {"type", "minLength", "maxLength", "pattern", "format", NULL};
const char *const mx_schema_of_number[] = {"type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", NULL};
const char *const mx_schema_of_type[] = {"type", NULL};
static const char *const of_ref[] = {"$ref", NULL};

bool mx_schema_is_one_of(const char *name, const char *const *list)
{
    for (; *list; list++) {
        if (strcmp(name, *list) == 0) {
            return true;
        }
    }
    return false;
}

mx_status mx_schema_check_keywords(const mx_schema_reader *r, yyjson_val *schema, const char *const *known)
{
    size_t i, n;
    yyjson_val *key, *value;
    yyjson_obj_foreach(schema, i, n, key, value)
    {
        const char *name = yyjson_get_str(key);
        bool is_fine = mx_schema_is_one_of(name, known);
        for (size_t j = 0; !is_fine && j < MX_COUNTOF(annotations); j++) {
            is_fine = strcmp(name, annotations[j]) == 0;
        }
        if (!is_fine) {
            char safe[64];
            (void)snprintf(safe, sizeof safe, "%.48s", name);
            return mx_schema_fail(r, MX_UNSUPPORTED, safe, "is not supported here");
        }
    }
    return MX_OK;
}

mx_status mx_schema_read_count(const mx_schema_reader *r, yyjson_val *schema, const char *key, int32_t *out)
{
    yyjson_val *value = yyjson_obj_get(schema, key);
    if (value && !(yyjson_is_uint(value) && yyjson_get_uint(value) <= MX_SCHEMA_MAX_COUNT)) {
        return mx_schema_fail(r, MX_INVALID, key, "must be a whole number of at most 100000");
    }
    *out = value ? (int32_t)yyjson_get_uint(value) : *out;
    return MX_OK;
}

bool mx_schema_has_item(yyjson_val *list, yyjson_val *item)
{
    size_t i, n;
    yyjson_val *one;
    yyjson_arr_foreach(list, i, n, one)
    {
        if (yyjson_equals(one, item)) {
            return true;
        }
    }
    return false;
}

/* ---- schemas made of others ---- */

/* Whether one type's name allows values of the other's: they are equal, or an integer is a number. */
static bool is_within(yyjson_val *inner, yyjson_val *outer)
{
    return yyjson_equals(inner, outer) || (yyjson_equals_str(inner, "integer") && yyjson_equals_str(outer, "number"));
}

/* Whether no value fits two of the alternatives: they have different types, or a member that each requires to be
 * another constant. */
static bool are_apart(yyjson_val *a, yyjson_val *b)
{
    yyjson_val *type_a = yyjson_obj_get(a, "type");
    yyjson_val *type_b = yyjson_obj_get(b, "type");
    if (yyjson_is_str(type_a) && yyjson_is_str(type_b) && !is_within(type_a, type_b) && !is_within(type_b, type_a)) {
        return true;
    }
    size_t i, n;
    yyjson_val *key, *member;
    yyjson_obj_foreach(yyjson_obj_get(a, "properties"), i, n, key, member)
    {
        yyjson_val *other = yyjson_obj_get(yyjson_obj_get(b, "properties"), yyjson_get_str(key));
        yyjson_val *const_a = yyjson_obj_get(member, "const");
        yyjson_val *const_b = yyjson_obj_get(other, "const");
        if (const_a && const_b && !yyjson_equals(const_a, const_b) &&
            mx_schema_has_item(yyjson_obj_get(a, "required"), key) &&
            mx_schema_has_item(yyjson_obj_get(b, "required"), key)) {
            return true;
        }
    }
    return false;
}

/* The place in the document that "#/$defs/name" names. */
static yyjson_val *resolve(const mx_schema_reader *r, yyjson_val *ref)
{
    const char *text = yyjson_get_str(ref);
    if (!text || text[0] != '#') {
        return NULL;
    }
    return text[1] == '\0' ? r->root : yyjson_ptr_getn(r->root, text + 1, yyjson_get_len(ref) - 1);
}

static mx_status read_ref(mx_schema_reader *r, yyjson_val *schema, mx_gnode **out)
{
    yyjson_val *to = resolve(r, yyjson_obj_get(schema, "$ref"));
    MX_TRY(mx_schema_check_keywords(r, schema, of_ref));
    if (!to) {
        return mx_schema_fail(r, MX_UNSUPPORTED, "$ref", "names nothing in this document");
    }
    for (int32_t i = 0; i < r->n_targets; i++) {
        if (r->targets[i].schema == to) {
            *out = mx_gnode_ref(r->b, r->targets[i].i_rule);
            return MX_OK;
        }
    }
    if (r->n_targets == MX_SCHEMA_MAX_REFS) {
        return mx_schema_fail(r, MX_INVALID, "$ref", "is used for too many schemas");
    }
    const int32_t i_rule = mx_grammar_new_rule(r->b, NULL); /* known before it is read, since it may contain itself */
    r->targets[r->n_targets++] = (mx_schema_target){to, i_rule};
    mx_gnode *node = NULL;
    MX_TRY(mx_schema_read(r, to, "$ref", &node));
    MX_TRY(mx_grammar_builder_status(r->b, r->err));
    r->b->rules[i_rule].node = node;
    *out = mx_gnode_ref(r->b, i_rule);
    return MX_OK;
}

/* A type beside alternatives changes nothing where each of them has one within it; elsewhere it is refused, since the
 * texts of both are not known. */
static mx_status check_type_beside(const mx_schema_reader *r, yyjson_val *schema, const char *keyword, yyjson_val *list)
{
    yyjson_val *type = yyjson_obj_get(schema, "type");
    size_t i, n;
    yyjson_val *one;
    yyjson_arr_foreach(list, i, n, one)
    {
        if (type && !is_within(yyjson_obj_get(one, "type"), type)) {
            char what[80];
            (void)snprintf(what, sizeof what, "is supported beside %s where each of its schemas has the same type",
                           keyword);
            return mx_schema_fail(r, MX_UNSUPPORTED, "type", what);
        }
    }
    return MX_OK;
}

static mx_status read_alternatives(mx_schema_reader *r, yyjson_val *schema, const char *keyword, mx_gnode **out)
{
    yyjson_val *list = yyjson_obj_get(schema, keyword);
    const size_t n = yyjson_arr_size(list);
    const char *const known[] = {keyword, "type", NULL};
    MX_TRY(mx_schema_check_keywords(r, schema, known));
    MX_TRY(check_type_beside(r, schema, keyword, list));
    if (n == 0 || n > MAX_ALTERNATIVES) {
        return mx_schema_fail(r, MX_INVALID, keyword, "must be a list of at most 256 schemas");
    }
    for (size_t i = 0; strcmp(keyword, "oneOf") == 0 && i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            if (!are_apart(yyjson_arr_get(list, i), yyjson_arr_get(list, j))) {
                return mx_schema_fail(r, MX_UNSUPPORTED, "oneOf",
                                      "is supported for alternatives that exclude each other alone");
            }
        }
    }
    *out = mx_gnode_list(r->b, MX_GNODE_ALT);
    for (size_t i = 0; i < n; i++) {
        mx_gnode *one = NULL;
        char step[40];
        (void)snprintf(step, sizeof step, "%s/%zu", keyword, i);
        MX_TRY(mx_schema_read(r, yyjson_arr_get(list, i), step, &one));
        mx_gnode_add(r->b, *out, one);
    }
    return MX_OK;
}

/* ---- types ---- */

static mx_status read_type(mx_schema_reader *r, yyjson_val *schema, const char *type, mx_gnode **out)
{
    if (strcmp(type, "object") == 0) {
        return mx_schema_read_object(r, schema, out);
    }
    if (strcmp(type, "array") == 0) {
        return mx_schema_read_array(r, schema, out);
    }
    if (strcmp(type, "string") == 0) {
        return mx_schema_read_string(r, schema, out);
    }
    if (strcmp(type, "integer") == 0 || strcmp(type, "number") == 0) {
        return mx_schema_read_number(r, schema, type[0] == 'i', out);
    }
    MX_TRY(mx_schema_check_keywords(r, schema, mx_schema_of_type));
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
    return mx_schema_fail(r, MX_INVALID, "type", "is none of JSON's");
}

/* A schema with a list of types: each keyword belongs to the type that has it. */
static mx_status read_types(mx_schema_reader *r, yyjson_val *schema, yyjson_val *types, mx_gnode **out)
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
        } else if (wanting && yyjson_obj_size(schema) > 1 &&
                   mx_schema_check_keywords(r, schema, mx_schema_of_type) != MX_OK) {
            return mx_schema_fail(r, MX_UNSUPPORTED, "type", "lists several types beside keywords of one of them");
        } else {
            wanting = name;
            MX_TRY(read_type(r, schema, name, &one));
        }
        mx_gnode_add(r->b, *out, one);
    }
    return n > 0 ? MX_OK : mx_schema_fail(r, MX_INVALID, "type", "is an empty list");
}

/* The type that a schema without one means by its keywords; NULL for any value. */
static const char *guess_type(yyjson_val *schema)
{
    static const struct {
        const char *type;
        const char *const *keywords;
    } rows[] = {{"object", mx_schema_of_object},
                {"array", mx_schema_of_array},
                {"string", mx_schema_of_string},
                {"number", mx_schema_of_number}};
    for (size_t i = 0; i < MX_COUNTOF(rows); i++) {
        for (const char *const *keyword = rows[i].keywords + 1; *keyword; keyword++) {
            if (yyjson_obj_get(schema, *keyword)) {
                return rows[i].type;
            }
        }
    }
    return NULL;
}

static mx_status read_by_type(mx_schema_reader *r, yyjson_val *schema, mx_gnode **out)
{
    yyjson_val *type = yyjson_obj_get(schema, "type");
    if (yyjson_is_arr(type)) {
        return read_types(r, schema, type, out);
    }
    if (type && !yyjson_is_str(type)) {
        return mx_schema_fail(r, MX_INVALID, "type", "must be a name or a list of names");
    }
    const char *name = type ? yyjson_get_str(type) : guess_type(schema);
    if (name) {
        return read_type(r, schema, name, out);
    }
    MX_TRY(mx_schema_check_keywords(r, schema, mx_schema_of_type));
    *out = mx_gnode_ref(r->b, r->rules.i_value);
    return MX_OK;
}

static mx_status read_object_schema(mx_schema_reader *r, yyjson_val *schema, mx_gnode **out)
{
    yyjson_val *all = yyjson_obj_get(schema, "allOf");
    if (yyjson_obj_get(schema, "$ref")) {
        return read_ref(r, schema, out);
    }
    if (yyjson_obj_get(schema, "enum") || yyjson_obj_get(schema, "const")) {
        return mx_schema_read_enum(r, schema, out);
    }
    if (yyjson_obj_get(schema, "anyOf")) {
        return read_alternatives(r, schema, "anyOf", out);
    }
    if (yyjson_obj_get(schema, "oneOf")) {
        return read_alternatives(r, schema, "oneOf", out);
    }
    if (all) {
        return yyjson_arr_size(all) == 1
                   ? read_alternatives(r, schema, "allOf", out)
                   : mx_schema_fail(r, MX_UNSUPPORTED, "allOf", "is supported with one schema alone");
    }
    return read_by_type(r, schema, out);
}

mx_status mx_schema_read(mx_schema_reader *r, yyjson_val *schema, const char *step, mx_gnode **out)
{
    const size_t n_path = strlen(r->path);
    *out = NULL;
    if (++r->depth > MX_GRAMMAR_MAX_DEPTH) {
        return mx_schema_fail(r, MX_INVALID, "", "it is nested too deeply");
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
        st = mx_schema_fail(r, yyjson_is_false(schema) ? MX_UNSUPPORTED : MX_INVALID, "",
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
    mx_schema_reader r = {.b = b, .root = json.root, .path = "#", .err = err};
    mx_json_rules_init(&r.rules, b);
    MX_TRY_OR(done, st, mx_schema_read(&r, json.root, "", &node));
    *i_root = mx_grammar_new_rule(b, node);
    st = mx_grammar_builder_status(b, err);
done:
    mx_json_close(&json);
    return st;
}
