/* granite.c - Granite 3 and 4, without experts and with: Llama's layer with factors on the embedding, the scores, what
 * is added to the stream, and the logits. */
#include "model/families/granite.h"

#include "model/families/families.h"
#include "model/moe.h"

static const mx_model_config granite_defaults = {
    .model_type = "granite",
    .n_layers = 32,
    .n_heads = 32,
    .n_ctx = 2048,
    .d_model = 4096,
    .d_ff = 11008,
    .n_vocab = 32000,
    .norm_eps = 1e-6,
    .act = MX_ACT_SILU,
    .attention_scale = 1,
    .embedding_scale = 1,
    .residual_scale = 1,
    .logit_scale = 1,
    .ropes = {MX_ROPE_PLAIN(1e4)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static const mx_field granite_fields[] = {
    MX_GRANITE_SCALES,
    MX_FIELD_END,
};

mx_status mx_granite_read_scales(mx_model_config *c, mx_error *err)
{
    if (c->attention_scale == 0 || c->embedding_scale == 0 || c->residual_scale == 0 || c->logit_scale == 0) {
        return mx_fail(err, MX_FORMAT, "a multiplier of a Granite model is 0");
    }
    c->logit_scale = 1 / c->logit_scale;
    return MX_OK;
}

static mx_status granite_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    (void)obj;
    (void)arena;
    return mx_granite_read_scales(c, err);
}

static const mx_model_config granitemoe_defaults = {
    .model_type = "granitemoe",
    .n_layers = 32,
    .n_heads = 32,
    .n_ctx = 2048,
    .d_model = 4096,
    .d_ff = 11008,
    .n_vocab = 32000,
    .norm_eps = 1e-6,
    .act = MX_ACT_SILU,
    .attention_scale = 1,
    .embedding_scale = 1,
    .residual_scale = 1,
    .logit_scale = 1,
    .n_experts = 8,
    .top_k = 2,
    .normalize_top_k = true,
    .ropes = {MX_ROPE_PLAIN(1e4)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static mx_status granitemoe_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    MX_TRY(mx_moe_experts_are_mlps(obj, arena, c, err));
    return mx_granite_read_scales(c, err);
}

static void granitemoe_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_moe_settings moe = mx_moe_settings_of(c);
    mx_moe_layer(b, c, i_layer, &moe);
}

static const mx_rename granitemoe_renames[] = {
    {"mlp.gate", "block_sparse_moe.router.layer"},
    {"mlp.switch_mlp", "block_sparse_moe.switch_mlp"},
    {"mlp.switch_mlp.down_proj", "block_sparse_moe.output_linear"},
    {NULL, NULL},
};

static const mx_fusion granitemoe_fusions[] = {
    {"mlp.switch_mlp.gate_proj", "block_sparse_moe.input_linear", MX_PART_FIRST_HALF},
    {"mlp.switch_mlp.up_proj", "block_sparse_moe.input_linear", MX_PART_SECOND_HALF},
    {NULL, NULL, MX_PART_FIRST_HALF},
};

const mx_family mx_family_granitemoe = {
    .model_types = {"granitemoe"},
    .title = "Granite with experts",
    .source = "transformers, models/granitemoe/modeling_granitemoe.py",
    .defaults = &granitemoe_defaults,
    .renames = granitemoe_renames,
    .fusions = granitemoe_fusions,
    .fields = granite_fields,
    .read = granitemoe_read,
    .sparse = mx_sparse_all,
    .layer = granitemoe_layer,
};

const mx_family mx_family_granite = {
    .model_types = {"granite"},
    .title = "Granite",
    .source = "transformers, models/granite/modeling_granite.py",
    .defaults = &granite_defaults,
    .fields = granite_fields,
    .read = granite_read,
    .layer = mx_prenorm_layer,
};
