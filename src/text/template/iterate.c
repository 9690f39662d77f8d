/* iterate.c - going through values, and len(). */
#include "text/template/chars.h"
#include "text/template/run.h"

bool mx_tpl_is_iterable(mx_tpl_value v)
{
    switch ((mx_tpl_kind)v.kind) {
    case MX_TPL_UNDEFINED:
    case MX_TPL_STR:
    case MX_TPL_BYTES:
    case MX_TPL_LIST:
    case MX_TPL_TUPLE:
    case MX_TPL_DICT:
    case MX_TPL_RANGE:
    case MX_TPL_KEYS:
    case MX_TPL_VALUES:
    case MX_TPL_ITEMS:
    case MX_TPL_ITER:
    case MX_TPL_LOOP: return true;
    default: return false;
    }
}

mx_status mx_tpl_cursor_open(mx_tpl_run *run, mx_tpl_value v, mx_tpl_cursor *out)
{
    if (!mx_tpl_is_iterable(v)) {
        return mx_tpl_fail_type(run, "'%s' object is not iterable", mx_tpl_type_name(v));
    }
    *out = (mx_tpl_cursor){.over = v};
    return MX_OK;
}

static mx_status next_item(mx_tpl_run *run, mx_tpl_value key, mx_tpl_value value, mx_tpl_value *item)
{
    mx_tpl_value *pair = NULL;
    MX_TRY(mx_tpl_new_tuple(run, 2, &pair, item));
    pair[0] = key;
    pair[1] = value;
    return MX_OK;
}

static void next_char(mx_tpl_cursor *cursor, mx_tpl_value *item)
{
    const mx_str s = mx_tpl_view(cursor->over);
    const size_t from = cursor->at;
    (void)mx_tpl_char_at(s, &cursor->at);
    *item = mx_tpl_str_raw(mx_str_slice(s, from, cursor->at), cursor->at - from == 1 ? MX_TPL_ASCII : 0);
}

mx_status mx_tpl_cursor_next(mx_tpl_run *run, mx_tpl_cursor *cursor, mx_tpl_value *item, bool *has_item)
{
    MX_TRY(mx_tpl_steps(run, 1));
    const mx_tpl_value over = cursor->over;
    const size_t at = cursor->at;
    *has_item = false;
    switch ((mx_tpl_kind)over.kind) {
    case MX_TPL_STR:
        *has_item = at < over.len;
        if (*has_item) {
            next_char(cursor, item);
        }
        return MX_OK;
    case MX_TPL_BYTES:
        *has_item = at < over.len;
        if (*has_item) {
            *item = mx_tpl_int((unsigned char)over.as.s[cursor->at++]);
        }
        return MX_OK;
    case MX_TPL_LIST:
    case MX_TPL_TUPLE:
        *has_item = at < over.as.list->n;
        if (*has_item) {
            *item = over.as.list->items[cursor->at++];
        }
        return MX_OK;
    case MX_TPL_RANGE:
        *has_item = (int64_t)at < over.as.range->n;
        if (*has_item) {
            *item = mx_tpl_int(over.as.range->start + (int64_t)cursor->at++ * over.as.range->step);
        }
        return MX_OK;
    case MX_TPL_DICT:
    case MX_TPL_KEYS:
    case MX_TPL_VALUES:
    case MX_TPL_ITEMS:
        *has_item = at < over.as.dict->n;
        if (*has_item) {
            const mx_tpl_entry *entry = &over.as.dict->entries[cursor->at++];
            if (over.kind == MX_TPL_ITEMS) {
                return next_item(run, entry->key, entry->value, item);
            }
            *item = over.kind == MX_TPL_VALUES ? entry->value : entry->key;
        }
        return MX_OK;
    case MX_TPL_ITER:
        if (!over.as.iter->is_done) {
            MX_TRY(mx_tpl_enter(run)); /* iterators over iterators over ... */
            MX_TRY(over.as.iter->next(run, over.as.iter, item, has_item));
            run->depth--;
            over.as.iter->is_done = !*has_item;
        }
        return MX_OK;
    case MX_TPL_LOOP:
        MX_TRY(mx_tpl_loop_step(run, over.as.loop, item, has_item));
        return *has_item ? next_item(run, *item, over, item) : MX_OK;
    default: return MX_OK; /* an undefined value is empty */
    }
}

bool mx_tpl_has_length(mx_tpl_value v)
{
    return mx_tpl_is_iterable(v) && v.kind != MX_TPL_ITER;
}

mx_status mx_tpl_length(mx_tpl_run *run, mx_tpl_value v, int64_t *out)
{
    mx_tpl_value n;
    bool found = false;
    switch ((mx_tpl_kind)v.kind) {
    case MX_TPL_UNDEFINED: *out = 0; return MX_OK;
    case MX_TPL_STR:
        MX_TRY(mx_tpl_bytes_walked(run, v.len));
        *out = (int64_t)((v.flags & MX_TPL_ASCII) ? v.len : mx_tpl_count_chars(mx_tpl_view(v)));
        return MX_OK;
    case MX_TPL_BYTES: *out = (int64_t)v.len; return MX_OK;
    case MX_TPL_LIST:
    case MX_TPL_TUPLE: *out = (int64_t)v.as.list->n; return MX_OK;
    case MX_TPL_RANGE: *out = v.as.range->n; return MX_OK;
    case MX_TPL_DICT:
    case MX_TPL_KEYS:
    case MX_TPL_VALUES:
    case MX_TPL_ITEMS: *out = (int64_t)v.as.dict->n; return MX_OK;
    case MX_TPL_LOOP:
        MX_TRY(mx_tpl_loop_attr(run, v.as.loop, MX_STR("length"), &n, &found));
        *out = n.as.i;
        return MX_OK;
    default: return mx_tpl_fail_type(run, "object of type '%s' has no len()", mx_tpl_type_name(v));
    }
}

mx_status mx_tpl_to_vec(mx_tpl_run *run, mx_tpl_value v, mx_tpl_vec *out)
{
    *out = (mx_tpl_vec){0};
    if (mx_tpl_is_list(v)) { /* full, so that pushing copies first */
        *out = (mx_tpl_vec){.items = v.as.list->items, .n = v.as.list->n, .cap = v.as.list->n};
        return mx_tpl_steps(run, 1);
    }
    mx_tpl_cursor cursor;
    MX_TRY(mx_tpl_cursor_open(run, v, &cursor));
    for (bool has_item = true;;) {
        mx_tpl_value item;
        MX_TRY(mx_tpl_cursor_next(run, &cursor, &item, &has_item));
        if (!has_item) {
            return MX_OK;
        }
        MX_TRY(mx_tpl_vec_push(run, out, item));
    }
}

mx_status mx_tpl_new_iter(mx_tpl_run *run, const char *type, void *state,
                          mx_status (*next)(mx_tpl_run *, mx_tpl_iter *, mx_tpl_value *, bool *), mx_tpl_value *out)
{
    mx_tpl_iter *iter = NULL;
    MX_TRY(mx_tpl_alloc(run, 1, sizeof *iter, &iter));
    *iter = (mx_tpl_iter){.next = next, .state = state, .type = type};
    *out = (mx_tpl_value){.kind = MX_TPL_ITER, .as.iter = iter};
    return MX_OK;
}

mx_status mx_tpl_unpack(mx_tpl_run *run, mx_tpl_value v, size_t n, mx_tpl_value *items)
{
    mx_tpl_cursor cursor;
    if (!mx_tpl_is_iterable(v)) {
        return mx_tpl_fail_type(run, "cannot unpack non-iterable %s object", mx_tpl_type_name(v));
    }
    MX_TRY(mx_tpl_cursor_open(run, v, &cursor));
    for (size_t i = 0; i <= n; i++) {
        mx_tpl_value item;
        bool has_item = false;
        MX_TRY(mx_tpl_cursor_next(run, &cursor, &item, &has_item));
        if (i == n) {
            return has_item ? mx_tpl_fail_type(run, "too many values to unpack (expected %zu)", n) : MX_OK;
        }
        if (!has_item) {
            return mx_tpl_fail_type(run, "not enough values to unpack (expected %zu, got %zu)", n, i);
        }
        items[i] = item;
    }
    return MX_OK;
}
