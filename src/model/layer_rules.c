/* layer_rules.c - which layers slide: the few rules that families share (family.h). */
#include "model/family.h"

mx_status mx_sliding_by_types(yyjson_val *obj, const mx_model_config *config, mx_layer_config *layers, bool *found,
                              mx_error *err)
{
    yyjson_val *arr = NULL;
    MX_TRY(mx_json_get_arr(obj, "layer_types", &arr, err));
    *found = arr != NULL;
    if (!arr) {
        return MX_OK;
    }
    if (yyjson_arr_size(arr) != (size_t)config->n_layers) {
        return mx_fail(err, MX_FORMAT, "\"layer_types\" has %zu entries, but there are %d layers", yyjson_arr_size(arr),
                       config->n_layers);
    }
    yyjson_arr_iter it = yyjson_arr_iter_with(arr);
    for (int32_t i = 0; i < config->n_layers; i++) {
        yyjson_val *type = yyjson_arr_iter_next(&it);
        layers[i].is_sliding = yyjson_equals_str(type, "sliding_attention");
        if (!layers[i].is_sliding && !yyjson_equals_str(type, "full_attention")) {
            return mx_fail(err, MX_UNSUPPORTED,
                           "layer %d: \"layer_types\" must be \"full_attention\" or \"sliding_attention\"", i);
        }
    }
    return MX_OK;
}

mx_status mx_sliding_all(yyjson_val *obj, const mx_model_config *config, mx_layer_config *layers, mx_error *err)
{
    (void)obj;
    (void)err;
    for (int32_t i = 0; i < config->n_layers; i++) {
        layers[i].is_sliding = true;
    }
    return MX_OK;
}

mx_status mx_sliding_listed(yyjson_val *obj, const mx_model_config *config, mx_layer_config *layers, mx_error *err)
{
    bool found = false;
    MX_TRY(mx_sliding_by_types(obj, config, layers, &found, err));
    return found ? MX_OK : mx_sliding_all(obj, config, layers, err);
}

mx_status mx_sliding_after_full(yyjson_val *obj, const mx_model_config *config, mx_layer_config *layers, mx_error *err)
{
    bool is_used = false;
    bool found = false;
    int64_t n_full = 28; /* the official classes' default */
    MX_TRY(mx_json_get_bool(obj, "use_sliding_window", &is_used, err));
    MX_TRY(mx_json_get_i64(obj, "max_window_layers", 0, INT32_MAX, &n_full, err));
    if (!is_used) {
        return MX_OK;
    }
    MX_TRY(mx_sliding_by_types(obj, config, layers, &found, err));
    for (int32_t i = 0; i < config->n_layers && !found; i++) {
        layers[i].is_sliding = i >= n_full;
    }
    return MX_OK;
}

mx_status mx_sliding_pattern(yyjson_val *obj, const mx_model_config *config, mx_layer_config *layers, mx_error *err)
{
    bool found = false;
    int64_t pattern = config->sliding_pattern;
    MX_TRY(mx_sliding_by_types(obj, config, layers, &found, err));
    if (found) {
        return MX_OK;
    }
    MX_TRY(mx_json_get_i64(obj, "_sliding_window_pattern", 1, INT32_MAX, &pattern, err)); /* as transformers saves it */
    MX_TRY(mx_json_get_i64(obj, "sliding_window_pattern", 1, INT32_MAX, &pattern, err));
    for (int32_t i = 0; i < config->n_layers; i++) {
        layers[i].is_sliding = (i + 1) % pattern != 0;
    }
    return MX_OK;
}

mx_status mx_rope_where_sliding(yyjson_val *obj, const mx_model_config *config, mx_layer_config *layers, mx_error *err)
{
    (void)obj;
    (void)err;
    for (int32_t i = 0; i < config->n_layers; i++) {
        layers[i].rope = layers[i].is_sliding ? layers[i].rope : MX_LAYER_ROPE_NONE;
    }
    return MX_OK;
}

mx_status mx_sliding_alternate(yyjson_val *obj, const mx_model_config *config, mx_layer_config *layers, mx_error *err)
{
    bool found = false;
    MX_TRY(mx_sliding_by_types(obj, config, layers, &found, err));
    for (int32_t i = 0; i < config->n_layers && !found; i++) {
        layers[i].is_sliding = i % 2 == 0;
    }
    return MX_OK;
}
