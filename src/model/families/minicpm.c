/* minicpm.c - MiniCPM 1, 2 and 4: Llama's layer, and 3: the same over a latent cache, with a factor on the embedding,
 * one on what is added to the stream, which shrinks with depth, and one on the logits. MiniCPM 4's sparse attention is
 * an approximation of what is computed here. */
#include <math.h>

#include "model/families/families.h"
#include "model/mla.h"

static const mx_model_config minicpm_defaults = {
    .model_type = "minicpm",
    .n_layers = 32,
    .n_heads = 32,
    .n_ctx = 2048,
    .d_model = 4096,
    .d_ff = 11008,
    .n_vocab = 32000,
    .norm_eps = 1e-6,
    .act = MX_ACT_SILU,
    .is_tied = true,
    .embedding_scale = 1,
    .residual_scale = 1,
    .logit_scale = 1,
    .ropes = {MX_ROPE_PLAIN(1e4)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static const mx_field minicpm_fields[] = {
    MX_FIELD(mx_model_config, F64, embedding_scale, "scale_emb", 0, 1000000),
    MX_FIELD(mx_model_config, F64, residual_scale, "scale_depth", 0, 1000000),
    MX_FIELD(mx_model_config, F64, logit_scale, "dim_model_base", 0, 1000000),
    MX_FIELD_END,
};

static const mx_model_config minicpm3_defaults = {
    .model_type = "minicpm3",
    .n_layers = 62,
    .n_heads = 40,
    .n_ctx = 32768,
    .d_model = 2560,
    .d_ff = 6400,
    .n_vocab = 73448,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .mla = {.q_rank = 768, .kv_rank = 256, .nope_dim = 64, .rope_dim = 32},
    .is_tied = true,
    .embedding_scale = 12,
    .residual_scale = 1.4,
    .logit_scale = 256,
    .ropes = {MX_ROPE_PLAIN(1e4)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static const mx_field minicpm3_fields[] = {
    MX_FIELD(mx_model_config, F64, embedding_scale, "scale_emb", 0, 1000000),
    MX_FIELD(mx_model_config, F64, residual_scale, "scale_depth", 0, 1000000),
    MX_FIELD(mx_model_config, F64, logit_scale, "dim_model_base", 0, 1000000),
    MX_MLA_FIELDS,
    MX_FIELD_END,
};

/* From what the file says to factors; null is no factor. */
static mx_status minicpm_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    (void)arena;
    if (yyjson_is_null(yyjson_obj_get(obj, "scale_depth"))) {
        c->residual_scale = sqrt(c->n_layers);
    }
    if (yyjson_is_null(yyjson_obj_get(obj, "dim_model_base"))) {
        c->logit_scale = (double)c->d_model;
    }
    if (c->embedding_scale == 0 || c->residual_scale == 0 || c->logit_scale == 0) {
        return mx_fail(err, MX_FORMAT, "a multiplier of a MiniCPM model is 0");
    }
    c->residual_scale /= sqrt(c->n_layers);
    c->logit_scale /= (double)c->d_model;
    return MX_OK;
}

static mx_status minicpm3_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    if (c->mla.v_dim == 0) {
        c->mla.v_dim = (int32_t)MX_MAX(c->d_model / c->n_heads, 1);
    }
    MX_TRY(minicpm_read(obj, arena, c, err));
    return mx_mla_read(obj, c, err);
}

static void minicpm3_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_value x = mx_stream(b);
    const mx_value a = mx_mla_self_attention(b, c, mx_rmsnorm(b, x, "input_layernorm"));
    const mx_value y = mx_add_residual(b, c, x, a);
    const mx_value m = mx_layer_mlp(b, c, i_layer, mx_rmsnorm(b, y, "post_attention_layernorm"));
    mx_set_stream(b, mx_add_residual(b, c, y, m));
}

static const mx_fusion minicpm3_fusions[] = {MX_MLA_FUSIONS, {NULL, NULL, MX_PART_Q}};

const mx_family mx_family_minicpm = {
    .model_types = {"minicpm"},
    .title = "MiniCPM 1, 2, 4",
    .limits = "attention is dense where MiniCPM 4 may skip blocks",
    .source = "openbmb/MiniCPM-2B-sft-bf16, modeling_minicpm.py",
    .defaults = &minicpm_defaults,
    .fields = minicpm_fields,
    .read = minicpm_read,
    .layer = mx_prenorm_layer,
};

const mx_family mx_family_minicpm3 = {
    .model_types = {"minicpm3"},
    .title = "MiniCPM 3",
    .source = "transformers, models/minicpm3/modeling_minicpm3.py",
    .defaults = &minicpm3_defaults,
    .fusions = minicpm3_fusions,
    .fields = minicpm3_fields,
    .read = minicpm3_read,
    .layer = minicpm3_layer,
};
