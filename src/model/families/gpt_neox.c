/* gpt_neox.c - GPT-NeoX and Pythia: attention and a plain MLP beside each other, each with a layer norm of its own, and
 * query, key and value of a head after one another in one matrix. */
#include "model/families/families.h"

static const mx_model_config gpt_neox_defaults = {
    .model_type = "gpt_neox",
    .n_layers = 44,
    .n_heads = 64,
    .n_ctx = 2048,
    .d_model = 6144,
    .d_ff = 24576,
    .n_vocab = 50432,
    .norm_eps = 1e-5,
    .norm = MX_NORM_LAYER_BIAS,
    .act = MX_ACT_GELU,
    .has_plain_mlp = true,
    .is_parallel = true,
    .has_mlp_bias = true,
    .ropes = {MX_ROPE_PARTIAL(1e4, 0.25)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static const mx_field gpt_neox_fields[] = {
    MX_FIELD(mx_model_config, BOOL, is_parallel, "use_parallel_residual", 0, 0),
    MX_FIELD(mx_model_config, F64, ropes[MX_LAYER_ROPE_GLOBAL].partial_factor, "rotary_pct", 0, 1),
    MX_FIELD(mx_model_config, F64, ropes[MX_LAYER_ROPE_GLOBAL].theta, "rotary_emb_base", 0, 1000000000),
    MX_FIELD_END,
};

/* Biases unless "attention_bias" is false. */
static mx_status gpt_neox_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    (void)arena;
    c->has_qkv_bias = true;
    MX_TRY(mx_json_get_bool(obj, "attention_bias", &c->has_qkv_bias, err));
    c->has_o_bias = c->has_qkv_bias;
    return MX_OK;
}

static void gpt_neox_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    if (!c->is_parallel) {
        mx_prenorm_layer(b, c, i_layer);
        return;
    }
    const mx_value x = mx_stream(b);
    const mx_value y = mx_add(b, x, mx_self_attention(b, c, i_layer, mx_norm(b, x, "input_layernorm")));
    mx_set_stream(b, mx_add(b, y, mx_layer_mlp(b, c, i_layer, mx_norm(b, x, "post_attention_layernorm"))));
}

static const mx_rename gpt_neox_renames[] = {
    {"embed_tokens", "embed_in"},
    {"self_attn.o_proj", "attention.dense"},
    {"mlp.up_proj", "mlp.dense_h_to_4h"},
    {"mlp.down_proj", "mlp.dense_4h_to_h"},
    {"norm", "final_layer_norm"},
    {"lm_head", "embed_out"},
    {NULL, NULL},
};

static const mx_fusion gpt_neox_fusions[] = {
    {"self_attn.q_proj", "attention.query_key_value", MX_PART_GROUP_Q},
    {"self_attn.k_proj", "attention.query_key_value", MX_PART_GROUP_K},
    {"self_attn.v_proj", "attention.query_key_value", MX_PART_GROUP_V},
    {NULL, NULL, MX_PART_Q},
};

static const mx_stem gpt_neox_stems[] = {
    {"gpt_neox.", "layers.", "", false},
    {"model.", "h.", "model.", false}, /* MLX */
    {NULL, NULL, NULL, false},
};

const mx_family mx_family_gpt_neox = {
    .model_types = {"gpt_neox"},
    .title = "GPT-NeoX, Pythia",
    .source = "transformers, models/gpt_neox/modeling_gpt_neox.py",
    .defaults = &gpt_neox_defaults,
    .renames = gpt_neox_renames,
    .fusions = gpt_neox_fusions,
    .stems = gpt_neox_stems,
    .fields = gpt_neox_fields,
    .read = gpt_neox_read,
    .layer = gpt_neox_layer,
};
