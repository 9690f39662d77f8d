/* scope.c - gives every name of a template its place, once, after parsing.
 *
 * jinja2 compiles a template to Python functions whose local variables are decided by such a pass, and what templates
 * can observe of scoping (a `set` in a loop is forgotten at the next turn, but one in an `if` is not; a name that is
 * set anywhere in a body does not come from the context there) follows from it. This is that pass: first all names of a
 * scope are gathered without entering the scopes within it, then each inner scope is handled with the outer's result.
 */
#include "text/template/scope.h"

#include <stdarg.h>
#include <stdio.h>

/* Comparisons of names; a real template needs some ten thousand. */
#define MAX_WORK 50000000

mx_status mx_tpl_scope_fail(mx_tpl_resolver *r, int32_t line, const char *fmt, ...)
{
    char sentence[320];
    va_list args;
    va_start(args, fmt);
    vsnprintf(sentence, sizeof sentence, fmt, args);
    va_end(args);
    return mx_fail(r->err, MX_FORMAT, "%s: line %d: %s", r->tree->name, (int)line, sentence);
}

mx_status mx_tpl_scope_no_memory(mx_tpl_resolver *r)
{
    return mx_fail(r->err, MX_NO_MEMORY, "%s: out of memory while parsing, or the template is too long", r->tree->name);
}

static mx_status work(mx_tpl_resolver *r, int64_t n)
{
    r->n_compared += n;
    return r->n_compared > MAX_WORK ? mx_tpl_scope_fail(r, 0, "the template has too many names") : MX_OK;
}

static mx_tpl_symbol *find_own(const mx_tpl_symbols *s, mx_str name)
{
    for (int32_t i = 0; i < s->n; i++) {
        if (mx_str_eq(s->items[i].name, name)) {
            return &s->items[i];
        }
    }
    return NULL;
}

mx_status mx_tpl_scope_find(mx_tpl_resolver *r, const mx_tpl_symbols *s, mx_str name, mx_tpl_ref *out, bool *found)
{
    const int32_t i_func = s->i_func;
    for (; s; s = s->outer) {
        MX_TRY(work(r, s->n + 1));
        const mx_tpl_symbol *symbol = find_own(s, name);
        if (symbol) {
            *out = (mx_tpl_ref){i_func - s->i_func, symbol->slot};
            *found = true;
            return MX_OK;
        }
    }
    *found = false;
    return MX_OK;
}

static mx_status grow(mx_tpl_resolver *r, mx_tpl_symbols *s, int32_t n_needed)
{
    if (n_needed <= s->cap) {
        return MX_OK;
    }
    const int32_t cap = MX_MAX(n_needed, s->cap * 2 + 4);
    mx_tpl_symbol *items = mx_arena_array(r->tree->arena, mx_tpl_symbol, cap);
    if (!items) {
        return mx_tpl_scope_no_memory(r);
    }
    if (s->n) {
        memcpy(items, s->items, (size_t)s->n * sizeof *items);
    }
    s->items = items;
    s->cap = cap;
    return MX_OK;
}

static mx_status add(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_tpl_symbol one, mx_tpl_symbol **out)
{
    MX_TRY(grow(r, s, s->n + 1));
    one.slot = s->func->n_slots++;
    s->items[s->n++] = one;
    if (out) {
        *out = &s->items[s->n - 1];
    }
    return MX_OK;
}

static mx_status store(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_str name)
{
    MX_TRY(work(r, s->n + 1));
    mx_tpl_symbol *own = find_own(s, name);
    if (own) {
        own->is_stored = true;
        return MX_OK;
    }
    mx_tpl_symbol one = {.name = name, .how = MX_TPL_LOAD_MISSING, .is_stored = true};
    bool found = false;
    if (s->outer) {
        MX_TRY(mx_tpl_scope_find(r, s->outer, name, &one.from, &found));
        one.from.hops += s->i_func - s->outer->i_func;
    }
    one.how = found ? MX_TPL_LOAD_ALIAS : MX_TPL_LOAD_MISSING;
    return add(r, s, one, NULL);
}

mx_status mx_tpl_scope_declare(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_str name, int32_t *slot)
{
    mx_tpl_symbol *own = find_own(s, name);
    if (!own) {
        MX_TRY(add(r, s, (mx_tpl_symbol){.name = name}, &own));
    }
    own->how = MX_TPL_LOAD_PARAM;
    own->is_stored = true;
    if (slot) {
        *slot = own->slot;
    }
    return MX_OK;
}

static mx_status load(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_str name)
{
    mx_tpl_ref ref;
    bool found = false;
    MX_TRY(mx_tpl_scope_find(r, s, name, &ref, &found));
    return found ? MX_OK : add(r, s, (mx_tpl_symbol){.name = name, .how = MX_TPL_LOAD_CONTEXT}, NULL);
}

/* gathering: what a scope's own nodes load and store */

mx_status mx_tpl_scope_gather_all(mx_tpl_resolver *r, mx_tpl_symbols *s, const mx_tpl_nodes *list)
{
    for (int32_t i = 0; i < list->n; i++) {
        MX_TRY(mx_tpl_scope_gather(r, s, list->items[i]));
    }
    return MX_OK;
}

static mx_status gather_args(mx_tpl_resolver *r, mx_tpl_symbols *s, const mx_tpl_call_args *args)
{
    if (!args) {
        return MX_OK;
    }
    MX_TRY(mx_tpl_scope_gather_all(r, s, &args->pos));
    MX_TRY(mx_tpl_scope_gather_all(r, s, &args->named));
    MX_TRY(mx_tpl_scope_gather(r, s, args->star));
    return mx_tpl_scope_gather(r, s, args->star_star);
}

/* Targets of an assignment: stored, or declared as parameters of the scope. */
mx_status mx_tpl_scope_gather_target(mx_tpl_resolver *r, mx_tpl_symbols *s, const mx_tpl_node *target, bool as_param)
{
    if (target->kind == MX_TPL_NODE_TUPLE) {
        for (int32_t i = 0; i < target->as.items.n; i++) {
            MX_TRY(mx_tpl_scope_gather_target(r, s, target->as.items.items[i], as_param));
        }
        return MX_OK;
    }
    if (target->kind == MX_TPL_NODE_NSREF) {
        return load(r, s, target->as.name.name);
    }
    return as_param ? mx_tpl_scope_declare(r, s, target->as.name.name, NULL) : store(r, s, target->as.name.name);
}

static mx_status copy_symbols(mx_tpl_resolver *r, const mx_tpl_symbols *from, mx_tpl_symbols *to)
{
    *to = *from;
    to->items = NULL;
    to->cap = 0;
    to->n = 0;
    MX_TRY(work(r, from->n));
    MX_TRY(grow(r, to, from->n));
    if (from->n) {
        memcpy(to->items, from->items, (size_t)from->n * sizeof *to->items);
    }
    to->n = from->n;
    return MX_OK;
}

/* What a branch has learned joins the scope; a name that only some branches store comes from outside otherwise. */
static mx_status join_branches(mx_tpl_resolver *r, mx_tpl_symbols *s, const mx_tpl_symbols *branches, int n_branches)
{
    mx_tpl_symbols before;
    MX_TRY(copy_symbols(r, s, &before));
    for (int i = 0; i < n_branches; i++) {
        for (int32_t k = 0; k < branches[i].n; k++) {
            const mx_tpl_symbol *theirs = &branches[i].items[k];
            MX_TRY(work(r, s->n));
            mx_tpl_symbol *ours = find_own(s, theirs->name);
            if (!ours) {
                MX_TRY(grow(r, s, s->n + 1));
                s->items[s->n++] = *theirs;
            } else {
                const int32_t slot = ours->slot;
                const bool is_stored = ours->is_stored;
                *ours = *theirs;
                ours->slot = slot;
                ours->is_stored = ours->is_stored || is_stored;
            }
        }
    }
    for (int32_t i = 0; i < s->n; i++) {
        const mx_tpl_symbol *was = find_own(&before, s->items[i].name);
        if (!s->items[i].is_stored || (was && was->is_stored)) {
            continue;
        }
        bool found = false;
        mx_tpl_ref from = {0, 0};
        if (s->outer) {
            MX_TRY(mx_tpl_scope_find(r, s->outer, s->items[i].name, &from, &found));
            from.hops += s->i_func - s->outer->i_func;
        }
        s->items[i].how = found ? MX_TPL_LOAD_ALIAS : MX_TPL_LOAD_CONTEXT;
        s->items[i].from = from;
    }
    return MX_OK;
}

static mx_status gather_if(mx_tpl_resolver *r, mx_tpl_symbols *s, const mx_tpl_node *node)
{
    mx_tpl_symbols branches[3];
    MX_TRY(mx_tpl_scope_gather(r, s, node->as.cond.test));
    const mx_tpl_nodes *const bodies[3] = {&node->as.cond.body, &node->as.cond.elifs, &node->as.cond.otherwise};
    for (int i = 0; i < 3; i++) {
        MX_TRY(copy_symbols(r, s, &branches[i]));
        MX_TRY(mx_tpl_scope_gather_all(r, &branches[i], bodies[i]));
    }
    return join_branches(r, s, branches, 3);
}

mx_status mx_tpl_scope_gather(mx_tpl_resolver *r, mx_tpl_symbols *s, mx_tpl_node *node)
{
    if (!node) {
        return MX_OK;
    }
    MX_TRY(work(r, 1));
    switch ((mx_tpl_node_kind)node->kind) {
    case MX_TPL_NODE_CONST:
    case MX_TPL_NODE_DATA:
    case MX_TPL_NODE_BREAK:
    case MX_TPL_NODE_CONTINUE:
    case MX_TPL_NODE_BLOCK:
    case MX_TPL_NODE_AUTOESCAPE:
    case MX_TPL_NODE_GENERATION:
    case MX_TPL_NODE_COUNT: return MX_OK;
    case MX_TPL_NODE_NAME:
    case MX_TPL_NODE_NSREF: return node->as.name.name.len ? load(r, s, node->as.name.name) : MX_OK;
    case MX_TPL_NODE_TUPLE:
    case MX_TPL_NODE_LIST:
    case MX_TPL_NODE_DICT:
    case MX_TPL_NODE_CONCAT:
    case MX_TPL_NODE_OUTPUT: return mx_tpl_scope_gather_all(r, s, &node->as.items);
    case MX_TPL_NODE_COND:
        MX_TRY(mx_tpl_scope_gather(r, s, node->as.expr.a));
        MX_TRY(mx_tpl_scope_gather(r, s, node->as.expr.b));
        return mx_tpl_scope_gather(r, s, node->as.expr.c);
    case MX_TPL_NODE_UNARY:
    case MX_TPL_NODE_BINARY:
    case MX_TPL_NODE_AND:
    case MX_TPL_NODE_OR:
    case MX_TPL_NODE_NOT:
    case MX_TPL_NODE_GETITEM:
    case MX_TPL_NODE_SLICE:
        MX_TRY(mx_tpl_scope_gather(r, s, node->as.expr.a));
        MX_TRY(mx_tpl_scope_gather(r, s, node->as.expr.b));
        return node->kind == MX_TPL_NODE_SLICE ? mx_tpl_scope_gather(r, s, node->as.expr.c) : MX_OK;
    case MX_TPL_NODE_COMPARE:
        MX_TRY(mx_tpl_scope_gather(r, s, node->as.compare.first));
        return mx_tpl_scope_gather_all(r, s, &node->as.compare.rest);
    case MX_TPL_NODE_OTHER:
    case MX_TPL_NODE_GETATTR:
    case MX_TPL_NODE_CALL:
    case MX_TPL_NODE_FILTER:
    case MX_TPL_NODE_TEST:
        MX_TRY(mx_tpl_scope_gather(r, s, node->as.use.of));
        return gather_args(r, s, node->as.use.args);
    case MX_TPL_NODE_IF: return gather_if(r, s, node);
    case MX_TPL_NODE_FOR: return mx_tpl_scope_gather(r, s, node->as.loop->iter);
    case MX_TPL_NODE_SET:
        MX_TRY(mx_tpl_scope_gather(r, s, node->as.set.value));
        return mx_tpl_scope_gather_target(r, s, node->as.set.target, false);
    case MX_TPL_NODE_SET_BLOCK: return mx_tpl_scope_gather_target(r, s, node->as.set.target, false);
    case MX_TPL_NODE_MACRO: return store(r, s, node->as.macro.func->name);
    case MX_TPL_NODE_CALL_BLOCK: return mx_tpl_scope_gather(r, s, node->as.macro.call);
    case MX_TPL_NODE_FILTER_BLOCK: return mx_tpl_scope_gather(r, s, node->as.block.expr);
    case MX_TPL_NODE_WITH: return mx_tpl_scope_gather_all(r, s, &node->as.block.values);
    }
    return MX_OK;
}
