/* scope.h - what the two halves of the scope pass share: scope.c gathers the names of a scope, resolve.c walks the
 * tree. */
#ifndef MX_TEXT_TEMPLATE_SCOPE_H
#define MX_TEXT_TEMPLATE_SCOPE_H

#include "text/template/ast.h"

/* A name that a scope knows. */
typedef struct mx_tpl_symbol {
    mx_str name;
    int32_t slot;
    mx_tpl_load_how how;
    mx_tpl_ref from; /* ALIAS; hops counted from this scope's function */
    bool is_stored;
} mx_tpl_symbol;

typedef struct mx_tpl_symbols {
    struct mx_tpl_symbols *outer;
    mx_tpl_func *func;
    int32_t i_func; /* nesting of func, to count hops */
    mx_tpl_symbol *items;
    int32_t n;
    int32_t cap;
} mx_tpl_symbols;

typedef struct mx_tpl_resolver {
    mx_tpl_tree *tree;
    mx_error *err;
    int64_t n_compared;
    bool is_soft;    /* in an if or inline if: unknown filters fail only when they are reached */
    bool in_loop;    /* break and continue are allowed */
    bool is_top;     /* what is set here is seen by blocks */
    int32_t n_loops; /* loops around, macros between them or not */
} mx_tpl_resolver;

mx_status mx_tpl_scope_fail(mx_tpl_resolver *r, int32_t line, const char *fmt, ...) MX_PRINTF(3, 4);
mx_status mx_tpl_scope_no_memory(mx_tpl_resolver *r);

/* The place of a name in s or further out, seen from s; *found false where no scope knows it. */
mx_status mx_tpl_scope_find(mx_tpl_resolver *r, const mx_tpl_symbols *s, mx_str name, mx_tpl_ref *out,
                            bool *found) MX_NODISCARD;

/* Makes a name a parameter: whoever enters the scope sets it. slot may be NULL. */
mx_status mx_tpl_scope_declare(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_str name, int32_t *slot) MX_NODISCARD;

/* Adds what nodes load and store, without entering the scopes in them. */
mx_status mx_tpl_scope_gather(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_tpl_node *node) MX_NODISCARD;
mx_status mx_tpl_scope_gather_all(mx_tpl_resolver *r, mx_tpl_symbols *s, const mx_tpl_nodes *list) MX_NODISCARD;
mx_status mx_tpl_scope_gather_target(mx_tpl_resolver *r, mx_tpl_symbols *s, const mx_tpl_node *target,
                                     bool as_param) MX_NODISCARD;

/* uses.c: which of the names nodes read without having set them first, as jinja2 looks for `loop` and `caller`: in the
 * order of the text, in inner scopes too. used[i] is set for names[i]. */
#define MX_TPL_MAX_USES 3
void mx_tpl_find_uses(const mx_tpl_nodes *body, const char *const *names, int n_names, bool *used);
bool mx_tpl_has_scoped_block(const mx_tpl_nodes *body);

/* constant.c: whether jinja2's optimizer could evaluate an expression, and the marking (node.flag) of the nodes in it
 * that are evaluated differently then. is_printed: it is all of what {{ }} prints. */
bool mx_tpl_is_constant(const mx_tpl_node *node);
void mx_tpl_mark_constant(mx_tpl_node *node, bool is_printed);

#endif
