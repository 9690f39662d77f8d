/* string_literal.h - what a quoted string in a template means. */
#ifndef MX_TEXT_TEMPLATE_STRING_LITERAL_H
#define MX_TEXT_TEMPLATE_STRING_LITERAL_H

#include "base/arena.h"
#include "text/template/value.h"

/* The text between the quotes with its escapes read as Python's unicode-escape codec reads them. False, with a static
 * sentence in *why, for an escape that is cut off or a character that does not exist, or out of memory. */
bool mx_tpl_decode_string(mx_arena *arena, mx_str quoted, mx_tpl_value *out, const char **why);

#endif
