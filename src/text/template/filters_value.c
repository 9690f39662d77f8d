/* filters_value.c - filters for any value: default, attr, tojson, pprint. */
#include "text/template/filters.h"

static mx_status filter_default(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    const mx_tpl_value otherwise = mx_tpl_is_given(args[0]) ? args[0] : MX_TPL_LITERAL("");
    const bool is_replaced = self.kind == MX_TPL_UNDEFINED || (mx_tpl_truth(run, args[1]) && !mx_tpl_truth(run, self));
    *out = is_replaced ? otherwise : self;
    return MX_OK;
}

/* An attribute and never an item. */
static mx_status filter_attr(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    bool found = false;
    mx_tpl_value ignored;
    if (!mx_tpl_is_str(args[0])) {
        return mx_tpl_fail_type(run, "attribute name must be string, not '%s'", mx_tpl_type_name(args[0]));
    }
    if (self.kind == MX_TPL_UNDEFINED) {
        return mx_tpl_fail_undefined(run, self);
    }
    MX_TRY(mx_tpl_attribute(run, self, mx_tpl_view(args[0]), &ignored, &found));
    return found ? mx_tpl_getattr(run, self, mx_tpl_view(args[0]), out)
                 : mx_tpl_new_undefined(run, self, args[0], false, out);
}

static mx_status filter_tojson(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_put_json(run, self, mx_tpl_truth(run, args[0]), args[1], args[2], mx_tpl_truth(run, args[3])));
    return mx_tpl_take(run, mark, 0, out);
}

static mx_status filter_pprint(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_put_pretty(run, self));
    return mx_tpl_take(run, mark, 0, out);
}

static const mx_tpl_filter rows[] = {
    {"default", filter_default, "default_value boolean", 0, NULL},
    {"d", filter_default, "default_value boolean", 0, NULL},
    {"attr", filter_attr, "name", 1, NULL},
    {"tojson", filter_tojson, "ensure_ascii indent separators sort_keys", 0, NULL},
    {"pprint", filter_pprint, NULL, 0, NULL},
};
const mx_tpl_table mx_tpl_value_filters = {rows, MX_COUNTOF(rows)};
