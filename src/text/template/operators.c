/* operators.c - the operators of expressions: what each does for which types. */
#include "text/template/format.h"
#include "text/template/run.h"

static const char *const symbols[] = {
    [MX_TPL_OP_ADD] = "+",       [MX_TPL_OP_SUB] = "-", [MX_TPL_OP_MUL] = "*",          [MX_TPL_OP_DIV] = "/",
    [MX_TPL_OP_FLOORDIV] = "//", [MX_TPL_OP_MOD] = "%", [MX_TPL_OP_POW] = "** or pow()"};

static mx_status fail_operands(mx_tpl_run *run, mx_tpl_op op, mx_tpl_value a, mx_tpl_value b)
{
    if (op == MX_TPL_OP_ADD && (mx_tpl_is_str(a) || mx_tpl_is_list(a))) {
        return mx_tpl_fail_type(run, "can only concatenate %s (not \"%s\") to %s", mx_tpl_type_name(a),
                                mx_tpl_type_name(b), mx_tpl_type_name(a));
    }
    return mx_tpl_fail_type(run, "unsupported operand type(s) for %s: '%s' and '%s'", symbols[op], mx_tpl_type_name(a),
                            mx_tpl_type_name(b));
}

static mx_status escaped(mx_tpl_run *run, mx_tpl_value *v)
{
    if (mx_tpl_is_markup(*v)) {
        return MX_OK;
    }
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_put_escaped_value(run, *v));
    return mx_tpl_take(run, mark, MX_TPL_MARKUP, v);
}

static mx_status add_strings(mx_tpl_run *run, mx_tpl_value a, mx_tpl_value b, mx_tpl_value *out)
{
    if (mx_tpl_is_markup(a) || mx_tpl_is_markup(b)) {
        MX_TRY(escaped(run, &a));
        MX_TRY(escaped(run, &b));
    }
    return mx_tpl_concat(run, a, b, out);
}

static mx_status add_lists(mx_tpl_run *run, mx_tpl_value a, mx_tpl_value b, mx_tpl_value *out)
{
    const mx_tpl_list *x = a.as.list;
    const mx_tpl_list *y = b.as.list;
    mx_tpl_value *items = NULL;
    MX_TRY(a.kind == MX_TPL_LIST ? mx_tpl_new_list(run, x->n + y->n, &items, out)
                                 : mx_tpl_new_tuple(run, x->n + y->n, &items, out));
    if (x->n) {
        memcpy(items, x->items, x->n * sizeof *items);
    }
    if (y->n) {
        memcpy(items + x->n, y->items, y->n * sizeof *items);
    }
    return MX_OK;
}

mx_status mx_tpl_repeat(mx_tpl_run *run, mx_tpl_value seq, mx_tpl_value times, mx_tpl_value *out)
{
    int64_t n = 0;
    MX_TRY(mx_tpl_to_index(run, times, &n));
    const size_t n_times = n > 0 ? (size_t)n : 0;
    if (mx_tpl_is_str(seq) || seq.kind == MX_TPL_BYTES) {
        const size_t mark = mx_tpl_mark(run);
        MX_TRY(mx_tpl_put_fill(run, mx_tpl_view(seq), n_times));
        MX_TRY(mx_tpl_take(run, mark, seq.flags & MX_TPL_MARKUP, out));
        out->kind = seq.kind;
        return MX_OK;
    }
    const mx_tpl_list *list = seq.as.list;
    const size_t n_items = list->n && n_times > SIZE_MAX / 32 / list->n ? SIZE_MAX / 32 : list->n * n_times;
    mx_tpl_value *items = NULL;
    MX_TRY(seq.kind == MX_TPL_LIST ? mx_tpl_new_list(run, n_items, &items, out)
                                   : mx_tpl_new_tuple(run, n_items, &items, out));
    for (size_t i = 0; i < n_items; i++) {
        items[i] = list->items[i % list->n];
    }
    return MX_OK;
}

static bool is_sequence(mx_tpl_value v)
{
    return mx_tpl_is_str(v) || mx_tpl_is_list(v) || v.kind == MX_TPL_BYTES;
}

mx_status mx_tpl_binary(mx_tpl_run *run, mx_tpl_op op, mx_tpl_value a, mx_tpl_value b, mx_tpl_value *out)
{
    if (mx_tpl_is_number(a) && mx_tpl_is_number(b)) {
        return mx_tpl_arithmetic(run, op, a, b, out);
    }
    if (a.kind == MX_TPL_UNDEFINED) {
        return mx_tpl_fail_undefined(run, a);
    }
    if (mx_tpl_is_str(a) && op == MX_TPL_OP_MOD) {
        return mx_tpl_format_percent(run, a, b, out);
    }
    if (b.kind == MX_TPL_UNDEFINED) {
        return mx_tpl_fail_undefined(run, b);
    }
    if (op == MX_TPL_OP_ADD && a.kind == b.kind) {
        if (mx_tpl_is_str(a)) {
            return add_strings(run, a, b, out);
        }
        if (mx_tpl_is_list(a)) {
            return add_lists(run, a, b, out);
        }
        if (a.kind == MX_TPL_BYTES) {
            MX_TRY(mx_tpl_concat(run, a, b, out));
            out->kind = MX_TPL_BYTES;
            return MX_OK;
        }
    }
    if (op == MX_TPL_OP_MUL && is_sequence(a) && mx_tpl_is_integral(b)) {
        return mx_tpl_repeat(run, a, b, out);
    }
    if (op == MX_TPL_OP_MUL && is_sequence(b) && mx_tpl_is_integral(a)) {
        return mx_tpl_repeat(run, b, a, out);
    }
    return fail_operands(run, op, a, b);
}

mx_status mx_tpl_unary(mx_tpl_run *run, mx_tpl_op op, mx_tpl_value a, mx_tpl_value *out)
{
    if (a.kind == MX_TPL_UNDEFINED) {
        return mx_tpl_fail_undefined(run, a);
    }
    if (!mx_tpl_is_number(a)) {
        return mx_tpl_fail_type(run, "bad operand type for unary %s: '%s'", symbols[op], mx_tpl_type_name(a));
    }
    if (a.kind == MX_TPL_FLOAT) {
        *out = op == MX_TPL_OP_SUB ? mx_tpl_float(-a.as.f) : a;
        return MX_OK;
    }
    return mx_tpl_arithmetic(run, op, mx_tpl_int(0), a, out);
}
