/* methods_container.c - methods of dicts, lists, tuples, ranges and bytes; those that would change one are not here. */
#include "base/utf8.h"
#include "text/template/chars.h"
#include "text/template/methods.h"

#define METHOD(name) \
    static mx_status name(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)

/* dict */

#define VIEW_METHOD(name, view_kind) \
    METHOD(name)                     \
    {                                \
        (void)run;                   \
        (void)args;                  \
        *out = self;                 \
        out->kind = (view_kind);     \
        return MX_OK;                \
    }
VIEW_METHOD(dict_keys, MX_TPL_KEYS)
VIEW_METHOD(dict_values, MX_TPL_VALUES)
VIEW_METHOD(dict_items, MX_TPL_ITEMS)

METHOD(dict_get)
{
    bool found = false;
    MX_TRY(mx_tpl_dict_find(run, self.as.dict, args[0], out, &found));
    if (!found) {
        *out = mx_tpl_is_given(args[1]) ? args[1] : mx_tpl_none();
    }
    return MX_OK;
}

METHOD(copy)
{
    (void)run;
    (void)args;
    *out = self; /* nothing can change either */
    return MX_OK;
}

METHOD(dict_fromkeys)
{
    (void)self;
    mx_tpl_cursor cursor;
    const mx_tpl_value value = mx_tpl_is_given(args[1]) ? args[1] : mx_tpl_none();
    MX_TRY(mx_tpl_new_dict(run, 0, out));
    MX_TRY(mx_tpl_cursor_open(run, args[0], &cursor));
    for (bool has_item = true;;) {
        mx_tpl_value key;
        MX_TRY(mx_tpl_cursor_next(run, &cursor, &key, &has_item));
        if (!has_item) {
            return MX_OK;
        }
        MX_TRY(mx_tpl_dict_set(run, out->as.dict, key, value));
    }
}

/* lists, tuples, ranges */

METHOD(seq_count)
{
    mx_tpl_cursor cursor;
    int64_t n = 0;
    MX_TRY(mx_tpl_cursor_open(run, self, &cursor));
    for (bool has_item = true;;) {
        mx_tpl_value item;
        bool equal = false;
        MX_TRY(mx_tpl_cursor_next(run, &cursor, &item, &has_item));
        if (!has_item) {
            *out = mx_tpl_int(n);
            return MX_OK;
        }
        MX_TRY(mx_tpl_equal(run, item, args[0], &equal));
        n += equal;
    }
}

METHOD(seq_index)
{
    int64_t n = 0;
    int64_t from = 0;
    int64_t to = INT64_MAX;
    mx_tpl_cursor cursor;
    MX_TRY(mx_tpl_length(run, self, &n));
    MX_TRY(mx_tpl_is_given(args[1]) ? mx_tpl_to_index(run, args[1], &from) : MX_OK);
    MX_TRY(mx_tpl_is_given(args[2]) ? mx_tpl_to_index(run, args[2], &to) : MX_OK);
    from = from < 0 ? MX_MAX(from + n, 0) : from;
    to = to < 0 ? to + n : to;
    MX_TRY(mx_tpl_cursor_open(run, self, &cursor));
    for (int64_t i = 0; i < n && i < to; i++) {
        mx_tpl_value item;
        bool has_item = false;
        bool equal = false;
        MX_TRY(mx_tpl_cursor_next(run, &cursor, &item, &has_item));
        if (i >= from) {
            MX_TRY(mx_tpl_equal(run, item, args[0], &equal));
        }
        if (equal) {
            *out = mx_tpl_int(i);
            return MX_OK;
        }
    }
    return mx_tpl_fail_type(run, "the value is not in the %s", mx_tpl_type_name(self));
}

METHOD(range_start)
{
    (void)run;
    (void)args;
    *out = mx_tpl_int(self.as.range->start);
    return MX_OK;
}

METHOD(range_stop)
{
    (void)run;
    (void)args;
    *out = mx_tpl_int(self.as.range->stop);
    return MX_OK;
}

METHOD(range_step)
{
    (void)run;
    (void)args;
    *out = mx_tpl_int(self.as.range->step);
    return MX_OK;
}

/* views */

METHOD(view_isdisjoint)
{
    mx_tpl_cursor cursor;
    MX_TRY(mx_tpl_cursor_open(run, args[0], &cursor));
    for (bool has_item = true;;) {
        mx_tpl_value item;
        bool found = false;
        MX_TRY(mx_tpl_cursor_next(run, &cursor, &item, &has_item));
        if (has_item) {
            MX_TRY(mx_tpl_contains(run, self, item, &found));
        }
        if (!has_item || found) {
            *out = mx_tpl_bool(!found);
            return MX_OK;
        }
    }
}

/* bytes */

METHOD(bytes_decode)
{
    (void)args;
    if (!mx_utf8_is_valid(mx_tpl_view(self))) {
        return mx_tpl_fail_type(run, "'utf-8' codec can't decode the bytes");
    }
    *out = mx_tpl_str(mx_tpl_view(self));
    return MX_OK;
}

METHOD(bytes_hex)
{
    (void)args;
    static const char hex[] = "0123456789abcdef";
    const size_t mark = mx_tpl_mark(run);
    for (uint32_t i = 0; i < self.len; i++) {
        MX_TRY(mx_tpl_put_char(run, hex[(unsigned char)self.as.s[i] >> 4]));
        MX_TRY(mx_tpl_put_char(run, hex[(unsigned char)self.as.s[i] & 15]));
    }
    return mx_tpl_take(run, mark, 0, out);
}

static const mx_tpl_filter dict_rows[] = {
    {"keys", dict_keys, NULL, 0, NULL},   {"values", dict_values, NULL, 0, NULL},
    {"items", dict_items, NULL, 0, NULL}, {"get", dict_get, "_ _", 1, NULL},
    {"copy", copy, NULL, 0, NULL},        {"fromkeys", dict_fromkeys, "_ _", 1, NULL},
};
const mx_tpl_table mx_tpl_dict_methods = {dict_rows, MX_COUNTOF(dict_rows)};

static const mx_tpl_filter sequence_rows[] = {
    {"count", seq_count, "_", 1, NULL},
    {"index", seq_index, "_ _ _", 1, NULL},
    {"copy", copy, NULL, 0, NULL},
};
const mx_tpl_table mx_tpl_sequence_methods = {sequence_rows, MX_COUNTOF(sequence_rows)};

static const mx_tpl_filter range_rows[] = {
    {"count", seq_count, "_", 1, NULL},
    {"index", seq_index, "_", 1, NULL},
    {"start", range_start, NULL, MX_TPL_PROPERTY, NULL},
    {"stop", range_stop, NULL, MX_TPL_PROPERTY, NULL},
    {"step", range_step, NULL, MX_TPL_PROPERTY, NULL},
};
const mx_tpl_table mx_tpl_range_methods = {range_rows, MX_COUNTOF(range_rows)};

static const mx_tpl_filter view_rows[] = {{"isdisjoint", view_isdisjoint, "_", 1, NULL}};
const mx_tpl_table mx_tpl_view_methods = {view_rows, MX_COUNTOF(view_rows)};

static const mx_tpl_filter bytes_rows[] = {
    {"decode", bytes_decode, "encoding errors", 0, NULL},
    {"hex", bytes_hex, NULL, 0, NULL},
};
const mx_tpl_table mx_tpl_bytes_methods = {bytes_rows, MX_COUNTOF(bytes_rows)};
