/* uses.c - which special names a body reads. */
#include "text/template/scope.h"

typedef struct search {
    const char *const *names;
    int n_names;
    bool *used;
    bool dropped[MX_TPL_MAX_USES]; /* set by the body itself, so no longer of interest */
    bool has_scoped_block;
} search;

static void visit(search *s, const mx_tpl_node *node);

static void visit_all(search *s, const mx_tpl_nodes *list)
{
    for (int32_t i = 0; i < list->n; i++) {
        visit(s, list->items[i]);
    }
}

static void visit_name(search *s, mx_str name, bool is_read)
{
    for (int i = 0; i < s->n_names; i++) {
        if (mx_str_eq_cstr(name, s->names[i])) {
            if (is_read && !s->dropped[i]) {
                s->used[i] = true;
            } else {
                s->dropped[i] = true;
            }
        }
    }
}

static void visit_target(search *s, const mx_tpl_node *target)
{
    if (target->kind == MX_TPL_NODE_TUPLE) {
        for (int32_t i = 0; i < target->as.items.n; i++) {
            visit_target(s, target->as.items.items[i]);
        }
    } else if (target->kind == MX_TPL_NODE_NAME) {
        visit_name(s, target->as.name.name, false);
    }
}

static void visit_args(search *s, const mx_tpl_call_args *args)
{
    if (args) {
        visit_all(s, &args->pos);
        visit_all(s, &args->named);
        visit(s, args->star);
        visit(s, args->star_star);
    }
}

static void visit_func(search *s, const mx_tpl_func *func)
{
    for (int32_t i = 0; i < func->args.n; i++) {
        visit_name(s, func->args.items[i]->as.name.name, false);
    }
    visit_all(s, &func->defaults);
    visit_all(s, &func->body);
}

static void visit_for(search *s, const mx_tpl_for *loop)
{
    visit_target(s, loop->target);
    visit(s, loop->iter);
    visit_all(s, &loop->body);
    visit_all(s, &loop->otherwise);
    visit(s, loop->test);
}

static void visit_block(search *s, const mx_tpl_node *node)
{
    for (int32_t i = 0; i < node->as.block.targets.n; i++) {
        visit_target(s, node->as.block.targets.items[i]);
    }
    visit_all(s, &node->as.block.values);
    if (node->kind == MX_TPL_NODE_AUTOESCAPE) {
        visit(s, node->as.block.expr);
    }
    visit_all(s, &node->as.block.body);
    if (node->kind == MX_TPL_NODE_FILTER_BLOCK) {
        visit(s, node->as.block.expr);
    }
}

static void visit(search *s, const mx_tpl_node *node)
{
    if (!node) {
        return;
    }
    switch ((mx_tpl_node_kind)node->kind) {
    case MX_TPL_NODE_CONST:
    case MX_TPL_NODE_DATA:
    case MX_TPL_NODE_BREAK:
    case MX_TPL_NODE_CONTINUE:
    case MX_TPL_NODE_NSREF:
    case MX_TPL_NODE_COUNT: return;
    case MX_TPL_NODE_BLOCK: s->has_scoped_block = s->has_scoped_block || node->flag; return;
    case MX_TPL_NODE_NAME: visit_name(s, node->as.name.name, true); return;
    case MX_TPL_NODE_TUPLE:
    case MX_TPL_NODE_LIST:
    case MX_TPL_NODE_DICT:
    case MX_TPL_NODE_CONCAT:
    case MX_TPL_NODE_OUTPUT: visit_all(s, &node->as.items); return;
    case MX_TPL_NODE_UNARY:
    case MX_TPL_NODE_BINARY:
    case MX_TPL_NODE_AND:
    case MX_TPL_NODE_OR:
    case MX_TPL_NODE_NOT:
    case MX_TPL_NODE_GETITEM:
    case MX_TPL_NODE_SLICE:
    case MX_TPL_NODE_COND:
        visit(s, node->as.expr.a);
        visit(s, node->as.expr.b);
        visit(s, node->as.expr.c);
        return;
    case MX_TPL_NODE_COMPARE:
        visit(s, node->as.compare.first);
        visit_all(s, &node->as.compare.rest);
        return;
    case MX_TPL_NODE_OTHER:
    case MX_TPL_NODE_GETATTR:
    case MX_TPL_NODE_CALL:
    case MX_TPL_NODE_FILTER:
    case MX_TPL_NODE_TEST:
        visit(s, node->as.use.of);
        visit_args(s, node->as.use.args);
        return;
    case MX_TPL_NODE_IF:
        visit(s, node->as.cond.test);
        visit_all(s, &node->as.cond.body);
        visit_all(s, &node->as.cond.elifs);
        visit_all(s, &node->as.cond.otherwise);
        return;
    case MX_TPL_NODE_FOR: visit_for(s, node->as.loop); return;
    case MX_TPL_NODE_SET:
        visit_target(s, node->as.set.target);
        visit(s, node->as.set.value);
        return;
    case MX_TPL_NODE_SET_BLOCK:
        visit_target(s, node->as.set.target);
        visit(s, node->as.set.value);
        visit_all(s, &node->as.set.body);
        return;
    case MX_TPL_NODE_MACRO:
    case MX_TPL_NODE_CALL_BLOCK:
    case MX_TPL_NODE_GENERATION:
        visit(s, node->as.macro.call);
        visit_func(s, node->as.macro.func);
        return;
    case MX_TPL_NODE_FILTER_BLOCK:
    case MX_TPL_NODE_WITH:
    case MX_TPL_NODE_AUTOESCAPE: visit_block(s, node); return;
    }
}

void mx_tpl_find_uses(const mx_tpl_nodes *body, const char *const *names, int n_names, bool *used)
{
    search s = {.names = names, .n_names = n_names, .used = used};
    visit_all(&s, body);
}

bool mx_tpl_has_scoped_block(const mx_tpl_nodes *body)
{
    search s = {.n_names = 0};
    visit_all(&s, body);
    return s.has_scoped_block;
}
