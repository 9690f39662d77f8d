/* phi.c - Phi-1, 1.5 and 2: attention and a plain MLP beside each other, layer norms, biases everywhere, and heads that
 * turn in part. */
#include "model/families/families.h"

static const mx_model_config phi_defaults = {
    .model_type = "phi",
    .n_layers = 24,
    .n_heads = 32,
    .n_ctx = 2048,
    .d_model = 2048,
    .d_ff = 8192,
    .n_vocab = 51200,
    .norm_eps = 1e-5,
    .norm = MX_NORM_LAYER_BIAS,
    .act = MX_ACT_GELU_TANH,
    .has_plain_mlp = true,
    .has_qkv_bias = true,
    .has_o_bias = true,
    .has_mlp_bias = true,
    .has_head_bias = true,
    .ropes = {MX_ROPE_PARTIAL(1e4, 0.5)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static mx_status phi_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    bool has_qk_norm = false;
    (void)arena;
    MX_TRY(mx_json_get_bool(obj, "qk_layernorm", &has_qk_norm, err));
    c->qk_norm = has_qk_norm ? MX_QK_NORM_LAYER_HEADS : MX_QK_NORM_NONE;
    return MX_OK;
}

static const mx_rename phi_renames[] = {
    {"self_attn.o_proj", "self_attn.dense"},
    {"self_attn.q_norm", "self_attn.q_layernorm"},
    {"self_attn.k_norm", "self_attn.k_layernorm"},
    {"mlp.up_proj", "mlp.fc1"},
    {"mlp.down_proj", "mlp.fc2"},
    {"norm", "final_layernorm"},
    {NULL, NULL},
};

const mx_family mx_family_phi = {
    .model_types = {"phi"},
    .title = "Phi-1, 1.5, 2",
    .source = "transformers, models/phi/modeling_phi.py",
    .defaults = &phi_defaults,
    .renames = phi_renames,
    .read = phi_read,
    .layer = mx_parallel_layer,
};
