/* parser.h - a template's text to nodes with every name in its place. */
#ifndef MX_TEXT_TEMPLATE_PARSER_H
#define MX_TEXT_TEMPLATE_PARSER_H

#include "text/template/ast.h"

/* Parses source into tree->root.body and tree->blocks; the arena must outlive the tree. MX_FORMAT, MX_NO_MEMORY. */
mx_status mx_tpl_parse(mx_tpl_tree *tree, mx_str source, mx_error *err) MX_NODISCARD;

/* scope.c: gives every name its place and looks filters and tests up. MX_FORMAT, MX_NO_MEMORY. */
mx_status mx_tpl_resolve(mx_tpl_tree *tree, mx_error *err) MX_NODISCARD;

#endif
