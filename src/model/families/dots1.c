/* dots1.c - dots.llm1: Qwen 3's attention and DeepSeek V3's experts. */
#include "model/moe.h"

static const mx_moe_config dots1_moe = {.n_groups = 1, .top_groups = 1, .scale = 1};

static const mx_model_config dots1_defaults = {
    .model_type = "dots1",
    .n_layers = 62,
    .n_heads = 32,
    .n_kv_heads = 32,
    .n_ctx = 2048,
    .d_model = 4608,
    .d_ff = 10944,
    .n_vocab = 152064,
    .norm_eps = 1e-6,
    .act = MX_ACT_SILU,
    .qk_norm = MX_QK_NORM_HEADS,
    .window = 4096,
    .d_ff_expert = 1408,
    .ropes = {MX_ROPE_PLAIN(1e4)},
};

/* Layers from "max_window_layers" on, whatever "use_sliding_window" says. */
static mx_status dots1_sliding(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    bool found = false;
    int64_t n_full = 62; /* the official class's default */
    MX_TRY(mx_json_get_i64(obj, "max_window_layers", 0, INT32_MAX, &n_full, err));
    MX_TRY(mx_sliding_by_types(obj, c, layers, &found, err));
    for (int32_t i = 0; i < c->n_layers && !found; i++) {
        layers[i].is_sliding = i >= n_full;
    }
    return MX_OK;
}

static void dots1_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_moe_settings moe = mx_moe_settings_of_v3(c);
    mx_moe_layer(b, c, i_layer, &moe);
}

const mx_family mx_family_dots1 = {
    .model_types = {"dots1"},
    .title = "dots.llm1",
    .source = "transformers, models/dots1/modeling_dots1.py",
    .defaults = &dots1_defaults,
    .renames = mx_moe_renames,
    .own = {sizeof(mx_moe_config), &dots1_moe, mx_moe_fields},
    .sliding = dots1_sliding,
    .sparse = mx_sparse_after_dense,
    .layer = dots1_layer,
};
