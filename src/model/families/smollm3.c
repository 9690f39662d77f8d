/* smollm3.c - SmolLM3: Llama's layer, of which every fourth knows no positions. */
#include "model/families/families.h"

static const mx_model_config smollm3_defaults = {
    .model_type = "smollm3",
    .n_layers = 36,
    .n_heads = 16,
    .n_kv_heads = 4,
    .n_ctx = 32768,
    .d_model = 2048,
    .d_ff = 11008,
    .n_vocab = 128256,
    .norm_eps = 1e-6,
    .act = MX_ACT_SILU,
    .is_tied = true,
    .ropes = {MX_ROPE_PLAIN(2e6)},
    .eos_ids = {128001},
    .n_eos_ids = 1,
};

/* "no_rope_layers" lists the layers with a rotary embedding as 1 and those without as 0; else every
 * "no_rope_layer_interval"-th has none. */
static mx_status read_ropes(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    int64_t interval = 4;
    yyjson_val *list = NULL;
    MX_TRY(mx_json_get_i64(obj, "no_rope_layer_interval", 1, INT32_MAX, &interval, err));
    MX_TRY(mx_json_get_arr(obj, "no_rope_layers", &list, err));
    if (list && yyjson_arr_size(list) < (size_t)c->n_layers) {
        return mx_fail(err, MX_FORMAT, "\"no_rope_layers\" has %zu entries, but there are %d layers",
                       yyjson_arr_size(list), c->n_layers);
    }
    yyjson_arr_iter it = yyjson_arr_iter_with(list);
    for (int32_t i = 0; i < c->n_layers; i++) {
        yyjson_val *val = yyjson_arr_iter_next(&it);
        const bool has_rope = list ? yyjson_get_num(val) != 0 : (i + 1) % interval != 0;
        layers[i].rope = has_rope ? MX_LAYER_ROPE_GLOBAL : MX_LAYER_ROPE_NONE;
    }
    return MX_OK;
}

/* Layers without positions slide, if "use_sliding_window"; no published model does. */
static mx_status smollm3_sliding(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    bool is_used = false;
    bool found = false;
    MX_TRY(mx_json_get_bool(obj, "use_sliding_window", &is_used, err));
    MX_TRY(read_ropes(obj, c, layers, err));
    for (int32_t i = 0; i < c->n_layers; i++) {
        layers[i].is_sliding = is_used && layers[i].rope == MX_LAYER_ROPE_NONE;
    }
    return is_used ? mx_sliding_by_types(obj, c, layers, &found, err) : MX_OK;
}

const mx_family mx_family_smollm3 = {
    .model_types = {"smollm3"},
    .title = "SmolLM3",
    .source = "transformers, models/smollm3/modeling_smollm3.py",
    .defaults = &smollm3_defaults,
    .sliding = smollm3_sliding,
    .layers = read_ropes,
    .layer = mx_prenorm_layer,
};
