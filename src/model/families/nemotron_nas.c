/* nemotron_nas.c - Llama-Nemotron (DeciLM): Llama's layer of which a search has taken parts away: a layer may have no
 * attention or no MLP, or one matrix in place of either, and key heads and widths differ. */
#include "model/families/families.h"

typedef enum block_kind {
    BLOCK_WHOLE,
    BLOCK_NONE,
    BLOCK_LINEAR, /* one matrix */
} block_kind;

typedef struct nas_layer {
    block_kind attention;
    block_kind mlp;
} nas_layer;

static const mx_model_config nemotron_nas_defaults = {
    .model_type = "nemotron-nas",
    .n_layers = 80,
    .n_heads = 64,
    .n_ctx = 131072,
    .d_model = 8192,
    .d_ff = 28672,
    .n_vocab = 128256,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .ropes = {MX_ROPE_PLAIN(5e5)},
    .eos_ids = {128009},
    .n_eos_ids = 1,
};

static mx_status read_kind(yyjson_val *block, block_kind *kind, mx_error *err)
{
    bool is_none = false;
    bool is_linear = false;
    MX_TRY(mx_json_get_bool(block, "no_op", &is_none, err));
    MX_TRY(mx_json_get_bool(block, "replace_with_linear", &is_linear, err));
    *kind = is_none ? BLOCK_NONE : is_linear ? BLOCK_LINEAR : BLOCK_WHOLE;
    return MX_OK;
}

/* The i-th object of "block_configs": its "attention" and "ffn". */
static mx_status find_blocks(yyjson_val *obj, const mx_model_config *c, int32_t i, yyjson_val **attention,
                             yyjson_val **mlp, mx_error *err)
{
    yyjson_val *arr = NULL;
    MX_TRY(mx_json_get_arr(obj, "block_configs", &arr, err));
    if (yyjson_arr_size(arr) != (size_t)c->n_layers) {
        return mx_fail(err, MX_FORMAT, "\"block_configs\" has %zu entries, but there are %d layers",
                       yyjson_arr_size(arr), c->n_layers);
    }
    yyjson_val *block = yyjson_arr_get(arr, (size_t)i);
    MX_TRY(mx_json_get_obj(block, "attention", attention, err));
    MX_TRY(mx_json_get_obj(block, "ffn", mlp, err));
    return *attention && *mlp
               ? MX_OK
               : mx_fail(err, MX_FORMAT, "entry %d of \"block_configs\" needs \"attention\" and \"ffn\"", i);
}

static mx_status nemotron_nas_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    nas_layer *layers = mx_arena_array(arena, nas_layer, c->n_layers);
    if (!layers) {
        return mx_fail(err, MX_NO_MEMORY, "out of memory: a model of %d layers", c->n_layers);
    }
    for (int32_t i = 0; i < c->n_layers; i++) {
        yyjson_val *attention = NULL;
        yyjson_val *mlp = NULL;
        MX_TRY(find_blocks(obj, c, i, &attention, &mlp, err));
        MX_TRY(read_kind(attention, &layers[i].attention, err));
        MX_TRY(read_kind(mlp, &layers[i].mlp, err));
    }
    c->own = layers;
    return MX_OK;
}

static mx_status nemotron_nas_layers(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    const nas_layer *nas = c->own;
    for (int32_t i = 0; i < c->n_layers; i++) {
        yyjson_val *attention = NULL;
        yyjson_val *mlp = NULL;
        int64_t n_in_group = 1;
        double multiplier = 0;
        MX_TRY(find_blocks(obj, c, i, &attention, &mlp, err));
        if (nas[i].attention == BLOCK_WHOLE) {
            MX_TRY(mx_json_get_i64(attention, "n_heads_in_group", 1, c->n_heads, &n_in_group, err));
            layers[i].n_kv_heads = MX_MAX(c->n_heads / (int32_t)n_in_group, 1);
        }
        if (nas[i].mlp == BLOCK_WHOLE) {
            MX_TRY(mx_json_get_f64(mlp, "ffn_mult", &multiplier, err));
            if (!(multiplier > 0 && multiplier <= 64)) {
                return mx_fail(err, MX_FORMAT,
                               "entry %d of \"block_configs\": \"ffn_mult\" is %g, must be above 0 and at most 64", i,
                               multiplier);
            }
            layers[i].d_ff = ((int64_t)(2 * multiplier * (double)c->d_model / 3) + 255) / 256 * 256;
        }
    }
    return MX_OK;
}

static void nemotron_nas_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const nas_layer *nas = (const nas_layer *)c->own + i_layer;
    mx_value x = mx_stream(b);
    if (nas->attention != BLOCK_NONE) {
        const mx_value h = mx_rmsnorm(b, x, "input_layernorm");
        x = mx_add(b, x,
                   nas->attention == BLOCK_WHOLE ? mx_self_attention(b, c, i_layer, h)
                                                 : mx_linear(b, h, "self_attn.linear", c->d_model, c->has_o_bias));
    }
    if (nas->mlp != BLOCK_NONE) {
        const mx_value h = mx_rmsnorm(b, x, "post_attention_layernorm");
        x = mx_add(b, x,
                   nas->mlp == BLOCK_WHOLE ? mx_layer_mlp(b, c, i_layer, h)
                                           : mx_linear(b, h, "mlp.linear", c->d_model, c->has_mlp_bias));
    }
    mx_set_stream(b, x);
}

static const mx_rename nemotron_nas_renames[] = {
    {"self_attn.linear", "self_attn.linear_attn"}, /* the original's */
    {"mlp.linear", "mlp.linear_mlp"},
    {NULL, NULL},
};

const mx_family mx_family_nemotron_nas = {
    .model_types = {"nemotron-nas"},
    .title = "Llama-Nemotron (NAS)",
    .source = "nvidia/Llama-3_1-Nemotron-51B-Instruct, modeling_decilm.py",
    .defaults = &nemotron_nas_defaults,
    .renames = nemotron_nas_renames,
    .read = nemotron_nas_read,
    .layers = nemotron_nas_layers,
    .layer = nemotron_nas_layer,
};
