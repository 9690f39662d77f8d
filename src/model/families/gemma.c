/* gemma.c - Gemma 1 to 3, the text models: alone ("gemma3_text") or inside of the vision model ("gemma3").
 *
 * All scale the embedding by sqrt(d_model) and store norm weights as w - 1. Gemma 1 is Llama's layer with that; Gemma 2
 * has norms before and after each block, a window in every other layer, and caps scores and logits; Gemma 3 has norms
 * on heads instead of caps, and five sliding layers, with a rotary embedding of their own, to each that sees
 * everything. "attn_logit_softcapping" in a Gemma 3 is a leftover of Gemma 2: the reference does not apply it.
 */
#include "model/families/families.h"

static const mx_model_config gemma_defaults = {
    .model_type = "gemma",
    .n_layers = 28,
    .n_heads = 16,
    .n_kv_heads = 16,
    .head_dim = 256,
    .n_ctx = 8192,
    .d_model = 3072,
    .d_ff = 24576,
    .n_vocab = 256000,
    .norm_eps = 1e-6,
    .norm_weight_offset = 1,
    .act = MX_ACT_GELU_TANH,
    .is_tied = true,
    .scales_embedding = true,
    .ropes = {MX_ROPE_PLAIN(1e4)},
    .eos_ids = {1},
    .n_eos_ids = 1,
};

static const mx_model_config gemma2_defaults = {
    .model_type = "gemma2",
    .n_layers = 26,
    .n_heads = 8,
    .n_kv_heads = 4,
    .head_dim = 256,
    .n_ctx = 8192,
    .d_model = 2304,
    .d_ff = 9216,
    .n_vocab = 256000,
    .norm_eps = 1e-6,
    .norm_weight_offset = 1,
    .act = MX_ACT_GELU_TANH,
    .is_tied = true,
    .scales_embedding = true,
    .window = 4096,
    .sliding_pattern = 2,
    .query_scale = 256,
    .attention_softcap = 50,
    .logit_softcap = 30,
    .ropes = {MX_ROPE_PLAIN(1e4)},
    .eos_ids = {1},
    .n_eos_ids = 1,
};

static const mx_model_config gemma3_defaults = {
    .model_type = "gemma3_text",
    .n_layers = 26,
    .n_heads = 8,
    .n_kv_heads = 4,
    .head_dim = 256,
    .n_ctx = 131072,
    .d_model = 2304,
    .d_ff = 9216,
    .n_vocab = 262208,
    .norm_eps = 1e-6,
    .norm_weight_offset = 1,
    .act = MX_ACT_GELU_TANH,
    .qk_norm = MX_QK_NORM_HEADS,
    .is_tied = true,
    .scales_embedding = true,
    .window = 4096,
    .sliding_pattern = 6,
    .query_scale = 256,
    .ropes = {MX_ROPE_PLAIN(1e6), MX_ROPE_PLAIN(1e4)},
    .has_local_rope = true,
    .eos_ids = {1},
    .n_eos_ids = 1,
};

static const mx_field gemma2_fields[] = {
    MX_FIELD(mx_model_config, F64_OR_NULL, attention_softcap, "attn_logit_softcapping", 0, 1000000),
    MX_FIELD_END,
};

static mx_status read_common(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    bool is_bidirectional = false;
    (void)arena;
    c->act = c->act == MX_ACT_GELU ? MX_ACT_GELU_TANH : c->act; /* Gemma 1's files say "gelu" and mean this */
    MX_TRY(mx_json_get_bool(obj, "use_bidirectional_attention", &is_bidirectional, err));
    return is_bidirectional
               ? mx_fail(err, MX_UNSUPPORTED, "\"use_bidirectional_attention\": embedding models are not supported")
               : MX_OK;
}

const mx_family mx_family_gemma = {
    .model_types = {"gemma"},
    .title = "Gemma 1",
    .source = "transformers, models/gemma/modeling_gemma.py",
    .defaults = &gemma_defaults,
    .read = read_common,
    .layer = mx_prenorm_layer,
};

const mx_family mx_family_gemma2 = {
    .model_types = {"gemma2"},
    .title = "Gemma 2",
    .source = "transformers, models/gemma2/modeling_gemma2.py",
    .defaults = &gemma2_defaults,
    .fields = gemma2_fields,
    .read = read_common,
    .sliding = mx_sliding_pattern,
    .layer = mx_sandwich_layer,
};

const mx_family mx_family_gemma3 = {
    .model_types = {"gemma3_text", "gemma3"},
    .title = "Gemma 3",
    .limits = "text only",
    .source = "transformers, models/gemma3/modeling_gemma3.py",
    .defaults = &gemma3_defaults,
    .read = read_common,
    .sliding = mx_sliding_pattern,
    .layer = mx_sandwich_layer,
};
