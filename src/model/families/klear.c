/* klear.c - Klear: Qwen 3's attention; experts by sigmoids and a shared MLP, each token weighing one against the other
 * by a softmax of two. */
#include "model/families/families.h"
#include "model/moe.h"

static const mx_moe_config klear_moe = {.n_shared = 1};

static const mx_model_config klear_defaults = {
    .model_type = "Klear",
    .n_layers = 32,
    .n_heads = 32,
    .n_kv_heads = 4,
    .n_ctx = 65536,
    .d_model = 2048,
    .d_ff = 7168,
    .n_vocab = 151936,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .qk_norm = MX_QK_NORM_HEADS,
    .n_experts = 256,
    .d_ff_expert = 896,
    .top_k = 8,
    .normalize_top_k = true,
    .ropes = {MX_ROPE_PLAIN(5e5)},
};

/* The weights of a softmax of two logits a and b are the sigmoids of a - b and of b - a. */
static mx_value klear_mlp(mx_builder *b, const mx_model_config *c, mx_value x)
{
    mx_moe_settings moe = mx_moe_settings_of_own(c);
    moe.route.score = MX_SCORE_SIGMOID;
    moe.choice_bias = "mlp.expert_bias";
    moe.d_ff_shared = 0;
    const int64_t d_ff_shared = c->d_ff_expert * ((const mx_moe_config *)c->own)->n_shared;
    const mx_value experts = mx_moe_mlp(b, x, "mlp", &moe);
    const mx_value shared = mx_glu_mlp(b, x, "mlp.shared_experts", d_ff_shared, false);
    const mx_value logits = mx_linear(b, x, "mlp.coefficient", 2, true);
    const mx_value first = mx_slice(b, logits, mx_columns_from(0, 1), 1, "mlp.coefficient.experts");
    const mx_value second = mx_slice(b, logits, mx_columns_from(1, 1), 1, "mlp.coefficient.shared");
    const mx_value lead = mx_add(b, first, mx_scale(b, second, -1.0f));
    return mx_add(b, mx_gate_rows(b, experts, lead, "mlp.experts"),
                  mx_gate_rows(b, shared, mx_scale(b, lead, -1.0f), "mlp.shared"));
}

static void klear_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_value x = mx_stream(b);
    const mx_value y = mx_add(b, x, mx_self_attention(b, c, i_layer, mx_rmsnorm(b, x, "input_layernorm")));
    const mx_value z = mx_rmsnorm(b, y, "post_attention_layernorm");
    const mx_value m = c->layers[i_layer].is_moe ? klear_mlp(b, c, z) : mx_layer_mlp(b, c, i_layer, z);
    mx_set_stream(b, mx_add(b, y, m));
}

static const mx_rename klear_renames[] = {
    {"mlp.switch_mlp", "mlp.experts"},
    {"mlp.switch_mlp.gate_proj", "mlp.experts.*.gate_proj"},
    {"mlp.switch_mlp.up_proj", "mlp.experts.*.up_proj"},
    {"mlp.switch_mlp.down_proj", "mlp.experts.*.down_proj"},
    {NULL, NULL},
};

const mx_family mx_family_klear = {
    .model_types = {"Klear"},
    .source = "mlx-lm, models/Klear.py",
    .defaults = &klear_defaults,
    .renames = klear_renames,
    .own = {sizeof(mx_moe_config), &klear_moe, mx_moe_fields},
    .sparse = mx_sparse_by_step,
    .layer = klear_layer,
};
