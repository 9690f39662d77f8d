/* openelm.c - OpenELM: Llama's layer with norms on heads, and heads and MLP widths that grow from layer to layer. */
#include "model/families/families.h"

#define OPENELM_MAX_LAYERS 1024
#define OPENELM_MAX_HEADS  4096
#define OPENELM_MAX_FF     (1 << 24)

static const mx_model_config openelm_defaults = {
    .model_type = "openelm",
    .n_layers = 12,
    .n_heads = 1, /* by layer */
    .n_kv_heads = 1,
    .head_dim = 128,
    .n_ctx = 2048,
    .d_model = 2048,
    .d_ff = 1, /* by layer */
    .n_vocab = 32000,
    .norm_eps = 1e-6,
    .act = MX_ACT_SILU,
    .qk_norm = MX_QK_NORM_HEADS,
    .is_tied = true,
    .ropes = {MX_ROPE_PLAIN(1e4)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static const mx_field openelm_fields[] = {
    MX_FIELD(mx_model_config, I32, n_layers, "num_transformer_layers", 1, OPENELM_MAX_LAYERS),
    MX_FIELD(mx_model_config, I64, d_model, "model_dim", 1, 1 << 20),
    MX_FIELD(mx_model_config, I32, n_ctx, "max_context_length", 1, MX_MAX_CTX),
    MX_FIELD(mx_model_config, BOOL, is_tied, "share_input_output_layers", 0, 0),
    MX_FIELD(mx_model_config, F64, ropes[MX_LAYER_ROPE_GLOBAL].theta, "rope_freq_constant", 0, 1000000000),
    MX_FIELD_END,
};

static mx_status openelm_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    bool has_qk_norm = true;
    bool has_glu = true;
    (void)arena;
    MX_TRY(mx_json_get_bool(obj, "normalize_qk_projections", &has_qk_norm, err));
    MX_TRY(mx_json_get_bool(obj, "ffn_with_glu", &has_glu, err));
    c->qk_norm = has_qk_norm ? MX_QK_NORM_HEADS : MX_QK_NORM_NONE;
    return has_glu ? MX_OK : mx_fail(err, MX_UNSUPPORTED, "\"ffn_with_glu\": false is not supported");
}

/* The i-th number of a list with one for each layer. */
static mx_status read_item(yyjson_val *obj, const char *key, const mx_model_config *c, int32_t i, double max,
                           double *out, mx_error *err)
{
    yyjson_val *arr = NULL;
    MX_TRY(mx_json_get_arr(obj, key, &arr, err));
    if (yyjson_arr_size(arr) != (size_t)c->n_layers) {
        return mx_fail(err, MX_FORMAT, "\"%s\" has %zu entries, but there are %d layers", key, yyjson_arr_size(arr),
                       c->n_layers);
    }
    *out = yyjson_get_num(yyjson_arr_get(arr, (size_t)i)); /* 0 where it is not a number */
    if (!(*out > 0 && *out <= max)) {
        return mx_fail(err, MX_FORMAT, "entry %d of \"%s\" must be above 0 and at most %.0f", i, key, max);
    }
    return MX_OK;
}

/* The multiple of the divisor that is nearest to v, but no less than nine tenths of it. */
static int64_t round_width(double v, int64_t divisor)
{
    const int64_t nearest = (int64_t)(v + (double)divisor / 2) / divisor * divisor;
    const int64_t width = MX_MAX(nearest, divisor);
    return (double)width < 0.9 * v ? width + divisor : width;
}

static mx_status openelm_layers(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    int64_t divisor = 256;
    MX_TRY(mx_json_get_i64(obj, "ffn_dim_divisor", 1, OPENELM_MAX_FF, &divisor, err));
    for (int32_t i = 0; i < c->n_layers; i++) {
        double n_heads = 0;
        double n_kv_heads = 0;
        double multiplier = 0;
        MX_TRY(read_item(obj, "num_query_heads", c, i, OPENELM_MAX_HEADS, &n_heads, err));
        MX_TRY(read_item(obj, "num_kv_heads", c, i, OPENELM_MAX_HEADS, &n_kv_heads, err));
        MX_TRY(read_item(obj, "ffn_multipliers", c, i, 64, &multiplier, err));
        layers[i].n_heads = MX_MAX((int32_t)n_heads, 1);
        layers[i].n_kv_heads = MX_MAX((int32_t)n_kv_heads, 1);
        layers[i].d_ff = round_width(multiplier * (double)c->d_model, divisor);
    }
    return MX_OK;
}

static const mx_rename openelm_renames[] = {
    {"embed_tokens", "token_embeddings"},  {"input_layernorm", "attn_norm"},
    {"self_attn.q_norm", "attn.q_norm"},   {"self_attn.k_norm", "attn.k_norm"},
    {"self_attn.o_proj", "attn.out_proj"}, {"post_attention_layernorm", "ffn_norm"},
    {"mlp.down_proj", "ffn.proj_2"},       {NULL, NULL},
};

static const mx_fusion openelm_fusions[] = {
    {"self_attn.q_proj", "attn.qkv_proj", MX_PART_Q},   {"self_attn.k_proj", "attn.qkv_proj", MX_PART_K},
    {"self_attn.v_proj", "attn.qkv_proj", MX_PART_V},   {"mlp.gate_proj", "ffn.proj_1", MX_PART_FIRST_HALF},
    {"mlp.up_proj", "ffn.proj_1", MX_PART_SECOND_HALF}, {NULL, NULL, MX_PART_Q},
};

static const mx_stem openelm_stems[] = {
    {"transformer.", "layers.", "", false},
    {NULL, NULL, NULL, false},
};

const mx_family mx_family_openelm = {
    .model_types = {"openelm"},
    .title = "OpenELM",
    .source = "apple/OpenELM, modeling_openelm.py",
    .defaults = &openelm_defaults,
    .renames = openelm_renames,
    .fusions = openelm_fusions,
    .stems = openelm_stems,
    .fields = openelm_fields,
    .read = openelm_read,
    .layers = openelm_layers,
    .layer = mx_prenorm_layer,
};
