/* convert_config.c - mlx-lm's rules for what is quantised how.
 *
 * Source: mlx-lm, mlx_lm/convert.py mixed_quant_predicate_builder, mlx_lm/utils.py quantize_model.
 */
#include "hub/convert_config.h"

#include <inttypes.h>
#include <stdio.h>

#include "platform/file.h"
#include "platform/path.h"
#include "weights/quant.h"

#define MAX_CONFIG_BYTES ((size_t)16 << 20)

static const struct {
    const char *name;
    int32_t low, high;
} recipes[] = {{"mixed_2_6", 2, 6}, {"mixed_3_4", 3, 4}, {"mixed_3_6", 3, 6}, {"mixed_4_6", 4, 6}};

static mx_status choose_recipe(mx_convert_config *c, mx_error *err)
{
    c->low = c->high = c->options->quant;
    for (size_t i = 0; c->options->recipe && i < MX_COUNTOF(recipes); i++) {
        if (strcmp(c->options->recipe, recipes[i].name) == 0) {
            c->low.bits = recipes[i].low;
            c->high.bits = recipes[i].high;
            return MX_OK;
        }
    }
    return c->options->recipe ? mx_fail(err, MX_INVALID,
                                        "there is no recipe \"%s\": there are mixed_2_6, mixed_3_4, mixed_3_6 and "
                                        "mixed_4_6",
                                        c->options->recipe)
                              : MX_OK;
}

static bool add_quant(yyjson_mut_doc *doc, yyjson_mut_val *obj, mx_quant quant)
{
    return yyjson_mut_obj_add_int(doc, obj, "group_size", quant.group_size) &&
           yyjson_mut_obj_add_int(doc, obj, "bits", quant.bits) &&
           yyjson_mut_obj_add_str(doc, obj, "mode", mx_quant_mode_name(quant.mode));
}

static mx_status read_source(mx_convert_config *c, const char *dir, mx_arena *arena, mx_error *err)
{
    mx_buf text = {0};
    mx_quant_config quant = {0};
    yyjson_val *text_config;
    mx_status st;
    const char *path = mx_path_join(arena, dir, MX_STR("config.json"));
    if (!path) {
        return mx_fail(err, MX_NO_MEMORY, "no memory for a path");
    }
    MX_TRY_OR(done, st, mx_file_read(path, MAX_CONFIG_BYTES, &text, err));
    MX_TRY_OR(done, st, mx_json_parse(mx_buf_view(&text), path, &c->source, err));
    MX_TRY_OR(done, st, mx_quant_config_parse(c->source.root, path, &quant, err));
    if (quant.is_present) {
        st = mx_fail(err, MX_UNSUPPORTED, "%s: this model is quantised already: take the one that it was made of", dir);
        goto done;
    }
    MX_TRY_OR(done, st, mx_json_get_obj(c->source.root, "text_config", &text_config, err));
    yyjson_val *model = text_config ? text_config : c->source.root;
    MX_TRY_OR(done, st, mx_json_get_i64(model, "num_hidden_layers", 0, 100000, &c->n_layers, err));
    MX_TRY_OR(done, st, mx_json_get_bool(c->source.root, "tie_word_embeddings", &c->is_tied, err));
done:
    mx_quant_config_close(&quant);
    mx_buf_deinit(&text);
    return st;
}

mx_status mx_convert_config_open(const char *dir, const mx_convert_options *options, mx_convert_config *out,
                                 mx_error *err)
{
    mx_arena arena;
    *out = (mx_convert_config){.options = options};
    mx_arena_init(&arena, 1 << 20);
    mx_status st = choose_recipe(out, err);
    st = st == MX_OK ? read_source(out, dir, &arena, err) : st;
    mx_arena_deinit(&arena);
    MX_TRY(st);
    out->made = yyjson_doc_mut_copy(out->source.doc, &mx_json_heap);
    out->overrides = out->made ? yyjson_mut_obj(out->made) : NULL;
    const bool is_made =
        out->overrides && (out->low.mode == MX_QUANT_NONE || add_quant(out->made, out->overrides, out->low));
    return is_made ? MX_OK : mx_fail(err, MX_NO_MEMORY, "no memory for config.json");
}

void mx_convert_config_close(mx_convert_config *config)
{
    yyjson_mut_doc_free(config->made);
    mx_json_close(&config->source);
    *config = (mx_convert_config){.options = config->options};
}

/* The number of the layer in a path; 0 where it is in none. */
static int64_t layer_of(mx_str path)
{
    int64_t value = 0;
    for (size_t i = 0; i < path.len; i++) {
        const bool starts = i > 0 && path.ptr[i - 1] == '.';
        if (starts && path.ptr[i] >= '0' && path.ptr[i] <= '9') {
            for (; i < path.len && path.ptr[i] >= '0' && path.ptr[i] <= '9' && value < 100000; i++) {
                value = value * 10 + (path.ptr[i] - '0');
            }
            return value;
        }
    }
    return 0;
}

static bool has(mx_str path, const char *piece)
{
    return mx_str_find(path, mx_str_from(piece), 0) != MX_STR_NPOS;
}

/* The first and the last eighth of the layers and every third one get more bits where it matters most. */
static mx_quant pick(const mx_convert_config *c, mx_str path)
{
    const int64_t i = layer_of(path);
    const int64_t eighth = c->n_layers / 8;
    const bool use_more = i < eighth || i >= 7 * c->n_layers / 8 || (i >= eighth && (i - eighth) % 3 == 2);
    const bool is_value = has(path, "v_proj") || has(path, "v_a_proj") || has(path, "v_b_proj");
    if (c->options->recipe && ((use_more && (is_value || has(path, "down_proj"))) || has(path, "lm_head"))) {
        return c->high;
    }
    return c->low;
}

/* Matrices of the text model alone; norms and convolutions of two dimensions are none. */
static bool is_matrix(mx_str path, const int64_t *shape, int32_t n_dims)
{
    const bool is_stack = n_dims == 3 && (has(path, "switch_mlp") || has(path, "experts"));
    return (n_dims == 2 || is_stack) && shape[n_dims - 1] > 1 && shape[n_dims - 2] > 1 && !has(path, "norm") &&
           !has(path, "conv1d") && !has(path, "vision") && !has(path, "visual");
}

static bool is_router(mx_str path)
{
    return mx_str_ends_with(path, MX_STR("mlp.gate")) || mx_str_ends_with(path, MX_STR("shared_expert_gate"));
}

mx_status mx_convert_choose(mx_convert_config *c, mx_str path, const int64_t *shape, int32_t n_dims, mx_quant *out,
                            mx_error *err)
{
    const mx_quant router = {MX_QUANT_AFFINE, 8, 64}; /* small, and the choice of experts hangs on it */
    *out = (mx_quant){0};
    if (c->low.mode == MX_QUANT_NONE || !is_matrix(path, shape, n_dims)) {
        return MX_OK;
    }
    mx_quant quant = is_router(path) ? router : pick(c, path);
    if (shape[n_dims - 1] % quant.group_size != 0 || shape[n_dims - 1] * quant.bits % 32 != 0) {
        if (c->n_left++ == 0) {
            c->n_left_cols = shape[n_dims - 1];
            (void)snprintf(c->first_left, sizeof c->first_left, "%.*s", MX_STR_ARG(path));
        }
        return MX_OK; /* MLX's loader sees by the missing scales that it is not quantised */
    }
    *out = quant;
    c->n_quantised++;
    if (quant.bits == c->low.bits && quant.group_size == c->low.group_size && quant.mode == c->low.mode) {
        return MX_OK;
    }
    yyjson_mut_val *key = yyjson_mut_strncpy(c->made, path.ptr, path.len);
    yyjson_mut_val *val = yyjson_mut_obj(c->made);
    const bool is_added = key && val && add_quant(c->made, val, quant) && yyjson_mut_obj_add(c->overrides, key, val);
    return is_added ? MX_OK : mx_fail(err, MX_NO_MEMORY, "no memory for config.json");
}

mx_status mx_convert_config_check(const mx_convert_config *c, mx_error *err)
{
    char text[320];
    if (c->low.mode == MX_QUANT_NONE || (c->n_left == 0 && c->n_quantised > 0)) {
        return MX_OK;
    }
    if (c->n_quantised == 0) {
        return c->n_left == 0 ? mx_fail(err, MX_INVALID, "the model has no matrix that could be quantised")
                              : mx_fail(err, MX_INVALID,
                                        "no matrix can be quantised: rows are no whole groups of %d (%s has %" PRId64
                                        " columns); choose smaller groups with --q-group-size",
                                        (int)c->low.group_size, c->first_left, c->n_left_cols);
    }
    if (c->options->on_note) {
        (void)snprintf(text, sizeof text,
                       "%" PRId64 " of %" PRId64 " matrices stay floats, since their rows are no whole groups of %d: "
                       "the first is %s, of %" PRId64 " columns",
                       c->n_left, c->n_left + c->n_quantised, (int)c->low.group_size, c->first_left, c->n_left_cols);
        c->options->on_note(c->options->arg, text);
    }
    return MX_OK;
}

bool mx_convert_is_dropped(const mx_convert_config *c, mx_str name)
{
    return mx_str_ends_with(name, MX_STR("rotary_emb.inv_freq")) ||
           (c->is_tied && mx_str_ends_with(name, MX_STR("lm_head.weight")));
}

mx_status mx_convert_config_write(mx_convert_config *c, const char *dir, mx_error *err)
{
    mx_arena arena;
    mx_status st;
    mx_arena_init(&arena, 1 << 20);
    const char *path = mx_path_join(&arena, dir, MX_STR("config.json"));
    yyjson_mut_val *root = yyjson_mut_doc_get_root(c->made);
    bool is_made = path && yyjson_mut_is_obj(root);
    if (is_made && c->low.mode != MX_QUANT_NONE) {
        yyjson_mut_val *twin = yyjson_mut_val_mut_copy(c->made, c->overrides);
        is_made = twin && yyjson_mut_obj_add_val(c->made, root, "quantization", c->overrides) &&
                  yyjson_mut_obj_add_val(c->made, root, "quantization_config", twin);
    }
    size_t n = 0;
    char *text = is_made ? yyjson_mut_write_opts(c->made, YYJSON_WRITE_PRETTY, &mx_json_heap, &n, NULL) : NULL;
    st = text ? mx_file_write(path, (mx_str){text, n}, err) : mx_fail(err, MX_NO_MEMORY, "no memory for config.json");
    if (text) {
        mx_json_heap.free(mx_json_heap.ctx, text);
    }
    mx_arena_deinit(&arena);
    return st;
}
