/* minicpm.c - MiniCPM 1, 2 and 4: Llama's layer with a factor on the embedding, one on what is added to the stream,
 * which shrinks with depth, and one on the logits. MiniCPM 4's sparse attention is an approximation of what is computed
 * here. */
#include <math.h>

#include "model/families/families.h"

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

/* From what the file says to factors. */
static mx_status minicpm_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    (void)obj;
    (void)arena;
    if (c->embedding_scale == 0 || c->residual_scale == 0 || c->logit_scale == 0) {
        return mx_fail(err, MX_FORMAT, "a multiplier of a MiniCPM model is 0");
    }
    c->residual_scale /= sqrt(c->n_layers);
    c->logit_scale /= (double)c->d_model;
    return MX_OK;
}

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
