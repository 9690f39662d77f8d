/* gpt2.c - GPT-2, and GPT-BigCode (StarCoder 1, SantaCoder), which is GPT-2 with one key head for all queries.
 *
 * Positions are learned: a table is added to the embedding and no head turns. GPT-2's original checkpoints store
 * matrices [inputs, outputs]; MLX's, under "model.", have them turned.
 */
#include "model/families/families.h"

static const mx_model_config gpt2_defaults = {
    .model_type = "gpt2",
    .n_layers = 12,
    .n_heads = 12,
    .n_ctx = 1024,
    .d_model = 768,
    .n_vocab = 50257,
    .norm_eps = 1e-5,
    .norm = MX_NORM_LAYER_BIAS,
    .act = MX_ACT_GELU_TANH,
    .has_plain_mlp = true,
    .has_position_table = true,
    .has_qkv_bias = true,
    .has_o_bias = true,
    .has_mlp_bias = true,
    .is_tied = true,
    .ropes = {MX_ROPE_PLAIN(1e4)},
    .eos_ids = {50256},
    .n_eos_ids = 1,
};

/* Switches that no published model turns: what they must be. */
static const struct expected {
    const char *key;
    bool value;
} expected[] = {
    {"scale_attn_weights", true},
    {"scale_attn_by_inverse_layer_idx", false},
    {"add_cross_attention", false},
};

static mx_status gpt2_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    (void)arena;
    for (size_t i = 0; i < MX_COUNTOF(expected); i++) {
        bool value = expected[i].value;
        MX_TRY(mx_json_get_bool(obj, expected[i].key, &value, err));
        if (value != expected[i].value) {
            return mx_fail(err, MX_UNSUPPORTED, "\"%s\": %s is not supported", expected[i].key,
                           value ? "true" : "false");
        }
    }
    c->d_ff = c->d_ff ? c->d_ff : 4 * c->d_model;
    return MX_OK;
}

static mx_status gpt_bigcode_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    bool has_one_key = true;
    MX_TRY(mx_json_get_bool(obj, "multi_query", &has_one_key, err));
    c->model_type = "gpt_bigcode";
    c->n_kv_heads = has_one_key ? 1 : c->n_heads;
    return gpt2_read(obj, arena, c, err);
}

static mx_status gpt2_layers(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    (void)obj;
    (void)err;
    for (int32_t i = 0; i < c->n_layers; i++) {
        layers[i].rope = MX_LAYER_ROPE_NONE;
    }
    return MX_OK;
}

static const mx_rename gpt2_renames[] = {
    {"embed_tokens", "wte"},
    {"embed_positions", "wpe"},
    {"input_layernorm", "ln_1"},
    {"self_attn.o_proj", "attn.c_proj"},
    {"post_attention_layernorm", "ln_2"},
    {"mlp.up_proj", "mlp.c_fc"},
    {"mlp.down_proj", "mlp.c_proj"},
    {"norm", "ln_f"},
    {NULL, NULL},
};

static const mx_stem gpt2_stems[] = {
    {"model.", "h.", "", false}, /* MLX */
    {"transformer.", "h.", "", true},
    {"", "h.", "", true},
    {NULL, NULL, NULL, false},
};

static const mx_stem gpt_bigcode_stems[] = {
    {"transformer.", "h.", "", false},
    {NULL, NULL, NULL, false},
};

static const mx_fusion gpt2_fusions[] = {
    {"self_attn.q_proj", "attn.c_attn", MX_PART_Q},
    {"self_attn.k_proj", "attn.c_attn", MX_PART_K},
    {"self_attn.v_proj", "attn.c_attn", MX_PART_V},
    {NULL, NULL, MX_PART_Q},
};

static const mx_fusion gpt_bigcode_fusions[] = {
    {"self_attn.q_proj", "attn.c_attn", MX_PART_GROUP_Q},
    {"self_attn.k_proj", "attn.c_attn", MX_PART_GROUP_K},
    {"self_attn.v_proj", "attn.c_attn", MX_PART_GROUP_V},
    {NULL, NULL, MX_PART_Q},
};

const mx_family mx_family_gpt2 = {
    .model_types = {"gpt2"},
    .title = "GPT-2",
    .source = "transformers, models/gpt2/modeling_gpt2.py",
    .defaults = &gpt2_defaults,
    .renames = gpt2_renames,
    .fusions = gpt2_fusions,
    .stems = gpt2_stems,
    .read = gpt2_read,
    .layers = gpt2_layers,
    .layer = mx_prenorm_layer,
};

const mx_family mx_family_gpt_bigcode = {
    .model_types = {"gpt_bigcode"},
    .title = "StarCoder (GPT-BigCode)",
    .source = "transformers, models/gpt_bigcode/modeling_gpt_bigcode.py",
    .defaults = &gpt2_defaults,
    .renames = gpt2_renames,
    .fusions = gpt_bigcode_fusions,
    .stems = gpt_bigcode_stems,
    .read = gpt_bigcode_read,
    .layers = gpt2_layers,
    .layer = mx_prenorm_layer,
};
