/* call.c - calling: arguments to declared parameters, and what can be called. */
#include "text/template/run.h"

const mx_tpl_filter *mx_tpl_find_row(const mx_tpl_filter *rows, size_t n_rows, mx_str name)
{
    for (size_t i = 0; i < n_rows; i++) {
        if (mx_str_eq_cstr(name, rows[i].name)) {
            return &rows[i];
        }
    }
    return NULL;
}

bool mx_tpl_is_callable(mx_tpl_value v)
{
    switch ((mx_tpl_kind)v.kind) {
    case MX_TPL_FUNCTION:
    case MX_TPL_METHOD:
    case MX_TPL_MACRO:
    case MX_TPL_JOINER:
    case MX_TPL_LOOP:
    case MX_TPL_BLOCK:
    case MX_TPL_UNDEFINED: return true;
    default: return false;
    }
}

/* Place of a name in a list of names separated by blanks, or the number of names with *found false. */
static size_t find_param(const char *params, mx_str name, bool *found)
{
    size_t i = 0;
    *found = false;
    for (const char *at = params; at && *at; i++) {
        const char *end = strchr(at, ' ');
        const size_t len = end ? (size_t)(end - at) : strlen(at);
        if (name.len == len && memcmp(at, name.ptr, len) == 0) {
            *found = true;
            return i;
        }
        at += len + (end != NULL);
    }
    return i;
}

static mx_status bind_args(mx_tpl_run *run, const mx_tpl_filter *what, const mx_tpl_args *args, mx_tpl_value *bound)
{
    bool found = false;
    const size_t n_params = find_param(what->params, MX_STR(""), &found);
    if (args->n_pos > n_params) {
        return mx_tpl_fail_type(run, "%s() takes at most %zu arguments (%zu given)", what->name, n_params, args->n_pos);
    }
    for (size_t i = 0; i < args->n_pos; i++) {
        bound[i] = args->pos[i];
    }
    for (size_t i = 0; i < args->n_named; i++) {
        const size_t place = find_param(what->params, args->names[i], &found);
        if (!found || mx_str_eq_cstr(args->names[i], "_")) {
            return mx_tpl_fail_type(run, "%s() got an unexpected keyword argument '%.*s'", what->name,
                                    MX_STR_ARG(args->names[i]));
        }
        if (bound[place].kind != MX_TPL_MISSING) {
            return mx_tpl_fail_type(run, "%s() got multiple values for argument '%.*s'", what->name,
                                    MX_STR_ARG(args->names[i]));
        }
        bound[place] = args->named[i];
    }
    for (int i = 0; i < what->n_required; i++) {
        if (bound[i].kind == MX_TPL_MISSING) {
            return mx_tpl_fail_type(run, "%s() is missing argument %d", what->name, i + 1);
        }
    }
    return MX_OK;
}

mx_status mx_tpl_call_filter(mx_tpl_run *run, const mx_tpl_filter *what, mx_tpl_value self, const mx_tpl_args *args,
                             mx_tpl_value *out)
{
    static const mx_tpl_args none = {0};
    MX_TRY(mx_tpl_steps(run, 1));
    if (what->any) {
        return what->any(run, self, args ? args : &none, out);
    }
    mx_tpl_value bound[MX_TPL_MAX_PARAMS] = {{0}};
    MX_TRY(bind_args(run, what, args ? args : &none, bound));
    return what->fn(run, self, bound, out);
}

static mx_status call_joiner(mx_tpl_cycler *joiner, const mx_tpl_args *args, mx_tpl_run *run, mx_tpl_value *out)
{
    if (args->n_pos || args->n_named) {
        return mx_tpl_fail_type(run, "a joiner takes no arguments");
    }
    *out = joiner->at ? joiner->items->items[0] : MX_TPL_LITERAL("");
    joiner->at = 1;
    return MX_OK;
}

static mx_status call_block(mx_tpl_run *run, const mx_tpl_func *block, mx_tpl_value *out)
{
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_call_block(run, block));
    return mx_tpl_take(run, mark, run->autoescape ? MX_TPL_MARKUP : 0, out);
}

mx_status mx_tpl_call(mx_tpl_run *run, mx_tpl_value callee, const mx_tpl_args *args, mx_tpl_value *out)
{
    switch ((mx_tpl_kind)callee.kind) {
    case MX_TPL_FUNCTION: return mx_tpl_call_filter(run, callee.as.function, (mx_tpl_value){0}, args, out);
    case MX_TPL_METHOD: return mx_tpl_call_filter(run, callee.as.bound->method, callee.as.bound->self, args, out);
    case MX_TPL_MACRO: return mx_tpl_call_macro(run, callee.as.macro, args, out);
    case MX_TPL_JOINER: return call_joiner(callee.as.cycler, args, run, out);
    case MX_TPL_LOOP: return mx_tpl_call_loop(run, callee.as.loop, args, out);
    case MX_TPL_BLOCK: return call_block(run, callee.as.block, out);
    case MX_TPL_UNDEFINED: return mx_tpl_fail_undefined(run, callee);
    default: return mx_tpl_fail_type(run, "'%s' object is not callable", mx_tpl_type_name(callee));
    }
}
