/* filters_lazy.c - map, select and reject: iterators that do their work, and fail, only when they are gone through. */
#include "text/template/filters.h"

typedef struct lazy_state {
    mx_tpl_value of;
    mx_tpl_cursor cursor;
    mx_tpl_args args; /* as given; after opening, those of the filter or test */
    mx_tpl_path path;
    mx_tpl_value default_value;
    const mx_tpl_filter *what; /* filter or test; NULL: the attribute or the truth */
    bool takes_attribute;      /* selectattr, rejectattr */
    bool wants;                /* select: true, reject: false */
    bool is_open;
} lazy_state;

/* Arguments outlive the call that they were given to. */
static mx_status new_lazy(mx_tpl_run *run, mx_tpl_value of, const mx_tpl_args *args, lazy_state init,
                          mx_status (*next)(mx_tpl_run *, mx_tpl_iter *, mx_tpl_value *, bool *), mx_tpl_value *out)
{
    lazy_state *state = NULL;
    mx_tpl_value *pos = NULL;
    mx_tpl_value *named = NULL;
    mx_str *names = NULL;
    MX_TRY(mx_tpl_alloc(run, 1, sizeof *state, &state));
    MX_TRY(mx_tpl_alloc(run, args->n_pos, sizeof *pos, &pos));
    MX_TRY(mx_tpl_alloc(run, args->n_named, sizeof *named, &named));
    MX_TRY(mx_tpl_alloc(run, args->n_named, sizeof *names, &names));
    for (size_t i = 0; i < args->n_pos; i++) {
        pos[i] = args->pos[i];
    }
    for (size_t i = 0; i < args->n_named; i++) {
        names[i] = args->names[i];
        named[i] = args->named[i];
    }
    *state = init;
    state->of = of;
    state->args = (mx_tpl_args){pos, args->n_pos, names, named, args->n_named};
    return mx_tpl_new_iter(run, "generator", state, next, out);
}

/* Takes the first positional argument, the name of a filter or test. */
static mx_status take_name(mx_tpl_run *run, lazy_state *state, const mx_tpl_filter *(*find)(mx_str name),
                           const char *what)
{
    const mx_tpl_value name = state->args.pos[0];
    state->what = mx_tpl_is_str(name) ? find(mx_tpl_view(name)) : NULL;
    if (!state->what) {
        return mx_tpl_fail_type(run, "no %s named '%.*s'", what, mx_tpl_is_str(name) ? (int)name.len : 0, name.as.s);
    }
    state->args.pos++;
    state->args.n_pos--;
    return MX_OK;
}

static bool find_named(const mx_tpl_args *args, const char *name, mx_tpl_value *out)
{
    for (size_t i = 0; i < args->n_named; i++) {
        if (mx_str_eq_cstr(args->names[i], name)) {
            *out = args->named[i];
            return true;
        }
    }
    return false;
}

static mx_status open_map(mx_tpl_run *run, lazy_state *state)
{
    mx_tpl_value attribute;
    if (state->args.n_pos == 0 && find_named(&state->args, "attribute", &attribute)) {
        const bool has_default = find_named(&state->args, "default", &state->default_value);
        if (state->args.n_named > (size_t)1 + has_default) {
            return mx_tpl_fail_type(run, "map got an unexpected keyword argument");
        }
        return mx_tpl_path_from(run, attribute, &state->path);
    }
    if (state->args.n_pos == 0) {
        return mx_tpl_fail_type(run, "map requires a filter argument");
    }
    return take_name(run, state, mx_tpl_find_filter, "filter");
}

/* Opens the source; *is_empty for what is false, which is not gone through at all. */
static mx_status open_lazy(mx_tpl_run *run, lazy_state *state, mx_status (*open)(mx_tpl_run *, lazy_state *),
                           bool *is_empty)
{
    *is_empty = false;
    if (state->is_open) {
        return MX_OK;
    }
    *is_empty = !mx_tpl_truth(run, state->of);
    if (*is_empty) {
        return MX_OK;
    }
    MX_TRY(open(run, state));
    state->is_open = true;
    return mx_tpl_cursor_open(run, state->of, &state->cursor);
}

static mx_status next_mapped(mx_tpl_run *run, mx_tpl_iter *iter, mx_tpl_value *item, bool *has_item)
{
    lazy_state *state = iter->state;
    bool is_empty = false;
    *has_item = false;
    MX_TRY(open_lazy(run, state, open_map, &is_empty));
    if (is_empty) {
        return MX_OK;
    }
    mx_tpl_value from;
    MX_TRY(mx_tpl_cursor_next(run, &state->cursor, &from, has_item));
    if (!*has_item) {
        return MX_OK;
    }
    return state->what ? mx_tpl_call_filter(run, state->what, from, &state->args, item)
                       : mx_tpl_path_get(run, &state->path, from, state->default_value, item);
}

static mx_status open_select(mx_tpl_run *run, lazy_state *state)
{
    if (state->takes_attribute) {
        if (state->args.n_pos == 0) {
            return mx_tpl_fail_type(run, "missing parameter for attribute name");
        }
        MX_TRY(mx_tpl_path_from(run, state->args.pos[0], &state->path));
        state->args.pos++;
        state->args.n_pos--;
    }
    return state->args.n_pos ? take_name(run, state, mx_tpl_find_test, "test") : MX_OK;
}

static mx_status next_selected(mx_tpl_run *run, mx_tpl_iter *iter, mx_tpl_value *item, bool *has_item)
{
    lazy_state *state = iter->state;
    bool is_empty = false;
    *has_item = false;
    MX_TRY(open_lazy(run, state, open_select, &is_empty));
    while (!is_empty) {
        mx_tpl_value tested;
        MX_TRY(mx_tpl_cursor_next(run, &state->cursor, item, has_item));
        if (!*has_item) {
            return MX_OK;
        }
        MX_TRY(mx_tpl_path_get(run, &state->path, *item, mx_tpl_none(), &tested));
        if (state->what) {
            MX_TRY(mx_tpl_call_filter(run, state->what, tested, &state->args, &tested));
        }
        if (mx_tpl_truth(run, tested) == state->wants) {
            return MX_OK;
        }
    }
    return MX_OK;
}

static mx_status filter_map(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_args *args, mx_tpl_value *out)
{
    return new_lazy(run, self, args, (lazy_state){.wants = true}, next_mapped, out);
}

static mx_status filter_select(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_args *args, mx_tpl_value *out)
{
    return new_lazy(run, self, args, (lazy_state){.wants = true}, next_selected, out);
}

static mx_status filter_reject(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_args *args, mx_tpl_value *out)
{
    return new_lazy(run, self, args, (lazy_state){.wants = false}, next_selected, out);
}

static mx_status filter_selectattr(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_args *args, mx_tpl_value *out)
{
    return new_lazy(run, self, args, (lazy_state){.takes_attribute = true, .wants = true}, next_selected, out);
}

static mx_status filter_rejectattr(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_args *args, mx_tpl_value *out)
{
    return new_lazy(run, self, args, (lazy_state){.takes_attribute = true, .wants = false}, next_selected, out);
}

static const mx_tpl_filter rows[] = {
    {"map", NULL, NULL, 0, filter_map},
    {"select", NULL, NULL, 0, filter_select},
    {"reject", NULL, NULL, 0, filter_reject},
    {"selectattr", NULL, NULL, 0, filter_selectattr},
    {"rejectattr", NULL, NULL, 0, filter_rejectattr},
};
const mx_tpl_table mx_tpl_lazy_filters = {rows, MX_COUNTOF(rows)};
