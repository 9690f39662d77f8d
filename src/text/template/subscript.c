/* subscript.c - a.b, a['b'] and a[1:2]: attributes before items for the first, items before attributes for the second.
 */
#include "text/template/chars.h"
#include "text/template/run.h"

/* What would change a list or a dict: the sandbox knows the names and gives none of them out. */
static const char *const list_mutators[] = {"append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"};
static const char *const dict_mutators[] = {"clear", "pop", "popitem", "setdefault", "update"};

static bool is_one_of(mx_str name, const char *const *names, size_t n_names)
{
    for (size_t i = 0; i < n_names; i++) {
        if (mx_str_eq_cstr(name, names[i])) {
            return true;
        }
    }
    return false;
}

static bool is_mutator(mx_tpl_value obj, mx_str name)
{
    if (obj.kind == MX_TPL_LIST) {
        return is_one_of(name, list_mutators, MX_COUNTOF(list_mutators));
    }
    return obj.kind == MX_TPL_DICT && is_one_of(name, dict_mutators, MX_COUNTOF(dict_mutators));
}

/* Every object of Python has some of these; none is given out. */
static bool is_dunder(mx_str name)
{
    static const char *const common[] = {
        "__class__",        "__doc__",     "__init__",    "__dict__",   "__module__",       "__eq__",
        "__hash__",         "__repr__",    "__str__",     "__reduce__", "__new__",          "__dir__",
        "__ne__",           "__lt__",      "__gt__",      "__le__",     "__ge__",           "__format__",
        "__getattribute__", "__setattr__", "__delattr__", "__sizeof__", "__subclasshook__", "__init_subclass__",
        "__reduce_ex__",    "__len__",     "__iter__"};
    return is_one_of(name, common, MX_COUNTOF(common));
}

static mx_status new_bound(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_filter *method, mx_tpl_value *out)
{
    mx_tpl_bound *bound = NULL;
    MX_TRY(mx_tpl_alloc(run, 1, sizeof *bound, &bound));
    *bound = (mx_tpl_bound){method, self};
    *out = (mx_tpl_value){.kind = MX_TPL_METHOD, .as.bound = bound};
    return MX_OK;
}

/* A row that requires fewer than no arguments is a property: it is called at once. */
static mx_status method_or_property(mx_tpl_run *run, mx_tpl_value obj, mx_str name, mx_tpl_value *out, bool *found)
{
    const mx_tpl_filter *method = mx_tpl_find_method(obj, name);
    *found = method != NULL;
    if (!method) {
        return MX_OK;
    }
    return method->n_required < 0 ? method->fn(run, obj, NULL, out) : new_bound(run, obj, method, out);
}

mx_status mx_tpl_attribute(mx_tpl_run *run, mx_tpl_value obj, mx_str name, mx_tpl_value *out, bool *found)
{
    *found = false;
    if (obj.kind == MX_TPL_NAMESPACE) {
        *found = mx_tpl_dict_find_str(obj.as.dict, name, out);
        return MX_OK;
    }
    if (obj.kind == MX_TPL_LOOP) {
        return mx_tpl_loop_attr(run, obj.as.loop, name, out, found);
    }
    if (obj.kind == MX_TPL_TUPLE && (obj.flags & MX_TPL_GROUP)) {
        const bool is_list = mx_str_eq_cstr(name, "list");
        if (is_list || mx_str_eq_cstr(name, "grouper")) {
            *found = true;
            *out = obj.as.list->items[is_list];
            return MX_OK;
        }
    }
    if (obj.kind == MX_TPL_SELF) {
        for (int32_t i = 0; i < run->tree->blocks.n; i++) {
            const mx_tpl_func *func = run->tree->blocks.items[i]->as.macro.func;
            if (mx_str_eq(func->name, name)) {
                *found = true;
                *out = (mx_tpl_value){.kind = MX_TPL_BLOCK, .as.block = func};
            }
        }
        return MX_OK;
    }
    return method_or_property(run, obj, name, out, found);
}

/* The attribute as the sandbox gives it out. */
static mx_status safe_attribute(mx_tpl_run *run, mx_tpl_value obj, mx_str name, mx_tpl_value *out, bool *found)
{
    if (is_mutator(obj, name) || is_dunder(name)) {
        *found = true;
        return mx_tpl_new_undefined(run, obj, mx_tpl_str(name), true, out);
    }
    MX_TRY(mx_tpl_attribute(run, obj, name, out, found));
    if (*found && name.len && name.ptr[0] == '_') {
        return mx_tpl_new_undefined(run, obj, mx_tpl_str(name), true, out);
    }
    return MX_OK;
}

static int64_t char_count(mx_tpl_value s)
{
    return (int64_t)((s.flags & MX_TPL_ASCII) ? s.len : mx_tpl_count_chars(mx_tpl_view(s)));
}

static mx_status char_of_str(mx_tpl_run *run, mx_tpl_value s, int64_t i, mx_tpl_value *out, bool *found)
{
    const mx_str text = mx_tpl_view(s);
    MX_TRY(mx_tpl_bytes_walked(run, (s.flags & MX_TPL_ASCII) ? 0 : s.len));
    const int64_t n = char_count(s);
    i = i < 0 ? i + n : i;
    *found = i >= 0 && i < n;
    if (*found) {
        const size_t from = (s.flags & MX_TPL_ASCII) ? (size_t)i : mx_tpl_char_offset(text, (size_t)i);
        size_t to = from;
        (void)mx_tpl_char_at(text, &to);
        *out = mx_tpl_str(mx_str_slice(text, from, to));
        out->flags |= s.flags & MX_TPL_MARKUP;
    }
    return MX_OK;
}

/* obj[key] by number; *found false where there is no such item. */
static mx_status item_by_number(mx_tpl_run *run, mx_tpl_value obj, int64_t i, mx_tpl_value *out, bool *found)
{
    int64_t n = 0;
    switch ((mx_tpl_kind)obj.kind) {
    case MX_TPL_STR: return char_of_str(run, obj, i, out, found);
    case MX_TPL_BYTES: n = (int64_t)obj.len; break;
    case MX_TPL_LIST:
    case MX_TPL_TUPLE: n = (int64_t)obj.as.list->n; break;
    case MX_TPL_RANGE: n = obj.as.range->n; break;
    default: return MX_OK;
    }
    i = i < 0 ? i + n : i;
    *found = i >= 0 && i < n;
    if (!*found) {
        return MX_OK;
    }
    *out = obj.kind == MX_TPL_BYTES   ? mx_tpl_int((unsigned char)obj.as.s[i])
           : obj.kind == MX_TPL_RANGE ? mx_tpl_int(obj.as.range->start + i * obj.as.range->step)
                                      : obj.as.list->items[i];
    return MX_OK;
}

static bool is_hashable(mx_tpl_value v)
{
    if (v.kind == MX_TPL_TUPLE) {
        for (size_t i = 0; i < v.as.list->n; i++) {
            const mx_tpl_kind kind = (mx_tpl_kind)v.as.list->items[i].kind;
            if (kind == MX_TPL_LIST || kind == MX_TPL_DICT || kind == MX_TPL_TUPLE) {
                return false; /* tuples in tuples are no keys here either: nobody has them */
            }
        }
        return true;
    }
    return v.kind != MX_TPL_LIST && v.kind != MX_TPL_DICT && v.kind != MX_TPL_SLICE && v.kind != MX_TPL_KEYS &&
           v.kind != MX_TPL_ITEMS;
}

static mx_status item(mx_tpl_run *run, mx_tpl_value obj, mx_tpl_value key, mx_tpl_value *out, bool *found)
{
    *found = false;
    if (obj.kind == MX_TPL_UNDEFINED) {
        return mx_tpl_fail_undefined(run, obj);
    }
    if (obj.kind == MX_TPL_DICT) {
        return is_hashable(key) ? mx_tpl_dict_find(run, obj.as.dict, key, out, found) : MX_OK;
    }
    if (key.kind == MX_TPL_SLICE && mx_tpl_has_length(obj)) {
        *found = true;
        return mx_tpl_slice(run, obj, key.as.list->items, out);
    }
    if (!mx_tpl_is_integral(key)) {
        return MX_OK;
    }
    int64_t i = 0;
    MX_TRY(mx_tpl_to_index(run, key, &i));
    return item_by_number(run, obj, i, out, found);
}

mx_status mx_tpl_getattr(mx_tpl_run *run, mx_tpl_value obj, mx_str name, mx_tpl_value *out)
{
    bool found = false;
    if (obj.kind == MX_TPL_UNDEFINED && !is_dunder(name)) {
        return mx_tpl_fail_undefined(run, obj);
    }
    MX_TRY(safe_attribute(run, obj, name, out, &found));
    if (!found && obj.kind == MX_TPL_DICT) {
        found = mx_tpl_dict_find_str(obj.as.dict, name, out);
    }
    return found ? MX_OK : mx_tpl_new_undefined(run, obj, mx_tpl_str(name), false, out);
}

mx_status mx_tpl_getitem(mx_tpl_run *run, mx_tpl_value obj, mx_tpl_value key, mx_tpl_value *out)
{
    bool found = false;
    MX_TRY(item(run, obj, key, out, &found));
    if (!found && mx_tpl_is_str(key)) {
        MX_TRY(safe_attribute(run, obj, mx_tpl_view(key), out, &found));
    }
    return found ? MX_OK : mx_tpl_new_undefined(run, obj, key, false, out);
}

static mx_status bound_of(mx_tpl_run *run, mx_tpl_value v, int64_t otherwise, int64_t *out)
{
    if (v.kind == MX_TPL_NONE || v.kind == MX_TPL_MISSING) {
        *out = otherwise;
        return MX_OK;
    }
    if (!mx_tpl_is_integral(v)) {
        return mx_tpl_fail_type(run, "slice indices must be integers or None or have an __index__ method");
    }
    return mx_tpl_to_index(run, v, out);
}

/* Which of n items a slice means, with Python's rules for bounds beyond the ends and for negative steps. */
mx_status mx_tpl_span_of(mx_tpl_run *run, const mx_tpl_value bounds[3], int64_t n, mx_tpl_span *out)
{
    int64_t step = 1;
    int64_t start = 0;
    int64_t stop = 0;
    MX_TRY(bound_of(run, bounds[2], 1, &step));
    if (step == 0) {
        return mx_tpl_fail_type(run, "slice step cannot be zero");
    }
    step = MX_MAX(step, -INT64_MAX);
    const int64_t low = step < 0 ? -1 : 0;
    const int64_t high = step < 0 ? n - 1 : n;
    MX_TRY(bound_of(run, bounds[0], step < 0 ? INT64_MAX : 0, &start));
    MX_TRY(bound_of(run, bounds[1], step < 0 ? INT64_MIN : INT64_MAX, &stop));
    const bool no_stop = bounds[1].kind == MX_TPL_NONE || bounds[1].kind == MX_TPL_MISSING;
    start = start < 0 ? (start < -n ? low : start + n) : MX_MIN(start, high);
    stop = no_stop ? (step < 0 ? -1 : n) : stop < 0 ? (stop < -n ? low : stop + n) : MX_MIN(stop, high);
    int64_t count = 0;
    if (step > 0 && start < stop) {
        count = (stop - start - 1) / step + 1;
    } else if (step < 0 && start > stop) {
        count = (start - stop - 1) / -step + 1;
    }
    *out = (mx_tpl_span){start, step, count};
    return MX_OK;
}

static mx_status slice_str(mx_tpl_run *run, mx_tpl_value s, mx_tpl_span span, mx_tpl_value *out)
{
    const mx_str text = mx_tpl_view(s);
    const bool is_bytes = s.kind == MX_TPL_BYTES || (s.flags & MX_TPL_ASCII);
    MX_TRY(mx_tpl_bytes_walked(run, is_bytes ? 0 : s.len));
    if (span.n == 0) {
        *out = mx_tpl_str_raw(MX_STR(""), s.flags | MX_TPL_ASCII);
    } else if (span.step == 1) {
        const size_t from = is_bytes ? (size_t)span.start : mx_tpl_char_offset(text, (size_t)span.start);
        const mx_str rest = mx_str_slice(text, from, text.len);
        *out = s;
        out->as.s = rest.ptr;
        out->len = (uint32_t)(is_bytes ? (size_t)span.n : mx_tpl_char_offset(rest, (size_t)span.n));
    } else {
        size_t at = is_bytes ? (size_t)span.start : mx_tpl_char_offset(text, (size_t)span.start);
        const size_t mark = mx_tpl_mark(run);
        for (int64_t i = 0; i < span.n; i++) {
            size_t next = at;
            if (is_bytes) {
                next++;
            } else {
                (void)mx_tpl_char_at(text, &next);
            }
            MX_TRY(mx_tpl_put(run, mx_str_slice(text, at, next)));
            for (int64_t k = 0; i + 1 < span.n && k < span.step; k++) {
                (void)(is_bytes ? (int32_t)at++ : mx_tpl_char_at(text, &at));
            }
            for (int64_t k = 0; i + 1 < span.n && k > span.step; k--) {
                (void)(is_bytes ? (int32_t)at-- : mx_tpl_char_before(text, &at));
            }
        }
        MX_TRY(mx_tpl_take(run, mark, s.flags & MX_TPL_MARKUP, out));
    }
    out->kind = s.kind;
    return MX_OK;
}

bool mx_tpl_can_slice(mx_tpl_value obj, const mx_tpl_value bounds[3])
{
    for (int i = 0; i < 3; i++) {
        if (bounds[i].kind != MX_TPL_NONE && !mx_tpl_is_integral(bounds[i])) {
            return false;
        }
    }
    return mx_tpl_is_str(obj) || mx_tpl_is_list(obj) || obj.kind == MX_TPL_RANGE || obj.kind == MX_TPL_BYTES ||
           obj.kind == MX_TPL_UNDEFINED;
}

mx_status mx_tpl_slice(mx_tpl_run *run, mx_tpl_value obj, const mx_tpl_value bounds[3], mx_tpl_value *out)
{
    int64_t n = 0;
    mx_tpl_span span;
    if (obj.kind == MX_TPL_UNDEFINED) {
        return mx_tpl_fail_undefined(run, obj);
    }
    if (!mx_tpl_is_str(obj) && !mx_tpl_is_list(obj) && obj.kind != MX_TPL_RANGE && obj.kind != MX_TPL_BYTES) {
        return mx_tpl_fail_type(
            run, obj.kind == MX_TPL_DICT ? "unhashable type: 'slice'" : "'%s' object is not subscriptable",
            mx_tpl_type_name(obj));
    }
    MX_TRY(mx_tpl_length(run, obj, &n));
    MX_TRY(mx_tpl_span_of(run, bounds, n, &span));
    if (mx_tpl_is_str(obj) || obj.kind == MX_TPL_BYTES) {
        return slice_str(run, obj, span, out);
    }
    if (obj.kind == MX_TPL_RANGE) {
        const mx_tpl_range *r = obj.as.range;
        const int64_t start = r->start + span.start * r->step;
        int64_t stop = 0;
        MX_TRY(bound_of(run, bounds[1], 0, &stop));
        return mx_tpl_new_range(run, start, start + span.n * span.step * r->step, span.step * r->step, out);
    }
    mx_tpl_value *items = NULL;
    MX_TRY(obj.kind == MX_TPL_LIST ? mx_tpl_new_list(run, (size_t)span.n, &items, out)
                                   : mx_tpl_new_tuple(run, (size_t)span.n, &items, out));
    for (int64_t i = 0; i < span.n; i++) {
        items[i] = obj.as.list->items[span.start + i * span.step];
    }
    return MX_OK;
}
