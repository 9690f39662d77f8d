/* falcon_h1.c - Falcon-H1: a Mamba 2 and attention side by side in every layer, with factors on nearly everything.
 *
 * MLX folds the factors into the weights when it converts a checkpoint, all but that on keys and that on the input of
 * values; a convolution stored [channels, width, 1] tells that it has been done.
 */
#include <float.h>

#include "model/families/families.h"
#include "model/mamba_layers.h"
#include "model/recurrent.h"

typedef struct falcon_fields {
    mx_mamba2_config mamba;
    int64_t d_ssm;
    bool has_norm;
    bool has_norm_first;
    bool has_out_bias;
    double logit_factor;
    double embedding_factor;
    double key_factor;
    double attention_in_factor;
    double attention_out_factor;
    double ssm_in_factor;
    double ssm_out_factor;
    double mlp_factors[2]; /* on the gate, and on the output */
    double ssm_factors[5]; /* mx_mamba2_settings */
} falcon_fields;

static const falcon_fields falcon_own = {
    .mamba = {.n_heads = 128,
              .d_state = 256,
              .n_groups = 1,
              .conv_width = 4,
              .has_conv_bias = true,
              .dt_max = (double)FLT_MAX},
    .d_ssm = 1024,
    .has_norm_first = true,
    .logit_factor = 1,
    .embedding_factor = 1,
    .key_factor = 1,
    .attention_in_factor = 1,
    .attention_out_factor = 1,
    .ssm_in_factor = 1,
    .ssm_out_factor = 1,
    .mlp_factors = {1, 1},
    .ssm_factors = {1, 1, 1, 1, 1},
};

#define FALCON_FACTOR(member_, key_) MX_FIELD(falcon_fields, F64, member_, key_, 0, 1000000)

static const mx_field falcon_own_fields[] = {
    MX_FIELD(falcon_fields, I32, mamba.n_heads, "mamba_n_heads", 1, 1 << 16),
    MX_FIELD(falcon_fields, I32, mamba.d_state, "mamba_d_state", 1, 4096),
    MX_FIELD(falcon_fields, I32, mamba.n_groups, "mamba_n_groups", 1, 4096),
    MX_FIELD(falcon_fields, I32, mamba.conv_width, "mamba_d_conv", 2, MX_CONV_MAX_WIDTH),
    MX_FIELD(falcon_fields, BOOL, mamba.has_conv_bias, "mamba_conv_bias", 0, 0),
    MX_FIELD(falcon_fields, BOOL, mamba.has_proj_bias, "mamba_proj_bias", 0, 0),
    MX_FIELD(falcon_fields, I64, d_ssm, "mamba_d_ssm", 1, 1 << 20),
    MX_FIELD(falcon_fields, BOOL, has_norm, "mamba_rms_norm", 0, 0),
    MX_FIELD(falcon_fields, BOOL, has_norm_first, "mamba_norm_before_gate", 0, 0),
    MX_FIELD(falcon_fields, BOOL, has_out_bias, "projectors_bias", 0, 0),
    FALCON_FACTOR(logit_factor, "lm_head_multiplier"),
    FALCON_FACTOR(embedding_factor, "embedding_multiplier"),
    FALCON_FACTOR(key_factor, "key_multiplier"),
    FALCON_FACTOR(attention_in_factor, "attention_in_multiplier"),
    FALCON_FACTOR(attention_out_factor, "attention_out_multiplier"),
    FALCON_FACTOR(ssm_in_factor, "ssm_in_multiplier"),
    FALCON_FACTOR(ssm_out_factor, "ssm_out_multiplier"),
    MX_FIELD_END,
};

static const mx_model_config falcon_h1_defaults = {
    .model_type = "falcon_h1",
    .n_layers = 32,
    .n_heads = 32,
    .n_kv_heads = 8,
    .n_ctx = 8192,
    .d_model = 4096,
    .d_ff = 14336,
    .n_vocab = 128000,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .ropes = {MX_ROPE_PLAIN(1e4)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static mx_status read_factors(yyjson_val *obj, const char *key, double *factors, size_t n, mx_error *err)
{
    yyjson_val *arr = NULL;
    MX_TRY(mx_json_get_arr(obj, key, &arr, err));
    for (size_t i = 0; arr && i < n; i++) {
        yyjson_val *val = yyjson_arr_get(arr, i);
        factors[i] = yyjson_is_num(val) ? yyjson_get_num(val) : 0;
        if (yyjson_arr_size(arr) != n || !(factors[i] > 0 && factors[i] < 1e6)) {
            return mx_fail(err, MX_FORMAT, "\"%s\" must be %zu numbers above 0", key, n);
        }
    }
    return MX_OK;
}

static mx_status falcon_h1_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    void *edit = NULL;
    MX_TRY(mx_own_edit(arena, c, sizeof(falcon_fields), &edit, err));
    falcon_fields *own = (falcon_fields *)edit;
    if (own->d_ssm % own->mamba.n_heads != 0) {
        return mx_fail(err, MX_FORMAT, "\"mamba_d_ssm\", %lld, does not divide into %d heads", (long long)own->d_ssm,
                       own->mamba.n_heads);
    }
    own->mamba.head_dim = (int32_t)(own->d_ssm / own->mamba.n_heads);
    if (own->embedding_factor == 0) {
        return mx_fail(err, MX_FORMAT, "\"embedding_multiplier\" is 0");
    }
    MX_TRY(read_factors(obj, "mlp_multipliers", own->mlp_factors, 2, err));
    MX_TRY(read_factors(obj, "ssm_multipliers", own->ssm_factors, 5, err));
    return mx_mamba2_read_limits(obj, &own->mamba, err);
}

static mx_value scaled(mx_builder *b, mx_value x, double factor)
{
    return factor == 1 ? x : mx_scale(b, x, (float)factor);
}

/* Whether the checkpoint is MLX's. */
static bool has_folded_factors(mx_builder *b)
{
    mx_weight conv = {0};
    return mx_builder_probe(b, "mamba.conv1d", &conv) && conv.n_cols == 1;
}

static mx_value falcon_attention(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_value h,
                                 const falcon_fields *own, bool is_folded)
{
    mx_qkv t = mx_linear_qkv(b, is_folded ? h : scaled(b, h, own->attention_in_factor), "self_attn", c->has_qkv_bias);
    t.k = scaled(b, t.k, own->key_factor);
    t.v = is_folded ? scaled(b, t.v, own->attention_in_factor) : t.v;
    const mx_value o =
        mx_linear(b, mx_layer_attention(b, c, i_layer, t), "self_attn.o_proj", c->d_model, c->has_o_bias);
    return is_folded ? o : scaled(b, o, own->attention_out_factor);
}

static mx_value falcon_mamba(mx_builder *b, const mx_model_config *c, mx_value h, const falcon_fields *own,
                             bool is_folded)
{
    const mx_mamba2_settings settings = {
        .path = "mamba",
        .norm = !own->has_norm        ? MX_MAMBA_NO_NORM
                : own->has_norm_first ? MX_MAMBA_NORM_FIRST
                                      : MX_MAMBA_NORM_LAST,
        .n_norm_groups = own->mamba.n_groups,
        .norm_eps = (float)c->norm_eps,
        .has_out_bias = own->has_out_bias,
        .factors = is_folded ? NULL : own->ssm_factors,
    };
    const mx_value y = mx_mamba2(b, c, &own->mamba, &settings, is_folded ? h : scaled(b, h, own->ssm_in_factor));
    return is_folded ? y : scaled(b, y, own->ssm_out_factor);
}

static mx_value falcon_mlp(mx_builder *b, const mx_model_config *c, mx_value z, const falcon_fields *own,
                           bool is_folded)
{
    mx_value gate = mx_linear(b, z, "feed_forward.gate_proj", c->d_ff, c->has_mlp_bias);
    gate = is_folded ? gate : scaled(b, gate, own->mlp_factors[0]);
    const mx_value up = mx_linear(b, z, "feed_forward.up_proj", c->d_ff, c->has_mlp_bias);
    const mx_value y = mx_linear(b, mx_gate(b, gate, up, c->act, "feed_forward.glu"), "feed_forward.down_proj",
                                 c->d_model, c->has_mlp_bias);
    return is_folded ? y : scaled(b, y, own->mlp_factors[1]);
}

static void falcon_h1_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const falcon_fields *own = (const falcon_fields *)c->own;
    const bool is_folded = has_folded_factors(b);
    mx_value x = mx_stream(b);
    if (i_layer == 0 && !is_folded) {
        x = scaled(b, x, own->embedding_factor);
    }
    const mx_value h = mx_rmsnorm(b, x, "input_layernorm");
    const mx_value m = falcon_mamba(b, c, h, own, is_folded);
    const mx_value y = mx_add(b, x, mx_add(b, m, falcon_attention(b, c, i_layer, h, own, is_folded)));
    const mx_value z = mx_rmsnorm(b, y, "pre_ff_layernorm");
    mx_set_stream(b, mx_add(b, y, falcon_mlp(b, c, z, own, is_folded)));
}

/* With folded factors, a tied embedding carries its own instead of that of the logits. */
static mx_value falcon_h1_logits(mx_builder *b, const mx_model_config *c, mx_value logits, bool is_tied)
{
    const falcon_fields *own = (const falcon_fields *)c->own;
    mx_builder_set_layer(b, 0);
    const bool is_folded = has_folded_factors(b);
    mx_builder_set_layer(b, -1);
    if (!is_folded) {
        return scaled(b, logits, own->logit_factor);
    }
    return is_tied ? scaled(b, logits, own->logit_factor / own->embedding_factor) : logits;
}

static const mx_rename falcon_h1_renames[] = {
    {"norm", "final_layernorm"},
    {NULL, NULL},
};

const mx_family mx_family_falcon_h1 = {
    .model_types = {"falcon_h1"},
    .title = "Falcon-H1",
    .limits = "CPU only",
    .source = "transformers, models/falcon_h1/modeling_falcon_h1.py",
    .defaults = &falcon_h1_defaults,
    .renames = falcon_h1_renames,
    .own = {sizeof(falcon_fields), &falcon_own, falcon_own_fields},
    .read = falcon_h1_read,
    .layers = mx_layers_all_recurrent,
    .layer = falcon_h1_layer,
    .logits = falcon_h1_logits,
};
