/* starcoder2.c - StarCoder 2: Llama's layer with layer norms, a plain MLP and biases. */
#include "model/families/families.h"

static const mx_model_config starcoder2_defaults = {
    .model_type = "starcoder2",
    .n_layers = 30,
    .n_heads = 24,
    .n_kv_heads = 2,
    .n_ctx = 4096,
    .d_model = 3072,
    .d_ff = 12288,
    .n_vocab = 49152,
    .norm_eps = 1e-5,
    .norm = MX_NORM_LAYER_BIAS,
    .act = MX_ACT_GELU_TANH,
    .has_plain_mlp = true,
    .has_mlp_bias = true,
    .is_tied = true,
    .ropes = {MX_ROPE_PLAIN(1e4)},
    .eos_ids = {50256},
    .n_eos_ids = 1,
};

static const mx_field starcoder2_fields[] = {
    MX_FIELD(mx_model_config, F64_ABOVE, norm_eps, "norm_epsilon", 0, 1),
    MX_FIELD(mx_model_config, BOOL, has_mlp_bias, "use_bias", 0, 0),
    MX_FIELD_END,
};

/* One switch for all biases. */
static mx_status starcoder2_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    (void)obj;
    (void)arena;
    (void)err;
    c->has_qkv_bias = c->has_o_bias = c->has_mlp_bias;
    return MX_OK;
}

static const mx_rename starcoder2_renames[] = {
    {"mlp.up_proj", "mlp.c_fc"},
    {"mlp.down_proj", "mlp.c_proj"},
    {NULL, NULL},
};

const mx_family mx_family_starcoder2 = {
    .model_types = {"starcoder2"},
    .title = "StarCoder 2",
    .source = "transformers, models/starcoder2/modeling_starcoder2.py",
    .defaults = &starcoder2_defaults,
    .renames = starcoder2_renames,
    .fields = starcoder2_fields,
    .read = starcoder2_read,
    .sliding = mx_sliding_all,
    .layer = mx_prenorm_layer,
};
