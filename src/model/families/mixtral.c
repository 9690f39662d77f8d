/* mixtral.c - Mixtral: Mistral's layer with experts in place of the MLP. */
#include "model/moe.h"

static const mx_model_config mixtral_defaults = {
    .model_type = "mixtral",
    .n_layers = 32,
    .n_heads = 32,
    .n_kv_heads = 8,
    .n_ctx = 131072,
    .d_model = 4096,
    .d_ff = 14336,
    .n_vocab = 32000,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .n_experts = 8,
    .top_k = 2,
    .normalize_top_k = true,
    .ropes = {MX_ROPE_PLAIN(1e6), MX_ROPE_PLAIN(1e6)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static void mixtral_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_moe_settings moe = mx_moe_settings_of(c);
    mx_moe_layer(b, c, i_layer, &moe);
}

static const mx_rename mixtral_renames[] = {
    {"mlp.gate", "block_sparse_moe.gate"},
    {"mlp.switch_mlp", "block_sparse_moe.switch_mlp"},
    {"mlp.switch_mlp.gate_proj", "block_sparse_moe.experts.*.w1"},
    {"mlp.switch_mlp.down_proj", "block_sparse_moe.experts.*.w2"},
    {"mlp.switch_mlp.up_proj", "block_sparse_moe.experts.*.w3"},
    {NULL, NULL},
};

const mx_family mx_family_mixtral = {
    .model_types = {"mixtral"},
    .title = "Mixtral",
    .source = "transformers, models/mixtral/modeling_mixtral.py",
    .defaults = &mixtral_defaults,
    .renames = mixtral_renames,
    .read = mx_moe_experts_are_mlps,
    .sliding = mx_sliding_all,
    .sparse = mx_sparse_all,
    .layer = mixtral_layer,
};
