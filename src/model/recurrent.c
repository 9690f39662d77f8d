/* recurrent.c - what families with recurrent layers have in common. */
#include "model/recurrent.h"

#include <string.h>

mx_status mx_own_edit(mx_arena *arena, mx_model_config *c, size_t n_bytes, void **out, mx_error *err)
{
    *out = mx_arena_alloc(arena, n_bytes);
    if (!*out) {
        return mx_fail(err, MX_NO_MEMORY, "out of memory: a configuration");
    }
    memcpy(*out, c->own, n_bytes);
    c->own = *out;
    return MX_OK;
}

mx_status mx_layers_all_recurrent(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    (void)obj;
    (void)err;
    for (int32_t i = 0; i < c->n_layers; i++) {
        layers[i].is_recurrent = true;
    }
    return MX_OK;
}

/* Whether a string is one of "a|b". */
static bool is_one_of(yyjson_val *val, const char *names)
{
    const mx_str name = mx_json_view_str(val);
    for (const char *at = names; yyjson_is_str(val) && *at;) {
        const size_t n = strcspn(at, "|");
        if (name.len == n && memcmp(name.ptr, at, n) == 0) {
            return true;
        }
        at += n + (at[n] == '|');
    }
    return false;
}

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
        layers[i].is_recurrent = is_one_of(type, recurrent);
        if (!layers[i].is_recurrent && !is_one_of(type, attention)) {
            return mx_fail(err, MX_UNSUPPORTED, "layer %d: \"%s\" must be \"%s\" or \"%s\"", i, key, recurrent,
                           attention);
        }
    }
    return MX_OK;
}
