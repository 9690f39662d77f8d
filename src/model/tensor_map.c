/* tensor_map.c - from canonical paths to tensors. */
#include "model/tensor_map.h"

#include <stdio.h>

#include "model/tensor_part.h"

#define MAP_MAX_ARENA   ((size_t)1 << 28)
#define MAP_MAX_EXPERTS 4096

static const mx_stem usual_stems[] = {
    {"model.", "layers.", "", false},
    {"language_model.model.", "layers.", "language_model.", false}, /* a vision model, as mlx-vlm and older transformers
                                                                       write it */
    {"model.language_model.", "layers.", "", false},                /* the same by newer transformers */
    {"", "layers.", "", false},                                     /* a bare text model */
    {NULL, NULL, NULL, false},
};

/* Tensors that a text model has no use for: a piece of the name tells. */
static const char *const harmless[] = {
    "rotary_emb.inv_freq", /* tables that old transformers saved, */
    ".attn.bias",
    ".attn.masked_bias", /* among them GPT-2's and GPT-NeoX's causal masks */
    ".attention.bias",
    ".attention.masked_bias",
    ".mtp_layers.", /* that draft the tokens after the next (MiMo), */
    "mtp.",         /* and the same of Qwen */
    "mtp_block.",   /* and of ERNIE, */
    "mtp_linear_proj.",
    "mtp_hidden_norm.",
    "mtp_emb_norm.",
    "vision_model.",
    "vision_tower.",
    "audio_tower.",
    "embed_vision.",
    "embed_audio.",
    "model.visual.",
    "multi_modal_projector.",
    "lm_head.", /* of a tied model: the embedding again */
};

static mx_status fail_memory(mx_error *err)
{
    return mx_fail(err, MX_NO_MEMORY, "out of memory: the names of a model's tensors");
}

/* The path as the checkpoint begins it, in the arena; ptr NULL when out of memory. */
static mx_str full_path(mx_tensor_map *map, mx_str path)
{
    const mx_stem *stem = map->stem;
    const mx_str layers = MX_STR("layers.");
    if (mx_str_starts_with(path, layers)) {
        const mx_str rest = mx_str_slice(path, layers.len, path.len);
        return mx_str_from(mx_arena_printf(&map->arena, "%s%s%.*s", stem->body, stem->layers, MX_STR_ARG(rest)));
    }
    const char *start = mx_str_starts_with(path, MX_STR("lm_head")) ? stem->head : stem->body; /* or its bias */
    return mx_str_from(mx_arena_printf(&map->arena, "%s%.*s", start, MX_STR_ARG(path)));
}

void mx_tensor_map_deinit(mx_tensor_map *map)
{
    mx_tensor_part_free_copies(map);
    mx_arena_deinit(&map->arena);
    mx_strmap_deinit(&map->used);
    *map = (mx_tensor_map){0};
}

static mx_status resolve_plain(mx_tensor_map *map, mx_str path, mx_weight *out, mx_error *err)
{
    MX_TRY(mx_weight_resolve(map->checkpoint, map->quant, path, out, err));
    return mx_strmap_put(&map->used, path, 1, NULL, err);
}

/* `path` with `name` replaced by `other`, and the star in that by a number; ptr NULL when out of memory. */
static mx_str rewrite(mx_tensor_map *map, mx_str path, const char *name, const char *other, int64_t i_expert)
{
    const size_t at = mx_str_find(path, mx_str_from(name), 0);
    const mx_str head = mx_str_slice(path, 0, at);
    const mx_str tail = mx_str_slice(path, at + strlen(name), path.len);
    const mx_str to = mx_str_from(other);
    const size_t star = mx_str_find(to, MX_STR("*"), 0);
    if (star == MX_STR_NPOS) {
        return mx_str_from(mx_arena_printf(&map->arena, "%.*s%s%.*s", MX_STR_ARG(head), other, MX_STR_ARG(tail)));
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
        const mx_str name = rewrite(map, path, rename->name, rename->other, *n);
        if (!name.ptr) {
            return fail_memory(err);
        }
        if (!mx_weight_exists(map->checkpoint, name)) {
            return MX_OK;
        }
    }
    return MX_OK;
}

/* Where a weight was found. */
typedef struct place {
    mx_str path;              /* in the checkpoint, but of experts that are tensors of their own */
    const mx_rename *experts; /* of those, else NULL */
    int64_t n_experts;
    const mx_fusion *fusion; /* of the part of `path` that the weight is; NULL: all of it */
    bool is_found;           /* else path is where it was expected */
} place;

/* Looks for the weight where `name` in the path out->path is replaced by `other`. */
static mx_status try_name(mx_tensor_map *map, const char *name, const char *other, place *out, mx_error *err)
{
    if (mx_str_find(out->path, mx_str_from(name), 0) == MX_STR_NPOS) {
        return MX_OK;
    }
    const mx_str path = rewrite(map, out->path, name, other, 0);
    if (!path.ptr) {
        return fail_memory(err);
    }
    out->is_found = mx_weight_exists(map->checkpoint, path);
    out->path = out->is_found ? path : out->path;
    return MX_OK;
}

static mx_status try_rename(mx_tensor_map *map, const mx_rename *rename, place *out, mx_error *err)
{
    if (!strchr(rename->other, '*')) {
        return try_name(map, rename->name, rename->other, out, err);
    }
    if (mx_str_find(out->path, mx_str_from(rename->name), 0) == MX_STR_NPOS) {
        return MX_OK;
    }
    MX_TRY(count_experts(map, out->path, rename, &out->n_experts, err));
    out->is_found = out->n_experts > 0;
    out->experts = out->is_found ? rename : NULL;
    return MX_OK;
}

/* MX_NO_MEMORY. */
static mx_status locate(mx_tensor_map *map, mx_str canonical, place *out, mx_error *err)
{
    *out = (place){.path = full_path(map, canonical)};
    if (!out->path.ptr) {
        return fail_memory(err);
    }
    out->is_found = mx_weight_exists(map->checkpoint, out->path);
    for (const mx_rename *r = map->family->renames; !out->is_found && r && r->name; r++) {
        MX_TRY(try_rename(map, r, out, err));
    }
    for (const mx_fusion *f = map->family->fusions; !out->is_found && f && f->name; f++) {
        MX_TRY(try_name(map, f->name, f->fused, out, err));
        out->fusion = out->is_found ? f : NULL;
    }
    return MX_OK;
}

mx_status mx_tensor_map_init(mx_tensor_map *map, const mx_checkpoint *checkpoint, const mx_quant_config *quant,
                             const mx_family *family, const mx_model_config *config, mx_error *err)
{
    *map = (mx_tensor_map){.checkpoint = checkpoint, .quant = quant, .family = family, .config = config};
    mx_arena_init(&map->arena, MAP_MAX_ARENA);
    const mx_stem *stems = family->stems ? family->stems : usual_stems;
    for (map->stem = stems; map->stem->body; map->stem++) {
        place at;
        MX_TRY(locate(map, MX_STR("embed_tokens"), &at, err));
        if (at.is_found) {
            return MX_OK;
        }
    }
    map->stem = stems;
    return mx_fail(err, MX_NOT_FOUND,
                   "%s: has no embedding: neither \"%sembed_tokens.weight\" nor any other known name",
                   mx_checkpoint_dir(checkpoint), stems[0].body);
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
        const mx_str name = rewrite(map, path, rename->name, rename->other, i);
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

static mx_status turn(const mx_tensor_map *map, mx_weight *w, mx_error *err)
{
    if (w->quant.mode != MX_QUANT_NONE) {
        return mx_fail(err, MX_UNSUPPORTED, "%s: \"%.*s\" is quantised but stored [inputs, outputs]",
                       mx_checkpoint_dir(map->checkpoint), MX_STR_ARG(w->name));
    }
    *w = mx_weight_transpose(w);
    return MX_OK;
}

static mx_status resolve(void *object, mx_str canonical, mx_weight *out, mx_error *err)
{
    mx_tensor_map *map = object;
    place at;
    MX_TRY(locate(map, canonical, &at, err));
    if (at.experts) {
        return join_experts(map, at.path, at.experts, at.n_experts, out, err);
    }
    MX_TRY(resolve_plain(map, at.path, out, err)); /* tells what is missing */
    if (map->stem->is_by_input && out->n_rows > 1 && mx_str_starts_with(canonical, MX_STR("layers."))) {
        MX_TRY(turn(map, out, err));
    }
    return at.fusion ? mx_tensor_part_take(map, at.fusion->part, canonical, out, err) : MX_OK;
}

/* From a DoRA adapter's magnitudes to factors, which b has then too; both live in the arena. */
static mx_status find_factors(mx_tensor_map *map, mx_str canonical, mx_adaptation *a, mx_error *err)
{
    mx_weight w;
    MX_TRY(resolve(map, canonical, &w, err));
    if (a->a.n_cols != w.n_cols || a->b.n_rows != w.n_rows || a->a.n_rows != a->b.n_cols ||
        a->factors.n_cols != w.n_rows) {
        return MX_OK; /* the builder tells what does not fit */
    }
    float *factors = mx_arena_array(&map->arena, float, w.n_rows);
    float *b = mx_arena_array(&map->arena, float, a->b.n_rows * a->b.n_cols);
    float *row = mx_arena_array(&map->arena, float, 2 * w.n_cols);
    if (!factors || !b || !row) {
        return fail_memory(err);
    }
    mx_adapter_compute_factors(&w, a, factors, b, row);
    a->factors.data = (const uint8_t *)factors;
    a->factors.dtype = MX_DTYPE_F32;
    a->b = (mx_weight){.name = a->b.name,
                       .dtype = MX_DTYPE_F32,
                       .n_experts = 1,
                       .n_rows = a->b.n_rows,
                       .n_cols = a->b.n_cols,
                       .data = (const uint8_t *)b,
                       .global_scale = 1.0f};
    return MX_OK;
}

static mx_status adapt(void *object, mx_str canonical, mx_adaptation *out, bool *found, mx_error *err)
{
    mx_tensor_map *map = object;
    place at;
    *found = false;
    MX_TRY(locate(map, canonical, &at, err));
    if (at.experts || !at.is_found) {
        return MX_OK;
    }
    MX_TRY(mx_adapter_find(map->adapter, at.path, out, found, err));
    if (*found && at.fusion) {
        MX_TRY(mx_tensor_part_take(map, at.fusion->part, canonical, &out->b, err));
    }
    if (!*found || out->factors.n_cols == 0) {
        return MX_OK;
    }
    if (at.fusion) {
        MX_TRY(mx_tensor_part_take(map, at.fusion->part, canonical, &out->factors, err));
    }
    return find_factors(map, canonical, out, err);
}

mx_weight_source mx_tensor_map_source(mx_tensor_map *map)
{
    return (mx_weight_source){.object = map, .resolve = resolve, .adapt = map->adapter ? adapt : NULL};
}

bool mx_tensor_map_has_lm_head(mx_tensor_map *map)
{
    place at;
    return locate(map, MX_STR("lm_head"), &at, NULL) == MX_OK && at.is_found;
}

static bool is_used(const mx_tensor_map *map, mx_str name)
{
    static const mx_str suffixes[] = {
        MX_STR_INIT(""),        MX_STR_INIT(".weight"),       MX_STR_INIT(".scales"),
        MX_STR_INIT(".biases"), MX_STR_INIT(".global_scale"), MX_STR_INIT("_blocks"),
        MX_STR_INIT("_scales"),
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

/* Whether a tensor is in a layer behind the last (mx_model_config.n_extra_layers). */
static bool is_extra_layer(const mx_tensor_map *map, mx_str name)
{
    char start[128];
    const int n = snprintf(start, sizeof start, "%s%s", map->stem->body, map->stem->layers);
    if (map->config->n_extra_layers == 0 || n < 0 || !mx_str_starts_with(name, (mx_str){start, (size_t)n})) {
        return false;
    }
    int32_t i_layer = 0;
    for (size_t i = (size_t)n; i < name.len && name.ptr[i] >= '0' && name.ptr[i] <= '9' && i_layer < 100000; i++) {
        i_layer = i_layer * 10 + name.ptr[i] - '0';
    }
    return i_layer >= map->config->n_layers && i_layer < map->config->n_layers + map->config->n_extra_layers;
}

/* Keys and values of a layer that attends to those of another: published files have them all the same (Gemma 3n). */
static bool is_of_shared_keys(const mx_tensor_map *map, mx_str name)
{
    static const char *const pieces[] = {".self_attn.k_proj.", ".self_attn.v_proj.", ".self_attn.k_norm."};
    char start[64];
    snprintf(start, sizeof start, "%s%s", map->stem->body, map->stem->layers);
    if (!mx_str_starts_with(name, mx_str_from(start))) {
        return false;
    }
    int32_t i_layer = 0;
    size_t i = strlen(start);
    for (; i < name.len && name.ptr[i] >= '0' && name.ptr[i] <= '9' && i_layer < map->config->n_layers; i++) {
        i_layer = i_layer * 10 + name.ptr[i] - '0';
    }
    if (i_layer >= map->config->n_layers || map->config->layers[i_layer].i_kv_layer == i_layer) {
        return false;
    }
    for (size_t j = 0; j < MX_COUNTOF(pieces); j++) {
        if (mx_str_starts_with(mx_str_slice(name, i, name.len), mx_str_from(pieces[j]))) {
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
        if (!is_used(map, t->name) && !is_harmless(t->name) && !is_extra_layer(map, t->name) &&
            !is_of_shared_keys(map, t->name)) {
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
