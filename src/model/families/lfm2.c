/* lfm2.c - LFM2, dense and with experts: short gated convolutions, with attention in a few layers. */
#include "model/families/families.h"
#include "model/moe.h"
#include "model/recurrent.h"

typedef struct lfm2_fields {
    mx_moe_config moe; /* first: moe.h */
    bool has_choice_bias;
    bool has_conv_bias;
    int32_t conv_width;
    bool adjusts_d_ff; /* as Llama 1 did: two thirds, times a factor, up to a multiple */
    double d_ff_factor;
    int64_t d_ff_multiple;
} lfm2_fields;

static const lfm2_fields lfm2_own_defaults = {
    .conv_width = 3, .adjusts_d_ff = true, .d_ff_factor = 1, .d_ff_multiple = 256};

static const lfm2_fields lfm2_moe_own_defaults = {
    .moe = {.n_dense_first = 2}, .has_choice_bias = true, .conv_width = 3};

static const mx_field lfm2_own[] = {
    MX_FIELD(lfm2_fields, I32, moe.n_dense_first, "num_dense_layers", 0, 1 << 20),
    MX_FIELD(lfm2_fields, F64, moe.scale, "routed_scaling_factor", 0, 1000000),
    MX_FIELD(lfm2_fields, BOOL, has_choice_bias, "use_expert_bias", 0, 0),
    MX_FIELD(lfm2_fields, BOOL, has_conv_bias, "conv_bias", 0, 0),
    MX_FIELD(lfm2_fields, I32, conv_width, "conv_L_cache", 2, MX_CONV_MAX_WIDTH),
    MX_FIELD(lfm2_fields, BOOL, adjusts_d_ff, "block_auto_adjust_ff_dim", 0, 0),
    MX_FIELD(lfm2_fields, F64, d_ff_factor, "block_ffn_dim_multiplier", 0, 1024),
    MX_FIELD(lfm2_fields, I64, d_ff_multiple, "block_multiple_of", 1, 1 << 20),
    MX_FIELD_END,
};

static const mx_field lfm2_shared[] = {
    MX_FIELD(mx_model_config, I64, d_ff, "block_ff_dim", 1, 1 << 24),
    MX_FIELD(mx_model_config, BOOL, is_tied, "tie_embedding", 0, 0),
    MX_FIELD_END,
};

static const mx_model_config lfm2_defaults = {
    .model_type = "lfm2",
    .n_layers = 32,
    .n_heads = 32,
    .n_kv_heads = 8,
    .n_ctx = 128000,
    .d_model = 2560,
    .d_ff = 12288,
    .n_vocab = 65536,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .is_tied = true,
    .ropes = {MX_ROPE_PLAIN(1e6), MX_ROPE_PLAIN(1e6)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static const mx_model_config lfm2_moe_defaults = {
    .model_type = "lfm2_moe",
    .n_layers = 32,
    .n_heads = 32,
    .n_kv_heads = 8,
    .n_ctx = 128000,
    .d_model = 2048,
    .d_ff = 7168,
    .n_vocab = 65536,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .is_tied = true,
    .n_experts = 32,
    .d_ff_expert = 1792,
    .top_k = 4,
    .normalize_top_k = true,
    .ropes = {MX_ROPE_PLAIN(1e6), MX_ROPE_PLAIN(1e6)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static mx_status lfm2_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    const lfm2_fields *own = (const lfm2_fields *)c->own;
    (void)obj;
    (void)arena;
    if (!own->adjusts_d_ff) {
        return MX_OK;
    }
    const int64_t two_thirds = 2 * c->d_ff / 3; /* of a whole number of columns, rounded down */
    const double scaled = own->d_ff_factor * (double)two_thirds;
    if (!(scaled >= 1 && scaled <= (double)(1 << 24))) {
        return mx_fail(err, MX_FORMAT, "\"block_ffn_dim_multiplier\" makes the MLP %g columns wide", scaled);
    }
    c->d_ff = ((int64_t)scaled + own->d_ff_multiple - 1) / own->d_ff_multiple * own->d_ff_multiple;
    return MX_OK;
}

/* "layer_types", or the older "full_attn_idxs"; without either, every layer attends. */
static mx_status lfm2_layers(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    bool found = false;
    yyjson_val *arr = NULL;
    MX_TRY(mx_layers_by_types(obj, "layer_types", "conv", "full_attention", c, layers, &found, err));
    MX_TRY(mx_json_get_arr(obj, "full_attn_idxs", &arr, err));
    if (found || !arr) {
        return MX_OK;
    }
    for (int32_t i = 0; i < c->n_layers; i++) {
        layers[i].is_recurrent = true;
    }
    yyjson_arr_iter it = yyjson_arr_iter_with(arr);
    for (yyjson_val *val = yyjson_arr_iter_next(&it); val; val = yyjson_arr_iter_next(&it)) {
        const int64_t i = yyjson_is_int(val) ? yyjson_get_sint(val) : -1;
        if (i < 0 || i >= c->n_layers) {
            return mx_fail(err, MX_FORMAT, "\"full_attn_idxs\" must list layers from 0 to %d", c->n_layers - 1);
        }
        layers[i].is_recurrent = false;
    }
    return MX_OK;
}

static mx_value lfm2_conv(mx_builder *b, const mx_model_config *c, mx_value h)
{
    const lfm2_fields *own = (const lfm2_fields *)c->own;
    const int64_t d = c->d_model;
    const mx_value gates_and_x = mx_linear(b, h, "conv.in_proj", 3 * d, own->has_conv_bias);
    const mx_conv_settings conv = {
        .in_gate = gates_and_x,
        .in_gate_columns = mx_columns_from(0, d),
        .out_gate = gates_and_x,
        .out_gate_columns = mx_columns_from(d, d),
        .x = gates_and_x,
        .x_columns = mx_columns_from(2 * d, d),
        .n_channels = d,
        .width = own->conv_width,
        .path = "conv.conv",
        .has_bias = own->has_conv_bias,
    };
    return mx_linear(b, mx_causal_conv(b, &conv), "conv.out_proj", d, own->has_conv_bias);
}

static mx_value lfm2_attention(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_value h)
{
    mx_qkv t = mx_linear_qkv(b, h, "self_attn", false);
    t.q = mx_rmsnorm_heads(b, t.q, "self_attn.q_layernorm");
    t.k = mx_rmsnorm_heads(b, t.k, "self_attn.k_layernorm");
    return mx_linear(b, mx_layer_attention(b, c, i_layer, t), "self_attn.out_proj", c->d_model, false);
}

static mx_value lfm2_mlp(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_value z)
{
    const lfm2_fields *own = (const lfm2_fields *)c->own;
    if (!c->layers[i_layer].is_moe) {
        return mx_glu_mlp(b, z, "feed_forward", c->layers[i_layer].d_ff, false);
    }
    mx_moe_settings moe = mx_moe_settings_of(c);
    moe.route.score = MX_SCORE_SIGMOID;
    moe.route.scale = own->moe.scale != 0 ? (float)own->moe.scale : 1.0f;
    moe.choice_bias = own->has_choice_bias ? "feed_forward.expert_bias" : NULL;
    return mx_moe_mlp(b, z, "feed_forward", &moe);
}

static void lfm2_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_value x = mx_stream(b);
    const mx_value h = mx_rmsnorm(b, x, "operator_norm");
    const mx_value y =
        mx_add(b, x, c->layers[i_layer].is_recurrent ? lfm2_conv(b, c, h) : lfm2_attention(b, c, i_layer, h));
    const mx_value z = mx_rmsnorm(b, y, "ffn_norm");
    mx_set_stream(b, mx_add(b, y, lfm2_mlp(b, c, i_layer, z)));
}

static const mx_rename lfm2_renames[] = {
    {"norm", "embedding_norm"},
    {"feed_forward.switch_mlp.gate_proj", "feed_forward.experts.*.w1"},
    {"feed_forward.switch_mlp.up_proj", "feed_forward.experts.*.w3"},
    {"feed_forward.switch_mlp.down_proj", "feed_forward.experts.*.w2"},
    {"feed_forward.gate_proj", "feed_forward.w1"},
    {"feed_forward.up_proj", "feed_forward.w3"},
    {"feed_forward.down_proj", "feed_forward.w2"},
    {NULL, NULL},
};

const mx_family mx_family_lfm2 = {
    .model_types = {"lfm2"},
    .title = "LFM2",
    .limits = "CPU only",
    .source = "transformers, models/lfm2/modeling_lfm2.py",
    .defaults = &lfm2_defaults,
    .renames = lfm2_renames,
    .fields = lfm2_shared,
    .own = {sizeof(lfm2_fields), &lfm2_own_defaults, lfm2_own},
    .read = lfm2_read,
    .layers = lfm2_layers,
    .layer = lfm2_layer,
};

const mx_family mx_family_lfm2_moe = {
    .model_types = {"lfm2_moe"},
    .title = "LFM2 with experts",
    .limits = "CPU only",
    .source = "transformers, models/lfm2_moe/modeling_lfm2_moe.py",
    .defaults = &lfm2_moe_defaults,
    .renames = lfm2_renames,
    .fields = lfm2_shared,
    .own = {sizeof(lfm2_fields), &lfm2_moe_own_defaults, lfm2_own},
    .read = lfm2_read,
    .sparse = mx_sparse_after_dense,
    .layers = lfm2_layers,
    .layer = lfm2_layer,
};
