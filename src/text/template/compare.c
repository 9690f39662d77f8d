/* compare.c - truth, equality, order, membership and hashes as Python has them. */
#include "text/template/bigint.h"
#include "text/template/run.h"

bool mx_tpl_truth(mx_tpl_run *run, mx_tpl_value v)
{
    (void)run;
    switch ((mx_tpl_kind)v.kind) {
    case MX_TPL_MISSING:
    case MX_TPL_UNDEFINED:
    case MX_TPL_NONE: return false;
    case MX_TPL_BOOL: return v.as.b;
    case MX_TPL_INT: return v.as.i != 0;
    case MX_TPL_FLOAT: return v.as.f != 0;
    case MX_TPL_STR:
    case MX_TPL_BYTES: return v.len != 0;
    case MX_TPL_LIST:
    case MX_TPL_TUPLE: return v.as.list->n != 0;
    case MX_TPL_DICT:
    case MX_TPL_KEYS:
    case MX_TPL_VALUES:
    case MX_TPL_ITEMS: return v.as.dict->n != 0;
    case MX_TPL_RANGE: return v.as.range->n != 0;
    default: return true;
    }
}

/* Whether two values are one object, as far as Python's programs can rely on it. */
bool mx_tpl_same(mx_tpl_value a, mx_tpl_value b)
{
    if (a.kind != b.kind) {
        return false;
    }
    switch ((mx_tpl_kind)a.kind) {
    case MX_TPL_NONE:
    case MX_TPL_MISSING: return true;
    case MX_TPL_BOOL: return a.as.b == b.as.b;
    case MX_TPL_INT: return a.as.i == b.as.i;
    case MX_TPL_FLOAT: return a.as.f == b.as.f;
    case MX_TPL_STR: return a.flags == b.flags && mx_str_eq(mx_tpl_view(a), mx_tpl_view(b));
    case MX_TPL_METHOD:
        return a.as.bound->method == b.as.bound->method && mx_tpl_same(a.as.bound->self, b.as.bound->self);
    case MX_TPL_UNDEFINED: return a.as.undef == b.as.undef && a.as.undef;
    default: return a.as.list == b.as.list; /* any of the pointers */
    }
}

static mx_status equal_at(mx_tpl_run *run, mx_tpl_value a, mx_tpl_value b, int depth, bool *out);

static mx_status lists_equal(mx_tpl_run *run, const mx_tpl_list *a, const mx_tpl_list *b, int depth, bool *out)
{
    *out = a->n == b->n;
    for (size_t i = 0; *out && i < a->n; i++) {
        MX_TRY(equal_at(run, a->items[i], b->items[i], depth, out));
    }
    return MX_OK;
}

static mx_status dicts_equal(mx_tpl_run *run, const mx_tpl_dict *a, const mx_tpl_dict *b, int depth, bool *out)
{
    *out = a->n == b->n;
    for (size_t i = 0; *out && i < a->n; i++) {
        mx_tpl_value other;
        MX_TRY(mx_tpl_dict_find(run, b, a->entries[i].key, &other, out));
        if (*out) {
            MX_TRY(equal_at(run, a->entries[i].value, other, depth, out));
        }
    }
    return MX_OK;
}

static bool ranges_equal(const mx_tpl_range *a, const mx_tpl_range *b)
{
    return a->n == b->n && (a->n == 0 || (a->start == b->start && (a->n == 1 || a->step == b->step)));
}

/* dict_keys and dict_items are sets. Where *out is true, it becomes whether each member of a is in b. */
static mx_status and_contains(mx_tpl_run *run, mx_tpl_value a, mx_tpl_value b, bool *out)
{
    mx_tpl_cursor cursor;
    MX_TRY(mx_tpl_cursor_open(run, a, &cursor));
    mx_tpl_value item;
    bool has_item = true;
    while (*out) {
        MX_TRY(mx_tpl_cursor_next(run, &cursor, &item, &has_item));
        if (!has_item) {
            return MX_OK;
        }
        MX_TRY(mx_tpl_contains(run, b, item, out));
    }
    return MX_OK;
}

static mx_status views_equal(mx_tpl_run *run, mx_tpl_value a, mx_tpl_value b, bool *out)
{
    *out = a.as.dict->n == b.as.dict->n;
    return and_contains(run, a, b, out);
}

static mx_status equal_at(mx_tpl_run *run, mx_tpl_value a, mx_tpl_value b, int depth, bool *out)
{
    MX_TRY(mx_tpl_steps(run, 1));
    if (depth > MX_TPL_MAX_VALUE_DEPTH) {
        return mx_tpl_fail(run, MX_TEMPLATE_LIMIT, "values nested more than %d deep are compared",
                           MX_TPL_MAX_VALUE_DEPTH);
    }
    if (mx_tpl_is_number(a) && mx_tpl_is_number(b)) {
        *out = mx_tpl_number_order(a, b) == 0;
        return MX_OK;
    }
    const bool a_is_set = a.kind == MX_TPL_KEYS || a.kind == MX_TPL_ITEMS;
    const bool b_is_set = b.kind == MX_TPL_KEYS || b.kind == MX_TPL_ITEMS;
    if (a_is_set && b_is_set) {
        return views_equal(run, a, b, out);
    }
    *out = false;
    if (a.kind != b.kind) {
        return MX_OK;
    }
    switch ((mx_tpl_kind)a.kind) {
    case MX_TPL_STR:
    case MX_TPL_BYTES:
        MX_TRY(mx_tpl_bytes_walked(run, a.len));
        *out = mx_str_eq(mx_tpl_view(a), mx_tpl_view(b));
        return MX_OK;
    case MX_TPL_LIST:
    case MX_TPL_TUPLE: return lists_equal(run, a.as.list, b.as.list, depth + 1, out);
    case MX_TPL_DICT: return dicts_equal(run, a.as.dict, b.as.dict, depth + 1, out);
    case MX_TPL_RANGE: *out = ranges_equal(a.as.range, b.as.range); return MX_OK;
    case MX_TPL_UNDEFINED: *out = true; return MX_OK;
    default: *out = mx_tpl_same(a, b); return MX_OK;
    }
}

mx_status mx_tpl_equal(mx_tpl_run *run, mx_tpl_value a, mx_tpl_value b, bool *out)
{
    return equal_at(run, a, b, 0, out);
}

static bool order_fits(mx_tpl_op op, int order)
{
    switch (op) {
    case MX_TPL_OP_LT: return order == -1;
    case MX_TPL_OP_LE: return order == -1 || order == 0;
    case MX_TPL_OP_GT: return order == 1;
    case MX_TPL_OP_GE: return order == 1 || order == 0;
    default: return false;
    }
}

static const char *op_text(mx_tpl_op op)
{
    return op == MX_TPL_OP_LT ? "<" : op == MX_TPL_OP_LE ? "<=" : op == MX_TPL_OP_GT ? ">" : ">=";
}

static mx_status order_at(mx_tpl_run *run, mx_tpl_op op, mx_tpl_value a, mx_tpl_value b, int depth, bool *out);

/* Python compares sequences at the first members that differ. */
static mx_status order_lists(mx_tpl_run *run, mx_tpl_op op, const mx_tpl_list *a, const mx_tpl_list *b, int depth,
                             bool *out)
{
    for (size_t i = 0; i < a->n && i < b->n; i++) {
        bool equal = false;
        MX_TRY(equal_at(run, a->items[i], b->items[i], depth, &equal));
        if (!equal) {
            return order_at(run, op, a->items[i], b->items[i], depth, out);
        }
    }
    *out = order_fits(op, a->n < b->n ? -1 : a->n > b->n);
    return MX_OK;
}

/* Subset and superset. */
static mx_status order_views(mx_tpl_run *run, mx_tpl_op op, mx_tpl_value a, mx_tpl_value b, bool *out)
{
    if (op == MX_TPL_OP_GT || op == MX_TPL_OP_GE) {
        return order_views(run, op == MX_TPL_OP_GT ? MX_TPL_OP_LT : MX_TPL_OP_LE, b, a, out);
    }
    *out = op == MX_TPL_OP_LT ? a.as.dict->n < b.as.dict->n : a.as.dict->n <= b.as.dict->n;
    return and_contains(run, a, b, out);
}

static mx_status order_at(mx_tpl_run *run, mx_tpl_op op, mx_tpl_value a, mx_tpl_value b, int depth, bool *out)
{
    MX_TRY(mx_tpl_steps(run, 1));
    if (depth > MX_TPL_MAX_VALUE_DEPTH) {
        return mx_tpl_fail(run, MX_TEMPLATE_LIMIT, "values nested more than %d deep are compared",
                           MX_TPL_MAX_VALUE_DEPTH);
    }
    if (mx_tpl_is_number(a) && mx_tpl_is_number(b)) {
        *out = order_fits(op, mx_tpl_number_order(a, b));
        return MX_OK;
    }
    if (a.kind == MX_TPL_UNDEFINED || b.kind == MX_TPL_UNDEFINED) {
        return mx_tpl_fail_undefined(run, a.kind == MX_TPL_UNDEFINED ? a : b);
    }
    if (a.kind == b.kind && (mx_tpl_is_str(a) || a.kind == MX_TPL_BYTES)) {
        /* The order of UTF-8 bytes is that of code points. */
        MX_TRY(mx_tpl_bytes_walked(run, MX_MIN(a.len, b.len)));
        const int order = mx_str_compare(mx_tpl_view(a), mx_tpl_view(b));
        *out = order_fits(op, order < 0 ? -1 : order > 0);
        return MX_OK;
    }
    if (a.kind == b.kind && mx_tpl_is_list(a)) {
        return order_lists(run, op, a.as.list, b.as.list, depth + 1, out);
    }
    const bool a_is_set = a.kind == MX_TPL_KEYS || a.kind == MX_TPL_ITEMS;
    const bool b_is_set = b.kind == MX_TPL_KEYS || b.kind == MX_TPL_ITEMS;
    if (a_is_set && b_is_set) {
        return order_views(run, op, a, b, out);
    }
    return mx_tpl_fail_type(run, "'%s' not supported between instances of '%s' and '%s'", op_text(op),
                            mx_tpl_type_name(a), mx_tpl_type_name(b));
}

mx_status mx_tpl_compare(mx_tpl_run *run, mx_tpl_op op, mx_tpl_value a, mx_tpl_value b, bool *out)
{
    switch (op) {
    case MX_TPL_OP_EQ: return equal_at(run, a, b, 0, out);
    case MX_TPL_OP_NE:
        MX_TRY(equal_at(run, a, b, 0, out));
        *out = !*out;
        return MX_OK;
    case MX_TPL_OP_IN: return mx_tpl_contains(run, b, a, out);
    case MX_TPL_OP_NOT_IN:
        MX_TRY(mx_tpl_contains(run, b, a, out));
        *out = !*out;
        return MX_OK;
    default: return order_at(run, op, a, b, 0, out);
    }
}

static mx_status contains_item(mx_tpl_run *run, const mx_tpl_dict *dict, mx_tpl_value pair, bool *out)
{
    *out = false;
    if (pair.kind != MX_TPL_TUPLE || pair.as.list->n != 2) {
        return MX_OK;
    }
    mx_tpl_value value;
    MX_TRY(mx_tpl_dict_find(run, dict, pair.as.list->items[0], &value, out));
    return *out ? mx_tpl_equal(run, value, pair.as.list->items[1], out) : MX_OK;
}

mx_status mx_tpl_contains(mx_tpl_run *run, mx_tpl_value container, mx_tpl_value item, bool *out)
{
    mx_tpl_value ignored;
    switch ((mx_tpl_kind)container.kind) {
    case MX_TPL_STR:
        if (!mx_tpl_is_str(item)) {
            return mx_tpl_fail_type(run, "'in <string>' requires string as left operand, not %s",
                                    mx_tpl_type_name(item));
        }
        MX_TRY(mx_tpl_bytes_walked(run, container.len));
        *out = mx_str_find(mx_tpl_view(container), mx_tpl_view(item), 0) != MX_STR_NPOS;
        return MX_OK;
    case MX_TPL_DICT:
    case MX_TPL_KEYS: return mx_tpl_dict_find(run, container.as.dict, item, &ignored, out);
    case MX_TPL_ITEMS: return contains_item(run, container.as.dict, item, out);
    case MX_TPL_RANGE:
        if (item.kind == MX_TPL_INT || item.kind == MX_TPL_BOOL) {
            const mx_tpl_range *r = container.as.range;
            const int64_t i = item.kind == MX_TPL_BOOL ? item.as.b : item.as.i;
            const bool is_within = r->step > 0 ? i >= r->start && i < r->stop : i <= r->start && i > r->stop;
            const uint64_t step = r->step > 0 ? (uint64_t)r->step : 0 - (uint64_t)r->step;
            const uint64_t distance = r->step > 0 ? (uint64_t)i - (uint64_t)r->start : (uint64_t)r->start - (uint64_t)i;
            *out = is_within && distance % step == 0;
            return MX_OK;
        }
        break;
    default: break;
    }
    if (!mx_tpl_is_iterable(container)) {
        return mx_tpl_fail_type(run, "argument of type '%s' is not iterable", mx_tpl_type_name(container));
    }
    mx_tpl_cursor cursor;
    MX_TRY(mx_tpl_cursor_open(run, container, &cursor));
    *out = false;
    for (bool has_item = true;;) {
        mx_tpl_value member;
        MX_TRY(mx_tpl_cursor_next(run, &cursor, &member, &has_item));
        if (!has_item) {
            return MX_OK;
        }
        *out = mx_tpl_same(member, item);
        if (!*out) {
            MX_TRY(mx_tpl_equal(run, member, item, out));
        }
        if (*out) {
            return MX_OK;
        }
    }
}

static uint64_t mix(uint64_t h)
{
    h ^= h >> 31;
    h *= 0x9E3779B97F4A7C15u;
    return h ^ (h >> 29);
}

/* Numbers that are equal have one hash, whatever their type. */
static uint64_t hash_number(mx_tpl_value v)
{
    if (v.kind == MX_TPL_BIG) {
        v = mx_tpl_float(mx_tpl_as_double(v));
    }
    if (v.kind == MX_TPL_FLOAT) {
        if (v.as.f >= -9.2e18 && v.as.f <= 9.2e18 && v.as.f == (double)(int64_t)v.as.f) {
            return mix((uint64_t)(int64_t)v.as.f);
        }
        uint64_t bits;
        memcpy(&bits, &v.as.f, sizeof bits);
        return mix(bits);
    }
    /* Beyond 2^53 a float may equal several integers' nearest; those hash as that float does. */
    const int64_t i = v.kind == MX_TPL_BOOL ? v.as.b : v.as.i;
    if (i > 9200000000000000000 || i < -9200000000000000000) {
        return hash_number(mx_tpl_float((double)i));
    }
    return mix((uint64_t)i);
}

mx_status mx_tpl_hash(mx_tpl_run *run, mx_tpl_value v, uint64_t *out)
{
    switch ((mx_tpl_kind)v.kind) {
    case MX_TPL_STR:
    case MX_TPL_BYTES:
        MX_TRY(mx_tpl_bytes_walked(run, v.len));
        *out = mx_str_hash(mx_tpl_view(v));
        return MX_OK;
    case MX_TPL_BOOL:
    case MX_TPL_INT:
    case MX_TPL_BIG:
    case MX_TPL_FLOAT: *out = hash_number(v); return MX_OK;
    case MX_TPL_TUPLE: {
        uint64_t h = v.as.list->n;
        MX_TRY(mx_tpl_enter(run));
        for (size_t i = 0; i < v.as.list->n; i++) {
            uint64_t item = 0;
            MX_TRY(mx_tpl_steps(run, 1)); /* a tuple of itself twice, and again, has endless members */
            MX_TRY(mx_tpl_hash(run, v.as.list->items[i], &item));
            h = mix(h ^ item) + 1;
        }
        run->depth--;
        *out = h;
        return MX_OK;
    }
    case MX_TPL_LIST:
    case MX_TPL_DICT:
    case MX_TPL_KEYS:
    case MX_TPL_ITEMS:
    case MX_TPL_SLICE: return mx_tpl_fail_type(run, "unhashable type: '%s'", mx_tpl_type_name(v));
    case MX_TPL_RANGE: *out = mix((uint64_t)v.as.range->n); return MX_OK;
    case MX_TPL_METHOD: *out = mix((uint64_t)(uintptr_t)v.as.bound->method); return MX_OK;
    case MX_TPL_UNDEFINED:
    case MX_TPL_NONE:
    case MX_TPL_MISSING: *out = mix(v.kind); return MX_OK;
    default: *out = mix((uint64_t)(uintptr_t)v.as.list); return MX_OK;
    }
}
