/* tensor_map.c - from canonical paths to tensors. */
#include "model/tensor_map.h"

#include <stdio.h>

#define MAP_MAX_ARENA   ((size_t)1 << 28)
#define MAP_MAX_EXPERTS 4096

static const struct prefix {
    const char *body;
    const char *head;
} prefixes[] = {
    {"model.", ""},
    {"language_model.model.", "language_model."}, /* a vision model, as mlx-vlm and older transformers write it */
    {"model.language_model.", ""},                /* the same by newer transformers */
    {"", ""},                                     /* a bare text model */
};

/* Tensors that a text model has no use for: a piece of the name tells. */
static const char *const harmless[] = {
    "rotary_emb.inv_freq",                                 /* a table that old transformers saved */
    "vision_tower.", "multi_modal_projector.", "lm_head.", /* of a tied model: the embedding again */
};

static mx_status fail_memory(mx_error *err)
{
    return mx_fail(err, MX_NO_MEMORY, "out of memory: the names of a model's tensors");
}

/* "<prefix><path>" in the arena; ptr NULL when out of memory. */
static mx_str full_path(mx_tensor_map *map, mx_str path)
{
    const bool is_head = mx_str_eq_cstr(path, "lm_head");
    return mx_str_from(
        mx_arena_printf(&map->arena, "%s%.*s", is_head ? map->head_prefix : map->body_prefix, MX_STR_ARG(path)));
}

mx_status mx_tensor_map_init(mx_tensor_map *map, const mx_checkpoint *checkpoint, const mx_quant_config *quant,
                             const mx_rename *renames, mx_error *err)
{
    *map = (mx_tensor_map){.checkpoint = checkpoint, .quant = quant, .renames = renames};
    mx_arena_init(&map->arena, MAP_MAX_ARENA);
    for (size_t i = 0; i < MX_COUNTOF(prefixes); i++) {
        map->body_prefix = prefixes[i].body;
        map->head_prefix = prefixes[i].head;
        const mx_str path = full_path(map, MX_STR("embed_tokens"));
        if (!path.ptr) {
            return fail_memory(err);
        }
        if (mx_weight_exists(checkpoint, path)) {
            return MX_OK;
        }
    }
    return mx_fail(err, MX_NOT_FOUND,
                   "%s: has no embedding: neither \"model.embed_tokens.weight\" nor the same under \"language_model.\"",
                   mx_checkpoint_dir(checkpoint));
}

void mx_tensor_map_deinit(mx_tensor_map *map)
{
    mx_arena_deinit(&map->arena);
    mx_strmap_deinit(&map->used);
    *map = (mx_tensor_map){0};
}

static mx_status resolve_plain(mx_tensor_map *map, mx_str path, mx_weight *out, mx_error *err)
{
    MX_TRY(mx_weight_resolve(map->checkpoint, map->quant, path, out, err));
    return mx_strmap_put(&map->used, path, 1, NULL, err);
}

/* `path` with `from` replaced by `to`, and the star in `to` by a number; ptr NULL when out of memory. */
static mx_str rewrite(mx_tensor_map *map, mx_str path, const mx_rename *rename, int64_t i_expert)
{
    const size_t at = mx_str_find(path, mx_str_from(rename->name), 0);
    const mx_str head = mx_str_slice(path, 0, at);
    const mx_str tail = mx_str_slice(path, at + strlen(rename->name), path.len);
    const mx_str to = mx_str_from(rename->other);
    const size_t star = mx_str_find(to, MX_STR("*"), 0);
    if (star == MX_STR_NPOS) {
        return mx_str_from(
            mx_arena_printf(&map->arena, "%.*s%s%.*s", MX_STR_ARG(head), rename->other, MX_STR_ARG(tail)));
    }
    const mx_str before = mx_str_slice(to, 0, star);
    const mx_str after = mx_str_slice(to, star + 1, to.len);
    return mx_str_from(mx_arena_printf(&map->arena, "%.*s%.*s%lld%.*s%.*s", MX_STR_ARG(head), MX_STR_ARG(before),
                                       (long long)i_expert, MX_STR_ARG(after), MX_STR_ARG(tail)));
}

static bool is_same_format(const mx_weight *a, const mx_weight *b)
{
    return a->quant.mode == b->quant.mode && a->quant.bits == b->quant.bits &&
           a->quant.group_size == b->quant.group_size && a->dtype == b->dtype && a->n_rows == b->n_rows &&
           a->n_cols == b->n_cols && a->n_experts == 1 && b->n_experts == 1;
}

static mx_status count_experts(mx_tensor_map *map, mx_str path, const mx_rename *rename, int64_t *n, mx_error *err)
{
    for (*n = 0; *n < MAP_MAX_EXPERTS; ++*n) {
        const mx_str name = rewrite(map, path, rename, *n);
        if (!name.ptr) {
            return fail_memory(err);
        }
        if (!mx_weight_exists(map->checkpoint, name)) {
            return MX_OK;
        }
    }
    return MX_OK;
}

/* Experts 0 to n - 1, each a tensor of its own, as one weight. */
static mx_status join_experts(mx_tensor_map *map, mx_str path, const mx_rename *rename, int64_t n, mx_weight *out,
                              mx_error *err)
{
    mx_weight *experts = mx_arena_array(&map->arena, mx_weight, n);
    if (!experts) {
        return fail_memory(err);
    }
    for (int64_t i = 0; i < n; i++) {
        const mx_str name = rewrite(map, path, rename, i);
        if (!name.ptr) {
            return fail_memory(err);
        }
        MX_TRY(resolve_plain(map, name, &experts[i], err));
        if (!is_same_format(&experts[0], &experts[i])) {
            return mx_fail(err, MX_FORMAT, "tensor \"%.*s\" has another shape or format than that of expert 0",
                           MX_STR_ARG(name));
        }
    }
    *out = experts[0];
    out->name = path;
    out->n_experts = n;
    out->experts = experts;
    out->data = out->scales = out->biases = NULL;
    return MX_OK;
}

static mx_status resolve(void *object, mx_str canonical, mx_weight *out, mx_error *err)
{
    mx_tensor_map *map = object;
    const mx_str path = full_path(map, canonical);
    if (!path.ptr) {
        return fail_memory(err);
    }
    if (mx_weight_exists(map->checkpoint, path)) {
        return resolve_plain(map, path, out, err);
    }
    for (const mx_rename *rename = map->renames; rename && rename->name; rename++) {
        if (mx_str_find(path, mx_str_from(rename->name), 0) == MX_STR_NPOS) {
            continue;
        }
        if (!strchr(rename->other, '*')) {
            const mx_str name = rewrite(map, path, rename, 0);
            if (!name.ptr) {
                return fail_memory(err);
            }
            if (mx_weight_exists(map->checkpoint, name)) {
                return resolve_plain(map, name, out, err);
            }
            continue;
        }
        int64_t n = 0;
        MX_TRY(count_experts(map, path, rename, &n, err));
        if (n > 0) {
            return join_experts(map, path, rename, n, out, err);
        }
    }
    return resolve_plain(map, path, out, err); /* tells what is missing */
}

mx_weight_source mx_tensor_map_source(mx_tensor_map *map)
{
    return (mx_weight_source){.object = map, .resolve = resolve};
}

bool mx_tensor_map_has_lm_head(const mx_tensor_map *map)
{
    char name[64];
    const int n = snprintf(name, sizeof name, "%slm_head", map->head_prefix);
    return mx_weight_exists(map->checkpoint, (mx_str){name, (size_t)n});
}

static bool is_used(const mx_tensor_map *map, mx_str name)
{
    static const mx_str suffixes[] = {
        MX_STR_INIT(""),        MX_STR_INIT(".weight"),       MX_STR_INIT(".scales"),
        MX_STR_INIT(".biases"), MX_STR_INIT(".global_scale"),
    };
    int32_t value = 0;
    for (size_t i = 0; i < MX_COUNTOF(suffixes); i++) {
        if (mx_str_ends_with(name, suffixes[i]) &&
            mx_strmap_get(&map->used, mx_str_slice(name, 0, name.len - suffixes[i].len), &value)) {
            return true;
        }
    }
    return false;
}

static bool is_harmless(mx_str name)
{
    for (size_t i = 0; i < MX_COUNTOF(harmless); i++) {
        if (mx_str_find(name, mx_str_from(harmless[i]), 0) != MX_STR_NPOS) {
            return true;
        }
    }
    return false;
}

mx_status mx_tensor_map_check_unused(const mx_tensor_map *map, mx_error *err)
{
    const mx_tensor *first = NULL;
    size_t n_unused = 0;
    for (size_t i = 0; i < mx_checkpoint_n_tensors(map->checkpoint); i++) {
        const mx_tensor *t = mx_checkpoint_at(map->checkpoint, i);
        if (!is_used(map, t->name) && !is_harmless(t->name)) {
            first = first ? first : t;
            n_unused++;
        }
    }
    if (!first) {
        return MX_OK;
    }
    return mx_fail(err, MX_FORMAT,
                   "%s: tensor \"%.*s\" is not part of the model that config.json describes (%zu such tensors)",
                   first->path, MX_STR_ARG(first->name), n_unused);
}
