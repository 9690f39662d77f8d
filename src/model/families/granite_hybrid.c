/* granite_hybrid.c - Granite 4: Mamba 2 with attention in a few layers, dense or with experts beside a shared MLP.
 *
 * The official checkpoints fuse the MLP's gate and up; MLX splits those of models without experts ("mlp"), and keeps
 * the shared one's beside experts.
 */
#include <float.h>

#include "model/families/families.h"
#include "model/families/granite.h"
#include "model/mamba_layers.h"
#include "model/moe.h"
#include "model/recurrent.h"

typedef struct granite_fields {
    mx_mamba2_config mamba;
    int32_t expand;
    int64_t d_ff_shared;
} granite_fields;

static const granite_fields granite_own = {
    .mamba = {.n_heads = 128,
              .d_state = 256,
              .n_groups = 1,
              .conv_width = 4,
              .has_conv_bias = true,
              .dt_max = (double)FLT_MAX},
    .expand = 2,
    .d_ff_shared = 1024,
};

static const mx_field granite_own_fields[] = {
    MX_FIELD(granite_fields, I32, mamba.n_heads, "mamba_n_heads", 1, 1 << 16),
    MX_FIELD(granite_fields, I32, mamba.d_state, "mamba_d_state", 1, 4096),
    MX_FIELD(granite_fields, I32, mamba.n_groups, "mamba_n_groups", 1, 4096),
    MX_FIELD(granite_fields, I32, mamba.conv_width, "mamba_d_conv", 2, MX_CONV_MAX_WIDTH),
    MX_FIELD(granite_fields, BOOL, mamba.has_conv_bias, "mamba_conv_bias", 0, 0),
    MX_FIELD(granite_fields, BOOL, mamba.has_proj_bias, "mamba_proj_bias", 0, 0),
    MX_FIELD(granite_fields, I32, expand, "mamba_expand", 1, 64),
    MX_FIELD(granite_fields, I64, d_ff_shared, "shared_intermediate_size", 1, 1 << 24),
    MX_FIELD_END,
};

static const mx_model_config granite_hybrid_defaults = {
    .model_type = "granitemoehybrid",
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

static const mx_field granite_hybrid_fields[] = {
    MX_GRANITE_SCALES,
    MX_FIELD(mx_model_config, I64, n_experts, "num_local_experts", 0, 4096),
    MX_FIELD_END,
};

/* An MLP is as wide as the shared expert, and experts as "intermediate_size" says. */
static mx_status granite_hybrid_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    void *edit = NULL;
    MX_TRY(mx_own_edit(arena, c, sizeof(granite_fields), &edit, err));
    granite_fields *own = (granite_fields *)edit;
    MX_TRY(mx_granite_read_scales(c, err));
    const int64_t d_inner = own->expand * c->d_model;
    if (d_inner % own->mamba.n_heads != 0 || d_inner / own->mamba.n_heads > 4096) {
        return mx_fail(err, MX_FORMAT, "%lld channels do not divide into \"mamba_n_heads\", %d", (long long)d_inner,
                       own->mamba.n_heads);
    }
    own->mamba.head_dim = (int32_t)(d_inner / own->mamba.n_heads);
    c->d_ff_expert = c->d_ff;
    c->d_ff = own->d_ff_shared;
    return mx_mamba2_read_limits(obj, &own->mamba, err);
}

static mx_status granite_hybrid_sparse(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers,
                                       mx_error *err)
{
    return c->n_experts > 0 ? mx_sparse_all(obj, c, layers, err) : MX_OK;
}

/* Without a list, every layer is a Mamba; positions are told only where "position_embedding_type" is "rope". */
static mx_status granite_hybrid_layers(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers,
                                       mx_error *err)
{
    bool found = false;
    bool found_old = false;
    MX_TRY(mx_layers_by_types(obj, "layers_block_type", "mamba|linear_attention", "attention|full_attention", c, layers,
                              &found_old, err));
    MX_TRY(mx_layers_by_types(obj, "layer_types", "mamba|linear_attention", "attention|full_attention", c, layers,
                              &found, err));
    const bool has_rope = yyjson_equals_str(yyjson_obj_get(obj, "position_embedding_type"), "rope");
    for (int32_t i = 0; i < c->n_layers; i++) {
        layers[i].is_recurrent = layers[i].is_recurrent || (!found && !found_old);
        layers[i].rope = has_rope ? layers[i].rope : MX_LAYER_ROPE_NONE;
    }
    return MX_OK;
}

static void granite_hybrid_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const granite_fields *own = (const granite_fields *)c->own;
    const mx_mamba2_settings mamba = {.path = "mamba",
                                      .norm = MX_MAMBA_NORM_LAST,
                                      .n_norm_groups = own->mamba.n_groups,
                                      .norm_eps = (float)c->norm_eps,
                                      .has_out_bias = own->mamba.has_proj_bias};
    const mx_value x = mx_stream(b);
    const mx_value h = mx_rmsnorm(b, x, "input_layernorm");
    const mx_value y = mx_add_residual(b, c, x,
                                       c->layers[i_layer].is_recurrent ? mx_mamba2(b, c, &own->mamba, &mamba, h)
                                                                       : mx_self_attention(b, c, i_layer, h));
    const mx_value z = mx_rmsnorm(b, y, "post_attention_layernorm");
    mx_value m = mx_glu_mlp(b, z, "shared_mlp", c->layers[i_layer].d_ff, false);
    if (c->layers[i_layer].is_moe) {
        const mx_moe_settings moe = mx_moe_settings_of(c);
        m = mx_add(b, mx_moe_mlp(b, z, "block_sparse_moe", &moe), m);
    }
    mx_set_stream(b, mx_add_residual(b, c, y, m));
}

static const mx_rename granite_hybrid_renames[] = {
    {"shared_mlp.down_proj", "shared_mlp.output_linear"},
    {"shared_mlp.", "mlp."},
    {"block_sparse_moe.gate", "block_sparse_moe.router.layer"},
    {"block_sparse_moe.switch_mlp.down_proj", "block_sparse_moe.output_linear"},
    {NULL, NULL},
};

static const mx_fusion granite_hybrid_fusions[] = {
    {"shared_mlp.gate_proj", "shared_mlp.input_linear", MX_PART_FIRST_HALF},
    {"shared_mlp.up_proj", "shared_mlp.input_linear", MX_PART_SECOND_HALF},
    {"block_sparse_moe.switch_mlp.gate_proj", "block_sparse_moe.input_linear", MX_PART_FIRST_HALF},
    {"block_sparse_moe.switch_mlp.up_proj", "block_sparse_moe.input_linear", MX_PART_SECOND_HALF},
    {NULL, NULL, MX_PART_Q},
};

const mx_family mx_family_granitemoehybrid = {
    .model_types = {"granitemoehybrid"},
    .title = "Granite 4",
    .limits = "CPU only",
    .source = "transformers, models/granitemoehybrid/modeling_granitemoehybrid.py",
    .defaults = &granite_hybrid_defaults,
    .renames = granite_hybrid_renames,
    .fusions = granite_hybrid_fusions,
    .fields = granite_hybrid_fields,
    .own = {sizeof(granite_fields), &granite_own, granite_own_fields},
    .read = granite_hybrid_read,
    .sparse = granite_hybrid_sparse,
    .layers = granite_hybrid_layers,
    .layer = granite_hybrid_layer,
};
