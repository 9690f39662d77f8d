/* jamba.c - Jamba: Mamba 1 with norms, attention without positions in a few layers, experts in every second. */
#include "model/families/families.h"
#include "model/mamba_layers.h"
#include "model/moe.h"
#include "model/recurrent.h"

typedef struct jamba_fields {
    mx_mamba1_config mamba;
    int32_t attention_period;
    int32_t attention_offset;
    int32_t expert_period;
    int32_t expert_offset;
} jamba_fields;

static const jamba_fields jamba_own = {
    .mamba = {.d_state = 16, .conv_width = 4, .expand = 2, .has_conv_bias = true},
    .attention_period = 8,
    .attention_offset = 4,
    .expert_period = 2,
    .expert_offset = 1,
};

static const mx_field jamba_own_fields[] = {
    MX_FIELD(jamba_fields, I32, mamba.d_state, "mamba_d_state", 1, 4096),
    MX_FIELD(jamba_fields, I32, mamba.conv_width, "mamba_d_conv", 2, MX_CONV_MAX_WIDTH),
    MX_FIELD(jamba_fields, I32, mamba.expand, "mamba_expand", 1, 64),
    MX_FIELD(jamba_fields, BOOL, mamba.has_conv_bias, "mamba_conv_bias", 0, 0),
    MX_FIELD(jamba_fields, BOOL, mamba.has_proj_bias, "mamba_proj_bias", 0, 0),
    MX_FIELD(jamba_fields, I32, attention_period, "attn_layer_period", 1, 1 << 20),
    MX_FIELD(jamba_fields, I32, attention_offset, "attn_layer_offset", 0, 1 << 20),
    MX_FIELD(jamba_fields, I32, expert_period, "expert_layer_period", 1, 1 << 20),
    MX_FIELD(jamba_fields, I32, expert_offset, "expert_layer_offset", 0, 1 << 20),
    MX_FIELD_END,
};

static const mx_model_config jamba_defaults = {
    .model_type = "jamba",
    .n_layers = 32,
    .n_heads = 32,
    .n_kv_heads = 8,
    .n_ctx = 262144,
    .d_model = 4096,
    .d_ff = 14336,
    .n_vocab = 65536,
    .norm_eps = 1e-6,
    .act = MX_ACT_SILU,
    .n_experts = 16,
    .top_k = 2,
    .ropes = {MX_ROPE_PLAIN(1e4)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static mx_status jamba_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    void *edit = NULL;
    MX_TRY(mx_own_edit(arena, c, sizeof(jamba_fields), &edit, err));
    jamba_fields *own = (jamba_fields *)edit;
    own->mamba.norm_eps = c->norm_eps;
    own->mamba.d_inner = c->d_model * own->mamba.expand;
    c->d_ff_expert = c->d_ff;
    return mx_mamba1_read_rank(obj, "mamba_dt_rank", c, &own->mamba, err);
}

static mx_status jamba_layers(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    const jamba_fields *own = (const jamba_fields *)c->own;
    (void)obj;
    (void)err;
    for (int32_t i = 0; i < c->n_layers; i++) {
        layers[i].is_recurrent = i % own->attention_period != own->attention_offset;
        layers[i].is_moe = c->n_experts > 1 && i % own->expert_period == own->expert_offset;
        layers[i].rope = MX_LAYER_ROPE_NONE;
    }
    return MX_OK;
}

static void jamba_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const jamba_fields *own = (const jamba_fields *)c->own;
    const mx_moe_settings moe = mx_moe_settings_of(c);
    const mx_layer_config *layer = &c->layers[i_layer];
    const mx_value x = mx_stream(b);
    const mx_value h = mx_rmsnorm(b, x, "input_layernorm");
    const mx_value y = mx_add(b, x,
                              layer->is_recurrent ? mx_mamba1(b, c, &own->mamba, "mamba", MX_MAMBA1_NORMS, h)
                                                  : mx_self_attention(b, c, i_layer, h));
    const mx_value z = mx_rmsnorm(b, y, "pre_ff_layernorm");
    mx_set_stream(b, mx_add(b, y,
                            layer->is_moe ? mx_moe_mlp(b, z, "feed_forward", &moe)
                                          : mx_glu_mlp(b, z, "feed_forward", layer->d_ff, false)));
}

static const mx_rename jamba_renames[] = {
    {"norm", "final_layernorm"},
    {"feed_forward.gate", "feed_forward.router"},
    {"feed_forward.switch_mlp.gate_proj", "feed_forward.experts.*.gate_proj"},
    {"feed_forward.switch_mlp.up_proj", "feed_forward.experts.*.up_proj"},
    {"feed_forward.switch_mlp.down_proj", "feed_forward.experts.*.down_proj"},
    {NULL, NULL},
};

const mx_family mx_family_jamba = {
    .model_types = {"jamba"},
    .title = "Jamba",
    .limits = "CPU only",
    .source = "transformers, models/jamba/modeling_jamba.py",
    .defaults = &jamba_defaults,
    .renames = jamba_renames,
    .own = {sizeof(jamba_fields), &jamba_own, jamba_own_fields},
    .read = jamba_read,
    .layers = jamba_layers,
    .layer = jamba_layer,
};
