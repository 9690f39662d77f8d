/* minimax_m2.c - MiniMax-M2: norms over all heads together, a part of each head rotates, experts by sigmoids. */
#include "model/moe.h"

static const mx_model_config minimax_m2_defaults = {
    .model_type = "minimax_m2",
    .n_layers = 62,
    .n_heads = 48,
    .n_kv_heads = 8,
    .head_dim = 128,
    .n_ctx = 196608,
    .d_model = 3072,
    .d_ff = 1536,
    .n_vocab = 200064,
    .norm_eps = 1e-6,
    .act = MX_ACT_SILU,
    .qk_norm = MX_QK_NORM_ROWS,
    .n_experts = 256,
    .top_k = 8,
    .normalize_top_k = true,
    .ropes = {MX_ROPE_PLAIN(5e6)},
    .eos_ids = {200020},
    .n_eos_ids = 1,
};

static const mx_field minimax_m2_fields[] = {
    MX_FIELD(mx_model_config, I32, n_extra_layers, "num_mtp_modules", 0, 1024),
    MX_FIELD_END,
};

/* "rotary_dim" columns of each head rotate. */
static mx_status minimax_m2_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    int64_t rot_dim = 0;
    MX_TRY(mx_json_get_i64(obj, "rotary_dim", 2, MX_MAX_HEAD_DIM, &rot_dim, err));
    if (rot_dim > c->head_dim && c->head_dim > 0) {
        return mx_fail(err, MX_FORMAT, "\"rotary_dim\" is %lld, but heads have %d columns", (long long)rot_dim,
                       c->head_dim);
    }
    if (rot_dim > 0 && c->head_dim > 0) {
        c->ropes[MX_LAYER_ROPE_GLOBAL].partial_factor = (double)rot_dim / c->head_dim;
    }
    return mx_moe_experts_are_mlps(obj, arena, c, err);
}

static void minimax_m2_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    mx_moe_settings moe = mx_moe_settings_of(c);
    moe.route.score = MX_SCORE_SIGMOID;
    moe.choice_bias = "mlp.e_score_correction_bias";
    mx_moe_layer(b, c, i_layer, &moe);
}

static const mx_rename minimax_m2_renames[] = {
    {"mlp.switch_mlp.gate_proj", "block_sparse_moe.experts.*.w1"},
    {"mlp.switch_mlp.down_proj", "block_sparse_moe.experts.*.w2"},
    {"mlp.switch_mlp.up_proj", "block_sparse_moe.experts.*.w3"},
    {"mlp.", "block_sparse_moe."},
    {NULL, NULL},
};

const mx_family mx_family_minimax_m2 = {
    .model_types = {"minimax_m2"},
    .title = "MiniMax-M2",
    .source = "transformers, models/minimax_m2/modeling_minimax_m2.py",
    .defaults = &minimax_m2_defaults,
    .renames = minimax_m2_renames,
    .fields = minimax_m2_fields,
    .read = minimax_m2_read,
    .sparse = mx_sparse_all,
    .layer = minimax_m2_layer,
};
