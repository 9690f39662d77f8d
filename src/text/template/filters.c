/* filters.c - looking filters up, and attributes as filters name them. */
#include "text/template/filters.h"

#include "text/template/chars.h"
#include "text/template/strings.h"

const mx_tpl_filter *mx_tpl_find_filter(mx_str name)
{
    static const mx_tpl_table *const tables[] = {
        &mx_tpl_text_filters,  &mx_tpl_html_filters, &mx_tpl_number_filters, &mx_tpl_sequence_filters,
        &mx_tpl_order_filters, &mx_tpl_lazy_filters, &mx_tpl_value_filters};
    for (size_t i = 0; i < MX_COUNTOF(tables); i++) {
        const mx_tpl_filter *row = mx_tpl_find_row(tables[i]->rows, tables[i]->n_rows, name);
        if (row) {
            return row;
        }
    }
    return NULL;
}

static bool is_digits(mx_str s)
{
    for (size_t at = 0; at < s.len;) {
        if (!mx_tpl_is_digit(mx_tpl_char_at(s, &at))) {
            return false;
        }
    }
    return s.len > 0;
}

mx_status mx_tpl_path_from(mx_tpl_run *run, mx_tpl_value attribute, mx_tpl_path *out)
{
    *out = (mx_tpl_path){0};
    if (mx_tpl_is_absent(attribute)) {
        return MX_OK;
    }
    mx_tpl_value parts;
    if (!mx_tpl_is_str(attribute)) {
        MX_TRY(mx_tpl_alloc(run, 1, sizeof *out->parts, &out->parts));
        out->parts[out->n++] = attribute;
        return MX_OK;
    }
    MX_TRY(mx_tpl_str_split(run, attribute, MX_TPL_LITERAL("."), -1, false, &parts));
    out->parts = parts.as.list->items;
    out->n = parts.as.list->n;
    for (size_t i = 0; i < out->n; i++) {
        bool ok = false;
        if (is_digits(mx_tpl_view(out->parts[i]))) {
            mx_tpl_value number;
            MX_TRY(mx_tpl_parse_int(run, mx_tpl_view(out->parts[i]), 10, &number, &ok));
            if (!ok) {
                return mx_tpl_fail_type(run, "invalid literal for int() with base 10");
            }
            out->parts[i] = number;
        }
    }
    return MX_OK;
}

mx_status mx_tpl_path_get(mx_tpl_run *run, const mx_tpl_path *path, mx_tpl_value item, mx_tpl_value default_value,
                          mx_tpl_value *out)
{
    *out = item;
    for (size_t i = 0; i < path->n; i++) {
        MX_TRY(mx_tpl_getitem(run, *out, path->parts[i], out));
        if (out->kind == MX_TPL_UNDEFINED && !mx_tpl_is_absent(default_value)) {
            *out = default_value;
        }
    }
    return MX_OK;
}

mx_status mx_tpl_ignore_case(mx_tpl_run *run, mx_tpl_value v, mx_tpl_value *out)
{
    *out = v;
    return mx_tpl_is_str(v) ? mx_tpl_str_case(run, v, MX_TPL_CASE_LOWER, out) : MX_OK;
}
