/* builder.c - the core of the builder: growing lists, weights by path, and the end. The blocks are in blocks.c. */
#include "program/builder_core.h"

#include "base/mem.h"
#include "program/check.h"

#define BUILDER_MAX_ARENA ((size_t)1 << 30)
#define BUILDER_MAX_ITEMS ((size_t)1 << 20) /* of each list: far above any model, far below int32_t */

mx_status mx_builder_new(const mx_builder_shape *shape, mx_weight_source source, mx_builder **out, mx_error *err)
{
    mx_builder *b = mx_calloc(1, sizeof *b);
    if (!b) {
        return mx_fail_no_memory(err, sizeof *b, "a program builder");
    }
    b->shape = *shape;
    b->source = source;
    b->i_layer = -1;
    b->stream = MX_NO_VALUE;
    b->side = MX_NO_VALUE;
    mx_arena_init(&b->arena, BUILDER_MAX_ARENA);
    b->tokens = mx_builder_add_value(
        b, &(mx_value_info){.rows = MX_ROWS_TOKENS, .row_factor = 1, .n_cols = 1, .type = MX_VALUE_I32}, "tokens");
    *out = b;
    return MX_OK;
}

void mx_builder_free(mx_builder *b)
{
    if (!b) {
        return;
    }
    mx_arena_deinit(&b->arena);
    mx_strmap_deinit(&b->weight_places);
    mx_free(b->values.items);
    mx_free(b->ops.items);
    mx_free(b->weights.items);
    mx_free(b->caches.items);
    mx_free(b->ropes.items);
    mx_free(b->states.items);
    mx_free(b);
}

void mx_builder_fail(mx_builder *b, mx_status st, const mx_error *err)
{
    if (b->st == MX_OK) {
        b->st = st;
        b->err = *err;
    }
}

bool mx_builder_is_ok(const mx_builder *b)
{
    return b->st == MX_OK;
}

static void fail_no_memory(mx_builder *b)
{
    mx_error err = {0};
    mx_builder_fail(b, mx_fail_no_memory(&err, b->arena.n_bytes, "the program"), &err);
}

int32_t mx_builder_add(mx_builder *b, mx_builder_list *list, const void *item, size_t item_size)
{
    if (!mx_builder_is_ok(b)) {
        return -1;
    }
    void *items = mx_array_grow(list->items, &list->cap, list->n + 1, item_size, BUILDER_MAX_ITEMS);
    if (!items) {
        fail_no_memory(b);
        return -1;
    }
    list->items = items;
    memcpy((char *)items + list->n * item_size, item, item_size);
    return (int32_t)list->n++;
}

/* "layers.3.<path>" inside a layer, in the arena; NULL (and failed) when out of memory. */
static const char *full_path(mx_builder *b, const char *path, const char *suffix)
{
    const char *full = b->i_layer < 0 ? mx_arena_printf(&b->arena, "%s%s", path, suffix)
                                      : mx_arena_printf(&b->arena, "layers.%d.%s%s", b->i_layer, path, suffix);
    if (!full) {
        fail_no_memory(b);
    }
    return full;
}

mx_value mx_builder_add_value(mx_builder *b, const mx_value_info *info, const char *name)
{
    mx_value_info value = *info;
    value.name = mx_builder_is_ok(b) ? full_path(b, name, "") : NULL;
    return mx_builder_add(b, &b->values, &value, sizeof value);
}

mx_op mx_builder_op(const mx_builder *b, mx_op_kind kind)
{
    return mx_op_of(kind, b->i_layer);
}

void mx_builder_add_op(mx_builder *b, const mx_op *op)
{
    (void)mx_builder_add(b, &b->ops, op, sizeof *op);
}

const mx_value_info *mx_builder_view_value(const mx_builder *b, mx_value v)
{
    static const mx_value_info none = {.row_factor = 1};
    return v < 0 || (size_t)v >= b->values.n ? &none : (const mx_value_info *)b->values.items + v;
}

/* A sentence when the shape is not the wanted one. Vectors may be stored as [n] or [n_rows 1, n]. */
static mx_status check_weight(const mx_weight *w, int64_t n_experts, int64_t n_rows, int64_t n_cols, mx_error *err)
{
    if (w->n_experts == n_experts && w->n_rows == n_rows && w->n_cols == n_cols) {
        return MX_OK;
    }
    return mx_fail(err, MX_FORMAT,
                   "tensor \"%.*s\": expected %lld x %lld x %lld (experts, rows, columns) by the configuration, found "
                   "%lld x %lld x %lld",
                   MX_STR_ARG(w->name), (long long)n_experts, (long long)n_rows, (long long)n_cols,
                   (long long)w->n_experts, (long long)w->n_rows, (long long)w->n_cols);
}

/* Vectors of experts are stored as the rows of one matrix. */
static void make_vectors(mx_weight *w, int64_t n_experts, int64_t n_rows)
{
    if (n_experts > 1 && n_rows == 1 && w->n_experts == 1 && w->n_rows == n_experts && w->quant.mode == MX_QUANT_NONE) {
        w->n_experts = n_experts;
        w->n_rows = 1;
    }
}

static mx_status resolve(mx_builder *b, const char *path, int64_t n_experts, int64_t n_rows, int64_t n_cols,
                         int32_t *place, mx_error *err)
{
    const mx_str key = mx_str_from(path);
    if (mx_strmap_get(&b->weight_places, key, place)) {
        return check_weight((const mx_weight *)b->weights.items + *place, n_experts, n_rows, n_cols, err);
    }
    mx_weight w = {0};
    MX_TRY(b->source.resolve(b->source.object, key, &w, err));
    make_vectors(&w, n_experts, n_rows);
    MX_TRY(check_weight(&w, n_experts, n_rows, n_cols, err));
    *place = mx_builder_add(b, &b->weights, &w, sizeof w);
    return *place < 0 ? MX_OK : mx_strmap_put(&b->weight_places, key, *place, NULL, err);
}

/* Takes away the dimensions of 1 of a small dense weight; a sentence when the numbers are not as many as wanted. */
static mx_status flatten(mx_weight *w, int64_t n_rows, int64_t n_cols, mx_error *err)
{
    int64_t n_found = 0;
    if (w->quant.mode != MX_QUANT_NONE || w->experts || !mx_mul_i64(w->n_experts, w->n_rows, &n_found) ||
        !mx_mul_i64(n_found, w->n_cols, &n_found) || n_found != n_rows * n_cols) {
        return mx_fail(
            err, MX_FORMAT,
            "tensor \"%.*s\": expected %lld x %lld numbers by the configuration, not quantised; found %lld x "
            "%lld x %lld",
            MX_STR_ARG(w->name), (long long)n_rows, (long long)n_cols, (long long)w->n_experts, (long long)w->n_rows,
            (long long)w->n_cols);
    }
    w->n_experts = 1;
    w->n_rows = n_rows;
    w->n_cols = n_cols;
    return MX_OK;
}

int32_t mx_builder_numbers(mx_builder *b, const char *path, const char *suffix, int64_t n_rows, int64_t n_cols)
{
    const char *full = mx_builder_is_ok(b) ? full_path(b, path, suffix) : NULL;
    if (!full) {
        return MX_NO_WEIGHT;
    }
    mx_error err = {0};
    mx_weight w = {0};
    int32_t place = MX_NO_WEIGHT;
    if (mx_strmap_get(&b->weight_places, mx_str_from(full), &place)) {
        return place;
    }
    mx_status st = b->source.resolve(b->source.object, mx_str_from(full), &w, &err);
    st = st == MX_OK ? flatten(&w, n_rows, n_cols, &err) : st;
    if (st == MX_OK) {
        place = mx_builder_add(b, &b->weights, &w, sizeof w);
        st = place < 0 ? MX_OK : mx_strmap_put(&b->weight_places, mx_str_from(full), place, NULL, &err);
    }
    if (st != MX_OK) {
        mx_builder_fail(b, st, &err);
    }
    return place;
}

int32_t mx_builder_weight(mx_builder *b, const char *path, const char *suffix, int64_t n_experts, int64_t n_rows,
                          int64_t n_cols)
{
    const char *full = mx_builder_is_ok(b) ? full_path(b, path, suffix) : NULL;
    if (!full) {
        return MX_NO_WEIGHT;
    }
    mx_error err = {0};
    int32_t place = MX_NO_WEIGHT;
    const mx_status st = resolve(b, full, n_experts, n_rows, n_cols, &place, &err);
    if (st != MX_OK) {
        mx_builder_fail(b, st, &err);
    }
    return place;
}

bool mx_builder_probe(mx_builder *b, const char *path, mx_weight *out)
{
    const char *full = mx_builder_is_ok(b) ? full_path(b, path, "") : NULL;
    mx_error ignored = {0};
    return full && b->source.resolve(b->source.object, mx_str_from(full), out, &ignored) == MX_OK;
}

void mx_builder_set_norm_offset(mx_builder *b, float offset)
{
    b->shape.norm_weight_offset = offset;
}

bool mx_builder_has_weight(mx_builder *b, const char *path)
{
    const char *full = mx_builder_is_ok(b) ? full_path(b, path, "") : NULL;
    mx_weight w = {0};
    return full && b->source.resolve(b->source.object, mx_str_from(full), &w, NULL) == MX_OK;
}

int32_t mx_builder_add_weight(mx_builder *b, const mx_weight *w)
{
    return mx_builder_add(b, &b->weights, w, sizeof *w);
}

static mx_status check_adaptation(const mx_adaptation *a, int64_t n_in, int64_t n_out, mx_error *err)
{
    if (a->a.n_cols == n_in && a->b.n_rows == n_out && a->a.n_rows == a->b.n_cols &&
        (a->factors.n_cols == 0 || a->factors.n_cols == n_out)) {
        return MX_OK;
    }
    return mx_fail(
        err, MX_FORMAT,
        "tensor \"%.*s\": the adapter is for %lld inputs and %lld outputs, the model has %lld and %lld there",
        MX_STR_ARG(a->a.name), (long long)a->a.n_cols, (long long)a->b.n_rows, (long long)n_in, (long long)n_out);
}

bool mx_builder_find_adaptation(mx_builder *b, const char *path, int64_t n_in, int64_t n_out, mx_adaptation *out)
{
    mx_error err = {0};
    bool found = false;
    const char *full = b->source.adapt && mx_builder_is_ok(b) ? full_path(b, path, "") : NULL;
    if (!full) {
        return false;
    }
    mx_status st = b->source.adapt(b->source.object, mx_str_from(full), out, &found, &err);
    if (st == MX_OK && found) {
        st = check_adaptation(out, n_in, n_out, &err);
    }
    if (st != MX_OK) {
        mx_builder_fail(b, st, &err);
    }
    return st == MX_OK && found;
}

void mx_builder_set_layer(mx_builder *b, int32_t i_layer)
{
    b->i_layer = i_layer;
}

void mx_builder_set_heads(mx_builder *b, int32_t n_heads, int32_t n_kv_heads, int32_t head_dim)
{
    b->shape.n_heads = n_heads;
    b->shape.n_kv_heads = n_kv_heads;
    b->shape.head_dim = head_dim;
}

int32_t mx_builder_add_rope(mx_builder *b, const mx_rope_spec *rope)
{
    const int32_t n = rope->rot_dim / 2;
    float *inv_freq = mx_arena_array(&b->arena, float, n);
    if (!inv_freq) {
        fail_no_memory(b);
        return MX_NO_ROPE;
    }
    memcpy(inv_freq, rope->inv_freq, (size_t)n * sizeof *inv_freq);
    mx_rope_spec copy = *rope;
    copy.inv_freq = inv_freq;
    return mx_builder_add(b, &b->ropes, &copy, sizeof copy);
}

/* Copies a list into the program's arena. */
static void *take_list(mx_builder *b, const mx_builder_list *list, size_t item_size, int32_t *n)
{
    *n = (int32_t)list->n;
    void *copy = mx_arena_calloc(&b->arena, list->n ? list->n : 1, item_size);
    if (!copy) {
        fail_no_memory(b);
    } else if (list->n) {
        memcpy(copy, list->items, list->n * item_size);
    }
    return copy;
}

mx_status mx_builder_finish(mx_builder *b, mx_value logits, mx_program *out, mx_error *err)
{
    mx_program p = {.tokens = b->tokens,
                    .logits = logits,
                    .n_layers = b->shape.n_layers,
                    .n_ctx = b->shape.n_ctx,
                    .n_vocab = (int32_t)b->shape.n_vocab};
    p.values = take_list(b, &b->values, sizeof *p.values, &p.n_values);
    p.ops = take_list(b, &b->ops, sizeof *p.ops, &p.n_ops);
    p.weights = take_list(b, &b->weights, sizeof *p.weights, &p.n_weights);
    p.caches = take_list(b, &b->caches, sizeof *p.caches, &p.n_caches);
    p.ropes = take_list(b, &b->ropes, sizeof *p.ropes, &p.n_ropes);
    p.states = take_list(b, &b->states, sizeof *p.states, &p.n_states);
    if (!mx_builder_is_ok(b)) {
        if (err) {
            *err = b->err;
        }
        return b->st;
    }
    MX_TRY(mx_program_check(&p, err));
    p.arena = b->arena;
    b->arena = (mx_arena){0};
    *out = p;
    return MX_OK;
}
