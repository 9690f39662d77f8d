/* kimi_linear.c - Kimi Linear: the delta rule with a gate for every channel, and latent attention without positions in
 * each fourth layer. */
#include <math.h>

#include "model/families/families.h"
#include "model/mla.h"
#include "model/moe.h"
#include "model/recurrent.h"

typedef struct kimi_fields {
    mx_moe_config moe; /* first: moe.h */
    int32_t head_dim;  /* of the delta rule, as are the next two */
    int32_t n_heads;
    int32_t conv_width;
} kimi_fields;

static const kimi_fields kimi_own = {
    .moe = {.n_shared = 1, .n_groups = 1, .top_groups = 1, .scale = 2.446, .n_dense_first = 1},
    .head_dim = 128,
    .n_heads = 32,
    .conv_width = 4,
};

static const mx_field kimi_own_fields[] = {
    MX_MOE_FIELDS(kimi_fields, moe),
    MX_FIELD(kimi_fields, I32, moe.n_groups, "num_expert_group", 1, 4096),
    MX_FIELD_END,
};

/* Inside of "linear_attn_config". */
static const mx_field kimi_inner_fields[] = {
    MX_FIELD(kimi_fields, I32, head_dim, "head_dim", 1, 4096),
    MX_FIELD(kimi_fields, I32, n_heads, "num_heads", 1, 4096),
    MX_FIELD(kimi_fields, I32, conv_width, "short_conv_kernel_size", 2, MX_CONV_MAX_WIDTH),
    MX_FIELD_END,
};

static const mx_model_config kimi_defaults = {
    .model_type = "kimi_linear",
    .n_layers = 27,
    .n_heads = 32,
    .n_kv_heads = 32,
    .n_ctx = 1048576,
    .d_model = 2304,
    .d_ff = 9216,
    .n_vocab = 163840,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .n_experts = 256,
    .d_ff_expert = 1024,
    .top_k = 8,
    .normalize_top_k = true,
    .mla = {.kv_rank = 512, .rope_dim = 64, .nope_dim = 128, .v_dim = 128},
    .ropes = {MX_ROPE_PLAIN(1e4)},
    .eos_ids = {163586},
    .n_eos_ids = 1,
};

static const mx_field kimi_fields_shared[] = {
    MX_MLA_FIELDS,
    MX_FIELD(mx_model_config, I32, n_ctx, "model_max_length", 1, MX_MAX_CTX),
    MX_FIELD(mx_model_config, I32, top_k, "num_experts_per_token", 1, 4096),
    MX_FIELD(mx_model_config, BOOL, normalize_top_k, "moe_renormalize", 0, 0),
    MX_FIELD_END,
};

static mx_status kimi_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    void *edit = NULL;
    yyjson_val *inner = NULL;
    mx_str score = MX_STR("sigmoid");
    MX_TRY(mx_own_edit(arena, c, sizeof(kimi_fields), &edit, err));
    MX_TRY(mx_json_get_obj(obj, "linear_attn_config", &inner, err));
    MX_TRY(mx_json_get_str(obj, "moe_router_activation_func", &score, err));
    if (!mx_str_eq_cstr(score, "sigmoid")) {
        return mx_fail(err, MX_UNSUPPORTED, "\"moe_router_activation_func\" is \"%.*s\": only sigmoid is supported",
                       MX_STR_ARG(score));
    }
    if (inner) {
        MX_TRY(mx_fields_read(inner, kimi_inner_fields, edit, err));
    }
    return mx_mla_read(obj, c, err);
}

/* "full_attn_layers" of "linear_attn_config", counted from 1; without it, every fourth from the fifth on attends. */
static mx_status kimi_layers(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    yyjson_val *inner = NULL;
    yyjson_val *arr = NULL;
    bool found = false;
    MX_TRY(mx_layers_by_types(obj, "layer_types", "linear_attention", "full_attention", c, layers, &found, err));
    MX_TRY(mx_json_get_obj(obj, "linear_attn_config", &inner, err));
    if (inner) {
        MX_TRY(mx_json_get_arr(inner, "full_attn_layers", &arr, err));
    }
    for (int32_t i = 0; i < c->n_layers; i++) {
        layers[i].is_recurrent = arr ? true : found ? layers[i].is_recurrent : i == 0 || i % 4 != 0;
        layers[i].rope = MX_LAYER_ROPE_NONE;
    }
    yyjson_arr_iter it = yyjson_arr_iter_with(arr);
    for (yyjson_val *val = yyjson_arr_iter_next(&it); val; val = yyjson_arr_iter_next(&it)) {
        const int64_t i = yyjson_is_int(val) ? yyjson_get_sint(val) : 0;
        if (i < 1 || i > c->n_layers) {
            return mx_fail(err, MX_FORMAT, "\"full_attn_layers\" must list layers from 1 to %d", c->n_layers);
        }
        layers[i - 1].is_recurrent = false;
    }
    return MX_OK;
}

/* One of q, k and v, through its convolution. */
static mx_value project(mx_builder *b, const kimi_fields *own, mx_value h, const char *path, const char *conv_path)
{
    const int64_t n = (int64_t)own->n_heads * own->head_dim;
    const mx_conv_settings conv = {
        .x = mx_linear(b, h, path, n, false),
        .x_columns = mx_columns_from(0, n),
        .in_gate = MX_NO_VALUE,
        .out_gate = MX_NO_VALUE,
        .n_channels = n,
        .width = own->conv_width,
        .path = conv_path,
        .has_silu = true,
    };
    return mx_causal_conv(b, &conv);
}

static mx_value kimi_delta(mx_builder *b, const mx_model_config *c, mx_value h)
{
    const kimi_fields *own = (const kimi_fields *)c->own;
    const int64_t n = (int64_t)own->n_heads * own->head_dim;
    const mx_delta_inputs in = {
        .q = project(b, own, h, "self_attn.q_proj", "self_attn.q_conv.conv"),
        .k = project(b, own, h, "self_attn.k_proj", "self_attn.k_conv.conv"),
        .v = project(b, own, h, "self_attn.v_proj", "self_attn.v_conv.conv"),
        .gate =
            mx_linear(b, mx_linear(b, h, "self_attn.f_a_proj", own->head_dim, false), "self_attn.f_b_proj", n, false),
        .beta = mx_linear(b, h, "self_attn.b_proj", own->n_heads, false),
    };
    const mx_delta_params params = {
        .n_k_heads = own->n_heads,
        .n_v_heads = own->n_heads,
        .k_dim = own->head_dim,
        .v_dim = own->head_dim,
        .q = mx_columns_from(0, n),
        .k = mx_columns_from(0, n),
        .v = mx_columns_from(0, n),
        .gate = mx_columns_from(0, n),
        .beta = mx_columns_from(0, own->n_heads),
        .has_channel_gate = true,
        .a_log = mx_builder_numbers(b, "self_attn.A_log", "", 1, own->n_heads),
        .dt_bias = mx_builder_numbers(b, "self_attn.dt_bias", "", 1, n),
        .q_scale = (float)(1 / sqrt((double)own->head_dim)),
    };
    const mx_value y = mx_delta_rule(b, &in, params, "self_attn.delta");
    const mx_value g =
        mx_linear(b, mx_linear(b, h, "self_attn.g_a_proj", own->head_dim, false), "self_attn.g_b_proj", n, false);
    const mx_value o = mx_rmsnorm_groups(b, y, "self_attn.o_norm", own->head_dim, (float)c->norm_eps, false);
    return mx_linear(b, mx_gate(b, g, o, MX_ACT_SIGMOID, "self_attn.gated"), "self_attn.o_proj", c->d_model, false);
}

static mx_value kimi_attention(mx_builder *b, const mx_model_config *c, mx_value h)
{
    const mx_mla_settings settings = {
        .q_rank = c->mla.q_rank,
        .kv_rank = c->mla.kv_rank,
        .nope_dim = c->mla.nope_dim,
        .rope_dim = c->mla.rope_dim,
        .v_dim = c->mla.v_dim,
        .rope = MX_NO_ROPE,
        .scale = (float)(1 / sqrt((double)(c->mla.nope_dim + c->mla.rope_dim))),
        .norm_eps = 1e-6f, /* of the norms inside, whatever the configuration says of the others */
        .has_bias = c->has_qkv_bias,
    };
    return mx_linear(b, mx_mla(b, h, "self_attn", &settings), "self_attn.o_proj", c->d_model, c->has_o_bias);
}

static void kimi_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    mx_moe_settings moe = mx_moe_settings_of_v3(c);
    moe.choice_bias = "mlp.e_score_correction_bias";
    const mx_value x = mx_stream(b);
    const mx_value h = mx_rmsnorm(b, x, "input_layernorm");
    const mx_value y = mx_add(b, x, c->layers[i_layer].is_recurrent ? kimi_delta(b, c, h) : kimi_attention(b, c, h));
    const mx_value z = mx_rmsnorm(b, y, "post_attention_layernorm");
    mx_set_stream(b, mx_add(b, y, mx_moe_layer_mlp(b, c, i_layer, z, &moe)));
}

static const mx_rename kimi_renames[] = {
    {"q_conv.conv", "q_conv1d"},
    {"k_conv.conv", "k_conv1d"},
    {"v_conv.conv", "v_conv1d"},
    {"mlp.e_score_correction_bias", "block_sparse_moe.gate.e_score_correction_bias"},
    {"mlp.switch_mlp.gate_proj", "block_sparse_moe.experts.*.w1"},
    {"mlp.switch_mlp.up_proj", "block_sparse_moe.experts.*.w3"},
    {"mlp.switch_mlp.down_proj", "block_sparse_moe.experts.*.w2"},
    {"mlp.", "block_sparse_moe."},
    {NULL, NULL},
};

static const mx_fusion kimi_fusions[] = {
    MX_MLA_FUSIONS,
    {NULL, NULL, MX_PART_Q},
};

const mx_family mx_family_kimi_linear = {
    .model_types = {"kimi_linear"},
    .title = "Kimi Linear",
    .limits = "CPU only",
    .source = "transformers, models/kimi_linear/modeling_kimi_linear.py",
    .defaults = &kimi_defaults,
    .renames = kimi_renames,
    .fusions = kimi_fusions,
    .fields = kimi_fields_shared,
    .own = {sizeof(kimi_fields), &kimi_own, kimi_own_fields},
    .read = kimi_read,
    .sparse = mx_sparse_after_dense,
    .layers = kimi_layers,
    .layer = kimi_layer,
};
