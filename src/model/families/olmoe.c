/* olmoe.c - OLMoE: queries and keys are normalised over all heads together, before they are rotated. */
#include "model/moe.h"

static const mx_model_config olmoe_defaults = {
    .model_type = "olmoe",
    .n_layers = 16,
    .n_heads = 16,
    .n_ctx = 4096,
    .d_model = 2048,
    .d_ff = 2048,
    .n_vocab = 50304,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .qk_norm = MX_QK_NORM_ROWS,
    .n_experts = 64,
    .top_k = 8,
    .ropes = {MX_ROPE_PLAIN(1e4), MX_ROPE_PLAIN(1e4)},
    .eos_ids = {50279},
    .n_eos_ids = 1,
};

static mx_status olmoe_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    double clip = 0;
    MX_TRY(mx_json_get_f64(obj, "clip_qkv", &clip, err));
    if (clip != 0) {
        return mx_fail(err, MX_UNSUPPORTED, "\"clip_qkv\" of OLMoE is not supported; published models have null");
    }
    return mx_moe_experts_are_mlps(obj, arena, c, err);
}

static void olmoe_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_moe_settings moe = mx_moe_settings_of(c);
    mx_moe_layer(b, c, i_layer, &moe);
}

const mx_family mx_family_olmoe = {
    .model_types = {"olmoe"},
    .title = "OLMoE",
    .source = "transformers, models/olmoe/modeling_olmoe.py",
    .defaults = &olmoe_defaults,
    .renames = mx_moe_renames,
    .read = olmoe_read,
    .sparse = mx_sparse_all,
    .layer = olmoe_layer,
};
