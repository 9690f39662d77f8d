/* hunyuan_moe.c - Hunyuan with experts (A13B): Hunyuan's attention, and an MLP that every token has beside the experts.
 */
#include "model/moe.h"

static const mx_moe_config hunyuan_moe_moe = {.n_shared = 1};

static const mx_field hunyuan_moe_own_fields[] = {
    MX_FIELD(mx_moe_config, I32, n_shared, "num_shared_expert", 0, 4096),
    MX_FIELD_END,
};

static const mx_field hunyuan_moe_fields[] = {
    MX_FIELD(mx_model_config, I32, top_k, "moe_topk", 1, 4096),
    MX_FIELD_END,
};

static const mx_model_config hunyuan_moe_defaults = {
    .model_type = "hunyuan_v1_moe",
    .n_layers = 32,
    .n_heads = 32,
    .n_ctx = 2048,
    .d_model = 4096,
    .d_ff = 11008,
    .n_vocab = 290943,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .qk_norm = MX_QK_NORM_TURNED_HEADS,
    .n_experts = 1,
    .top_k = 1,
    .normalize_top_k = true,
    .ropes = {MX_ROPE_PLAIN(1e4)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static void hunyuan_moe_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_moe_settings moe = mx_moe_settings_of_own(c);
    mx_moe_layer(b, c, i_layer, &moe);
}

static const mx_rename hunyuan_moe_renames[] = {
    {"self_attn.q_norm", "self_attn.query_layernorm"},
    {"self_attn.k_norm", "self_attn.key_layernorm"},
    {"mlp.gate", "mlp.gate.wg"},
    {"mlp.shared_experts", "mlp.shared_mlp"},
    {"mlp.switch_mlp.gate_proj", "mlp.experts.*.gate_proj"},
    {"mlp.switch_mlp.up_proj", "mlp.experts.*.up_proj"},
    {"mlp.switch_mlp.down_proj", "mlp.experts.*.down_proj"},
    {NULL, NULL},
};

const mx_family mx_family_hunyuan_v1_moe = {
    .model_types = {"hunyuan_v1_moe"},
    .title = "Hunyuan with experts",
    .source = "transformers, models/hunyuan_v1_moe/modeling_hunyuan_v1_moe.py",
    .defaults = &hunyuan_moe_defaults,
    .renames = hunyuan_moe_renames,
    .fields = hunyuan_moe_fields,
    .own = {sizeof(mx_moe_config), &hunyuan_moe_moe, hunyuan_moe_own_fields},
    .read = mx_moe_experts_are_mlps,
    .sparse = mx_sparse_all,
    .layer = hunyuan_moe_layer,
};
