/* parser_parts.h - what the files of the parser share: parser.c and parser_operators.c have the expressions,
 * parser_tags.c the tags. */
#ifndef MX_TEXT_TEMPLATE_PARSER_PARTS_H
#define MX_TEXT_TEMPLATE_PARSER_PARTS_H

#include "text/template/lexer.h"
#include "text/template/parser.h"

/* A tag whose end the parser waits for, for messages. */
typedef struct mx_tpl_open_tag {
    struct mx_tpl_open_tag *outer;
    const char *name;
    const char *const *ends; /* names that end the present body; NULL-terminated */
    int32_t line;
} mx_tpl_open_tag;

typedef struct mx_tpl_parser {
    mx_tpl_lexer lexer;
    mx_tpl_tree *tree;
    mx_tpl_token token; /* the present one */
    mx_tpl_token ahead; /* the one after it, when has_ahead */
    bool has_ahead;
    int32_t depth;
    mx_tpl_open_tag *open;
    mx_error *err;
} mx_tpl_parser;

mx_status mx_tpl_parser_fail(mx_tpl_parser *p, int32_t line, const char *fmt, ...) MX_PRINTF(3, 4);

/* Fails where there are as many of something as may be: what is compared with all others of its kind. */
#define MX_TPL_MAX_NAMES 1000
mx_status mx_tpl_parser_limit(mx_tpl_parser *p, int32_t n, const char *what) MX_NODISCARD;
mx_status mx_tpl_parser_fail_token(mx_tpl_parser *p, const char *wanted);
mx_status mx_tpl_parser_no_memory(mx_tpl_parser *p);
mx_status mx_tpl_parser_next(mx_tpl_parser *p) MX_NODISCARD;
mx_status mx_tpl_parser_look(mx_tpl_parser *p) MX_NODISCARD; /* fills p->ahead */
mx_status mx_tpl_parser_expect(mx_tpl_parser *p, mx_tpl_token_kind kind) MX_NODISCARD;
mx_status mx_tpl_parser_expect_name(mx_tpl_parser *p, mx_str *name) MX_NODISCARD;
mx_status mx_tpl_parser_skip_name(mx_tpl_parser *p, const char *name, bool *skipped) MX_NODISCARD;
bool mx_tpl_parser_at_name(const mx_tpl_parser *p, const char *name);
mx_status mx_tpl_parser_deeper(mx_tpl_parser *p) MX_NODISCARD; /* pair with p->depth-- */
mx_status mx_tpl_parser_new(mx_tpl_parser *p, mx_tpl_node_kind kind, int32_t line, mx_tpl_node **out) MX_NODISCARD;
/* Records that child is below node, and fails where that makes the tree too deep. NULL children are fine. */
mx_status mx_tpl_parser_below(mx_tpl_parser *p, mx_tpl_node *node, const mx_tpl_node *child) MX_NODISCARD;
/* The same, putting the child into a list of node's. */
mx_status mx_tpl_parser_push(mx_tpl_parser *p, mx_tpl_node *node, mx_tpl_nodes *list, mx_tpl_node *child) MX_NODISCARD;

mx_status mx_tpl_parser_new_expr(mx_tpl_parser *p, mx_tpl_node_kind kind, int32_t line, mx_tpl_node *a, mx_tpl_node *b,
                                 mx_tpl_node **out) MX_NODISCARD;

typedef struct mx_tpl_tuple_rules {
    bool is_target;    /* only names, literals and ns.attr */
    bool no_condition; /* `if` ends the expression */
    bool may_be_empty;
    bool may_be_namespace; /* ns.attr is a target */
    const char *end;       /* name that ends the tuple; NULL: none */
} mx_tpl_tuple_rules;
mx_status mx_tpl_parse_tuple(mx_tpl_parser *p, const mx_tpl_tuple_rules *rules, mx_tpl_node **out) MX_NODISCARD;
mx_status mx_tpl_parse_expression(mx_tpl_parser *p, mx_tpl_node **out) MX_NODISCARD;
mx_status mx_tpl_parse_primary(mx_tpl_parser *p, bool may_be_namespace, mx_tpl_node **out) MX_NODISCARD;
mx_status mx_tpl_parse_unary(mx_tpl_parser *p, bool with_filter, mx_tpl_node **out) MX_NODISCARD;
mx_status mx_tpl_parse_filters(mx_tpl_parser *p, bool begins_inline, mx_tpl_node **node) MX_NODISCARD;

#endif
