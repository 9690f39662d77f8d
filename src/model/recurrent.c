/* recurrent.c - what families with recurrent layers have in common. */
#include "model/recurrent.h"

mx_status mx_layers_by_types(yyjson_val *obj, const char *key, const char *recurrent, const char *attention,
                             const mx_model_config *config, mx_layer_config *layers, bool *found, mx_error *err)
{
    yyjson_val *arr = NULL;
    MX_TRY(mx_json_get_arr(obj, key, &arr, err));
    *found = arr != NULL;
    if (arr && yyjson_arr_size(arr) != (size_t)config->n_layers) {
        return mx_fail(err, MX_FORMAT, "\"%s\" has %zu entries, but there are %d layers", key, yyjson_arr_size(arr),
                       config->n_layers);
    }
    yyjson_arr_iter it = yyjson_arr_iter_with(arr);
    for (int32_t i = 0; arr && i < config->n_layers; i++) {
        yyjson_val *type = yyjson_arr_iter_next(&it);
        layers[i].is_recurrent = yyjson_equals_str(type, recurrent);
        if (!layers[i].is_recurrent && !yyjson_equals_str(type, attention)) {
            return mx_fail(err, MX_UNSUPPORTED, "layer %d: \"%s\" must be \"%s\" or \"%s\"", i, key, recurrent,
                           attention);
        }
    }
    return MX_OK;
}
