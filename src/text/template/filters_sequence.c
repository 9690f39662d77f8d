/* filters_sequence.c - filters that go through sequences at once. batch, slice and items make iterators as in Python,
 * which can be gone through only once. */
#include "text/template/chars.h"
#include "text/template/filters.h"
#include "text/template/strings.h"

static mx_status filter_length(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    int64_t n = 0;
    MX_TRY(mx_tpl_length(run, self, &n));
    *out = mx_tpl_int(n);
    return MX_OK;
}

static mx_status filter_first(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    mx_tpl_cursor cursor;
    bool has_item = false;
    MX_TRY(mx_tpl_cursor_open(run, self, &cursor));
    MX_TRY(mx_tpl_cursor_next(run, &cursor, out, &has_item));
    return has_item ? MX_OK : mx_tpl_new_undefined_hint(run, MX_STR("no first item, sequence was empty"), out);
}

/* What reversed() takes: everything with an order and a length. */
static bool is_reversible(mx_tpl_value v)
{
    return mx_tpl_has_length(v) && v.kind != MX_TPL_LOOP;
}

static mx_status filter_last(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    mx_tpl_vec items;
    if (!is_reversible(self)) {
        return mx_tpl_fail_type(run, "'%s' object is not reversible", mx_tpl_type_name(self));
    }
    if (mx_tpl_is_str(self) && self.len) {
        size_t at = self.len;
        (void)mx_tpl_char_before(mx_tpl_view(self), &at);
        *out = mx_tpl_part(self, at, self.len);
        out->flags &= (uint8_t)~MX_TPL_MARKUP;
        return MX_OK;
    }
    MX_TRY(mx_tpl_to_vec(run, self, &items));
    if (items.n == 0) {
        return mx_tpl_new_undefined_hint(run, MX_STR("no last item, sequence was empty"), out);
    }
    *out = items.items[items.n - 1];
    return MX_OK;
}

static mx_status filter_random(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    int64_t n = 0;
    MX_TRY(mx_tpl_length(run, self, &n));
    if (n == 0) {
        return mx_tpl_new_undefined_hint(run, MX_STR("no random item, sequence was empty"), out);
    }
    if (self.kind == MX_TPL_DICT) {
        return mx_tpl_fail_type(run, "a dict has no random item");
    }
    /* Any item will do; one render always chooses the same, so that prompts can be repeated. */
    const uint64_t mixed = ((uint64_t)run->n_steps + 1) * 0x9E3779B97F4A7C15u;
    return mx_tpl_getitem(run, self, mx_tpl_int((int64_t)((mixed >> 33) % (uint64_t)n)), out);
}

static mx_status next_of_vec(mx_tpl_run *run, mx_tpl_iter *iter, mx_tpl_value *item, bool *has_item)
{
    (void)run;
    mx_tpl_vec *vec = iter->state;
    *has_item = vec->n > 0;
    if (*has_item) {
        *item = vec->items[--vec->n];
    }
    return MX_OK;
}

static mx_status filter_reverse(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    if (mx_tpl_is_str(self)) {
        const mx_tpl_value backwards[3] = {mx_tpl_none(), mx_tpl_none(), mx_tpl_int(-1)};
        return mx_tpl_slice(run, self, backwards, out);
    }
    mx_tpl_vec items;
    mx_tpl_vec *state = NULL;
    MX_TRY(mx_tpl_to_vec(run, self, &items));
    if (is_reversible(self)) {
        MX_TRY(mx_tpl_alloc(run, 1, sizeof *state, &state));
        *state = items;
        return mx_tpl_new_iter(run, "list_reverseiterator", state, next_of_vec, out);
    }
    for (size_t i = 0; i < items.n / 2; i++) {
        const mx_tpl_value swapped = items.items[i];
        items.items[i] = items.items[items.n - 1 - i];
        items.items[items.n - 1 - i] = swapped;
    }
    return mx_tpl_vec_to(run, &items, MX_TPL_LIST, out);
}

static mx_status filter_list(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    mx_tpl_vec items;
    MX_TRY(mx_tpl_to_vec(run, self, &items));
    return mx_tpl_vec_to(run, &items, MX_TPL_LIST, out);
}

typedef struct batch_state {
    mx_tpl_value of;
    mx_tpl_cursor cursor;
    mx_tpl_value size;
    mx_tpl_value fill;
    mx_tpl_value held; /* an item that begins the next batch */
    bool is_open;
} batch_state;

static mx_status fill_batch(mx_tpl_run *run, const batch_state *state, mx_tpl_vec *batch)
{
    int64_t size = 0;
    if (mx_tpl_is_absent(state->fill)) {
        return MX_OK;
    }
    MX_TRY(mx_tpl_to_index(run, state->size, &size));
    while ((int64_t)batch->n < size) {
        MX_TRY(mx_tpl_vec_push(run, batch, state->fill));
    }
    return MX_OK;
}

static mx_status next_batch(mx_tpl_run *run, mx_tpl_iter *iter, mx_tpl_value *item, bool *has_item)
{
    batch_state *state = iter->state;
    mx_tpl_vec batch = {0};
    if (!state->is_open) {
        MX_TRY(mx_tpl_cursor_open(run, state->of, &state->cursor));
        state->is_open = true;
    }
    if (mx_tpl_is_given(state->held)) {
        MX_TRY(mx_tpl_vec_push(run, &batch, state->held));
        state->held = (mx_tpl_value){.kind = MX_TPL_MISSING};
    }
    for (bool is_full = false;;) {
        mx_tpl_value next;
        MX_TRY(mx_tpl_cursor_next(run, &state->cursor, &next, has_item));
        if (!*has_item) {
            break;
        }
        MX_TRY(mx_tpl_equal(run, mx_tpl_int((int64_t)batch.n), state->size, &is_full));
        if (is_full) {
            state->held = next;
            return mx_tpl_vec_to(run, &batch, MX_TPL_LIST, item);
        }
        MX_TRY(mx_tpl_vec_push(run, &batch, next));
    }
    *has_item = batch.n > 0;
    MX_TRY(*has_item ? fill_batch(run, state, &batch) : MX_OK);
    return mx_tpl_vec_to(run, &batch, MX_TPL_LIST, item);
}

static mx_status filter_batch(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    batch_state *state = NULL;
    MX_TRY(mx_tpl_alloc(run, 1, sizeof *state, &state));
    *state = (batch_state){.of = self, .size = args[0], .fill = args[1]};
    return mx_tpl_new_iter(run, "generator", state, next_batch, out);
}

typedef struct slice_state {
    mx_tpl_value of;
    mx_tpl_value slices;
    mx_tpl_value fill;
    mx_tpl_vec items;
    int64_t n_slices;
    int64_t i_slice;
    size_t at;
    bool is_open;
} slice_state;

static mx_status next_slice(mx_tpl_run *run, mx_tpl_iter *iter, mx_tpl_value *item, bool *has_item)
{
    slice_state *state = iter->state;
    mx_tpl_vec slice = {0};
    if (!state->is_open) {
        MX_TRY(mx_tpl_to_vec(run, state->of, &state->items));
        MX_TRY(mx_tpl_to_index(run, state->slices, &state->n_slices));
        if (state->n_slices == 0) {
            return mx_tpl_fail_type(run, "integer division or modulo by zero");
        }
        state->is_open = true;
    }
    *has_item = state->i_slice < state->n_slices;
    if (!*has_item) {
        return MX_OK;
    }
    const int64_t n = (int64_t)state->items.n;
    const bool has_extra = state->i_slice < n % state->n_slices;
    for (int64_t i = 0; i < n / state->n_slices + has_extra; i++) {
        MX_TRY(mx_tpl_vec_push(run, &slice, state->items.items[state->at++]));
    }
    if (!mx_tpl_is_absent(state->fill) && !has_extra) {
        MX_TRY(mx_tpl_vec_push(run, &slice, state->fill));
    }
    state->i_slice++;
    return mx_tpl_vec_to(run, &slice, MX_TPL_LIST, item);
}

static mx_status filter_slice(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    slice_state *state = NULL;
    MX_TRY(mx_tpl_alloc(run, 1, sizeof *state, &state));
    *state = (slice_state){.of = self, .slices = args[0], .fill = args[1]};
    return mx_tpl_new_iter(run, "generator", state, next_slice, out);
}

static mx_status next_pair(mx_tpl_run *run, mx_tpl_iter *iter, mx_tpl_value *item, bool *has_item)
{
    return mx_tpl_cursor_next(run, iter->state, item, has_item);
}

static mx_status no_pair(mx_tpl_run *run, mx_tpl_iter *iter, mx_tpl_value *item, bool *has_item)
{
    (void)iter;
    (void)item;
    (void)has_item;
    return mx_tpl_fail_type(run, "can only get item pairs from a mapping");
}

static mx_status filter_items(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    (void)args;
    mx_tpl_cursor *state = NULL;
    MX_TRY(mx_tpl_alloc(run, 1, sizeof *state, &state));
    state->over = self;
    if (self.kind == MX_TPL_DICT) {
        state->over.kind = MX_TPL_ITEMS;
    }
    const bool has_pairs = self.kind == MX_TPL_DICT || self.kind == MX_TPL_UNDEFINED;
    return mx_tpl_new_iter(run, "generator", state, has_pairs ? next_pair : no_pair, out);
}

/* Whether joining escapes: in autoescape mode, when the separator or an item is markup. */
static bool join_escapes(const mx_tpl_run *run, mx_tpl_value sep, const mx_tpl_vec *items)
{
    bool has_markup = mx_tpl_is_markup(sep);
    for (size_t i = 0; i < items->n; i++) {
        has_markup = has_markup || mx_tpl_is_markup(items->items[i]);
    }
    return run->autoescape && has_markup;
}

static mx_status filter_join(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    mx_tpl_vec given;
    mx_tpl_vec items = {0};
    mx_tpl_path path;
    mx_tpl_value sep = mx_tpl_is_given(args[0]) ? args[0] : MX_TPL_LITERAL("");
    MX_TRY(mx_tpl_path_from(run, args[1], &path));
    MX_TRY(mx_tpl_to_vec(run, self, &given));
    for (size_t i = 0; i < given.n; i++) {
        mx_tpl_value item;
        MX_TRY(mx_tpl_path_get(run, &path, given.items[i], mx_tpl_none(), &item));
        MX_TRY(mx_tpl_vec_push(run, &items, item));
    }
    const bool escapes = join_escapes(run, sep, &items);
    const size_t mark = mx_tpl_mark(run);
    MX_TRY(mx_tpl_to_soft_str(run, sep, &sep));
    for (size_t i = 0; i < items.n; i++) {
        if (i) {
            MX_TRY(escapes ? mx_tpl_put_escaped_value(run, sep) : mx_tpl_put(run, mx_tpl_view(sep)));
        }
        MX_TRY(escapes ? mx_tpl_put_escaped_value(run, items.items[i]) : mx_tpl_put_str(run, items.items[i]));
    }
    return mx_tpl_take(run, mark, escapes ? MX_TPL_MARKUP : 0, out);
}

static mx_status filter_sum(mx_tpl_run *run, mx_tpl_value self, const mx_tpl_value *args, mx_tpl_value *out)
{
    mx_tpl_cursor cursor;
    mx_tpl_path path;
    mx_tpl_value sum = mx_tpl_is_given(args[1]) ? args[1] : mx_tpl_int(0);
    if (mx_tpl_is_str(sum) || sum.kind == MX_TPL_BYTES) {
        return mx_tpl_fail_type(run, "sum() can't sum strings [use ''.join(seq) instead]");
    }
    MX_TRY(mx_tpl_path_from(run, args[0], &path));
    MX_TRY(mx_tpl_cursor_open(run, self, &cursor));
    for (bool has_item = true;;) {
        mx_tpl_value item;
        MX_TRY(mx_tpl_cursor_next(run, &cursor, &item, &has_item));
        if (!has_item) {
            *out = sum;
            return MX_OK;
        }
        MX_TRY(mx_tpl_path_get(run, &path, item, mx_tpl_none(), &item));
        MX_TRY(mx_tpl_binary(run, MX_TPL_OP_ADD, sum, item, &sum));
    }
}

static const mx_tpl_filter rows[] = {
    {"length", filter_length, NULL, 0, NULL},
    {"count", filter_length, NULL, 0, NULL},
    {"first", filter_first, NULL, 0, NULL},
    {"last", filter_last, NULL, 0, NULL},
    {"random", filter_random, NULL, 0, NULL},
    {"reverse", filter_reverse, NULL, 0, NULL},
    {"list", filter_list, NULL, 0, NULL},
    {"batch", filter_batch, "linecount fill_with", 1, NULL},
    {"slice", filter_slice, "slices fill_with", 1, NULL},
    {"items", filter_items, NULL, 0, NULL},
    {"join", filter_join, "d attribute", 0, NULL},
    {"sum", filter_sum, "attribute start", 0, NULL},
};
const mx_tpl_table mx_tpl_sequence_filters = {rows, MX_COUNTOF(rows)};
