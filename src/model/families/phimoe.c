/* phimoe.c - Phi-3.5-MoE: Mixtral's layer with layer norms, biases, and a router that weighs each expert by itself
 * (SPARSEMIXER). */
#include "model/moe.h"

typedef struct own_config {
    double jitter;
} own_config;

static const own_config phimoe_own = {.jitter = 0.01};

static const mx_field phimoe_own_fields[] = {
    MX_FIELD(own_config, F64, jitter, "router_jitter_noise", 0, 1),
    MX_FIELD_END,
};

static const mx_field phimoe_fields[] = {
    MX_FIELD(mx_model_config, BOOL, has_head_bias, "lm_head_bias", 0, 0),
    MX_FIELD_END,
};

static const mx_model_config phimoe_defaults = {
    .model_type = "phimoe",
    .n_layers = 32,
    .n_heads = 32,
    .n_kv_heads = 8,
    .n_ctx = 131072,
    .d_model = 4096,
    .d_ff = 6400,
    .n_vocab = 32064,
    .norm_eps = 1e-5,
    .norm = MX_NORM_LAYER_BIAS,
    .act = MX_ACT_SILU,
    .n_experts = 16,
    .top_k = 2,
    .ropes = {MX_ROPE_PLAIN(1e6)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static void phimoe_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    mx_moe_settings moe = mx_moe_settings_of(c);
    moe.route.score = MX_SCORE_SPARSEMIXER;
    moe.route.jitter = (float)((const own_config *)c->own)->jitter;
    moe.route.normalize = false;
    mx_moe_layer(b, c, i_layer, &moe);
}

static const mx_rename phimoe_renames[] = {
    {"mlp.gate", "block_sparse_moe.gate"},
    {"mlp.switch_mlp", "block_sparse_moe.switch_mlp"},
    {"mlp.switch_mlp.gate_proj", "block_sparse_moe.experts.*.w1"},
    {"mlp.switch_mlp.down_proj", "block_sparse_moe.experts.*.w2"},
    {"mlp.switch_mlp.up_proj", "block_sparse_moe.experts.*.w3"},
    {NULL, NULL},
};

const mx_family mx_family_phimoe = {
    .model_types = {"phimoe"},
    .title = "Phi-3.5-MoE",
    .source = "transformers, models/phimoe/modeling_phimoe.py",
    .defaults = &phimoe_defaults,
    .renames = phimoe_renames,
    .fields = phimoe_fields,
    .own = {sizeof(own_config), &phimoe_own, phimoe_own_fields},
    .read = mx_moe_experts_are_mlps,
    .sliding = mx_sliding_all,
    .sparse = mx_sparse_all,
    .layer = phimoe_layer,
};
