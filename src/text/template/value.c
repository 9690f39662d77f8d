/* value.c - making values. */
#include "text/template/value.h"

#include "text/template/bigint.h"
#include "text/template/run.h"

static const char *const type_names[] = {
#define X(name, text) [MX_TPL_##name] = (text),
    MX_TPL_KIND_LIST(X)
#undef X
};
_Static_assert(MX_COUNTOF(type_names) == MX_TPL_KIND_COUNT, "one name a kind");

const char *mx_tpl_type_name(mx_tpl_value v)
{
    if (v.kind == MX_TPL_ITER) {
        return v.as.iter->type;
    }
    return mx_tpl_is_markup(v) ? "Markup" : type_names[v.kind];
}

mx_tpl_value mx_tpl_str(mx_str s)
{
    unsigned char all = 0;
    for (size_t i = 0; i < s.len; i++) {
        all |= (unsigned char)s.ptr[i];
    }
    return mx_tpl_str_raw(s, all < 128 ? MX_TPL_ASCII : 0);
}

static mx_status new_sequence(mx_tpl_run *run, mx_tpl_kind kind, size_t n, mx_tpl_value **items, mx_tpl_value *out)
{
    mx_tpl_list *list = NULL;
    MX_TRY(mx_tpl_alloc(run, 1, sizeof *list, &list));
    MX_TRY(mx_tpl_alloc(run, n, sizeof *list->items, &list->items));
    list->n = n;
    *items = list->items;
    *out = (mx_tpl_value){.kind = (uint8_t)kind, .as.list = list};
    return MX_OK;
}

mx_status mx_tpl_new_list(mx_tpl_run *run, size_t n, mx_tpl_value **items, mx_tpl_value *out)
{
    return new_sequence(run, MX_TPL_LIST, n, items, out);
}

mx_status mx_tpl_new_tuple(mx_tpl_run *run, size_t n, mx_tpl_value **items, mx_tpl_value *out)
{
    return new_sequence(run, MX_TPL_TUPLE, n, items, out);
}

mx_status mx_tpl_vec_push(mx_tpl_run *run, mx_tpl_vec *vec, mx_tpl_value v)
{
    MX_TRY(mx_tpl_steps(run, 1));
    if (vec->n == vec->cap) {
        const size_t cap = vec->cap ? vec->cap * 2 : 8;
        mx_tpl_value *items = NULL;
        MX_TRY(mx_tpl_alloc(run, cap, sizeof *items, &items));
        if (vec->n) {
            memcpy(items, vec->items, vec->n * sizeof *items);
        }
        vec->items = items;
        vec->cap = cap;
    }
    vec->items[vec->n++] = v;
    return MX_OK;
}

mx_status mx_tpl_vec_to(mx_tpl_run *run, const mx_tpl_vec *vec, mx_tpl_kind kind, mx_tpl_value *out)
{
    mx_tpl_list *list = NULL;
    MX_TRY(mx_tpl_alloc(run, 1, sizeof *list, &list));
    *list = (mx_tpl_list){vec->items, vec->n};
    *out = (mx_tpl_value){.kind = (uint8_t)kind, .as.list = list};
    return MX_OK;
}

static mx_status new_undefined(mx_tpl_run *run, mx_tpl_undef why, mx_tpl_value *out)
{
    mx_tpl_undef *undef = NULL;
    MX_TRY(mx_tpl_alloc(run, 1, sizeof *undef, &undef));
    *undef = why;
    *out = (mx_tpl_value){.kind = MX_TPL_UNDEFINED, .as.undef = undef};
    return MX_OK;
}

mx_status mx_tpl_new_undefined(mx_tpl_run *run, mx_tpl_value owner, mx_tpl_value name, bool is_forbidden,
                               mx_tpl_value *out)
{
    if (!mx_tpl_is_str(name)) {
        const size_t mark = mx_tpl_mark(run);
        MX_TRY(mx_tpl_put_repr(run, name));
        MX_TRY(mx_tpl_take(run, mark, 0, &name));
    }
    const mx_tpl_undef why = {
        .name = mx_tpl_view(name), .owner = mx_tpl_type_name(owner), .is_forbidden = is_forbidden};
    return new_undefined(run, why, out);
}

mx_status mx_tpl_new_undefined_name(mx_tpl_run *run, mx_str name, mx_tpl_value *out)
{
    return new_undefined(run, (mx_tpl_undef){.name = name}, out);
}

mx_status mx_tpl_new_undefined_hint(mx_tpl_run *run, mx_str hint, mx_tpl_value *out)
{
    return new_undefined(run, (mx_tpl_undef){.hint = hint}, out);
}

mx_status mx_tpl_new_range(mx_tpl_run *run, int64_t start, int64_t stop, int64_t step, mx_tpl_value *out)
{
    /* Distances are taken as unsigned: they may pass INT64_MAX. */
    uint64_t n = 0;
    if (step > 0 && start < stop) {
        n = ((uint64_t)stop - (uint64_t)start - 1) / (uint64_t)step + 1;
    } else if (step < 0 && start > stop) {
        n = ((uint64_t)start - (uint64_t)stop - 1) / (0 - (uint64_t)step) + 1;
    }
    if (n > INT64_MAX) {
        return mx_tpl_fail_type(run, "a range has too many members");
    }
    mx_tpl_range *range = NULL;
    MX_TRY(mx_tpl_alloc(run, 1, sizeof *range, &range));
    *range = (mx_tpl_range){start, stop, step, (int64_t)n};
    *out = (mx_tpl_value){.kind = MX_TPL_RANGE, .as.range = range};
    return MX_OK;
}

static mx_status from_json_at(mx_tpl_run *run, yyjson_val *json, int depth, mx_tpl_value *out);

static mx_status list_from_json(mx_tpl_run *run, yyjson_val *json, int depth, mx_tpl_value *out)
{
    mx_tpl_value *items = NULL;
    MX_TRY(mx_tpl_new_list(run, yyjson_arr_size(json), &items, out));
    yyjson_arr_iter iter = yyjson_arr_iter_with(json);
    for (yyjson_val *item = yyjson_arr_iter_next(&iter); item; item = yyjson_arr_iter_next(&iter)) {
        MX_TRY(from_json_at(run, item, depth, items++));
    }
    return MX_OK;
}

static mx_status dict_from_json(mx_tpl_run *run, yyjson_val *json, int depth, mx_tpl_value *out)
{
    MX_TRY(mx_tpl_new_dict(run, yyjson_obj_size(json), out));
    yyjson_obj_iter iter = yyjson_obj_iter_with(json);
    for (yyjson_val *key = yyjson_obj_iter_next(&iter); key; key = yyjson_obj_iter_next(&iter)) {
        mx_tpl_value value;
        MX_TRY(from_json_at(run, yyjson_obj_iter_get_val(key), depth, &value));
        MX_TRY(mx_tpl_dict_set(run, out->as.dict, mx_tpl_str(mx_json_view_str(key)), value));
    }
    return MX_OK;
}

/* A number that yyjson has left as it is written: a long integer, or a float beyond the range of doubles. */
static mx_status number_from_text(mx_tpl_run *run, mx_str text, mx_tpl_value *out)
{
    double d = 0;
    bool is_int = false;
    MX_TRY(mx_tpl_parse_int(run, text, 10, out, &is_int));
    if (!is_int) {
        (void)mx_tpl_parse_float(text, &d);
        *out = mx_tpl_float(d);
    }
    return MX_OK;
}

static mx_status from_json_at(mx_tpl_run *run, yyjson_val *json, int depth, mx_tpl_value *out)
{
    if (depth > MX_JSON_MAX_DEPTH) {
        return mx_tpl_fail(run, MX_TEMPLATE_LIMIT, "a variable holds lists or objects nested more than %d deep",
                           MX_JSON_MAX_DEPTH);
    }
    switch (yyjson_get_type(json)) {
    case YYJSON_TYPE_BOOL: *out = mx_tpl_bool(yyjson_get_bool(json)); return MX_OK;
    case YYJSON_TYPE_NUM:
        if (yyjson_is_real(json)) {
            *out = mx_tpl_float(yyjson_get_real(json));
            return MX_OK;
        }
        return yyjson_is_sint(json) ? (*out = mx_tpl_int(yyjson_get_sint(json)), MX_OK)
                                    : mx_tpl_big_from_u64(run, yyjson_get_uint(json), out);
    case YYJSON_TYPE_STR:
        if (yyjson_get_len(json) > MX_TPL_MAX_STR) {
            return mx_tpl_fail(run, MX_TEMPLATE_LIMIT, "a variable holds a text of more than %zu bytes",
                               MX_TPL_MAX_STR);
        }
        *out = mx_tpl_str(mx_json_view_str(json));
        return MX_OK;
    case YYJSON_TYPE_ARR: return list_from_json(run, json, depth + 1, out);
    case YYJSON_TYPE_OBJ: return dict_from_json(run, json, depth + 1, out);
    case YYJSON_TYPE_RAW: return number_from_text(run, (mx_str){yyjson_get_raw(json), yyjson_get_len(json)}, out);
    default: *out = mx_tpl_none(); return MX_OK;
    }
}

mx_status mx_tpl_from_json(mx_tpl_run *run, yyjson_val *json, mx_tpl_value *out)
{
    return from_json_at(run, json, 0, out);
}
