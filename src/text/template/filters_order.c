/* filters_order.c - filters that compare: sort, dictsort, unique, groupby, min and max. */
#include "text/template/filters.h"

/* Merges two sorted runs of places, the right one first only where its key is less. */
static mx_status merge(mx_tpl_run *run, const mx_tpl_value *keys, const size_t *from, size_t left, size_t middle,
                       size_t right, size_t *to)
{
    size_t a = left;
    size_t b = middle;
    for (size_t i = left; i < right; i++) {
        bool takes_b = a >= middle;
        if (!takes_b && b < right) {
            MX_TRY(mx_tpl_compare(run, MX_TPL_OP_LT, keys[from[b]], keys[from[a]], &takes_b));
        }
        to[i] = takes_b ? from[b++] : from[a++];
    }
    return MX_OK;
}

static void reverse_places(size_t *places, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        const size_t swapped = places[i];
        places[i] = places[n - 1 - i];
        places[n - 1 - i] = swapped;
    }
}

mx_status mx_tpl_sort(mx_tpl_run *run, mx_tpl_value *items, mx_tpl_value *keys, size_t n, bool reverse)
{
    size_t *places = NULL;
    size_t *other = NULL;
    mx_tpl_value *sorted = NULL;
    MX_TRY(mx_tpl_alloc(run, n, sizeof *places, &places));
    MX_TRY(mx_tpl_alloc(run, n, sizeof *other, &other));
    MX_TRY(mx_tpl_alloc(run, n, sizeof *sorted, &sorted));
    for (size_t i = 0; i < n; i++) {
        places[i] = i;
    }
    if (reverse) {
        reverse_places(places, n);
    }
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t left = 0; left < n; left += 2 * width) {
            MX_TRY(merge(run, keys, places, left, MX_MIN(left + width, n), MX_MIN(left + 2 * width, n), other));
        }
        size_t *swapped = places;
        places = other;
        other = swapped;
    }
    if (reverse) {
        reverse_places(places, n);
    }
    for (size_t i = 0; i < n; i++) {
        sorted[i] = items[places[i]];
    }
    if (n) {
        memcpy(items, sorted, n * sizeof *items);
    }
    return MX_OK;
}

/* A list of the attributes that "a,b.c" names, as Python compares them. */
static mx_status multi_key(mx_tpl_run *run, const mx_tpl_path *paths, size_t n_paths, mx_tpl_value item, bool folds,
                           mx_tpl_value *out)
{
    mx_tpl_value *parts = NULL;
    MX_TRY(mx_tpl_new_list(run, n_paths, &parts, out));
    for (size_t i = 0; i < n_paths; i++) {
        MX_TRY(mx_tpl_path_get(run, &paths[i], item, mx_tpl_none(), &parts[i]));
        if (folds) {
            MX_TRY(mx_tpl_ignore_case(run, parts[i], &parts[i]));
        }
    }
    return MX_OK;
}

static mx_status split_paths(mx_tpl_run *run, mx_tpl_value attribute, mx_tpl_path **paths, size_t *n_paths)
{
    const mx_str text = mx_tpl_is_str(attribute) ? mx_tpl_view(attribute) : MX_STR("");
    *n_paths = 1;
    for (size_t i = 0; i < text.len; i++) {
        *n_paths += text.ptr[i] == ',';
    }
    MX_TRY(mx_tpl_alloc(run, *n_paths, sizeof **paths, paths));
    if (!mx_tpl_is_str(attribute)) {
        return mx_tpl_path_from(run, attribute, *paths);
    }
    size_t from = 0;
    for (size_t i = 0; i < *n_paths; i++) {
        const size_t comma = mx_str_find(text, MX_STR(","), from);
        const size_t to = comma == MX_STR_NPOS ? text.len : comma;
        MX_TRY(mx_tpl_path_from(run, mx_tpl_str(mx_str_slice(text, from, to)), &(*paths)[i]));
        from = to + 1;
    }
    return MX_OK;
}

static mx_status copy_items(mx_tpl_run *run, mx_tpl_value of, mx_tpl_vec *out)
{
    mx_tpl_vec given;
    *out = (mx_tpl_vec){0};
    MX_TRY(mx_tpl_to_vec(run, of, &given));
    MX_TRY(mx_tpl_alloc(run, given.n, sizeof *out->items, &out->items));
    if (given.n) {
        memcpy(out->items, given.items, given.n * sizeof *out->items);
    }
    out->n = given.n;
    out->cap = given.n;
    return MX_OK;
}

/* sorted() wants its reverse to be an integer. */
static mx_status take_reverse(mx_tpl_run *run, mx_tpl_value arg, bool *reverse)
{
    int64_t i = 0;
    if (mx_tpl_is_given(arg)) {
        MX_TRY(mx_tpl_to_index(run, arg, &i));
    }
    *reverse = i != 0;
    return MX_OK;
}

static mx_status filter_sort(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    mx_tpl_vec items;
    mx_tpl_path *paths = NULL;
    mx_tpl_value *keys = NULL;
    size_t n_paths = 0;
    bool reverse = false;
    MX_TRY(split_paths(run, args[2], &paths, &n_paths));
    MX_TRY(copy_items(run, self, &items));
    MX_TRY(mx_tpl_alloc(run, items.n, sizeof *keys, &keys));
    for (size_t i = 0; i < items.n; i++) {
        MX_TRY(multi_key(run, paths, n_paths, items.items[i], !mx_tpl_truth(run, args[1]), &keys[i]));
    }
    MX_TRY(take_reverse(run, args[0], &reverse));
    MX_TRY(mx_tpl_sort(run, items.items, keys, items.n, reverse));
    return mx_tpl_vec_to(run, &items, MX_TPL_LIST, out);
}

static mx_status filter_dictsort(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    mx_tpl_vec items;
    mx_tpl_value *keys = NULL;
    bool reverse = false;
    const mx_tpl_value by = mx_tpl_is_given(args[1]) ? args[1] : MX_TPL_LITERAL("key");
    const bool by_value = mx_tpl_is_str(by) && mx_str_eq_cstr(mx_tpl_view(by), "value");
    if (!by_value && !(mx_tpl_is_str(by) && mx_str_eq_cstr(mx_tpl_view(by), "key"))) {
        return mx_tpl_fail_type(run, "you can only sort by either \"key\" or \"value\"");
    }
    if (self.kind == MX_TPL_UNDEFINED) {
        return mx_tpl_fail_undefined(run, self);
    }
    if (self.kind != MX_TPL_DICT) {
        return mx_tpl_fail_type(run, "'%s' object has no attribute 'items'", mx_tpl_type_name(self));
    }
    self.kind = MX_TPL_ITEMS;
    MX_TRY(mx_tpl_to_vec(run, self, &items));
    MX_TRY(mx_tpl_alloc(run, items.n, sizeof *keys, &keys));
    for (size_t i = 0; i < items.n; i++) {
        keys[i] = items.items[i].as.list->items[by_value];
        if (!mx_tpl_truth(run, args[0])) {
            MX_TRY(mx_tpl_ignore_case(run, keys[i], &keys[i]));
        }
    }
    MX_TRY(take_reverse(run, args[2], &reverse));
    MX_TRY(mx_tpl_sort(run, items.items, keys, items.n, reverse));
    return mx_tpl_vec_to(run, &items, MX_TPL_LIST, out);
}

typedef struct unique_state {
    mx_tpl_value of;
    mx_tpl_cursor cursor;
    mx_tpl_path path;
    mx_tpl_value seen; /* a dict */
    bool folds;
    bool is_open;
} unique_state;

static mx_status next_unique(mx_tpl_run *run, mx_tpl_iter *iter, mx_tpl_value *item, bool *has_item)
{
    unique_state *state = iter->state;
    if (!state->is_open) {
        MX_TRY(mx_tpl_cursor_open(run, state->of, &state->cursor));
        state->is_open = true;
    }
    for (bool was_seen = true; was_seen;) {
        mx_tpl_value key;
        mx_tpl_value ignored;
        MX_TRY(mx_tpl_cursor_next(run, &state->cursor, item, has_item));
        if (!*has_item) {
            return MX_OK;
        }
        MX_TRY(mx_tpl_path_get(run, &state->path, *item, mx_tpl_none(), &key));
        if (state->folds) {
            MX_TRY(mx_tpl_ignore_case(run, key, &key));
        }
        MX_TRY(mx_tpl_dict_find(run, state->seen.as.dict, key, &ignored, &was_seen));
        MX_TRY(was_seen ? MX_OK : mx_tpl_dict_set(run, state->seen.as.dict, key, mx_tpl_none()));
    }
    return MX_OK;
}

static mx_status filter_unique(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    unique_state *state = NULL;
    MX_TRY(mx_tpl_alloc(run, 1, sizeof *state, &state));
    *state = (unique_state){.of = self, .folds = !mx_tpl_truth(run, args[0])};
    MX_TRY(mx_tpl_path_from(run, args[1], &state->path));
    MX_TRY(mx_tpl_new_dict(run, 0, &state->seen));
    return mx_tpl_new_iter(run, "generator", state, next_unique, out);
}

/* The attribute of an item, with case taken away if folds. */
static mx_status plain_key(mx_tpl_run *run, const mx_tpl_path *path, mx_tpl_value item, mx_tpl_value default_value,
                           bool folds, mx_tpl_value *out)
{
    MX_TRY(mx_tpl_path_get(run, path, item, default_value, out));
    return folds ? mx_tpl_ignore_case(run, *out, out) : MX_OK;
}

static mx_status extreme(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_op op, mx_tpl_value *out)
{
    mx_tpl_cursor cursor;
    mx_tpl_path path;
    mx_tpl_value best_key = {0};
    const bool folds = !mx_tpl_truth(run, args[0]);
    MX_TRY(mx_tpl_cursor_open(run, self, &cursor));
    MX_TRY(mx_tpl_path_from(run, args[1], &path));
    for (bool is_first = true;; is_first = false) {
        mx_tpl_value item;
        mx_tpl_value key;
        bool has_item = false;
        bool is_better = is_first;
        MX_TRY(mx_tpl_cursor_next(run, &cursor, &item, &has_item));
        if (!has_item && is_first) {
            return mx_tpl_new_undefined_hint(run, MX_STR("no aggregated item, sequence was empty"), out);
        }
        if (!has_item) {
            return MX_OK;
        }
        MX_TRY(plain_key(run, &path, item, mx_tpl_none(), folds, &key));
        if (!is_first) {
            MX_TRY(mx_tpl_compare(run, op, key, best_key, &is_better));
        }
        if (is_better) {
            *out = item;
            best_key = key;
        }
    }
}

static mx_status filter_min(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    return extreme(run, self, args, MX_TPL_OP_LT, out);
}

static mx_status filter_max(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    return extreme(run, self, args, MX_TPL_OP_GT, out);
}

static mx_status new_group(mx_tpl_run *run, mx_tpl_value grouper, const mx_tpl_vec *items, mx_tpl_value *out)
{
    mx_tpl_value *pair = NULL;
    MX_TRY(mx_tpl_new_tuple(run, 2, &pair, out));
    out->flags = MX_TPL_GROUP;
    pair[0] = grouper;
    return mx_tpl_vec_to(run, items, MX_TPL_LIST, &pair[1]);
}

static mx_status filter_groupby(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    mx_tpl_vec items;
    mx_tpl_vec groups = {0};
    mx_tpl_path path;
    mx_tpl_value *keys = NULL;
    const bool folds = !mx_tpl_truth(run, args[2]);
    MX_TRY(mx_tpl_path_from(run, args[0], &path));
    MX_TRY(copy_items(run, self, &items));
    MX_TRY(mx_tpl_alloc(run, items.n, sizeof *keys, &keys));
    for (size_t i = 0; i < items.n; i++) {
        MX_TRY(plain_key(run, &path, items.items[i], args[1], folds, &keys[i]));
    }
    MX_TRY(mx_tpl_sort(run, items.items, keys, items.n, false));
    for (size_t i = 0; i < items.n;) {
        mx_tpl_vec group = {0};
        mx_tpl_value key;
        mx_tpl_value grouper;
        mx_tpl_value pair;
        const mx_tpl_value first = items.items[i];
        MX_TRY(plain_key(run, &path, first, args[1], folds, &key));
        for (bool same = true; i < items.n; i++) {
            mx_tpl_value other;
            MX_TRY(plain_key(run, &path, items.items[i], args[1], folds, &other));
            MX_TRY(mx_tpl_equal(run, key, other, &same));
            if (!same) {
                break;
            }
            MX_TRY(mx_tpl_vec_push(run, &group, items.items[i]));
        }
        MX_TRY(mx_tpl_path_get(run, &path, first, args[1], &grouper)); /* with its case */
        MX_TRY(new_group(run, grouper, &group, &pair));
        MX_TRY(mx_tpl_vec_push(run, &groups, pair));
    }
    return mx_tpl_vec_to(run, &groups, MX_TPL_LIST, out);
}

static const mx_tpl_filter rows[] = {
    {"sort", filter_sort, "reverse case_sensitive attribute", 0, NULL},
    {"dictsort", filter_dictsort, "case_sensitive by reverse", 0, NULL},
    {"unique", filter_unique, "case_sensitive attribute", 0, NULL},
    {"min", filter_min, "case_sensitive attribute", 0, NULL},
    {"max", filter_max, "case_sensitive attribute", 0, NULL},
    {"groupby", filter_groupby, "attribute default case_sensitive", 1, NULL},
};
const mx_tpl_table mx_tpl_order_filters = {rows, MX_COUNTOF(rows)};
