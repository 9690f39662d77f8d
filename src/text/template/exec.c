/* exec.c - tags. A body runs node by node; `flow` tells whether a break or continue is on its way out. */
#include "text/template/run.h"

typedef mx_status (*exec_fn)(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_flow *flow);

static mx_tpl_value *slot_of(mx_tpl_run *run, mx_tpl_ref ref)
{
    mx_tpl_frame *frame = run->frame;
    for (int32_t i = 0; i < ref.hops; i++) {
        frame = frame->outer;
    }
    return &frame->slots[ref.slot];
}

static mx_status load_from_context(mx_tpl_run *run, mx_str name, mx_tpl_value *out)
{
    if (run->exports && mx_tpl_dict_find_str(run->exports, name, out)) {
        return MX_OK;
    }
    if (mx_tpl_dict_find_str(run->context, name, out)) {
        return MX_OK;
    }
    const mx_tpl_filter *function = mx_tpl_find_global(name);
    *out = function ? (mx_tpl_value){.kind = MX_TPL_FUNCTION, .as.function = function}
                    : (mx_tpl_value){.kind = MX_TPL_MISSING};
    return MX_OK;
}

mx_status mx_tpl_scope_enter(mx_tpl_run *run, const mx_tpl_scope *scope)
{
    MX_TRY(mx_tpl_steps(run, scope->n_loads / 16)); /* a body of many names is entered often */
    for (int32_t i = 0; i < scope->n_loads; i++) {
        const mx_tpl_load *load = &scope->loads[i];
        mx_tpl_value *slot = &run->frame->slots[load->slot];
        switch (load->how) {
        case MX_TPL_LOAD_PARAM: break;
        case MX_TPL_LOAD_CONTEXT: MX_TRY(load_from_context(run, load->name, slot)); break;
        case MX_TPL_LOAD_ALIAS: *slot = *slot_of(run, load->from); break;
        case MX_TPL_LOAD_MISSING: *slot = (mx_tpl_value){.kind = MX_TPL_MISSING}; break;
        }
    }
    return MX_OK;
}

/* Variables end with their scope: a macro that was made in it and is called later finds them undefined. */
void mx_tpl_scope_leave(mx_tpl_run *run, const mx_tpl_scope *scope)
{
    for (int32_t i = 0; i < scope->n_loads; i++) {
        run->frame->slots[scope->loads[i].slot] = (mx_tpl_value){.kind = MX_TPL_MISSING};
    }
}

static mx_status assign_name(mx_tpl_run *run, const mx_tpl_node *target, mx_tpl_value value)
{
    mx_tpl_value *slot = slot_of(run, target->as.name.ref);
    if (target->kind == MX_TPL_NODE_NAME) {
        *slot = value;
        return MX_OK;
    }
    if (slot->kind != MX_TPL_NAMESPACE) {
        return mx_tpl_fail_type(run, "cannot assign attribute '%.*s' on '%.*s', which is no namespace",
                                MX_STR_ARG(target->as.name.attr), MX_STR_ARG(target->as.name.name));
    }
    return mx_tpl_dict_set(run, slot->as.dict, mx_tpl_str(target->as.name.attr), value);
}

mx_status mx_tpl_assign(mx_tpl_run *run, const mx_tpl_node *target, mx_tpl_value value)
{
    if (target->kind != MX_TPL_NODE_TUPLE) {
        return assign_name(run, target, value);
    }
    const size_t n = (size_t)target->as.items.n;
    mx_tpl_value *items = NULL;
    MX_TRY(mx_tpl_alloc(run, n, sizeof *items, &items));
    MX_TRY(mx_tpl_unpack(run, value, n, items));
    for (size_t i = 0; i < n; i++) {
        MX_TRY(mx_tpl_assign(run, target->as.items.items[i], items[i]));
    }
    return MX_OK;
}

/* What the top level sets is seen by blocks. */
static mx_status export(mx_tpl_run *run, const mx_tpl_node *target)
{
    if (!run->exports) {
        return MX_OK;
    }
    if (target->kind == MX_TPL_NODE_TUPLE) {
        for (int32_t i = 0; i < target->as.items.n; i++) {
            MX_TRY(export(run, target->as.items.items[i]));
        }
        return MX_OK;
    }
    if (target->kind != MX_TPL_NODE_NAME) {
        return MX_OK;
    }
    return mx_tpl_dict_set(run, run->exports, mx_tpl_str(target->as.name.name), *slot_of(run, target->as.name.ref));
}

static mx_status exec_data(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_flow *flow)
{
    (void)flow;
    return mx_tpl_put(run, mx_tpl_view(node->as.value));
}

static mx_status exec_output(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_flow *flow)
{
    (void)flow;
    for (int32_t i = 0; i < node->as.items.n; i++) {
        mx_tpl_value value;
        MX_TRY(mx_tpl_eval(run, node->as.items.items[i], &value));
        MX_TRY(run->autoescape ? mx_tpl_put_escaped_value(run, value) : mx_tpl_put_str(run, value));
    }
    return MX_OK;
}

static mx_status exec_if(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_flow *flow)
{
    mx_tpl_value test;
    MX_TRY(mx_tpl_eval(run, node->as.cond.test, &test));
    if (mx_tpl_truth(run, test)) {
        return mx_tpl_exec(run, &node->as.cond.body, flow);
    }
    for (int32_t i = 0; i < node->as.cond.elifs.n; i++) {
        const mx_tpl_node *elif = node->as.cond.elifs.items[i];
        MX_TRY(mx_tpl_eval(run, elif->as.cond.test, &test));
        if (mx_tpl_truth(run, test)) {
            return mx_tpl_exec(run, &elif->as.cond.body, flow);
        }
    }
    return mx_tpl_exec(run, &node->as.cond.otherwise, flow);
}

/* Python looks whether ns is a namespace before it evaluates what ns.a is set to. */
static mx_status check_namespaces(mx_tpl_run *run, const mx_tpl_node *target)
{
    if (target->kind == MX_TPL_NODE_TUPLE) {
        for (int32_t i = 0; i < target->as.items.n; i++) {
            MX_TRY(check_namespaces(run, target->as.items.items[i]));
        }
    } else if (target->kind == MX_TPL_NODE_NSREF && slot_of(run, target->as.name.ref)->kind != MX_TPL_NAMESPACE) {
        return mx_tpl_fail_type(run, "cannot assign attribute '%.*s' on '%.*s', which is no namespace",
                                MX_STR_ARG(target->as.name.attr), MX_STR_ARG(target->as.name.name));
    }
    return MX_OK;
}

static mx_status exec_set(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_flow *flow)
{
    (void)flow;
    mx_tpl_value value;
    MX_TRY(check_namespaces(run, node->as.set.target));
    MX_TRY(mx_tpl_eval(run, node->as.set.value, &value));
    MX_TRY(mx_tpl_assign(run, node->as.set.target, value));
    return node->flag ? export(run, node->as.set.target) : MX_OK;
}

/* Runs a body whose text is captured; nothing is left of it when a break or continue leaves it. */
static mx_status capture(mx_tpl_run *run, const mx_tpl_nodes *body, mx_tpl_value *text, mx_tpl_flow *flow)
{
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_exec(run, body, flow));
    if (*flow != MX_TPL_GO_ON) {
        run->text.len = mark;
        return MX_OK;
    }
    return mx_tpl_take(run, mark, run->autoescape ? MX_TPL_MARKUP : 0, text);
}

static mx_status exec_set_block(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_flow *flow)
{
    mx_tpl_value text;
    MX_TRY(mx_tpl_scope_enter(run, &node->as.set.scope));
    MX_TRY(capture(run, &node->as.set.body, &text, flow));
    if (*flow != MX_TPL_GO_ON) {
        return MX_OK;
    }
    if (node->as.set.value) {
        *slot_of(run, node->as.set.captured->as.name.ref) = text;
        MX_TRY(mx_tpl_eval(run, node->as.set.value, &text));
        if (run->autoescape) {
            MX_TRY(mx_tpl_to_soft_str(run, text, &text));
            text.flags |= MX_TPL_MARKUP;
        }
    }
    MX_TRY(mx_tpl_assign(run, node->as.set.target, text));
    mx_tpl_scope_leave(run, &node->as.set.scope);
    return node->flag ? export(run, node->as.set.target) : MX_OK;
}

/* The result of a filter block or a call: not made a string and not escaped, so it must be one. */
static mx_status put_result(mx_tpl_run *run, mx_tpl_value text)
{
    if (!mx_tpl_is_str(text)) {
        return mx_tpl_fail_type(run, "expected str instance, %s found", mx_tpl_type_name(text));
    }
    return mx_tpl_put(run, mx_tpl_view(text));
}

static mx_status exec_filter_block(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_flow *flow)
{
    mx_tpl_value text;
    MX_TRY(mx_tpl_scope_enter(run, &node->as.block.scope));
    MX_TRY(capture(run, &node->as.block.body, &text, flow));
    if (*flow != MX_TPL_GO_ON) {
        return MX_OK;
    }
    *slot_of(run, node->as.block.captured->as.name.ref) = text;
    MX_TRY(mx_tpl_eval(run, node->as.block.expr, &text));
    MX_TRY(put_result(run, text));
    mx_tpl_scope_leave(run, &node->as.block.scope);
    return MX_OK;
}

static mx_status exec_with(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_flow *flow)
{
    MX_TRY(mx_tpl_scope_enter(run, &node->as.block.scope));
    for (int32_t i = 0; i < node->as.block.targets.n; i++) {
        mx_tpl_value value;
        MX_TRY(mx_tpl_eval(run, node->as.block.values.items[i], &value));
        MX_TRY(mx_tpl_assign(run, node->as.block.targets.items[i], value));
    }
    MX_TRY(mx_tpl_exec(run, &node->as.block.body, flow));
    mx_tpl_scope_leave(run, &node->as.block.scope);
    return MX_OK;
}

static mx_status exec_autoescape(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_flow *flow)
{
    mx_tpl_value is_on;
    const bool was_on = run->autoescape;
    MX_TRY(mx_tpl_scope_enter(run, &node->as.block.scope));
    MX_TRY(mx_tpl_eval(run, node->as.block.expr, &is_on));
    run->autoescape = mx_tpl_truth(run, is_on);
    MX_TRY(mx_tpl_exec(run, &node->as.block.body, flow));
    run->autoescape = was_on;
    mx_tpl_scope_leave(run, &node->as.block.scope);
    return MX_OK;
}

static mx_status exec_macro(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_flow *flow)
{
    (void)flow;
    mx_tpl_value *slot = slot_of(run, node->as.macro.ref);
    MX_TRY(mx_tpl_new_macro(run, node->as.macro.func, slot));
    if (!node->flag || !run->exports) {
        return MX_OK;
    }
    return mx_tpl_dict_set(run, run->exports, mx_tpl_str(node->as.macro.func->name), *slot);
}

/* The arguments of a call and, behind them, caller. */
static mx_status with_caller(mx_tpl_run *run, const mx_tpl_args *args, mx_tpl_value caller, mx_tpl_args *out)
{
    mx_str *names = NULL;
    mx_tpl_value *named = NULL;
    MX_TRY(mx_tpl_alloc(run, args->n_named + 1, sizeof *names, &names));
    MX_TRY(mx_tpl_alloc(run, args->n_named + 1, sizeof *named, &named));
    for (size_t i = 0; i < args->n_named; i++) {
        if (mx_str_eq_cstr(args->names[i], "caller")) {
            return mx_tpl_fail_type(run, "got multiple values for keyword argument 'caller'");
        }
        names[i] = args->names[i];
        named[i] = args->named[i];
    }
    names[args->n_named] = MX_STR("caller");
    named[args->n_named] = caller;
    *out = (mx_tpl_args){args->pos, args->n_pos, names, named, args->n_named + 1};
    return MX_OK;
}

static mx_status exec_call_block(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_flow *flow)
{
    (void)flow;
    mx_tpl_value caller;
    mx_tpl_value callee;
    mx_tpl_value text;
    mx_tpl_args args;
    const mx_tpl_node *call = node->as.macro.call;
    MX_TRY(mx_tpl_new_macro(run, node->as.macro.func, &caller));
    MX_TRY(mx_tpl_eval(run, call->as.use.of, &callee));
    MX_TRY(mx_tpl_eval_args(run, call->as.use.args, &args));
    MX_TRY(with_caller(run, &args, caller, &args));
    run->line = node->line;
    MX_TRY(mx_tpl_call(run, callee, &args, &text));
    return put_result(run, text);
}

static mx_status exec_generation(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_flow *flow)
{
    (void)flow;
    static const mx_tpl_args none = {0};
    mx_tpl_value body;
    mx_tpl_value text;
    MX_TRY(mx_tpl_new_macro(run, node->as.macro.func, &body));
    MX_TRY(mx_tpl_call_macro(run, body.as.macro, &none, &text));
    return mx_tpl_put(run, mx_tpl_view(text));
}

static mx_status exec_block(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_flow *flow)
{
    (void)flow;
    const mx_tpl_func *func = node->as.macro.func;
    if (node->op) {
        return mx_tpl_fail_type(run, "required block '%.*s' not found", MX_STR_ARG(func->name));
    }
    if (!node->flag) {
        return mx_tpl_call_block(run, func);
    }
    mx_tpl_dict *outer = run->exports;
    mx_tpl_value seen;
    MX_TRY(mx_tpl_new_dict(run, outer->n, &seen));
    for (size_t i = 0; i < outer->n; i++) {
        MX_TRY(mx_tpl_dict_set(run, seen.as.dict, outer->entries[i].key, outer->entries[i].value));
    }
    for (int32_t i = 0; i < func->shared.n_loads; i++) {
        const mx_tpl_value value = *slot_of(run, func->shared.loads[i].from);
        if (value.kind != MX_TPL_MISSING) {
            MX_TRY(mx_tpl_dict_set(run, seen.as.dict, mx_tpl_str(func->shared.loads[i].name), value));
        }
    }
    run->exports = seen.as.dict;
    MX_TRY(mx_tpl_call_block(run, func));
    run->exports = outer;
    return MX_OK;
}

static mx_status exec_break(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_flow *flow)
{
    (void)run;
    *flow = node->kind == MX_TPL_NODE_BREAK ? MX_TPL_BREAK : MX_TPL_CONTINUE;
    return MX_OK;
}

static mx_status exec_other(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_flow *flow)
{
    (void)flow;
    return mx_tpl_fail_type(run, "'%.*s' needs other templates, and a chat template has none",
                            MX_STR_ARG(node->as.use.name));
}

static const exec_fn execs[MX_TPL_NODE_COUNT] = {
    [MX_TPL_NODE_OUTPUT] = exec_output,
    [MX_TPL_NODE_DATA] = exec_data,
    [MX_TPL_NODE_IF] = exec_if,
    [MX_TPL_NODE_FOR] = mx_tpl_exec_for,
    [MX_TPL_NODE_SET] = exec_set,
    [MX_TPL_NODE_SET_BLOCK] = exec_set_block,
    [MX_TPL_NODE_MACRO] = exec_macro,
    [MX_TPL_NODE_CALL_BLOCK] = exec_call_block,
    [MX_TPL_NODE_GENERATION] = exec_generation,
    [MX_TPL_NODE_FILTER_BLOCK] = exec_filter_block,
    [MX_TPL_NODE_WITH] = exec_with,
    [MX_TPL_NODE_AUTOESCAPE] = exec_autoescape,
    [MX_TPL_NODE_BLOCK] = exec_block,
    [MX_TPL_NODE_BREAK] = exec_break,
    [MX_TPL_NODE_CONTINUE] = exec_break,
    [MX_TPL_NODE_OTHER] = exec_other,
};

mx_status mx_tpl_exec(mx_tpl_run *run, const mx_tpl_nodes *body, mx_tpl_flow *flow)
{
    MX_TRY(mx_tpl_enter(run));
    for (int32_t i = 0; i < body->n && *flow == MX_TPL_GO_ON; i++) {
        MX_TRY(mx_tpl_steps(run, 1));
        run->line = body->items[i]->line;
        MX_TRY(execs[body->items[i]->kind](run, body->items[i], flow));
    }
    run->depth--;
    return MX_OK;
}
