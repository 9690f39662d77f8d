/* tensor_part.c - which rows of which tensor a weight is. */
#include "model/tensor_part.h"

#include "base/mem.h"

/* The heads of the layer that a canonical path is in. */
static const mx_layer_config *layer_of(const mx_tensor_map *map, mx_str canonical)
{
    int32_t i_layer = 0;
    for (size_t i = sizeof "layers." - 1; i < canonical.len && canonical.ptr[i] >= '0' && canonical.ptr[i] <= '9';
         i++) {
        i_layer = i_layer * 10 + canonical.ptr[i] - '0';
    }
    return &map->config->layers[i_layer];
}

/* Rows of a fused matrix: `n_runs` runs of `run_rows`, `run_step` apart, from row `first` on. */
typedef struct part_rows {
    int64_t first, n_runs, run_rows, run_step;
    int64_t n_whole; /* rows that the fused matrix must have */
} part_rows;

static part_rows rows_of_part(mx_part part, const mx_layer_config *layer, int64_t n_rows)
{
    const int64_t dim = layer->head_dim;
    const int64_t n_q = layer->n_heads * dim;
    const int64_t n_kv = layer->n_kv_heads * dim;
    const int64_t group = n_q / layer->n_kv_heads; /* rows of queries that read one key head */
    const int64_t n_all = n_q + 2 * n_kv;
    switch (part) {
    case MX_PART_Q: return (part_rows){0, 1, n_q, n_q, n_all};
    case MX_PART_K: return (part_rows){n_q, 1, n_kv, n_kv, n_all};
    case MX_PART_V: return (part_rows){n_q + n_kv, 1, n_kv, n_kv, n_all};
    case MX_PART_GROUP_Q: return (part_rows){0, layer->n_kv_heads, group, group + 2 * dim, n_all};
    case MX_PART_GROUP_K: return (part_rows){group, layer->n_kv_heads, dim, group + 2 * dim, n_all};
    case MX_PART_GROUP_V: return (part_rows){group + dim, layer->n_kv_heads, dim, group + 2 * dim, n_all};
    case MX_PART_HEAD_Q: return (part_rows){0, layer->n_heads, dim, 2 * dim, 2 * n_q};
    case MX_PART_HEAD_GATE: return (part_rows){dim, layer->n_heads, dim, 2 * dim, 2 * n_q};
    case MX_PART_TURNED_FIRST_HALF:
    case MX_PART_FIRST_HALF: return (part_rows){0, 1, n_rows / 2, n_rows / 2, n_rows / 2 * 2};
    case MX_PART_TURNED_SECOND_HALF:
    case MX_PART_SECOND_HALF: return (part_rows){n_rows / 2, 1, n_rows / 2, n_rows / 2, n_rows / 2 * 2};
    case MX_PART_TURNED_EVEN: return (part_rows){0, n_rows / 2, 1, 2, n_rows / 2 * 2};
    case MX_PART_TURNED_ODD: return (part_rows){1, n_rows / 2, 1, 2, n_rows / 2 * 2};
    case MX_PART_TURNED:
    case MX_PART_STACKED:
    case MX_PART_STACKED_TURNED:
    case MX_PART_LATENT_KEYS:
    case MX_PART_LATENT_VALUES: break;
    }
    return (part_rows){0, 1, n_rows, n_rows, n_rows};
}

/* Elements of each vector of a bias [n_rows, n]: few bytes, which are copied where they are not neighbours. */
static mx_status take_part_of_vectors(mx_tensor_map *map, const part_rows *rows, mx_weight *w, mx_error *err)
{
    const int64_t size = (int64_t)mx_dtype_size(w->dtype);
    const int64_t n = rows->n_runs * rows->run_rows;
    const uint8_t *src = w->data + rows->first * size;
    if (rows->n_runs == 1 && w->n_rows == 1) {
        w->n_cols = n;
        w->data = src;
        return MX_OK;
    }
    uint8_t *copy = mx_arena_alloc(&map->arena, (size_t)(w->n_rows * n * size));
    if (!copy) {
        return mx_fail_no_memory(err, (size_t)(w->n_rows * n * size), "a part of a bias");
    }
    for (int64_t r = 0; r < w->n_rows; r++, src += w->n_cols * size) {
        for (int64_t i = 0; i < rows->n_runs; i++) {
            memcpy(copy + (r * n + i * rows->run_rows) * size, src + i * rows->run_step * size,
                   (size_t)(rows->run_rows * size));
        }
    }
    w->n_cols = n;
    w->data = copy;
    return MX_OK;
}

static mx_status check_rows(const mx_weight *w, int64_t found, int64_t wanted, mx_error *err)
{
    return found == wanted ? MX_OK
                           : mx_fail(err, MX_FORMAT, "tensor \"%.*s\": %lld rows by the configuration, found %lld",
                                     MX_STR_ARG(w->name), (long long)wanted, (long long)found);
}

/* Heads ------------------------------------------------------------------------------------------------------------ */

typedef struct copy {
    struct copy *next; /* in the map's arena */
    void *ptr;         /* owned */
} copy;

/* One head's rows [n_rows, n_cols] as a dense matrix of their columns. */
static mx_status turn_head(mx_tensor_map *map, mx_weight *w, mx_error *err)
{
    if (w->quant.mode == MX_QUANT_NONE) {
        *w = mx_weight_transpose(w);
        return MX_OK;
    }
    const size_t n_bytes = (size_t)(w->n_rows * w->n_cols) * sizeof(float);
    copy *own = mx_arena_array(&map->arena, copy, 1);
    float *values = mx_malloc(n_bytes);
    if (!own || !values) {
        mx_free(values);
        return mx_fail_no_memory(err, n_bytes, "a turned matrix");
    }
    *own = (copy){.next = map->copies, .ptr = values};
    map->copies = own;
    for (int64_t r = 0; r < w->n_rows; r++) {
        mx_weight_dequantize_row(w, 0, r, values + r * w->n_cols);
    }
    const mx_weight dense = {.name = w->name,
                             .dtype = MX_DTYPE_F32,
                             .n_experts = 1,
                             .n_rows = w->n_rows,
                             .n_cols = w->n_cols,
                             .data = (const uint8_t *)values,
                             .global_scale = 1};
    *w = mx_weight_transpose(&dense);
    return MX_OK;
}

/* The matrix of each head, from rows that stand head by head. */
static mx_status take_heads(mx_tensor_map *map, mx_part part, int64_t n_heads, mx_weight *w, mx_error *err)
{
    const mx_mla_config *mla = &map->config->mla;
    const int64_t step = mla->nope_dim + mla->v_dim;
    MX_TRY(check_rows(w, w->n_rows * w->n_experts, n_heads * step, err));
    w->n_rows *= w->n_experts;
    w->n_experts = 1;
    mx_weight *heads = mx_arena_array(&map->arena, mx_weight, n_heads);
    if (!heads) {
        return mx_fail_no_memory(err, (size_t)n_heads * sizeof *heads, "a table of heads");
    }
    for (int64_t h = 0; h < n_heads; h++) {
        if (part == MX_PART_LATENT_KEYS) {
            heads[h] = mx_weight_slice_rows(w, h * step, mla->nope_dim);
            MX_TRY(turn_head(map, &heads[h], err));
        } else {
            heads[h] = mx_weight_slice_rows(w, h * step + mla->nope_dim, mla->v_dim);
        }
        heads[h].expert_rows = 0;
    }
    *w = heads[0];
    w->n_experts = n_heads;
    w->experts = heads;
    w->data = w->scales = w->biases = NULL;
    return MX_OK;
}

/* Rows of all experts as a stack of theirs. */
static mx_status take_stack(mx_tensor_map *map, bool is_turned, mx_weight *w, mx_error *err)
{
    const int64_t n_experts = map->config->n_experts;
    if (n_experts < 1 || w->n_experts != 1 || w->n_rows % n_experts != 0 ||
        (is_turned && w->quant.mode != MX_QUANT_NONE)) {
        return mx_fail(err, MX_FORMAT,
                       "tensor \"%.*s\": %lld rows cannot be those of %lld experts, or are stored the other way round "
                       "and quantised",
                       MX_STR_ARG(w->name), (long long)w->n_rows, (long long)n_experts);
    }
    w->n_experts = n_experts;
    w->n_rows /= n_experts;
    *w = is_turned ? mx_weight_transpose(w) : *w;
    return MX_OK;
}

void mx_tensor_part_free_copies(mx_tensor_map *map)
{
    for (copy *own = map->copies; own; own = own->next) {
        mx_free(own->ptr);
    }
    map->copies = NULL;
}

/* All -------------------------------------------------------------------------------------------------------------- */

mx_status mx_tensor_part_take(mx_tensor_map *map, mx_part part, mx_str canonical, mx_weight *w, mx_error *err)
{
    const mx_layer_config *layer = layer_of(map, canonical);
    if (part == MX_PART_LATENT_KEYS || part == MX_PART_LATENT_VALUES) {
        return take_heads(map, part, layer->n_heads, w, err);
    }
    if (part == MX_PART_STACKED || part == MX_PART_STACKED_TURNED) {
        return take_stack(map, part == MX_PART_STACKED_TURNED, w, err);
    }
    const bool is_dense = w->quant.mode == MX_QUANT_NONE;
    if (part >= MX_PART_TURNED && is_dense && w->n_experts > 1 && mx_checkpoint_find(map->checkpoint, w->name)) {
        *w = mx_weight_transpose(w);
    }
    const bool is_vector =
        is_dense && w->n_experts == 1 && (w->n_rows == 1 || mx_str_ends_with(canonical, MX_STR(".bias")));
    const int64_t n = is_vector ? w->n_cols : w->n_rows;
    const part_rows rows = rows_of_part(part, layer, n);
    MX_TRY(check_rows(w, n, rows.n_whole, err));
    if (part == MX_PART_TURNED) {
        return MX_OK;
    }
    if (is_vector) {
        return take_part_of_vectors(map, &rows, w, err);
    }
    *w = rows.n_runs == 1 ? mx_weight_slice_rows(w, rows.first, rows.run_rows)
                          : mx_weight_slice_runs(w, rows.first, rows.n_runs, rows.run_rows, rows.run_step);
    return MX_OK;
}
