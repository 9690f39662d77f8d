/* macro.c - macros, call blocks and blocks: bodies that run in a frame of their own. */
#include "text/template/run.h"

struct mx_tpl_macro {
    const mx_tpl_func *func;
    mx_tpl_frame *outer; /* where it was made; its variables are seen as they are at the call */
};

mx_str mx_tpl_macro_name(const mx_tpl_macro *macro)
{
    return macro->func->name;
}

const mx_tpl_func *mx_tpl_macro_func(const mx_tpl_macro *macro)
{
    return macro->func;
}

mx_status mx_tpl_new_macro(mx_tpl_run *run, const mx_tpl_func *func, mx_tpl_value *out)
{
    mx_tpl_macro *macro = NULL;
    MX_TRY(mx_tpl_alloc(run, 1, sizeof *macro, &macro));
    *macro = (mx_tpl_macro){func, run->frame};
    *out = (mx_tpl_value){.kind = MX_TPL_MACRO, .as.macro = macro};
    return MX_OK;
}

static mx_status new_frame(mx_tpl_run *run, const mx_tpl_func *func, mx_tpl_frame *outer, mx_tpl_frame **out)
{
    MX_TRY(mx_tpl_alloc(run, 1, sizeof **out, out));
    **out = (mx_tpl_frame){.outer = outer, .func = func};
    return mx_tpl_alloc(run, (size_t)func->n_slots, sizeof *(*out)->slots, &(*out)->slots);
}

static mx_status fail_named(mx_tpl_run *run, const mx_tpl_func *func, mx_str name)
{
    return mx_tpl_fail_type(run, "macro '%.*s' takes no keyword argument '%.*s'", MX_STR_ARG(func->name),
                            MX_STR_ARG(name));
}

/* Where a named argument goes: a slot, or -1 for kwargs. Positional arguments come first, and what they fill is taken.
 */
static int32_t slot_of_name(const mx_tpl_func *func, size_t n_pos, mx_str name)
{
    for (int32_t i = (int32_t)MX_MIN(n_pos, (size_t)func->args.n); i < func->args.n; i++) {
        if (mx_str_eq(func->args.items[i]->as.name.name, name)) {
            return func->arg_slots[i];
        }
    }
    return mx_str_eq_cstr(name, "caller") && !func->explicit_caller ? func->caller_slot : -1;
}

static mx_status bind_named(mx_tpl_run *run, const mx_tpl_func *func, const mx_tpl_args *args, mx_tpl_frame *frame)
{
    mx_tpl_value kwargs = mx_tpl_none();
    if (func->kwargs_slot >= 0) {
        MX_TRY(mx_tpl_new_dict(run, args->n_named, &kwargs));
        frame->slots[func->kwargs_slot] = kwargs;
    }
    for (size_t i = 0; i < args->n_named; i++) {
        MX_TRY(mx_tpl_steps(run, 1 + func->args.n / 16));
        const int32_t slot = slot_of_name(func, args->n_pos, args->names[i]);
        if (slot >= 0) {
            frame->slots[slot] = args->named[i];
        } else if (kwargs.kind == MX_TPL_DICT) {
            MX_TRY(mx_tpl_dict_set(run, kwargs.as.dict, mx_tpl_str(args->names[i]), args->named[i]));
        } else {
            return fail_named(run, func, args->names[i]);
        }
    }
    if (func->caller_slot >= 0) {
        mx_tpl_value *caller = &frame->slots[func->caller_slot];
        if (caller->kind == MX_TPL_MISSING || caller->kind == MX_TPL_NONE) {
            MX_TRY(mx_tpl_new_undefined_hint(run, MX_STR("no caller defined"), caller));
        }
    }
    return MX_OK;
}

static mx_status bind_positional(mx_tpl_run *run, const mx_tpl_func *func, const mx_tpl_args *args, mx_tpl_frame *frame)
{
    const size_t n_args = (size_t)func->args.n;
    for (size_t i = 0; i < n_args && i < args->n_pos; i++) {
        frame->slots[func->arg_slots[i]] = args->pos[i];
    }
    const size_t n_more = args->n_pos > n_args ? args->n_pos - n_args : 0;
    if (n_more && func->varargs_slot < 0) {
        return mx_tpl_fail_type(run, "macro '%.*s' takes not more than %zu argument(s)", MX_STR_ARG(func->name),
                                n_args);
    }
    if (func->varargs_slot >= 0) {
        mx_tpl_value *items = NULL;
        MX_TRY(mx_tpl_new_tuple(run, n_more, &items, &frame->slots[func->varargs_slot]));
        for (size_t i = 0; i < n_more; i++) {
            items[i] = args->pos[n_args + i];
        }
    }
    return MX_OK;
}

/* Arguments that were not given, in order: a default may use the arguments before it. */
static mx_status fill_defaults(mx_tpl_run *run, const mx_tpl_func *func)
{
    const int32_t first_default = func->args.n - func->defaults.n;
    for (int32_t i = 0; i < func->args.n; i++) {
        mx_tpl_value *slot = &run->frame->slots[func->arg_slots[i]];
        if (slot->kind != MX_TPL_MISSING) {
            continue;
        }
        if (i >= first_default) {
            mx_tpl_value value;
            MX_TRY(mx_tpl_eval(run, func->defaults.items[i - first_default], &value));
            *slot = value;
        } else {
            MX_TRY(mx_tpl_new_undefined_name(run, func->args.items[i]->as.name.name, slot));
        }
    }
    return MX_OK;
}

mx_status mx_tpl_call_macro(mx_tpl_run *run, mx_tpl_macro *macro, const mx_tpl_args *args, mx_tpl_value *out)
{
    const mx_tpl_func *func = macro->func;
    const int32_t line = run->line;
    const size_t mark = mx_tpl_mark(run);
    mx_tpl_frame *frame = NULL;
    mx_tpl_frame *caller = run->frame;
    mx_tpl_flow flow = MX_TPL_GO_ON;
    MX_TRY(mx_tpl_enter(run));
    MX_TRY(new_frame(run, func, macro->outer, &frame));
    MX_TRY(bind_positional(run, func, args, frame));
    MX_TRY(bind_named(run, func, args, frame));
    run->frame = frame;
    MX_TRY(mx_tpl_scope_enter(run, &func->scope));
    MX_TRY(fill_defaults(run, func));
    MX_TRY(mx_tpl_exec(run, &func->body, &flow));
    run->frame = caller;
    run->line = line;
    run->depth--;
    return mx_tpl_take(run, mark, run->autoescape ? MX_TPL_MARKUP : 0, out);
}

mx_status mx_tpl_call_block(mx_tpl_run *run, const mx_tpl_func *func)
{
    mx_tpl_frame *frame = NULL;
    mx_tpl_frame *caller = run->frame;
    mx_tpl_flow flow = MX_TPL_GO_ON;
    MX_TRY(mx_tpl_enter(run));
    MX_TRY(new_frame(run, func, NULL, &frame));
    run->frame = frame;
    if (func->self_slot >= 0) {
        frame->slots[func->self_slot] = (mx_tpl_value){.kind = MX_TPL_SELF};
    }
    MX_TRY(mx_tpl_scope_enter(run, &func->scope));
    MX_TRY(mx_tpl_exec(run, &func->body, &flow));
    run->frame = caller;
    run->depth--;
    return MX_OK;
}
