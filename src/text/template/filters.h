/* filters.h - the tables of filters and what their files share. */
#ifndef MX_TEXT_TEMPLATE_FILTERS_H
#define MX_TEXT_TEMPLATE_FILTERS_H

#include "text/template/run.h"

typedef struct mx_tpl_table {
    const mx_tpl_filter *rows;
    size_t n_rows;
} mx_tpl_table;

extern const mx_tpl_table mx_tpl_text_filters;     /* filters_text.c */
extern const mx_tpl_table mx_tpl_html_filters;     /* filters_html.c */
extern const mx_tpl_table mx_tpl_number_filters;   /* filters_number.c */
extern const mx_tpl_table mx_tpl_sequence_filters; /* filters_sequence.c */
extern const mx_tpl_table mx_tpl_order_filters;    /* filters_order.c */
extern const mx_tpl_table mx_tpl_lazy_filters;     /* filters_lazy.c */
extern const mx_tpl_table mx_tpl_value_filters;    /* filters_value.c */

static inline bool mx_tpl_is_given(mx_tpl_value arg)
{
    return arg.kind != MX_TPL_MISSING;
}

/* MISSING or NONE. */
static inline bool mx_tpl_is_absent(mx_tpl_value arg)
{
    return arg.kind == MX_TPL_MISSING || arg.kind == MX_TPL_NONE;
}

/* An attribute as filters name it, "a.b.0", taken apart. */
typedef struct mx_tpl_path {
    mx_tpl_value *parts;
    size_t n;
} mx_tpl_path;
mx_status mx_tpl_path_from(mx_tpl_run *run, mx_tpl_value attribute, mx_tpl_path *out) MX_NODISCARD;

/* Follows the path from an item. default_value (MISSING or NONE: none) replaces what is undefined on the way. */
mx_status mx_tpl_path_get(mx_tpl_run *run, const mx_tpl_path *path, mx_tpl_value item, mx_tpl_value default_value,
                          mx_tpl_value *out) MX_NODISCARD;

/* A string in lower case, other values as they are: how sort, unique and the like compare unless case_sensitive. */
mx_status mx_tpl_ignore_case(mx_tpl_run *run, mx_tpl_value v, mx_tpl_value *out) MX_NODISCARD;

/* Sorts items by keys with a merge sort, stable as Python's; `reverse` keeps equal items in their order too. */
mx_status mx_tpl_sort(mx_tpl_run *run, mx_tpl_value *items, mx_tpl_value *keys, size_t n, bool reverse) MX_NODISCARD;

/* pprint.c: pprint.pformat */
mx_status mx_tpl_put_pretty(mx_tpl_run *run, mx_tpl_value v) MX_NODISCARD;

/* json_out.c: json.dumps with these arguments, MISSING for defaults */
mx_status mx_tpl_put_json(mx_tpl_run *run, mx_tpl_value v, bool ensure_ascii, mx_tpl_value indent,
                          mx_tpl_value separators, bool sort_keys) MX_NODISCARD;

/* urlize.c */
mx_status mx_tpl_put_urlized(mx_tpl_run *run, mx_str text, int64_t limit, mx_str rel, mx_str target,
                             const mx_tpl_list *schemes) MX_NODISCARD;

#endif
