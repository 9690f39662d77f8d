/* methods_object.c - what Jinja's own objects offer, and the finding of methods. */
#include "text/template/methods.h"

#define METHOD(name) \
    static mx_status name(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)

METHOD(cycler_current)
{
    (void)run;
    (void)args;
    *out = self.as.cycler->items->items[self.as.cycler->at];
    return MX_OK;
}

METHOD(cycler_next)
{
    MX_TRY(cycler_current(run, self, args, out));
    self.as.cycler->at = (self.as.cycler->at + 1) % self.as.cycler->items->n;
    return MX_OK;
}

METHOD(cycler_reset)
{
    (void)run;
    (void)args;
    self.as.cycler->at = 0;
    *out = mx_tpl_none();
    return MX_OK;
}

METHOD(cycler_pos)
{
    (void)run;
    (void)args;
    *out = mx_tpl_int((int64_t)self.as.cycler->at);
    return MX_OK;
}

METHOD(cycler_items)
{
    (void)run;
    (void)args;
    *out = (mx_tpl_value){.kind = MX_TPL_TUPLE, .as.list = self.as.cycler->items};
    return MX_OK;
}

METHOD(joiner_sep)
{
    (void)run;
    (void)args;
    *out = self.as.cycler->items->items[0];
    return MX_OK;
}

METHOD(joiner_used)
{
    (void)run;
    (void)args;
    *out = mx_tpl_bool(self.as.cycler->at != 0);
    return MX_OK;
}

METHOD(macro_name)
{
    (void)run;
    (void)args;
    const mx_str name = mx_tpl_macro_name(self.as.macro);
    *out = name.ptr ? mx_tpl_str(name) : mx_tpl_none();
    return MX_OK;
}

METHOD(macro_arguments)
{
    (void)args;
    const mx_tpl_func *func = mx_tpl_macro_func(self.as.macro);
    mx_tpl_value *names = NULL;
    MX_TRY(mx_tpl_new_tuple(run, (size_t)func->args.n, &names, out));
    for (int32_t i = 0; i < func->args.n; i++) {
        names[i] = mx_tpl_str(func->args.items[i]->as.name.name);
    }
    return MX_OK;
}

METHOD(macro_catch_kwargs)
{
    (void)run;
    (void)args;
    *out = mx_tpl_bool(mx_tpl_macro_func(self.as.macro)->kwargs_slot >= 0);
    return MX_OK;
}

METHOD(macro_catch_varargs)
{
    (void)run;
    (void)args;
    *out = mx_tpl_bool(mx_tpl_macro_func(self.as.macro)->varargs_slot >= 0);
    return MX_OK;
}

METHOD(macro_caller)
{
    (void)run;
    (void)args;
    *out = mx_tpl_bool(mx_tpl_macro_func(self.as.macro)->caller_slot >= 0);
    return MX_OK;
}

METHOD(block_name)
{
    (void)run;
    (void)args;
    *out = mx_tpl_str(self.as.block->name);
    return MX_OK;
}

static const mx_tpl_filter cycler_rows[] = {
    {"next", cycler_next, NULL, 0, NULL},
    {"reset", cycler_reset, NULL, 0, NULL},
    {"current", cycler_current, NULL, MX_TPL_PROPERTY, NULL},
    {"pos", cycler_pos, NULL, MX_TPL_PROPERTY, NULL},
    {"items", cycler_items, NULL, MX_TPL_PROPERTY, NULL},
};
static const mx_tpl_filter joiner_rows[] = {
    {"sep", joiner_sep, NULL, MX_TPL_PROPERTY, NULL},
    {"used", joiner_used, NULL, MX_TPL_PROPERTY, NULL},
};
static const mx_tpl_filter macro_rows[] = {
    {"name", macro_name, NULL, MX_TPL_PROPERTY, NULL},
    {"arguments", macro_arguments, NULL, MX_TPL_PROPERTY, NULL},
    {"catch_kwargs", macro_catch_kwargs, NULL, MX_TPL_PROPERTY, NULL},
    {"catch_varargs", macro_catch_varargs, NULL, MX_TPL_PROPERTY, NULL},
    {"caller", macro_caller, NULL, MX_TPL_PROPERTY, NULL},
};
static const mx_tpl_filter block_rows[] = {{"name", block_name, NULL, MX_TPL_PROPERTY, NULL}};

const mx_tpl_table mx_tpl_cycler_methods = {cycler_rows, MX_COUNTOF(cycler_rows)};
const mx_tpl_table mx_tpl_joiner_methods = {joiner_rows, MX_COUNTOF(joiner_rows)};
const mx_tpl_table mx_tpl_macro_methods = {macro_rows, MX_COUNTOF(macro_rows)};
const mx_tpl_table mx_tpl_block_methods = {block_rows, MX_COUNTOF(block_rows)};

static const mx_tpl_table *const tables[MX_TPL_KIND_COUNT] = {
    [MX_TPL_BOOL] = &mx_tpl_int_methods,      [MX_TPL_INT] = &mx_tpl_int_methods,
    [MX_TPL_BIG] = &mx_tpl_int_methods,       [MX_TPL_FLOAT] = &mx_tpl_float_methods,
    [MX_TPL_STR] = &mx_tpl_str_text_methods,  [MX_TPL_BYTES] = &mx_tpl_bytes_methods,
    [MX_TPL_LIST] = &mx_tpl_sequence_methods, [MX_TPL_TUPLE] = &mx_tpl_sequence_methods,
    [MX_TPL_DICT] = &mx_tpl_dict_methods,     [MX_TPL_RANGE] = &mx_tpl_range_methods,
    [MX_TPL_KEYS] = &mx_tpl_view_methods,     [MX_TPL_ITEMS] = &mx_tpl_view_methods,
    [MX_TPL_CYCLER] = &mx_tpl_cycler_methods, [MX_TPL_JOINER] = &mx_tpl_joiner_methods,
    [MX_TPL_MACRO] = &mx_tpl_macro_methods,   [MX_TPL_BLOCK] = &mx_tpl_block_methods,
};

const mx_tpl_filter *mx_tpl_find_method(mx_tpl_value v, mx_str name)
{
    static const char *const markup_only[] = {"escape", "unescape", "striptags"};
    const mx_tpl_table *table = tables[v.kind];
    for (size_t i = 0; i < MX_COUNTOF(markup_only); i++) {
        if (v.kind == MX_TPL_STR && !mx_tpl_is_markup(v) && mx_str_eq_cstr(name, markup_only[i])) {
            return NULL;
        }
    }
    if (v.kind == MX_TPL_TUPLE && mx_str_eq_cstr(name, "copy")) {
        return NULL;
    }
    const mx_tpl_filter *row = table ? mx_tpl_find_row(table->rows, table->n_rows, name) : NULL;
    if (!row && v.kind == MX_TPL_STR) {
        row = mx_tpl_find_row(mx_tpl_str_search_methods.rows, mx_tpl_str_search_methods.n_rows, name);
    }
    return row;
}
