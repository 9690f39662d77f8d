/* json_schema.h - JSON schemas as grammars.
 *
 * The text is one JSON value that the schema allows, its members in the schema's order, with at most a space or a line
 * end and its indentation between the parts. Keywords: type, properties, required, additionalProperties, items,
 * prefixItems, minItems, maxItems, enum, const, anyOf, oneOf (of alternatives that exclude each other), allOf (of one),
 * $ref within the document, minLength, maxLength, pattern, format, minimum, maximum and their exclusive forms.
 * A type beside anyOf, oneOf or allOf must be the type of each of their schemas. Descriptions and other annotations are
 * passed over. An object without additionalProperties gets no further members.
 *
 * Every text is valid under the schema; not every valid text can be written (numbers have at most 16 digits, for one).
 * What cannot be held is MX_UNSUPPORTED, with keyword and path, and nothing is left out silently.
 */
#ifndef MX_TEXT_GRAMMAR_JSON_SCHEMA_H
#define MX_TEXT_GRAMMAR_JSON_SCHEMA_H

#include "text/grammar/grammar_ast.h"

/* Reads the text of a schema; "{}" allows any value, {"type": "object"} any object. MX_INVALID, MX_UNSUPPORTED. */
mx_status mx_json_schema_read(mx_grammar_builder *b, mx_str text, int32_t *i_root, mx_error *err) MX_NODISCARD;

#endif
