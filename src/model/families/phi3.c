/* phi3.c - Phi-3, 3.5 and 4: Llama's layer with queries, keys and values in one matrix, and gate and up in another.
 *
 * Those for long contexts have a longrope; Phi-4-mini turns three quarters of each head.
 */
#include "model/families/families.h"

static const mx_model_config phi3_defaults = {
    .model_type = "phi3",
    .n_layers = 32,
    .n_heads = 32,
    .n_ctx = 4096,
    .d_model = 3072,
    .d_ff = 8192,
    .n_vocab = 32064,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .ropes = {MX_ROPE_PLAIN(1e4)},
    .eos_ids = {32000},
    .n_eos_ids = 1,
};

/* "original_max_position_embeddings" has a default of its own, and a "yarn" of these files is a longrope. */
static mx_status phi3_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    (void)obj;
    (void)arena;
    (void)err;
    c->ropes[MX_LAYER_ROPE_GLOBAL].original_n_ctx = 4096;
    return MX_OK;
}

static const mx_fusion phi3_fusions[] = {
    {"self_attn.q_proj", "self_attn.qkv_proj", MX_PART_Q},    {"self_attn.k_proj", "self_attn.qkv_proj", MX_PART_K},
    {"self_attn.v_proj", "self_attn.qkv_proj", MX_PART_V},    {"mlp.gate_proj", "mlp.gate_up_proj", MX_PART_FIRST_HALF},
    {"mlp.up_proj", "mlp.gate_up_proj", MX_PART_SECOND_HALF}, {NULL, NULL, MX_PART_Q},
};

const mx_family mx_family_phi3 = {
    .model_types = {"phi3"},
    .title = "Phi-3, 3.5, 4",
    .source = "transformers, models/phi3/modeling_phi3.py",
    .defaults = &phi3_defaults,
    .fusions = phi3_fusions,
    .read = phi3_read,
    .sliding = mx_sliding_all,
    .layer = mx_prenorm_layer,
};
