/* mellum.c - Mellum 2: Qwen 3's layer with experts, sliding where "layer_types" says so, with a rotary embedding of
 * their own for the layers that slide. */
#include "model/families/families.h"
#include "model/moe.h"

static const mx_model_config mellum_defaults = {
    .model_type = "mellum",
    .n_layers = 28,
    .n_heads = 32,
    .n_kv_heads = 4,
    .head_dim = 128,
    .n_ctx = 131072,
    .d_model = 2304,
    .d_ff = 7168,
    .n_vocab = 98304,
    .norm_eps = 1e-6,
    .act = MX_ACT_SILU,
    .qk_norm = MX_QK_NORM_HEADS,
    .window = 1024,
    .n_experts = 64,
    .d_ff_expert = 896,
    .top_k = 8,
    .normalize_top_k = true,
    .ropes = {MX_ROPE_PLAIN(5e5), MX_ROPE_PLAIN(1e4)},
    .has_local_rope = true,
};

static void mellum_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_moe_settings moe = mx_moe_settings_of(c);
    mx_moe_layer(b, c, i_layer, &moe);
}

/* None slides but those that "layer_types" lists. */
static mx_status mellum_sliding(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    bool found = false;
    return mx_sliding_by_types(obj, c, layers, &found, err);
}

/* "mlp_layer_types": "sparse" or "dense"; all are sparse without it. */
static mx_status mellum_sparse(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    yyjson_val *types = NULL;
    MX_TRY(mx_json_get_arr(obj, "mlp_layer_types", &types, err));
    MX_TRY(mx_sparse_all(obj, c, layers, err));
    if (types && yyjson_arr_size(types) != (size_t)c->n_layers) {
        return mx_fail(err, MX_FORMAT, "\"mlp_layer_types\" has %zu entries, but there are %d layers",
                       yyjson_arr_size(types), c->n_layers);
    }
    yyjson_arr_iter it = yyjson_arr_iter_with(types);
    for (int32_t i = 0; types && i < c->n_layers; i++) {
        yyjson_val *type = yyjson_arr_iter_next(&it);
        layers[i].is_moe = yyjson_equals_str(type, "sparse");
        if (!layers[i].is_moe && !yyjson_equals_str(type, "dense")) {
            return mx_fail(err, MX_FORMAT, "entry %d of \"mlp_layer_types\" must be \"sparse\" or \"dense\"", i);
        }
    }
    return MX_OK;
}

const mx_family mx_family_mellum = {
    .model_types = {"mellum"},
    .title = "Mellum 2",
    .source = "transformers, models/mellum/modeling_mellum.py",
    .defaults = &mellum_defaults,
    .sliding = mellum_sliding,
    .sparse = mellum_sparse,
    .renames = mx_moe_renames,
    .layer = mellum_layer,
};
