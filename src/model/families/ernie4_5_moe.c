/* ernie4_5_moe.c - ERNIE 4.5 with experts: neighbours rotate, shared experts, a bias in the choice that MLX conversions
 * leave out. */
#include "model/moe.h"

typedef struct own_config {
    mx_moe_config moe;
    int32_t i_first; /* layers with experts */
    int32_t i_last;  /* -1: the last */
    int32_t interval;
    double min_sum;
} own_config;

static const own_config ernie4_5_moe_own = {
    .moe = {.n_shared = 2}, .i_first = 1, .i_last = -1, .interval = 1, .min_sum = 1e-12};

static const mx_field ernie4_5_moe_own_fields[] = {
    MX_FIELD(own_config, I32, moe.n_shared, "moe_num_shared_experts", 0, 4096),
    MX_FIELD(own_config, I32, i_first, "moe_layer_start_index", 0, 1 << 20),
    MX_FIELD(own_config, I32, i_last, "moe_layer_end_index", -1, 1 << 20),
    MX_FIELD(own_config, I32, interval, "moe_layer_interval", 1, 1 << 20),
    MX_FIELD(own_config, F64, min_sum, "moe_norm_min", 0, 1),
    MX_FIELD_END,
};

static const mx_field ernie4_5_moe_fields[] = {
    MX_FIELD(mx_model_config, BOOL, has_qkv_bias, "use_bias", 0, 0),
    MX_FIELD(mx_model_config, BOOL, has_o_bias, "use_bias", 0, 0),
    MX_FIELD(mx_model_config, BOOL, has_mlp_bias, "use_bias", 0, 0),
    MX_FIELD(mx_model_config, BOOL, has_head_bias, "use_bias", 0, 0),
    MX_FIELD(mx_model_config, I64, n_experts, "moe_num_experts", 1, 4096),
    MX_FIELD(mx_model_config, I32, top_k, "moe_k", 1, 4096),
    MX_FIELD_END,
};

static const mx_model_config ernie4_5_moe_defaults = {
    .model_type = "ernie4_5_moe",
    .n_layers = 28,
    .n_heads = 20,
    .n_kv_heads = 4,
    .n_ctx = 131072,
    .d_model = 2560,
    .d_ff = 12288,
    .n_vocab = 103424,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .is_tied = true,
    .is_rope_interleaved = true,
    .n_experts = 64,
    .d_ff_expert = 1536,
    .top_k = 6,
    .normalize_top_k = true,
    .ropes = {MX_ROPE_PLAIN(5e5)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static mx_status ernie4_5_moe_sparse(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    (void)obj;
    (void)err;
    const own_config *own = (const own_config *)c->own;
    const int32_t i_last = own->i_last < 0 ? c->n_layers - 1 : own->i_last;
    for (int32_t i = 0; i < c->n_layers; i++) {
        layers[i].is_moe = (i + 1) % own->interval == 0 && i >= own->i_first && i <= i_last;
    }
    return MX_OK;
}

static void ernie4_5_moe_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    mx_moe_settings moe = mx_moe_settings_of_own(c);
    moe.route.min_sum = (float)((const own_config *)c->own)->min_sum;
    moe.choice_bias = "mlp.gate.e_score_correction_bias";
    moe.may_lack_choice_bias = true;
    mx_moe_layer(b, c, i_layer, &moe);
}

static const mx_rename ernie4_5_moe_renames[] = {
    {"mlp.gate.e_score_correction_bias", "mlp.moe_statics.e_score_correction_bias"},
    {"mlp.switch_mlp.gate_proj", "mlp.experts.*.gate_proj"},
    {"mlp.switch_mlp.up_proj", "mlp.experts.*.up_proj"},
    {"mlp.switch_mlp.down_proj", "mlp.experts.*.down_proj"},
    {NULL, NULL},
};

const mx_family mx_family_ernie4_5_moe = {
    .model_types = {"ernie4_5_moe"},
    .title = "ERNIE 4.5 with experts",
    .source = "transformers, models/ernie4_5_moe/modeling_ernie4_5_moe.py",
    .defaults = &ernie4_5_moe_defaults,
    .renames = ernie4_5_moe_renames,
    .fields = ernie4_5_moe_fields,
    .own = {sizeof(own_config), &ernie4_5_moe_own, ernie4_5_moe_own_fields},
    .sparse = ernie4_5_moe_sparse,
    .layer = ernie4_5_moe_layer,
};
