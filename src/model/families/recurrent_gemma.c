/* recurrent_gemma.c - RecurrentGemma (Griffin): gated linear recurrences, and attention in a window in each third
 * layer.
 */
#include "model/families/families.h"
#include "model/recurrent.h"

typedef struct griffin_fields {
    int64_t lru_width; /* 0: d_model */
    int32_t conv_width;
} griffin_fields;

static const griffin_fields griffin_own = {.conv_width = 4};

static const mx_field griffin_own_fields[] = {
    MX_FIELD(griffin_fields, I64, lru_width, "lru_width", 1, 1 << 20),
    MX_FIELD(griffin_fields, I32, conv_width, "conv1d_width", 2, MX_CONV_MAX_WIDTH),
    MX_FIELD_END,
};

#define GRIFFIN_ROPE                                                                           \
    {                                                                                          \
        .theta = 1e4, .partial_factor = 0.5, .beta_fast = 32, .beta_slow = 1, .truncate = true \
    }

static const mx_model_config griffin_defaults = {
    .model_type = "recurrent_gemma",
    .n_layers = 26,
    .n_heads = 10,
    .n_ctx = 1 << 20, /* the window bounds what attention sees */
    .d_model = 2560,
    .d_ff = 7680,
    .n_vocab = 256000,
    .norm_eps = 1e-6,
    .norm_weight_offset = 1,
    .act = MX_ACT_GELU_TANH,
    .has_o_bias = true,
    .has_mlp_bias = true,
    .is_tied = true,
    .scales_embedding = true,
    .window = 2048,
    .logit_softcap = 30,
    .ropes = {GRIFFIN_ROPE, GRIFFIN_ROPE},
    .eos_ids = {1},
    .n_eos_ids = 1,
};

static const mx_field griffin_shared[] = {
    MX_FIELD(mx_model_config, I32, window, "attention_window_size", 1, MX_MAX_CTX),
    MX_FIELD(mx_model_config, F64, logit_softcap, "logits_soft_cap", 0, 1000000),
    MX_FIELD_END,
};

/* "intermediate_size" counts gate and up together. */
static mx_status griffin_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    void *edit = NULL;
    (void)obj;
    MX_TRY(mx_own_edit(arena, c, sizeof(griffin_fields), &edit, err));
    griffin_fields *own = (griffin_fields *)edit;
    own->lru_width = own->lru_width ? own->lru_width : c->d_model;
    if (own->lru_width % c->n_heads != 0) {
        return mx_fail(err, MX_FORMAT, "\"lru_width\", %lld, is not a multiple of %d heads", (long long)own->lru_width,
                       c->n_heads);
    }
    c->has_o_bias = true;
    c->d_ff /= 2;
    return MX_OK;
}

/* "block_types" is a pattern that is repeated; two recurrences and an attention without it. */
static mx_status griffin_layers(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    yyjson_val *arr = NULL;
    MX_TRY(mx_json_get_arr(obj, "block_types", &arr, err));
    const size_t n = arr ? yyjson_arr_size(arr) : 3;
    if (n == 0 || n > 1024) {
        return mx_fail(err, MX_FORMAT, "\"block_types\" has %zu entries", n);
    }
    for (int32_t i = 0; i < c->n_layers; i++) {
        const size_t place = (size_t)i % n;
        yyjson_val *type = yyjson_arr_get(arr, place);
        layers[i].is_recurrent = arr ? yyjson_equals_str(type, "recurrent") : place != 2;
        if (arr && !layers[i].is_recurrent && !yyjson_equals_str(type, "attention")) {
            return mx_fail(err, MX_UNSUPPORTED, "\"block_types\" must be \"recurrent\" or \"attention\"");
        }
    }
    return MX_OK;
}

static mx_value griffin_recurrence(mx_builder *b, const mx_model_config *c, mx_value h)
{
    const griffin_fields *own = (const griffin_fields *)c->own;
    const mx_value gate = mx_linear(b, h, "temporal_block.linear_y", own->lru_width, true);
    const mx_conv_settings conv = {
        .x = mx_linear(b, h, "temporal_block.linear_x", own->lru_width, true),
        .x_columns = mx_columns_from(0, own->lru_width),
        .in_gate = MX_NO_VALUE,
        .out_gate = MX_NO_VALUE,
        .n_channels = own->lru_width,
        .width = own->conv_width,
        .path = "temporal_block.conv_1d",
        .has_bias = true,
    };
    const mx_value y = mx_rg_lru(b, mx_causal_conv(b, &conv), "temporal_block.rg_lru", c->n_heads);
    return mx_linear(b, mx_gate(b, gate, y, c->act, "temporal_block.gated"), "temporal_block.linear_out", c->d_model,
                     true);
}

static mx_value griffin_attention(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_value h)
{
    const mx_qkv t = mx_linear_qkv(b, h, "temporal_block", c->has_qkv_bias);
    return mx_linear(b, mx_layer_attention(b, c, i_layer, t), "temporal_block.o_proj", c->d_model, c->has_o_bias);
}

static void griffin_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_value x = mx_stream(b);
    const mx_value h = mx_rmsnorm(b, x, "temporal_pre_norm");
    const mx_value y = mx_add(
        b, x, c->layers[i_layer].is_recurrent ? griffin_recurrence(b, c, h) : griffin_attention(b, c, i_layer, h));
    const mx_value z = mx_rmsnorm(b, y, "channel_pre_norm");
    mx_set_stream(b, mx_add(b, y, mx_glu_mlp(b, z, "mlp_block", c->layers[i_layer].d_ff, c->has_mlp_bias)));
}

static const mx_rename griffin_renames[] = {
    {"norm", "final_norm"},
    {NULL, NULL},
};

const mx_family mx_family_recurrent_gemma = {
    .model_types = {"recurrent_gemma"},
    .title = "RecurrentGemma",
    .limits = "CPU only",
    .source = "transformers, models/recurrent_gemma/modeling_recurrent_gemma.py",
    .defaults = &griffin_defaults,
    .renames = griffin_renames,
    .fields = griffin_shared,
    .own = {sizeof(griffin_fields), &griffin_own, griffin_own_fields},
    .read = griffin_read,
    .sliding = mx_sliding_all,
    .layers = griffin_layers,
    .layer = griffin_layer,
};
