/* constant.c - where jinja2 would calculate at compile time.
 *
 * Its optimizer evaluates constant expressions with other code than the one it generates, and templates can see that in
 * two places: a slice of something that has none is undefined there, and an error in generated code; and `~` makes no
 * markup there.
 */
#include "text/template/scope.h"

static bool all_constant(const mx_tpl_nodes *list)
{
    for (int32_t i = 0; i < list->n; i++) {
        if (!mx_tpl_is_constant(list->items[i])) {
            return false;
        }
    }
    return true;
}

static bool is_absent_or_constant(const mx_tpl_node *node)
{
    return !node || mx_tpl_is_constant(node);
}

/* Filters that are given the context are not evaluated before there is one. */
static bool needs_context(mx_str name)
{
    static const char *const names[] = {"map", "select", "reject", "selectattr", "rejectattr", "random"};
    for (size_t i = 0; i < MX_COUNTOF(names); i++) {
        if (mx_str_eq_cstr(name, names[i])) {
            return true;
        }
    }
    return false;
}

static bool is_constant_use(const mx_tpl_node *node)
{
    const mx_tpl_call_args *args = node->as.use.args;
    if (!mx_tpl_is_constant(node->as.use.of) ||
        (node->kind == MX_TPL_NODE_FILTER && needs_context(node->as.use.name))) {
        return false;
    }
    return !args || (all_constant(&args->pos) && all_constant(&args->named) && is_absent_or_constant(args->star) &&
                     is_absent_or_constant(args->star_star));
}

bool mx_tpl_is_constant(const mx_tpl_node *node)
{
    switch ((mx_tpl_node_kind)node->kind) {
    case MX_TPL_NODE_CONST: return true;
    case MX_TPL_NODE_TUPLE:
    case MX_TPL_NODE_LIST:
    case MX_TPL_NODE_DICT:
    case MX_TPL_NODE_CONCAT: return all_constant(&node->as.items);
    case MX_TPL_NODE_UNARY:
    case MX_TPL_NODE_BINARY:
    case MX_TPL_NODE_AND:
    case MX_TPL_NODE_OR:
    case MX_TPL_NODE_NOT:
    case MX_TPL_NODE_COND:
    case MX_TPL_NODE_GETITEM:
    case MX_TPL_NODE_SLICE:
        return is_absent_or_constant(node->as.expr.a) && is_absent_or_constant(node->as.expr.b) &&
               is_absent_or_constant(node->as.expr.c);
    case MX_TPL_NODE_COMPARE: return mx_tpl_is_constant(node->as.compare.first) && all_constant(&node->as.compare.rest);
    case MX_TPL_NODE_GETATTR: return mx_tpl_is_constant(node->as.use.of);
    case MX_TPL_NODE_FILTER:
    case MX_TPL_NODE_TEST: return is_constant_use(node);
    default: return false;
    }
}

static void mark_slices(mx_tpl_node *node);

static void mark_all(const mx_tpl_nodes *list)
{
    for (int32_t i = 0; i < list->n; i++) {
        mark_slices(list->items[i]);
    }
}

static void mark_use(mx_tpl_node *node)
{
    mark_slices(node->as.use.of);
    if (node->as.use.args) {
        mark_all(&node->as.use.args->pos);
        mark_all(&node->as.use.args->named);
    }
}

static void mark_slices(mx_tpl_node *node)
{
    switch ((mx_tpl_node_kind)(node ? node->kind : MX_TPL_NODE_CONST)) {
    case MX_TPL_NODE_TUPLE:
    case MX_TPL_NODE_LIST:
    case MX_TPL_NODE_DICT:
    case MX_TPL_NODE_CONCAT: mark_all(&node->as.items); return;
    case MX_TPL_NODE_GETITEM:
        node->flag = true;
        mark_slices(node->as.expr.a);
        mark_slices(node->as.expr.b);
        return;
    case MX_TPL_NODE_UNARY:
    case MX_TPL_NODE_BINARY:
    case MX_TPL_NODE_AND:
    case MX_TPL_NODE_OR:
    case MX_TPL_NODE_NOT:
    case MX_TPL_NODE_COND:
    case MX_TPL_NODE_SLICE:
        mark_slices(node->as.expr.a);
        mark_slices(node->as.expr.b);
        mark_slices(node->as.expr.c);
        return;
    case MX_TPL_NODE_COMPARE:
        mark_slices(node->as.compare.first);
        mark_all(&node->as.compare.rest);
        return;
    case MX_TPL_NODE_GETATTR:
    case MX_TPL_NODE_FILTER:
    case MX_TPL_NODE_TEST: mark_use(node); return;
    default: return;
    }
}

/* What may be undefined itself, or hold something undefined, is left to the generated code unless it is printed. */
static bool always_makes_a_value(const mx_tpl_node *node)
{
    switch ((mx_tpl_node_kind)node->kind) {
    case MX_TPL_NODE_FILTER:
    case MX_TPL_NODE_TEST:
    case MX_TPL_NODE_CONCAT:
    case MX_TPL_NODE_COMPARE:
    case MX_TPL_NODE_NOT: return true;
    default: return false;
    }
}

void mx_tpl_mark_constant(mx_tpl_node *node, bool is_printed)
{
    if ((is_printed || always_makes_a_value(node)) && mx_tpl_is_constant(node)) {
        mark_slices(node);
        node->flag = node->flag || node->kind == MX_TPL_NODE_CONCAT;
    }
}
