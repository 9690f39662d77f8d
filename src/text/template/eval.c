/* eval.c - expressions. One function for each kind of node, so that the recursion takes little stack. */
#include "text/template/run.h"

typedef mx_status (*eval_fn)(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_value *out);

static mx_status eval_const(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_value *out)
{
    (void)run;
    *out = node->as.value;
    return MX_OK;
}

static mx_status eval_name(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_value *out)
{
    const mx_tpl_frame *frame = run->frame;
    for (int32_t i = 0; i < node->as.name.ref.hops; i++) {
        frame = frame->outer;
    }
    *out = frame->slots[node->as.name.ref.slot];
    return out->kind == MX_TPL_MISSING ? mx_tpl_new_undefined_name(run, node->as.name.name, out) : MX_OK;
}

static mx_status eval_items(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_value *out)
{
    mx_tpl_value *items = NULL;
    const size_t n = (size_t)node->as.items.n;
    MX_TRY(node->kind == MX_TPL_NODE_LIST ? mx_tpl_new_list(run, n, &items, out)
                                          : mx_tpl_new_tuple(run, n, &items, out));
    for (size_t i = 0; i < n; i++) {
        MX_TRY(mx_tpl_eval(run, node->as.items.items[i], &items[i]));
    }
    return MX_OK;
}

static mx_status eval_dict(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_value *out)
{
    MX_TRY(mx_tpl_new_dict(run, (size_t)node->as.items.n / 2, out));
    for (int32_t i = 0; i < node->as.items.n; i += 2) {
        mx_tpl_value key;
        mx_tpl_value value;
        MX_TRY(mx_tpl_eval(run, node->as.items.items[i], &key));
        MX_TRY(mx_tpl_eval(run, node->as.items.items[i + 1], &value));
        MX_TRY(mx_tpl_dict_set(run, out->as.dict, key, value));
    }
    return MX_OK;
}

static mx_status eval_unary(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_value *out)
{
    mx_tpl_value a;
    MX_TRY(mx_tpl_eval(run, node->as.expr.a, &a));
    run->line = node->line;
    return mx_tpl_unary(run, (mx_tpl_op)node->op, a, out);
}

static mx_status eval_binary(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_value *out)
{
    mx_tpl_value a;
    mx_tpl_value b;
    MX_TRY(mx_tpl_eval(run, node->as.expr.a, &a));
    MX_TRY(mx_tpl_eval(run, node->as.expr.b, &b));
    run->line = node->line;
    return mx_tpl_binary(run, (mx_tpl_op)node->op, a, b, out);
}

static mx_status eval_logic(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_value *out)
{
    MX_TRY(mx_tpl_eval(run, node->as.expr.a, out));
    const bool goes_on = mx_tpl_truth(run, *out) == (node->kind == MX_TPL_NODE_AND);
    return goes_on ? mx_tpl_eval(run, node->as.expr.b, out) : MX_OK;
}

static mx_status eval_not(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_value *out)
{
    mx_tpl_value a;
    MX_TRY(mx_tpl_eval(run, node->as.expr.a, &a));
    *out = mx_tpl_bool(!mx_tpl_truth(run, a));
    return MX_OK;
}

/* In autoescape mode one piece of markup makes markup of the whole, and the other pieces are escaped. */
static mx_status concat_pieces(mx_tpl_run *run, const mx_tpl_value *pieces, size_t n, bool is_constant,
                               mx_tpl_value *out)
{
    bool has_markup = false;
    for (size_t i = 0; i < n; i++) {
        has_markup = has_markup || (run->autoescape && !is_constant && mx_tpl_is_markup(pieces[i]));
    }
    if (!has_markup && n == 2 && mx_tpl_is_str(pieces[0]) && mx_tpl_is_str(pieces[1])) {
        MX_TRY(mx_tpl_concat(run, pieces[0], pieces[1], out));
        out->flags &= (uint8_t)~MX_TPL_MARKUP;
        return MX_OK;
    }
    const size_t mark = mx_tpl_mark(run);
    for (size_t i = 0; i < n; i++) {
        MX_TRY(has_markup ? mx_tpl_put_escaped_value(run, pieces[i]) : mx_tpl_put_str(run, pieces[i]));
    }
    return mx_tpl_take(run, mark, has_markup ? MX_TPL_MARKUP : 0, out);
}

static mx_status eval_concat(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_value *out)
{
    mx_tpl_value *pieces = NULL;
    const size_t n = (size_t)node->as.items.n;
    MX_TRY(mx_tpl_alloc(run, n, sizeof *pieces, &pieces));
    for (size_t i = 0; i < n; i++) {
        MX_TRY(mx_tpl_eval(run, node->as.items.items[i], &pieces[i]));
    }
    return concat_pieces(run, pieces, n, node->flag, out);
}

/* a < b < c is a < b and b < c, with b evaluated once. */
static mx_status eval_compare(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_value *out)
{
    mx_tpl_value left;
    bool fits = true;
    MX_TRY(mx_tpl_eval(run, node->as.compare.first, &left));
    for (int32_t i = 0; fits && i < node->as.compare.rest.n; i++) {
        mx_tpl_value right;
        MX_TRY(mx_tpl_eval(run, node->as.compare.rest.items[i], &right));
        run->line = node->line;
        MX_TRY(mx_tpl_compare(run, (mx_tpl_op)node->as.compare.ops[i], left, right, &fits));
        left = right;
    }
    *out = mx_tpl_bool(fits);
    return MX_OK;
}

static mx_status eval_cond(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_value *out)
{
    mx_tpl_value test;
    MX_TRY(mx_tpl_eval(run, node->as.expr.a, &test));
    if (mx_tpl_truth(run, test)) {
        return mx_tpl_eval(run, node->as.expr.b, out);
    }
    if (node->as.expr.c) {
        return mx_tpl_eval(run, node->as.expr.c, out);
    }
    return mx_tpl_new_undefined_hint(
        run, MX_STR("the inline if-expression evaluated to false and no else section was defined"), out);
}

static mx_status eval_getattr(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_value *out)
{
    mx_tpl_value obj;
    MX_TRY(mx_tpl_eval(run, node->as.use.of, &obj));
    run->line = node->line;
    return mx_tpl_getattr(run, obj, node->as.use.name, out);
}

static mx_status eval_bounds(mx_tpl_run *run, const mx_tpl_node *slice, mx_tpl_value bounds[3])
{
    const mx_tpl_node *const nodes[3] = {slice->as.expr.a, slice->as.expr.b, slice->as.expr.c};
    for (int i = 0; i < 3; i++) {
        bounds[i] = mx_tpl_none();
        if (nodes[i]) {
            MX_TRY(mx_tpl_eval(run, nodes[i], &bounds[i]));
        }
    }
    return MX_OK;
}

static mx_status eval_slice(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_value *out)
{
    mx_tpl_value *bounds = NULL;
    MX_TRY(mx_tpl_new_tuple(run, 3, &bounds, out));
    out->kind = MX_TPL_SLICE;
    return eval_bounds(run, node, bounds);
}

static mx_status eval_getitem(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_value *out)
{
    mx_tpl_value obj;
    mx_tpl_value key;
    MX_TRY(mx_tpl_eval(run, node->as.expr.a, &obj));
    if (node->as.expr.b->kind == MX_TPL_NODE_SLICE) {
        mx_tpl_value bounds[3];
        MX_TRY(eval_bounds(run, node->as.expr.b, bounds));
        run->line = node->line;
        if (node->flag && !mx_tpl_can_slice(obj, bounds)) {
            return mx_tpl_new_undefined(run, obj, MX_TPL_LITERAL("slice"), false, out);
        }
        return mx_tpl_slice(run, obj, bounds, out);
    }
    MX_TRY(mx_tpl_eval(run, node->as.expr.b, &key));
    run->line = node->line;
    return mx_tpl_getitem(run, obj, key, out);
}

static mx_status push_star(mx_tpl_run *run, const mx_tpl_node *star, mx_tpl_vec *pos)
{
    mx_tpl_value more;
    mx_tpl_cursor cursor;
    MX_TRY(mx_tpl_eval(run, star, &more));
    MX_TRY(mx_tpl_cursor_open(run, more, &cursor));
    for (bool has_item = true;;) {
        mx_tpl_value item;
        MX_TRY(mx_tpl_cursor_next(run, &cursor, &item, &has_item));
        if (!has_item) {
            return MX_OK;
        }
        MX_TRY(mx_tpl_vec_push(run, pos, item));
    }
}

static mx_status push_star_star(mx_tpl_run *run, const mx_tpl_node *star_star, mx_str *names, mx_tpl_value **named,
                                mx_tpl_args *out)
{
    mx_tpl_value more;
    MX_TRY(mx_tpl_eval(run, star_star, &more));
    if (more.kind != MX_TPL_DICT) {
        return mx_tpl_fail_type(run, "argument after ** must be a mapping, not %s", mx_tpl_type_name(more));
    }
    const size_t n = out->n_named + more.as.dict->n;
    mx_str *all_names = NULL;
    mx_tpl_value *all = NULL;
    MX_TRY(mx_tpl_alloc(run, n, sizeof *all_names, &all_names));
    MX_TRY(mx_tpl_alloc(run, n, sizeof *all, &all));
    for (size_t i = 0; i < out->n_named; i++) {
        all_names[i] = names[i];
        all[i] = (*named)[i];
    }
    for (size_t i = 0; i < more.as.dict->n; i++) {
        const mx_tpl_entry *entry = &more.as.dict->entries[i];
        if (!mx_tpl_is_str(entry->key)) {
            return mx_tpl_fail_type(run, "keywords must be strings");
        }
        MX_TRY(mx_tpl_steps(run, 1 + (int64_t)out->n_named / 16));
        for (size_t k = 0; k < out->n_named; k++) {
            if (mx_str_eq(names[k], mx_tpl_view(entry->key))) {
                return mx_tpl_fail_type(run, "got multiple values for keyword argument '%.*s'", MX_STR_ARG(names[k]));
            }
        }
        all_names[out->n_named + i] = mx_tpl_view(entry->key);
        all[out->n_named + i] = entry->value;
    }
    *out = (mx_tpl_args){out->pos, out->n_pos, all_names, all, n};
    return MX_OK;
}

mx_status mx_tpl_eval_args(mx_tpl_run *run, const mx_tpl_call_args *args, mx_tpl_args *out)
{
    *out = (mx_tpl_args){0};
    if (!args) {
        return MX_OK;
    }
    mx_tpl_vec pos = {.cap = (size_t)args->pos.n};
    mx_tpl_value *named = NULL;
    MX_TRY(mx_tpl_alloc(run, pos.cap, sizeof *pos.items, &pos.items));
    MX_TRY(mx_tpl_alloc(run, (size_t)args->named.n, sizeof *named, &named));
    for (int32_t i = 0; i < args->pos.n; i++) {
        MX_TRY(mx_tpl_eval(run, args->pos.items[i], &pos.items[i]));
        pos.n++;
    }
    for (int32_t i = 0; i < args->named.n; i++) {
        MX_TRY(mx_tpl_eval(run, args->named.items[i], &named[i]));
    }
    if (args->star) {
        MX_TRY(push_star(run, args->star, &pos));
    }
    *out = (mx_tpl_args){pos.items, pos.n, args->names, named, (size_t)args->named.n};
    return args->star_star ? push_star_star(run, args->star_star, args->names, &named, out) : MX_OK;
}

static mx_status eval_call(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_value *out)
{
    mx_tpl_value callee;
    mx_tpl_args args;
    MX_TRY(mx_tpl_eval(run, node->as.use.of, &callee));
    MX_TRY(mx_tpl_eval_args(run, node->as.use.args, &args));
    run->line = node->line;
    return mx_tpl_call(run, callee, &args, out);
}

static mx_status eval_filter(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_value *out)
{
    mx_tpl_value of;
    mx_tpl_args args;
    MX_TRY(mx_tpl_eval(run, node->as.use.of, &of));
    MX_TRY(mx_tpl_eval_args(run, node->as.use.args, &args));
    run->line = node->line;
    if (!node->as.use.what) {
        return mx_tpl_fail_type(run, "no %s named '%.*s'", node->kind == MX_TPL_NODE_FILTER ? "filter" : "test",
                                MX_STR_ARG(node->as.use.name));
    }
    return mx_tpl_call_filter(run, node->as.use.what, of, &args, out);
}

static const eval_fn evals[MX_TPL_NODE_COUNT] = {
    [MX_TPL_NODE_CONST] = eval_const,   [MX_TPL_NODE_NAME] = eval_name,       [MX_TPL_NODE_TUPLE] = eval_items,
    [MX_TPL_NODE_LIST] = eval_items,    [MX_TPL_NODE_DICT] = eval_dict,       [MX_TPL_NODE_UNARY] = eval_unary,
    [MX_TPL_NODE_BINARY] = eval_binary, [MX_TPL_NODE_AND] = eval_logic,       [MX_TPL_NODE_OR] = eval_logic,
    [MX_TPL_NODE_NOT] = eval_not,       [MX_TPL_NODE_CONCAT] = eval_concat,   [MX_TPL_NODE_COMPARE] = eval_compare,
    [MX_TPL_NODE_COND] = eval_cond,     [MX_TPL_NODE_GETATTR] = eval_getattr, [MX_TPL_NODE_GETITEM] = eval_getitem,
    [MX_TPL_NODE_SLICE] = eval_slice,   [MX_TPL_NODE_CALL] = eval_call,       [MX_TPL_NODE_FILTER] = eval_filter,
    [MX_TPL_NODE_TEST] = eval_filter,
};

mx_status mx_tpl_eval(mx_tpl_run *run, const mx_tpl_node *node, mx_tpl_value *out)
{
    MX_TRY(mx_tpl_steps(run, 1));
    if (node->kind <= MX_TPL_NODE_NAME) {
        return evals[node->kind](run, node, out);
    }
    MX_TRY(mx_tpl_enter(run));
    MX_TRY(evals[node->kind](run, node, out));
    run->depth--;
    return MX_OK;
}
