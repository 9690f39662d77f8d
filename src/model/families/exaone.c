/* exaone.c - EXAONE 3 and 4. The first is Llama under GPT-2's names; EXAONE 4 has norms behind each block and on heads,
 * and, where it slides, layers that see everything without positions. */
#include "model/families/families.h"

static const mx_model_config exaone_defaults = {
    .model_type = "exaone",
    .n_layers = 32,
    .n_heads = 32,
    .n_ctx = 2048,
    .d_model = 4096,
    .d_ff = 16384,
    .n_vocab = 102400,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .is_tied = true,
    .ropes = {MX_ROPE_PLAIN(1e4)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static const mx_model_config exaone4_defaults = {
    .model_type = "exaone4",
    .n_layers = 32,
    .n_heads = 32,
    .n_kv_heads = 32,
    .n_ctx = 2048,
    .d_model = 4096,
    .d_ff = 16384,
    .n_vocab = 102400,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .qk_norm = MX_QK_NORM_HEADS,
    .window = 4096,
    .sliding_pattern = 4,
    .ropes = {MX_ROPE_PLAIN(1e4)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static const mx_stem exaone_stems[] = {
    {"transformer.", "h.", "", false},
    {NULL, NULL, NULL, false},
};

static const mx_rename exaone_renames[] = {
    {"embed_tokens", "wte"},
    {"input_layernorm", "ln_1"},
    {"post_attention_layernorm", "ln_2"},
    {"norm", "ln_f"},
    {"self_attn.o_proj", "attn.attention.out_proj"},
    {"self_attn", "attn.attention"},
    {"mlp.gate_proj", "mlp.c_fc_0"},
    {"mlp.up_proj", "mlp.c_fc_1"},
    {"mlp.down_proj", "mlp.c_proj"},
    {NULL, NULL},
};

static mx_status exaone4_layers(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    return c->window > 0 ? mx_rope_where_sliding(obj, c, layers, err) : MX_OK;
}

const mx_family mx_family_exaone = {
    .model_types = {"exaone"},
    .title = "EXAONE 3",
    .source = "mlx-lm, models/exaone.py",
    .defaults = &exaone_defaults,
    .renames = exaone_renames,
    .stems = exaone_stems,
    .layer = mx_prenorm_layer,
};

const mx_family mx_family_exaone4 = {
    .model_types = {"exaone4"},
    .title = "EXAONE 4",
    .source = "transformers, models/exaone4/modeling_exaone4.py",
    .defaults = &exaone4_defaults,
    .sliding = mx_sliding_pattern,
    .layers = exaone4_layers,
    .layer = mx_postnorm_layer,
};
