/* resolve.c - the second half of the scope pass: walks the tree, makes the scopes, and gives each name its place. */
#include "base/mem.h"
#include "text/template/parser.h"
#include "text/template/run.h"
#include "text/template/scope.h"

static mx_status resolve(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_tpl_node *node);

static const char *const node_texts[] = {
#define X(name, text) [MX_TPL_NODE_##name] = (text),
    MX_TPL_NODE_LIST(X)
#undef X
};

const char *mx_tpl_node_text(const mx_tpl_node *node)
{
    return node_texts[node->kind];
}

static mx_status resolve_all(mx_tpl_resolver *r, mx_tpl_symbols *s, const mx_tpl_nodes *list)
{
    for (int32_t i = 0; i < list->n; i++) {
        MX_TRY(resolve(r, s, list->items[i]));
    }
    return MX_OK;
}

static mx_tpl_symbols inner_symbols(mx_tpl_symbols *outer)
{
    return (mx_tpl_symbols){.outer = outer, .func = outer->func, .i_func = outer->i_func};
}

static mx_tpl_symbols func_symbols(mx_tpl_symbols *outer, mx_tpl_func *func)
{
    return (mx_tpl_symbols){.outer = outer, .func = func, .i_func = outer ? outer->i_func + 1 : 0};
}

/* The loads of a finished scope. */
static mx_status finish_scope(mx_tpl_resolver *r, const mx_tpl_symbols *s, mx_tpl_scope *out)
{
    out->loads = mx_arena_array(r->tree->arena, mx_tpl_load, s->n);
    if (!out->loads) {
        return mx_tpl_scope_no_memory(r);
    }
    for (int32_t i = 0; i < s->n; i++) {
        out->loads[i] = (mx_tpl_load){s->items[i].how, s->items[i].slot, s->items[i].from, s->items[i].name};
    }
    out->n_loads = s->n;
    return MX_OK;
}

/* Goes through a body that is a scope of its own: not soft, not of the top level, with or without a loop around. */
static mx_status resolve_inner(mx_tpl_resolver *r, mx_tpl_symbols *s, const mx_tpl_nodes *body, bool in_loop)
{
    const mx_tpl_resolver saved = *r;
    r->is_soft = false;
    r->is_top = false;
    r->in_loop = in_loop;
    const mx_status st = resolve_all(r, s, body);
    r->is_soft = saved.is_soft;
    r->is_top = saved.is_top;
    r->in_loop = saved.in_loop;
    return st;
}

static mx_status resolve_hard(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_tpl_node *node)
{
    const bool was_soft = r->is_soft;
    r->is_soft = false;
    const mx_status st = resolve(r, s, node);
    r->is_soft = was_soft;
    return st;
}

static mx_status resolve_name(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_tpl_node *node)
{
    bool found = false;
    if (node->as.name.name.len == 0) {
        return MX_OK; /* the text that a block captures: its slot is set */
    }
    MX_TRY(mx_tpl_scope_find(r, s, node->as.name.name, &node->as.name.ref, &found));
    return found ? MX_OK
                 : mx_tpl_scope_fail(r, node->line, "'%.*s' cannot be used in the filter of a {%% set %%} block",
                                     MX_STR_ARG(node->as.name.name));
}

static mx_status resolve_target(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_tpl_node *target)
{
    if (target->kind == MX_TPL_NODE_TUPLE) {
        for (int32_t i = 0; i < target->as.items.n; i++) {
            MX_TRY(resolve_target(r, s, target->as.items.items[i]));
        }
        return MX_OK;
    }
    if (target->kind == MX_TPL_NODE_NAME && r->n_loops && mx_str_eq_cstr(target->as.name.name, "loop")) {
        return mx_tpl_scope_fail(r, target->line, "can't assign to the special variable 'loop' in a for loop");
    }
    return resolve_name(r, s, target);
}

/* A copy of a target, for the test of a loop, which has variables of its own. */
static mx_status copy_target(mx_tpl_resolver *r, const mx_tpl_node *target, mx_tpl_node **out)
{
    *out = mx_arena_new(r->tree->arena, mx_tpl_node);
    if (!*out) {
        return mx_tpl_scope_no_memory(r);
    }
    **out = *target;
    if (target->kind != MX_TPL_NODE_TUPLE) {
        return MX_OK;
    }
    (*out)->as.items.items = mx_arena_array(r->tree->arena, mx_tpl_node *, target->as.items.n);
    if (!(*out)->as.items.items) {
        return mx_tpl_scope_no_memory(r);
    }
    for (int32_t i = 0; i < target->as.items.n; i++) {
        MX_TRY(copy_target(r, target->as.items.items[i], &(*out)->as.items.items[i]));
    }
    return MX_OK;
}

static mx_status resolve_loop_test(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_tpl_for *loop)
{
    mx_tpl_symbols test = inner_symbols(s);
    MX_TRY(mx_tpl_scope_gather_target(r, &test, loop->target, true));
    MX_TRY(mx_tpl_scope_gather(r, &test, loop->test));
    MX_TRY(copy_target(r, loop->target, &loop->test_target));
    MX_TRY(resolve_target(r, &test, loop->test_target));
    MX_TRY(resolve_hard(r, &test, loop->test));
    return finish_scope(r, &test, &loop->test_scope);
}

/* The loop itself, in the function that runs it. */
static mx_status resolve_loop(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_tpl_for *loop, bool is_recursive)
{
    static const char *const special[] = {"loop"};
    bool uses_loop = false;
    mx_tpl_symbols body = inner_symbols(s);
    mx_tpl_symbols otherwise = inner_symbols(s);
    mx_tpl_find_uses(&loop->body, special, 1, &uses_loop);
    loop->loop_slot = -1;
    if (is_recursive || uses_loop || mx_tpl_has_scoped_block(&loop->body)) {
        MX_TRY(mx_tpl_scope_declare(r, &body, MX_STR("loop"), &loop->loop_slot));
    }
    MX_TRY(mx_tpl_scope_gather_target(r, &body, loop->target, true));
    MX_TRY(mx_tpl_scope_gather_all(r, &body, &loop->body));
    MX_TRY(mx_tpl_scope_gather_all(r, &otherwise, &loop->otherwise));
    if (loop->test) {
        MX_TRY(resolve_loop_test(r, s, loop));
    }
    MX_TRY(resolve_target(r, &body, loop->target));
    MX_TRY(resolve_inner(r, &body, &loop->body, true));
    MX_TRY(resolve_inner(r, &otherwise, &loop->otherwise, r->in_loop && !is_recursive));
    MX_TRY(finish_scope(r, &body, &loop->scope));
    return finish_scope(r, &otherwise, &loop->else_scope);
}

static mx_status resolve_for(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_tpl_node *node)
{
    mx_tpl_for *loop = node->as.loop;
    r->n_loops++;
    MX_TRY(resolve(r, s, loop->iter));
    if (node->flag) {
        loop->func = mx_arena_new(r->tree->arena, mx_tpl_func);
        if (!loop->func) {
            return mx_tpl_scope_no_memory(r);
        }
        mx_tpl_symbols inside = func_symbols(s, loop->func);
        MX_TRY(resolve_loop(r, &inside, loop, true));
    } else {
        MX_TRY(resolve_loop(r, s, loop, false));
    }
    r->n_loops--;
    return MX_OK;
}

static bool has_arg(const mx_tpl_func *func, const char *name, int32_t *place)
{
    for (int32_t i = 0; i < func->args.n; i++) {
        if (mx_str_eq_cstr(func->args.items[i]->as.name.name, name)) {
            *place = i;
            return true;
        }
    }
    return false;
}

/* caller, kwargs and varargs are arguments of a macro that reads them. */
static mx_status declare_specials(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_tpl_func *func)
{
    static const char *const specials[] = {"caller", "kwargs", "varargs"};
    int32_t *const slots[] = {&func->caller_slot, &func->kwargs_slot, &func->varargs_slot};
    bool used[MX_COUNTOF(specials)] = {false};
    mx_tpl_find_uses(&func->body, specials, MX_COUNTOF(specials), used);
    for (size_t i = 0; i < MX_COUNTOF(specials); i++) {
        int32_t place = 0;
        const bool is_arg = has_arg(func, specials[i], &place);
        if (i == 0 && used[i] && is_arg && place < func->args.n - func->defaults.n) {
            return mx_tpl_scope_fail(r, func->line,
                                     "the special 'caller' argument must be omitted or be given a default");
        }
        if (used[i] && !is_arg) {
            MX_TRY(mx_tpl_scope_declare(r, s, mx_str_from(specials[i]), slots[i]));
        }
        func->explicit_caller = func->explicit_caller || (i == 0 && is_arg);
    }
    return MX_OK;
}

static mx_status resolve_func(mx_tpl_resolver *r, mx_tpl_symbols *outer, mx_tpl_func *func)
{
    mx_tpl_symbols s = func_symbols(outer, func);
    func->arg_slots = mx_arena_array(r->tree->arena, int32_t, func->args.n);
    if (!func->arg_slots) {
        return mx_tpl_scope_no_memory(r);
    }
    for (int32_t i = 0; i < func->args.n; i++) {
        MX_TRY(mx_tpl_scope_declare(r, &s, func->args.items[i]->as.name.name, &func->arg_slots[i]));
    }
    MX_TRY(mx_tpl_scope_gather_all(r, &s, &func->defaults));
    MX_TRY(mx_tpl_scope_gather_all(r, &s, &func->body));
    MX_TRY(declare_specials(r, &s, func));
    MX_TRY(resolve_inner(r, &s, &func->defaults, false));
    MX_TRY(resolve_inner(r, &s, &func->body, false));
    return finish_scope(r, &s, &func->scope);
}

/* What a scoped block sees: everything that the scopes around it have set. */
static mx_status share_with_block(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_tpl_func *func)
{
    int32_t n = 0;
    for (const mx_tpl_symbols *at = s; at; at = at->outer) {
        n += at->n;
    }
    func->shared.loads = mx_arena_array(r->tree->arena, mx_tpl_load, n);
    if (!func->shared.loads) {
        return mx_tpl_scope_no_memory(r);
    }
    for (const mx_tpl_symbols *at = s; at; at = at->outer) {
        for (int32_t i = 0; i < at->n; i++) {
            bool found = false;
            mx_tpl_load load = {.how = MX_TPL_LOAD_ALIAS, .name = at->items[i].name};
            MX_TRY(mx_tpl_scope_find(r, s, load.name, &load.from, &found));
            if (at->items[i].is_stored) {
                func->shared.loads[func->shared.n_loads++] = load;
            }
        }
    }
    return MX_OK;
}

static mx_status resolve_block(mx_tpl_resolver *r, mx_tpl_symbols *outer, mx_tpl_node *node)
{
    static const char *const specials[] = {"self", "super"};
    bool used[2] = {false, false};
    mx_tpl_func *func = node->as.macro.func;
    mx_tpl_symbols s = func_symbols(NULL, func);
    int32_t ignored = 0;
    if (node->flag) {
        MX_TRY(share_with_block(r, outer, func));
    }
    mx_tpl_find_uses(&func->body, specials, 2, used);
    func->self_slot = -1;
    if (used[0]) {
        MX_TRY(mx_tpl_scope_declare(r, &s, MX_STR("self"), &func->self_slot));
    }
    if (used[1]) {
        MX_TRY(mx_tpl_scope_declare(r, &s, MX_STR("super"), &ignored));
    }
    MX_TRY(mx_tpl_scope_gather_all(r, &s, &func->body));
    MX_TRY(resolve_inner(r, &s, &func->body, false));
    return finish_scope(r, &s, &func->scope);
}

static mx_status resolve_set_block(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_tpl_node *node)
{
    mx_tpl_symbols inside = inner_symbols(s);
    MX_TRY(mx_tpl_scope_gather_all(r, &inside, &node->as.set.body));
    node->as.set.captured->as.name.ref.slot = s->func->n_slots++;
    MX_TRY(resolve_inner(r, &inside, &node->as.set.body, r->in_loop));
    if (node->as.set.value) {
        MX_TRY(resolve_hard(r, &inside, node->as.set.value));
    }
    MX_TRY(finish_scope(r, &inside, &node->as.set.scope));
    return resolve_target(r, s, node->as.set.target);
}

static mx_status resolve_filter_block(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_tpl_node *node)
{
    mx_tpl_symbols inside = inner_symbols(s);
    MX_TRY(mx_tpl_scope_gather_all(r, &inside, &node->as.block.body));
    MX_TRY(mx_tpl_scope_gather(r, &inside, node->as.block.expr));
    node->as.block.captured->as.name.ref.slot = s->func->n_slots++;
    MX_TRY(resolve_inner(r, &inside, &node->as.block.body, r->in_loop));
    MX_TRY(resolve_hard(r, &inside, node->as.block.expr));
    return finish_scope(r, &inside, &node->as.block.scope);
}

static mx_status resolve_with(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_tpl_node *node)
{
    mx_tpl_symbols inside = inner_symbols(s);
    for (int32_t i = 0; i < node->as.block.targets.n; i++) {
        MX_TRY(mx_tpl_scope_gather_target(r, &inside, node->as.block.targets.items[i], true));
    }
    MX_TRY(mx_tpl_scope_gather_all(r, &inside, &node->as.block.body));
    MX_TRY(resolve_all(r, s, &node->as.block.values));
    for (int32_t i = 0; i < node->as.block.targets.n; i++) {
        const int32_t n_loops = r->n_loops;
        r->n_loops = 0; /* here `loop` may be a target */
        MX_TRY(resolve_target(r, &inside, node->as.block.targets.items[i]));
        r->n_loops = n_loops;
    }
    MX_TRY(resolve_inner(r, &inside, &node->as.block.body, r->in_loop));
    return finish_scope(r, &inside, &node->as.block.scope);
}

static mx_status resolve_autoescape(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_tpl_node *node)
{
    mx_tpl_symbols inside = inner_symbols(s);
    MX_TRY(mx_tpl_scope_gather(r, &inside, node->as.block.expr));
    MX_TRY(mx_tpl_scope_gather_all(r, &inside, &node->as.block.body));
    MX_TRY(resolve_hard(r, &inside, node->as.block.expr));
    MX_TRY(resolve_inner(r, &inside, &node->as.block.body, r->in_loop));
    return finish_scope(r, &inside, &node->as.block.scope);
}

static mx_status resolve_if(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_tpl_node *node)
{
    const bool was_soft = r->is_soft;
    r->is_soft = true;
    MX_TRY(resolve(r, s, node->as.cond.test));
    MX_TRY(resolve_all(r, s, &node->as.cond.body));
    MX_TRY(resolve_all(r, s, &node->as.cond.elifs));
    MX_TRY(resolve_all(r, s, &node->as.cond.otherwise));
    r->is_soft = was_soft;
    return MX_OK;
}

static mx_status resolve_cond(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_tpl_node *node)
{
    const bool was_soft = r->is_soft;
    r->is_soft = true;
    MX_TRY(resolve(r, s, node->as.expr.a));
    MX_TRY(resolve(r, s, node->as.expr.b));
    MX_TRY(node->as.expr.c ? resolve(r, s, node->as.expr.c) : MX_OK);
    r->is_soft = was_soft;
    return MX_OK;
}

static mx_status resolve_use(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_tpl_node *node)
{
    MX_TRY(resolve(r, s, node->as.use.of));
    const bool is_filter = node->kind == MX_TPL_NODE_FILTER;
    if (is_filter || node->kind == MX_TPL_NODE_TEST) {
        node->as.use.what = is_filter ? mx_tpl_find_filter(node->as.use.name) : mx_tpl_find_test(node->as.use.name);
        if (!node->as.use.what && !r->is_soft) {
            return mx_tpl_scope_fail(r, node->line, "no %s named '%.*s'", is_filter ? "filter" : "test",
                                     MX_STR_ARG(node->as.use.name));
        }
    }
    const mx_tpl_call_args *args = node->as.use.args;
    if (!args) {
        return MX_OK;
    }
    MX_TRY(resolve_all(r, s, &args->pos));
    MX_TRY(resolve_all(r, s, &args->named));
    MX_TRY(args->star ? resolve(r, s, args->star) : MX_OK);
    return args->star_star ? resolve(r, s, args->star_star) : MX_OK;
}

static mx_status resolve_expr(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_tpl_node *node)
{
    mx_tpl_node *const parts[] = {node->as.expr.a, node->as.expr.b, node->as.expr.c};
    for (size_t i = 0; i < MX_COUNTOF(parts); i++) {
        MX_TRY(parts[i] ? resolve(r, s, parts[i]) : MX_OK);
    }
    return MX_OK;
}

static mx_status resolve_output(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_tpl_node *node)
{
    MX_TRY(resolve_all(r, s, &node->as.items));
    for (int32_t i = 0; i < node->as.items.n; i++) {
        mx_tpl_mark_constant(node->as.items.items[i], true);
    }
    return MX_OK;
}

static mx_status resolve_macro(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_tpl_node *node)
{
    bool found = false;
    MX_TRY(resolve_func(r, s, node->as.macro.func));
    node->flag = r->is_top;
    return mx_tpl_scope_find(r, s, node->as.macro.func->name, &node->as.macro.ref, &found);
}

static mx_status resolve_node(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_tpl_node *node)
{
    switch ((mx_tpl_node_kind)node->kind) {
    case MX_TPL_NODE_CONST:
    case MX_TPL_NODE_DATA:
    case MX_TPL_NODE_COUNT: return MX_OK;
    case MX_TPL_NODE_BREAK:
    case MX_TPL_NODE_CONTINUE:
        return r->in_loop ? MX_OK : mx_tpl_scope_fail(r, node->line, "%s outside of a loop", mx_tpl_node_text(node));
    case MX_TPL_NODE_NAME:
    case MX_TPL_NODE_NSREF: return resolve_name(r, s, node);
    case MX_TPL_NODE_TUPLE:
    case MX_TPL_NODE_LIST:
    case MX_TPL_NODE_DICT:
    case MX_TPL_NODE_CONCAT: return resolve_all(r, s, &node->as.items);
    case MX_TPL_NODE_OUTPUT: return resolve_output(r, s, node);
    case MX_TPL_NODE_UNARY:
    case MX_TPL_NODE_BINARY:
    case MX_TPL_NODE_AND:
    case MX_TPL_NODE_OR:
    case MX_TPL_NODE_NOT:
    case MX_TPL_NODE_GETITEM:
    case MX_TPL_NODE_SLICE: return resolve_expr(r, s, node);
    case MX_TPL_NODE_COND: return resolve_cond(r, s, node);
    case MX_TPL_NODE_COMPARE:
        MX_TRY(resolve(r, s, node->as.compare.first));
        return resolve_all(r, s, &node->as.compare.rest);
    case MX_TPL_NODE_OTHER:
    case MX_TPL_NODE_GETATTR:
    case MX_TPL_NODE_CALL:
    case MX_TPL_NODE_FILTER:
    case MX_TPL_NODE_TEST: return resolve_use(r, s, node);
    case MX_TPL_NODE_IF: return resolve_if(r, s, node);
    case MX_TPL_NODE_FOR: return resolve_for(r, s, node);
    case MX_TPL_NODE_SET:
        node->flag = r->is_top;
        MX_TRY(resolve(r, s, node->as.set.value));
        return resolve_target(r, s, node->as.set.target);
    case MX_TPL_NODE_SET_BLOCK: node->flag = r->is_top; return resolve_set_block(r, s, node);
    case MX_TPL_NODE_MACRO: return resolve_macro(r, s, node);
    case MX_TPL_NODE_CALL_BLOCK:
        MX_TRY(resolve_func(r, s, node->as.macro.func));
        return resolve(r, s, node->as.macro.call);
    case MX_TPL_NODE_GENERATION: return resolve_func(r, s, node->as.macro.func);
    case MX_TPL_NODE_FILTER_BLOCK: return resolve_filter_block(r, s, node);
    case MX_TPL_NODE_WITH: return resolve_with(r, s, node);
    case MX_TPL_NODE_AUTOESCAPE: return resolve_autoescape(r, s, node);
    case MX_TPL_NODE_BLOCK: return resolve_block(r, s, node);
    }
    return MX_OK;
}

static mx_status resolve(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_tpl_node *node)
{
    MX_TRY(resolve_node(r, s, node));
    mx_tpl_mark_constant(node, false);
    return MX_OK;
}

mx_status mx_tpl_resolve(mx_tpl_tree *tree, mx_error *err)
{
    static const char *const specials[] = {"self"};
    bool uses_self = false;
    mx_tpl_resolver r = {.tree = tree, .err = err, .is_top = true};
    mx_tpl_symbols root = func_symbols(NULL, &tree->root);
    mx_tpl_find_uses(&tree->root.body, specials, 1, &uses_self);
    tree->root.self_slot = -1;
    if (uses_self) {
        MX_TRY(mx_tpl_scope_declare(&r, &root, MX_STR("self"), &tree->root.self_slot));
    }
    MX_TRY(mx_tpl_scope_gather_all(&r, &root, &tree->root.body));
    MX_TRY(resolve_all(&r, &root, &tree->root.body));
    return finish_scope(&r, &root, &tree->root.scope);
}
