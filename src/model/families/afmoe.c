/* afmoe.c - AFMoE (Trinity): norms before and after each block, attention whose output goes through a gate, layers with
 * a window that rotate and layers without either, experts by sigmoids. */
#include <math.h>

#include "model/families/families.h"
#include "model/moe.h"

static const mx_moe_config afmoe_moe = {.n_shared = 2, .scale = 1, .n_dense_first = 1};

static const mx_field afmoe_own_fields[] = {
    MX_FIELD(mx_moe_config, I32, n_shared, "num_shared_experts", 0, 4096),
    MX_FIELD(mx_moe_config, F64, scale, "route_scale", 0, 1000000),
    MX_FIELD(mx_moe_config, I32, n_dense_first, "num_dense_layers", 0, 1 << 20),
    MX_FIELD_END,
};

static const mx_field afmoe_fields[] = {
    MX_FIELD(mx_model_config, I32, sliding_pattern, "global_attn_every_n_layers", 1, 1 << 20),
    MX_FIELD_END,
};

static const mx_model_config afmoe_defaults = {
    .model_type = "afmoe",
    .n_layers = 32,
    .n_heads = 16,
    .head_dim = 128,
    .n_ctx = 16384,
    .d_model = 2048,
    .d_ff = 6144,
    .n_vocab = 200192,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .window = 1024,
    .sliding_pattern = 4,
    .n_experts = 64,
    .d_ff_expert = 1408,
    .top_k = 6,
    .normalize_top_k = true,
    .ropes = {MX_ROPE_PLAIN(1e4)},
};

static mx_status afmoe_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    bool is_mup = false;
    (void)arena;
    MX_TRY(mx_json_get_bool(obj, "mup_enabled", &is_mup, err));
    c->embedding_scale = is_mup ? sqrt((double)c->d_model) : 0;
    return MX_OK;
}

static mx_status afmoe_layers(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    (void)obj;
    (void)err;
    for (int32_t i = 0; i < c->n_layers; i++) {
        layers[i].rope = layers[i].is_sliding ? MX_LAYER_ROPE_GLOBAL : MX_LAYER_ROPE_NONE;
    }
    return MX_OK;
}

static mx_value afmoe_attention(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_value h)
{
    const mx_layer_config *layer = &c->layers[i_layer];
    mx_qkv t = mx_linear_qkv(b, h, "self_attn", c->has_qkv_bias);
    t.q = mx_rmsnorm_heads(b, t.q, "self_attn.q_norm");
    t.k = mx_rmsnorm_heads(b, t.k, "self_attn.k_norm");
    const mx_value a = mx_layer_attention(b, c, i_layer, t);
    const mx_value gate = mx_linear(b, h, "self_attn.gate_proj", (int64_t)layer->n_heads * layer->head_dim, false);
    const mx_value y = mx_gate(b, gate, a, MX_ACT_SIGMOID, "self_attn.gated");
    return mx_linear(b, y, "self_attn.o_proj", c->d_model, c->has_o_bias);
}

static void afmoe_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    mx_moe_settings moe = mx_moe_settings_of_own(c);
    moe.route.score = MX_SCORE_SIGMOID;
    moe.choice_bias = "mlp.expert_bias";
    const mx_value x = mx_stream(b);
    const mx_value a = afmoe_attention(b, c, i_layer, mx_rmsnorm(b, x, "input_layernorm"));
    const mx_value y = mx_add(b, x, mx_rmsnorm(b, a, "post_attention_layernorm"));
    const mx_value m = mx_moe_layer_mlp(b, c, i_layer, mx_rmsnorm(b, y, "pre_mlp_layernorm"), &moe);
    mx_set_stream(b, mx_add(b, y, mx_rmsnorm(b, m, "post_mlp_layernorm")));
}

static const mx_rename afmoe_renames[] = {
    {"mlp.gate", "mlp.router.gate"},
    {"mlp.switch_mlp", "mlp.experts"},
    {"mlp.switch_mlp.gate_proj", "mlp.experts.*.gate_proj"},
    {"mlp.switch_mlp.up_proj", "mlp.experts.*.up_proj"},
    {"mlp.switch_mlp.down_proj", "mlp.experts.*.down_proj"},
    {NULL, NULL},
};

const mx_family mx_family_afmoe = {
    .model_types = {"afmoe"},
    .title = "AFMoE",
    .source = "transformers, models/afmoe/modeling_afmoe.py",
    .defaults = &afmoe_defaults,
    .renames = afmoe_renames,
    .fields = afmoe_fields,
    .own = {sizeof(mx_moe_config), &afmoe_moe, afmoe_own_fields},
    .read = afmoe_read,
    .sliding = mx_sliding_pattern,
    .sparse = mx_sparse_after_dense,
    .layers = afmoe_layers,
    .layer = afmoe_layer,
};
