/* quant.c - reading the quantisation part of config.json. */
#include "weights/quant.h"

#include "base/mem.h"

#define MAX_CONFIG_ARENA ((size_t)256 << 20)

/* The modes, with MLX's defaults for fields that are left out. The float modes have no other width or group. */
static const struct {
    const char *name;
    mx_quant defaults;
} mode_info[] = {
    [MX_QUANT_NONE] = {"none", {MX_QUANT_NONE, 0, 0}},     [MX_QUANT_AFFINE] = {"affine", {MX_QUANT_AFFINE, 4, 64}},
    [MX_QUANT_MXFP4] = {"mxfp4", {MX_QUANT_MXFP4, 4, 32}}, [MX_QUANT_NVFP4] = {"nvfp4", {MX_QUANT_NVFP4, 4, 16}},
    [MX_QUANT_MXFP8] = {"mxfp8", {MX_QUANT_MXFP8, 8, 32}},
};

/* What other tools' quant_method, and its variants, are in MLX's terms. */
static const struct {
    const char *method;
    const char *variant_key; /* the member that tells the variant; NULL where there is one only */
    const char *variant;
    bool is_default; /* where the member is absent */
    mx_foreign foreign;
    mx_quant quant; /* of affine ones, members tell width and group */
} method_info[] = {
    {"mxfp4", NULL, NULL, true, MX_FOREIGN_NONE, {MX_QUANT_MXFP4, 4, 32}},
    {"mxfp8", NULL, NULL, true, MX_FOREIGN_NONE, {MX_QUANT_MXFP8, 8, 32}},
    {"awq", "version", "gemm", true, MX_FOREIGN_AWQ, {MX_QUANT_AFFINE, 4, 128}},
    {"gptq", "checkpoint_format", "gptq", true, MX_FOREIGN_GPTQ, {MX_QUANT_AFFINE, 4, 128}},
    {"gptq", "checkpoint_format", "gptq_v2", false, MX_FOREIGN_GPTQ_V2, {MX_QUANT_AFFINE, 4, 128}},
    {"compressed-tensors", "format", "pack-quantized", false, MX_FOREIGN_COMPRESSED, {MX_QUANT_AFFINE, 4, 128}},
    {"compressed-tensors", "format", "nvfp4-pack-quantized", false, MX_FOREIGN_COMPRESSED, {MX_QUANT_NVFP4, 4, 16}},
    {"compressed-tensors", "format", "mxfp4-pack-quantized", false, MX_FOREIGN_COMPRESSED, {MX_QUANT_MXFP4, 4, 32}},
    {"bitnet", "linear_class", "bitlinear", true, MX_FOREIGN_BITNET_DIV, {MX_QUANT_AFFINE, 2, 128}},
    {"bitnet", "linear_class", "autobitlinear", false, MX_FOREIGN_BITNET, {MX_QUANT_AFFINE, 2, 128}},
};

const char *mx_quant_mode_name(mx_quant_mode mode)
{
    return mode_info[mode].name;
}

bool mx_quant_is_valid(mx_quant q)
{
    if (q.mode != MX_QUANT_AFFINE) {
        return q.bits == mode_info[q.mode].defaults.bits && q.group_size == mode_info[q.mode].defaults.group_size;
    }
    const bool is_width = (q.bits >= 2 && q.bits <= 6) || q.bits == 8;
    return is_width && (q.group_size == 32 || q.group_size == 64 || q.group_size == 128);
}

/* The three fields of an object, the missing ones by the mode's defaults. */
static mx_status read_fields(yyjson_val *obj, mx_quant *out, mx_error *err)
{
    mx_str mode_name = MX_STR("affine");
    MX_TRY(mx_json_get_str(obj, "mode", &mode_name, err));
    size_t mode = MX_QUANT_AFFINE;
    while (mode < MX_COUNTOF(mode_info) && !mx_str_eq_cstr(mode_name, mode_info[mode].name)) {
        mode++;
    }
    if (mode == MX_COUNTOF(mode_info)) {
        return mx_fail(err, MX_UNSUPPORTED,
                       "quantisation mode \"%.*s\" is not known; affine, mxfp4, nvfp4 and mxfp8 are",
                       MX_STR_ARG(mode_name));
    }
    int64_t bits = mode_info[mode].defaults.bits;
    int64_t group_size = mode_info[mode].defaults.group_size;
    MX_TRY(mx_json_get_i64(obj, "bits", 1, 64, &bits, err));
    MX_TRY(mx_json_get_i64(obj, "group_size", 1, 1 << 20, &group_size, err));
    *out = (mx_quant){.mode = (mx_quant_mode)mode, .bits = (int32_t)bits, .group_size = (int32_t)group_size};
    if (!mx_quant_is_valid(*out)) {
        return mx_fail(err, MX_UNSUPPORTED, "quantisation with %d bits in groups of %d is not known in mode %s",
                       (int)bits, (int)group_size, mode_info[mode].name);
    }
    return MX_OK;
}

static mx_status add_layer(mx_quant_config *config, mx_str path, yyjson_val *value, mx_error *err)
{
    mx_quant quant = config->global;
    if (yyjson_is_obj(value)) {
        const mx_status st = read_fields(value, &quant, err);
        if (st != MX_OK) {
            return mx_error_prefix(err, st, "\"%.*s\"", MX_STR_ARG(path));
        }
    } else if (yyjson_is_false(value)) {
        quant = (mx_quant){.mode = MX_QUANT_NONE};
    }
    const mx_str copy = mx_arena_copy_str(&config->arena, path);
    if (!copy.ptr) {
        return mx_fail_no_memory(err, path.len, "the quantisation of layers");
    }
    config->layers[config->n_layers] = quant;
    MX_TRY(mx_strmap_put(&config->by_path, copy, (int32_t)config->n_layers, NULL, err));
    config->n_layers++;
    return MX_OK;
}

/* The global fields, and every member that is an object or a truth value as a layer's entry. Other members are other
 * tools' notes. */
static mx_status read_object(yyjson_val *obj, mx_quant_config *config, mx_error *err)
{
    MX_TRY(read_fields(obj, &config->global, err));
    config->layers = mx_arena_array(&config->arena, mx_quant, yyjson_obj_size(obj));
    if (!config->layers) {
        return mx_fail_no_memory(err, yyjson_obj_size(obj) * sizeof *config->layers, "the quantisation of layers");
    }
    yyjson_obj_iter iter = yyjson_obj_iter_with(obj);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter)) != NULL;) {
        yyjson_val *value = yyjson_obj_iter_get_val(key);
        if (yyjson_is_obj(value) || yyjson_is_bool(value)) {
            MX_TRY(add_layer(config, mx_json_view_str(key), value, err));
        }
    }
    return MX_OK;
}

/* Width and group of the integers that another tool wrote: 4 or 8 bits, as all of them pack those alike. */
static mx_status read_foreign_fields(yyjson_val *obj, const char *bits_key, mx_quant *out, mx_error *err)
{
    int64_t bits = out->bits;
    int64_t group_size = out->group_size;
    MX_TRY(mx_json_get_i64(obj, bits_key, 1, 64, &bits, err));
    MX_TRY(mx_json_get_i64(obj, "group_size", -1, 1 << 20, &group_size, err));
    const mx_quant quant = {MX_QUANT_AFFINE, (int32_t)bits, (int32_t)group_size};
    if (!mx_quant_is_valid(quant) || (bits != 4 && bits != 8)) {
        return mx_fail(err, MX_UNSUPPORTED,
                       "weights of %d bits in groups of %d by another tool are not read; 4 and 8 bits in groups of 32, "
                       "64 and 128 are",
                       (int)bits, (int)group_size);
    }
    *out = quant;
    return MX_OK;
}

/* compressed-tensors keeps its settings in "config_groups", one object a kind of layer. */
static mx_status read_config_groups(yyjson_val *obj, mx_quant *out, mx_error *err)
{
    yyjson_val *groups = NULL;
    yyjson_val *weights = NULL;
    MX_TRY(mx_json_get_obj(obj, "config_groups", &groups, err));
    if (yyjson_obj_size(groups) > 1) {
        return mx_fail(err, MX_UNSUPPORTED, "compressed-tensors with %zu \"config_groups\" is not read, one is",
                       yyjson_obj_size(groups));
    }
    yyjson_obj_iter iter = yyjson_obj_iter_with(groups);
    yyjson_val *group = yyjson_obj_iter_get_val(yyjson_obj_iter_next(&iter));
    MX_TRY(mx_json_get_obj(group, "weights", &weights, err));
    return read_foreign_fields(weights, "num_bits", out, err);
}

/* BitNet's weights are packed, unless they are to be rounded when they are loaded. */
static mx_status read_bitnet(yyjson_val *obj, mx_error *err)
{
    mx_str mode = MX_STR("offline");
    MX_TRY(mx_json_get_str(obj, "quantization_mode", &mode, err));
    return mx_str_eq_cstr(mode, "offline")
               ? MX_OK
               : mx_fail(err, MX_UNSUPPORTED,
                         "bitnet weights with \"quantization_mode\" \"%.*s\" are not read; use the packed checkpoint",
                         MX_STR_ARG(mode));
}

/* A "quantization_config" that another tool wrote. */
static mx_status read_method(yyjson_val *obj, mx_str method, mx_quant_config *config, mx_error *err)
{
    mx_str variant = {0};
    for (size_t i = 0; i < MX_COUNTOF(method_info); i++) {
        if (!mx_str_eq_cstr(method, method_info[i].method)) {
            continue;
        }
        if (method_info[i].variant_key) {
            MX_TRY(mx_json_get_str(obj, method_info[i].variant_key, &variant, err));
        }
        if (variant.ptr ? !mx_str_eq_cstr(variant, method_info[i].variant) : !method_info[i].is_default) {
            continue;
        }
        config->global = method_info[i].quant;
        config->foreign = method_info[i].foreign;
        if (config->global.mode != MX_QUANT_AFFINE) {
            return MX_OK;
        }
        if (config->foreign == MX_FOREIGN_BITNET || config->foreign == MX_FOREIGN_BITNET_DIV) {
            return read_bitnet(obj, err);
        }
        return config->foreign == MX_FOREIGN_COMPRESSED ? read_config_groups(obj, &config->global, err)
                                                        : read_foreign_fields(obj, "bits", &config->global, err);
    }
    return mx_fail(err, MX_UNSUPPORTED,
                   "weights quantised by \"%.*s\"%s%.*s are not read; use an MLX conversion of this model, or make one "
                   "of the unquantised model with `mlxcel convert`",
                   MX_STR_ARG(method), variant.len ? ", variant " : "", MX_STR_ARG(variant));
}

/* "quantization" or "quantization_config" of one object; NULL where it has neither. */
static mx_status find_object(yyjson_val *obj, yyjson_val **out, mx_error *err)
{
    MX_TRY(mx_json_get_obj(obj, "quantization", out, err));
    return *out ? MX_OK : mx_json_get_obj(obj, "quantization_config", out, err);
}

static mx_status parse(yyjson_val *root, mx_quant_config *out, mx_error *err)
{
    yyjson_val *obj = NULL;
    yyjson_val *text_config = NULL;
    mx_str method = {0};
    MX_TRY(find_object(root, &obj, err));
    if (!obj) {
        MX_TRY(mx_json_get_obj(root, "text_config", &text_config, err));
        MX_TRY(find_object(text_config, &obj, err));
    }
    if (!obj) {
        return MX_OK;
    }
    out->is_present = true;
    MX_TRY(mx_json_get_str(obj, "quant_method", &method, err));
    return method.ptr ? read_method(obj, method, out, err) : read_object(obj, out, err);
}

mx_status mx_quant_config_parse(yyjson_val *root, const char *name, mx_quant_config *out, mx_error *err)
{
    *out = (mx_quant_config){0};
    mx_arena_init(&out->arena, MAX_CONFIG_ARENA);
    const mx_status st = parse(root, out, err);
    return st == MX_OK ? MX_OK : mx_error_prefix(err, st, "%s", name);
}

void mx_quant_config_close(mx_quant_config *config)
{
    mx_strmap_deinit(&config->by_path);
    mx_arena_deinit(&config->arena);
    *config = (mx_quant_config){0};
}

mx_quant mx_quant_config_find(const mx_quant_config *config, mx_str path)
{
    int32_t i;
    if (!config) {
        return (mx_quant){.mode = MX_QUANT_NONE};
    }
    return mx_strmap_get(&config->by_path, path, &i) ? config->layers[i] : config->global;
}
