/* mistral.c - Mistral 7B and its kin: Llama's layer, with a sliding window unless the file says null.
 *
 * "mistral3" is the vision model; its text model is a "mistral" (Mistral Small 3) or a "ministral3". Ministral (8B)
 * slides by "layer_types"; Ministral 3 sharpens queries beyond its first context instead.
 */
#include "model/families/families.h"

#define MISTRAL                                                                                                        \
    .n_layers = 32, .n_heads = 32, .n_kv_heads = 8, .n_ctx = 131072, .d_model = 4096, .d_ff = 14336, .n_vocab = 32000, \
    .norm_eps = 1e-6, .act = MX_ACT_SILU, .window = 4096, .ropes = {MX_ROPE_PLAIN(1e4)}, .eos_ids = {2},               \
    .n_eos_ids = 1

static const mx_model_config mistral_defaults = {.model_type = "mistral", MISTRAL};
static const mx_model_config ministral_defaults = {.model_type = "ministral", MISTRAL};

static const mx_model_config ministral3_defaults = {
    .model_type = "ministral3",
    .n_layers = 34,
    .n_heads = 32,
    .n_kv_heads = 8,
    .head_dim = 128,
    .n_ctx = 262144,
    .d_model = 4096,
    .d_ff = 14336,
    .n_vocab = 131072,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .ropes = {MX_ROPE_PLAIN(1e6)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

/* The rotary embedding of a file that says nothing of one. */
static mx_status ministral3_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    yyjson_val *params = NULL;
    (void)arena;
    MX_TRY(mx_json_get_obj(obj, "rope_parameters", &params, err));
    if (!params) {
        mx_rope_config *rope = &c->ropes[MX_LAYER_ROPE_GLOBAL];
        rope->kind = MX_ROPE_YARN;
        rope->factor = 16;
        rope->original_n_ctx = 16384;
        rope->mscale = rope->mscale_all_dim = 1;
        rope->query_beta = 0.1;
    }
    return MX_OK;
}

const mx_family mx_family_mistral = {
    .model_types = {"mistral", "mistral3"},
    .title = "Mistral",
    .limits = "text only",
    .source = "transformers, models/mistral/modeling_mistral.py",
    .defaults = &mistral_defaults,
    .sliding = mx_sliding_all,
    .layer = mx_prenorm_layer,
};

const mx_family mx_family_ministral = {
    .model_types = {"ministral"},
    .title = "Ministral",
    .source = "transformers, models/ministral/modeling_ministral.py",
    .defaults = &ministral_defaults,
    .sliding = mx_sliding_listed,
    .layer = mx_prenorm_layer,
};

const mx_family mx_family_ministral3 = {
    .model_types = {"ministral3"},
    .title = "Ministral 3",
    .limits = "text only",
    .source = "transformers, models/ministral3/modeling_ministral3.py",
    .defaults = &ministral3_defaults,
    .read = ministral3_read,
    .sliding = mx_sliding_all,
    .layer = mx_prenorm_layer,
};
