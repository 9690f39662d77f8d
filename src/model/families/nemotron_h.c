/* nemotron_h.c - Nemotron-H and Nemotron 3: each layer is one block, a Mamba 2, attention without positions, an MLP or
 * experts. */
#include <float.h>

#include "model/families/families.h"
#include "model/mamba_layers.h"
#include "model/moe.h"
#include "model/recurrent.h"

typedef struct nemotron_fields {
    mx_moe_config moe; /* first: moe.h */
    mx_mamba2_config mamba;
    int64_t d_ff_shared;
    int64_t d_latent; /* experts on fewer columns than the stream has: not supported */
    bool has_proj_bias;
    const char *kinds; /* [n_layers] of "M*-E", in the arena */
} nemotron_fields;

static const nemotron_fields nemotron_own = {
    .moe = {.n_shared = 1, .n_groups = 1, .top_groups = 1},
    .mamba = {.n_heads = 128,
              .head_dim = 64,
              .d_state = 128,
              .n_groups = 8,
              .conv_width = 4,
              .has_conv_bias = true,
              .dt_max = (double)FLT_MAX},
    .d_ff_shared = 7688,
};

static const mx_field nemotron_own_fields[] = {
    MX_MOE_FIELDS(nemotron_fields, moe),
    MX_FIELD(nemotron_fields, I32, mamba.n_heads, "mamba_num_heads", 1, 1 << 16),
    MX_FIELD(nemotron_fields, I32, mamba.head_dim, "mamba_head_dim", 1, 4096),
    MX_FIELD(nemotron_fields, I32, mamba.d_state, "ssm_state_size", 1, 4096),
    MX_FIELD(nemotron_fields, I32, mamba.n_groups, "n_groups", 1, 4096),
    MX_FIELD(nemotron_fields, I32, mamba.conv_width, "conv_kernel", 2, MX_CONV_MAX_WIDTH),
    MX_FIELD(nemotron_fields, BOOL, mamba.has_conv_bias, "use_conv_bias", 0, 0),
    MX_FIELD(nemotron_fields, BOOL, mamba.has_proj_bias, "use_bias", 0, 0),
    MX_FIELD(nemotron_fields, BOOL, has_proj_bias, "mamba_proj_bias", 0, 0),
    MX_FIELD(nemotron_fields, I64, d_ff_shared, "moe_shared_expert_intermediate_size", 1, 1 << 24),
    MX_FIELD(nemotron_fields, I64, d_latent, "moe_latent_size", 1, 1 << 20),
    MX_FIELD_END,
};

static const mx_model_config nemotron_h_defaults = {
    .model_type = "nemotron_h",
    .n_layers = 4,
    .n_heads = 32,
    .n_kv_heads = 8,
    .head_dim = 128,
    .n_ctx = 4096,
    .d_model = 4096,
    .d_ff = 21504,
    .n_vocab = 131072,
    .norm_eps = 1e-5,
    .act = MX_ACT_RELU2,
    .n_experts = 8,
    .d_ff_expert = 7688,
    .top_k = 2,
    .normalize_top_k = true,
    .ropes = {MX_ROPE_PLAIN(1e4)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static const mx_field nemotron_h_fields[] = {
    MX_FIELD(mx_model_config, F64_ABOVE, norm_eps, "layer_norm_epsilon", 0, 1),
    MX_FIELD(mx_model_config, I64, n_experts, "n_routed_experts", 1, 4096),
    MX_FIELD_END,
};

/* The letter of a kind of layer; 0 for none. */
static char kind_of(yyjson_val *type)
{
    static const struct {
        const char *name;
        char kind;
    } names[] = {
        {"mamba", 'M'}, {"linear_attention", 'M'}, {"attention", '*'}, {"full_attention", '*'}, {"mlp", '-'},
        {"moe", 'E'},
    };
    for (size_t i = 0; i < MX_COUNTOF(names); i++) {
        if (yyjson_equals_str(type, names[i].name)) {
            return names[i].kind;
        }
    }
    return 0;
}

/* "hybrid_override_pattern", a letter a layer, or the list "layers_block_type", also called "layer_types": it says how
 * many layers there are. */
static mx_status read_kinds(yyjson_val *obj, mx_arena *arena, mx_model_config *c, nemotron_fields *own, mx_error *err)
{
    mx_str pattern = {NULL, 0};
    yyjson_val *arr = NULL;
    MX_TRY(mx_json_get_str(obj, "hybrid_override_pattern", &pattern, err));
    MX_TRY(mx_json_get_arr(obj, "layer_types", &arr, err));
    MX_TRY(mx_json_get_arr(obj, "layers_block_type", &arr, err));
    const size_t n = arr ? yyjson_arr_size(arr) : pattern.len;
    if (n < 1 || n > 1024) {
        return mx_fail(err, MX_FORMAT, "\"layers_block_type\" and \"hybrid_override_pattern\" name %zu layers", n);
    }
    char *kinds = mx_arena_array(arena, char, n + 1);
    if (!kinds) {
        return mx_fail(err, MX_NO_MEMORY, "out of memory: the kinds of layers");
    }
    for (size_t i = 0; i < n; i++) {
        kinds[i] = arr ? kind_of(yyjson_arr_get(arr, i)) : pattern.ptr[i];
        if (kinds[i] == 0 || !strchr("M*-E", kinds[i])) {
            return mx_fail(err, MX_UNSUPPORTED, "layer %zu is of an unknown kind", i);
        }
    }
    own->kinds = kinds;
    c->n_layers = (int32_t)n;
    return MX_OK;
}

static mx_status nemotron_h_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    void *edit = NULL;
    mx_str act = MX_STR("relu2");
    MX_TRY(mx_own_edit(arena, c, sizeof(nemotron_fields), &edit, err));
    nemotron_fields *own = (nemotron_fields *)edit;
    MX_TRY(mx_json_get_str(obj, "mlp_hidden_act", &act, err));
    if (!mx_str_eq_cstr(act, "relu2")) {
        return mx_fail(err, MX_UNSUPPORTED, "\"mlp_hidden_act\" is \"%.*s\": only relu2 is supported", MX_STR_ARG(act));
    }
    if (own->d_latent > 0) {
        return mx_fail(err, MX_UNSUPPORTED, "\"moe_latent_size\": experts on a part of the columns are not supported");
    }
    c->act = MX_ACT_RELU2; /* whatever "hidden_act" says */
    own->mamba.has_proj_bias = own->mamba.has_proj_bias || own->has_proj_bias;
    MX_TRY(read_kinds(obj, arena, c, own, err));
    return mx_mamba2_read_limits(obj, &own->mamba, err);
}

static mx_status nemotron_h_layers(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    const nemotron_fields *own = (const nemotron_fields *)c->own;
    (void)obj;
    (void)err;
    for (int32_t i = 0; i < c->n_layers; i++) {
        layers[i].is_recurrent = own->kinds[i] == 'M';
        layers[i].is_moe = own->kinds[i] == 'E';
        layers[i].rope = MX_LAYER_ROPE_NONE;
    }
    return MX_OK;
}

static mx_value nemotron_h_moe(mx_builder *b, const mx_model_config *c, mx_value h)
{
    const nemotron_fields *own = (const nemotron_fields *)c->own;
    mx_moe_settings moe = mx_moe_settings_of_v3(c);
    moe.choice_bias = "mixer.gate.e_score_correction_bias";
    moe.is_plain = true;
    moe.d_ff_shared = 0; /* plain too, below */
    const mx_value y = mx_moe_mlp(b, h, "mixer", &moe);
    return own->moe.n_shared == 0
               ? y
               : mx_add(b, y, mx_plain_mlp(b, h, "mixer.shared_experts", own->d_ff_shared, c->has_mlp_bias));
}

static mx_value nemotron_h_attention(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_value h)
{
    const mx_qkv t = mx_linear_qkv(b, h, "mixer", false);
    return mx_linear(b, mx_layer_attention(b, c, i_layer, t), "mixer.o_proj", c->d_model, false);
}

static void nemotron_h_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const nemotron_fields *own = (const nemotron_fields *)c->own;
    const mx_mamba2_settings mamba = {.path = "mixer",
                                      .norm = MX_MAMBA_NORM_LAST,
                                      .n_norm_groups = own->mamba.n_groups,
                                      .norm_eps = (float)c->norm_eps,
                                      .has_out_bias = own->mamba.has_proj_bias};
    const mx_value x = mx_stream(b);
    const mx_value h = mx_rmsnorm(b, x, "norm");
    mx_value y = MX_NO_VALUE;
    switch (own->kinds[i_layer]) {
    case 'M': y = mx_mamba2(b, c, &own->mamba, &mamba, h); break;
    case '*': y = nemotron_h_attention(b, c, i_layer, h); break;
    case 'E': y = nemotron_h_moe(b, c, h); break;
    case '-': y = mx_plain_mlp(b, h, "mixer", c->layers[i_layer].d_ff, c->has_mlp_bias); break;
    }
    mx_set_stream(b, mx_add(b, x, y));
}

static const mx_rename nemotron_h_renames[] = {
    {"embed_tokens", "embeddings"},
    {"norm", "norm_f"},
    {"mixer.switch_mlp.fc1", "mixer.experts.*.up_proj"},
    {"mixer.switch_mlp.fc2", "mixer.experts.*.down_proj"},
    {"mixer.switch_mlp.fc1", "mixer.experts.up_proj"},
    {"mixer.switch_mlp.fc2", "mixer.experts.down_proj"},
    {NULL, NULL},
};

static const mx_stem nemotron_h_stems[] = {
    {"backbone.", "layers.", "", false},
    {"model.", "layers.", "", false},
    {NULL, NULL, NULL, false},
};

const mx_family mx_family_nemotron_h = {
    .model_types = {"nemotron_h"},
    .title = "Nemotron-H",
    .limits = "CPU only; experts on a latent part of the columns are not supported",
    .source = "transformers, models/nemotron_h/modeling_nemotron_h.py",
    .defaults = &nemotron_h_defaults,
    .renames = nemotron_h_renames,
    .stems = nemotron_h_stems,
    .fields = nemotron_h_fields,
    .own = {sizeof(nemotron_fields), &nemotron_own, nemotron_own_fields},
    .read = nemotron_h_read,
    .layers = nemotron_h_layers,
    .layer = nemotron_h_layer,
};
