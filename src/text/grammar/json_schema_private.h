/* json_schema_private.h - what the readers of schemas share. json_schema.c goes from schema to schema, json_values.c
 * reads those of plain values and json_parts.c those of arrays and objects. */
#ifndef MX_TEXT_GRAMMAR_JSON_SCHEMA_PRIVATE_H
#define MX_TEXT_GRAMMAR_JSON_SCHEMA_PRIVATE_H

#include "base/json.h"
#include "text/grammar/grammar_ast.h"
#include "text/grammar/json_nodes.h"

#define MX_SCHEMA_MAX_PATH  256
#define MX_SCHEMA_MAX_REFS  1024
#define MX_SCHEMA_MAX_COUNT 100000 /* minLength and the like */

/* A schema that $ref names, and its rule. */
typedef struct mx_schema_target {
    yyjson_val *schema;
    int32_t i_rule;
} mx_schema_target;

typedef struct mx_schema_reader {
    mx_grammar_builder *b;
    yyjson_val *root;
    mx_json_rules rules;
    mx_schema_target targets[MX_SCHEMA_MAX_REFS];
    int32_t n_targets;
    int32_t depth;
    char path[MX_SCHEMA_MAX_PATH]; /* "#/properties/name" */
    mx_error *err;
} mx_schema_reader;

/* "the schema at #/properties/a: minimum must be a number". Returns the status. */
mx_status mx_schema_fail(const mx_schema_reader *r, mx_status status, const char *keyword, const char *what);

/* Keywords by what they belong to, "type" first, NULL last. */
extern const char *const mx_schema_of_object[];
extern const char *const mx_schema_of_array[];
extern const char *const mx_schema_of_string[];
extern const char *const mx_schema_of_number[];
extern const char *const mx_schema_of_type[];

bool mx_schema_is_one_of(const char *name, const char *const *list);

/* MX_UNSUPPORTED names a keyword that is neither known here nor an annotation. */
mx_status mx_schema_check_keywords(const mx_schema_reader *r, yyjson_val *schema,
                                   const char *const *known) MX_NODISCARD;

/* A count of at most MX_SCHEMA_MAX_COUNT; *out stays where there is none. */
mx_status mx_schema_read_count(const mx_schema_reader *r, yyjson_val *schema, const char *key,
                               int32_t *out) MX_NODISCARD;

/* Whether a list has a value that equals `item`. */
bool mx_schema_has_item(yyjson_val *list, yyjson_val *item);

/* Any schema, at a step below the present path. */
mx_status mx_schema_read(mx_schema_reader *r, yyjson_val *schema, const char *step, mx_gnode **out) MX_NODISCARD;

/* json_values.c */
mx_status mx_schema_read_enum(mx_schema_reader *r, yyjson_val *schema, mx_gnode **out) MX_NODISCARD;
mx_status mx_schema_read_number(mx_schema_reader *r, yyjson_val *schema, bool is_integer, mx_gnode **out) MX_NODISCARD;
mx_status mx_schema_read_string(mx_schema_reader *r, yyjson_val *schema, mx_gnode **out) MX_NODISCARD;

/* json_parts.c */
mx_status mx_schema_read_array(mx_schema_reader *r, yyjson_val *schema, mx_gnode **out) MX_NODISCARD;
mx_status mx_schema_read_object(mx_schema_reader *r, yyjson_val *schema, mx_gnode **out) MX_NODISCARD;

#endif
