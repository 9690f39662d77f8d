/* qwen3_next.c - Qwen3-Next and Qwen 3.5: three layers of the gated delta rule to each that attends; heads of attention
 * have gates.
 *
 * Norms have weights stored as w - 1 in the original checkpoints, and as w in those of MLX. What tells them apart is
 * the convolution, which MLX stores [channels, width, 1] and the original [channels, 1, width]: mlx-lm's own test. The
 * norm inside of the delta rule's layers always has plain weights.
 */
#include <math.h>

#include "model/families/families.h"
#include "model/moe.h"
#include "model/recurrent.h"

typedef struct qwen_fields {
    int32_t n_k_heads;
    int32_t n_v_heads;
    int32_t k_dim;
    int32_t v_dim;
    int32_t conv_width;
    int64_t d_ff_shared; /* of the expert that every token has */
    bool is_split;       /* projections of the delta rule are apart (Qwen 3.5), not in groups by key head */
} qwen_fields;

static const qwen_fields next_own = {
    .n_k_heads = 16, .n_v_heads = 32, .k_dim = 128, .v_dim = 128, .conv_width = 4, .d_ff_shared = 512};
static const qwen_fields qwen35_own = {.n_k_heads = 16,
                                       .n_v_heads = 32,
                                       .k_dim = 128,
                                       .v_dim = 128,
                                       .conv_width = 4,
                                       .d_ff_shared = 512,
                                       .is_split = true};

static const mx_field own_fields[] = {
    MX_FIELD(qwen_fields, I32, n_k_heads, "linear_num_key_heads", 1, 4096),
    MX_FIELD(qwen_fields, I32, n_v_heads, "linear_num_value_heads", 1, 4096),
    MX_FIELD(qwen_fields, I32, k_dim, "linear_key_head_dim", 1, 4096),
    MX_FIELD(qwen_fields, I32, v_dim, "linear_value_head_dim", 1, 4096),
    MX_FIELD(qwen_fields, I32, conv_width, "linear_conv_kernel_dim", 2, MX_CONV_MAX_WIDTH),
    MX_FIELD(qwen_fields, I64, d_ff_shared, "shared_expert_intermediate_size", 1, 1 << 24),
    MX_FIELD_END,
};

#define QWEN_ROPE                                                                               \
    {                                                                                           \
        .theta = 1e4, .partial_factor = 0.25, .beta_fast = 32, .beta_slow = 1, .truncate = true \
    }

static const mx_model_config next_defaults = {
    .model_type = "qwen3_next",
    .n_layers = 48,
    .n_heads = 16,
    .n_kv_heads = 2,
    .head_dim = 256,
    .n_ctx = 32768,
    .d_model = 2048,
    .d_ff = 5632,
    .n_vocab = 151936,
    .norm_eps = 1e-6,
    .norm_weight_offset = 1,
    .act = MX_ACT_SILU,
    .n_experts = 512,
    .d_ff_expert = 512,
    .top_k = 10,
    .normalize_top_k = true,
    .ropes = {QWEN_ROPE, QWEN_ROPE},
};

static const mx_model_config qwen35_defaults = {
    .model_type = "qwen3_5",
    .n_layers = 32,
    .n_heads = 16,
    .n_kv_heads = 4,
    .head_dim = 256,
    .n_ctx = 32768,
    .d_model = 4096,
    .d_ff = 12288,
    .n_vocab = 248320,
    .norm_eps = 1e-6,
    .norm_weight_offset = 1,
    .act = MX_ACT_SILU,
    .ropes = {QWEN_ROPE, QWEN_ROPE},
};

static const mx_model_config qwen35_moe_defaults = {
    .model_type = "qwen3_5_moe",
    .n_layers = 40,
    .n_heads = 16,
    .n_kv_heads = 2,
    .head_dim = 256,
    .n_ctx = 32768,
    .d_model = 2048,
    .d_ff = 512, /* which no layer has */
    .n_vocab = 248320,
    .norm_eps = 1e-6,
    .norm_weight_offset = 1,
    .act = MX_ACT_SILU,
    .n_experts = 256,
    .d_ff_expert = 512,
    .top_k = 8,
    .normalize_top_k = true,
    .ropes = {QWEN_ROPE, QWEN_ROPE},
};

static mx_status qwen_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    const qwen_fields *own = (const qwen_fields *)c->own;
    bool has_gate = true;
    (void)arena;
    MX_TRY(mx_json_get_bool(obj, "attn_output_gate", &has_gate, err));
    if (!has_gate) {
        return mx_fail(err, MX_UNSUPPORTED, "\"attn_output_gate\" is false: attention without gates is not supported");
    }
    if (own->n_v_heads % own->n_k_heads != 0) {
        return mx_fail(err, MX_FORMAT,
                       "\"linear_num_value_heads\" is %d, which is not a multiple of \"linear_num_key_heads\", %d",
                       own->n_v_heads, own->n_k_heads);
    }
    return MX_OK;
}

/* "layer_types", or every layer but each "full_attention_interval"-th. */
static mx_status qwen_layers(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    bool found = false;
    int64_t interval = 4; /* the official classes' default */
    MX_TRY(mx_json_get_i64(obj, "full_attention_interval", 1, INT32_MAX, &interval, err));
    MX_TRY(mx_layers_by_types(obj, "layer_types", "linear_attention", "full_attention", c, layers, &found, err));
    for (int32_t i = 0; i < c->n_layers && !found; i++) {
        layers[i].is_recurrent = (i + 1) % interval != 0;
    }
    return MX_OK;
}

/* Looks at the convolution of the first layer that has one. */
static void find_norm_offset(mx_builder *b, const mx_model_config *c)
{
    for (int32_t i = 0; i < c->n_layers; i++) {
        mx_weight conv = {0};
        if (!c->layers[i].is_recurrent) {
            continue;
        }
        mx_builder_set_layer(b, i);
        if (mx_builder_probe(b, "linear_attn.conv1d", &conv) && conv.n_cols == 1) {
            mx_builder_set_norm_offset(b, 0.0f);
        }
        break;
    }
    mx_builder_set_layer(b, 0);
}

/* Where the parts of a delta rule's input are: columns of one product by group of a key head, or of several products.
 */
typedef struct delta_parts {
    mx_value qkv, z, gates, betas;
    mx_columns q, k, v, gate, beta;
} delta_parts;

static delta_parts project_in_groups(mx_builder *b, const qwen_fields *own, mx_value h)
{
    const int64_t per_k = own->n_v_heads / own->n_k_heads; /* value heads of a key head */
    const int64_t n_v = per_k * own->v_dim;
    const int64_t group = 2 * own->k_dim + 2 * n_v;
    const mx_value all = mx_linear(b, h, "linear_attn.in_proj_qkvz", own->n_k_heads * group, false);
    const mx_value ba = mx_linear(b, h, "linear_attn.in_proj_ba", 2 * (int64_t)own->n_v_heads, false);
    const mx_columns z = {2 * own->k_dim + n_v, n_v, group};
    return (delta_parts){
        .qkv = all,
        .q = {0, own->k_dim, group},
        .k = {own->k_dim, own->k_dim, group},
        .v = {2 * own->k_dim, n_v, group},
        .z = mx_slice(b, all, z, own->n_k_heads * n_v, "linear_attn.z"),
        .gates = ba,
        .gate = {per_k, per_k, 2 * per_k},
        .betas = ba,
        .beta = {0, per_k, 2 * per_k},
    };
}

static delta_parts project_apart(mx_builder *b, const qwen_fields *own, mx_value h)
{
    const int64_t n_k = (int64_t)own->n_k_heads * own->k_dim;
    const int64_t n_v = (int64_t)own->n_v_heads * own->v_dim;
    return (delta_parts){
        .qkv = mx_linear(b, h, "linear_attn.in_proj_qkv", 2 * n_k + n_v, false),
        .q = mx_columns_from(0, n_k),
        .k = mx_columns_from(n_k, n_k),
        .v = mx_columns_from(2 * n_k, n_v),
        .z = mx_linear(b, h, "linear_attn.in_proj_z", n_v, false),
        .gates = mx_linear(b, h, "linear_attn.in_proj_a", own->n_v_heads, false),
        .gate = mx_columns_from(0, own->n_v_heads),
        .betas = mx_linear(b, h, "linear_attn.in_proj_b", own->n_v_heads, false),
        .beta = mx_columns_from(0, own->n_v_heads),
    };
}

/* Channels [first, first + n) of the layer's convolution. */
static mx_value convolve(mx_builder *b, const qwen_fields *own, mx_value x, mx_columns columns, int64_t first,
                         int64_t n)
{
    const mx_conv_settings conv = {
        .x = x,
        .x_columns = columns,
        .in_gate = MX_NO_VALUE,
        .out_gate = MX_NO_VALUE,
        .n_channels = n,
        .width = own->conv_width,
        .path = "linear_attn.conv1d",
        .n_all_channels = 2 * (int64_t)own->n_k_heads * own->k_dim + (int64_t)own->n_v_heads * own->v_dim,
        .first_channel = (int32_t)first,
        .has_silu = true,
    };
    return mx_causal_conv(b, &conv);
}

static mx_value qwen_delta_rule(mx_builder *b, const mx_model_config *c, mx_value h)
{
    const qwen_fields *own = (const qwen_fields *)c->own;
    const int64_t n_k = (int64_t)own->n_k_heads * own->k_dim;
    const int64_t n_v = (int64_t)own->n_v_heads * own->v_dim;
    const delta_parts parts = own->is_split ? project_apart(b, own, h) : project_in_groups(b, own, h);
    const mx_delta_inputs in = {
        .q = convolve(b, own, parts.qkv, parts.q, 0, n_k),
        .k = convolve(b, own, parts.qkv, parts.k, n_k, n_k),
        .v = convolve(b, own, parts.qkv, parts.v, 2 * n_k, n_v),
        .gate = parts.gates,
        .beta = parts.betas,
    };
    const mx_delta_params params = {
        .n_k_heads = own->n_k_heads,
        .n_v_heads = own->n_v_heads,
        .k_dim = own->k_dim,
        .v_dim = own->v_dim,
        .q = mx_columns_from(0, n_k),
        .k = mx_columns_from(0, n_k),
        .v = mx_columns_from(0, n_v),
        .gate = parts.gate,
        .beta = parts.beta,
        .a_log = mx_builder_numbers(b, "linear_attn.A_log", "", 1, own->n_v_heads),
        .dt_bias = mx_builder_numbers(b, "linear_attn.dt_bias", "", 1, own->n_v_heads),
        .q_scale = (float)(1 / sqrt((double)own->k_dim)),
    };
    const mx_value y = mx_delta_rule(b, &in, params, "linear_attn.delta");
    const mx_value n = mx_rmsnorm_groups(b, y, "linear_attn.norm", own->v_dim, (float)c->norm_eps, false);
    const mx_value g = mx_gate(b, parts.z, n, MX_ACT_SILU, "linear_attn.gated");
    return mx_linear(b, g, "linear_attn.out_proj", c->d_model, false);
}

static mx_value qwen_attention(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_value h)
{
    const int64_t n_q = (int64_t)c->n_heads * c->head_dim;
    const int64_t n_kv = (int64_t)c->n_kv_heads * c->head_dim;
    mx_qkv t = {
        .q = mx_linear(b, h, "self_attn.query", n_q, c->has_qkv_bias),
        .k = mx_linear(b, h, "self_attn.k_proj", n_kv, c->has_qkv_bias),
        .v = mx_linear(b, h, "self_attn.v_proj", n_kv, c->has_qkv_bias),
    };
    const mx_value gate = mx_linear(b, h, "self_attn.gate", n_q, c->has_qkv_bias);
    t.q = mx_rmsnorm_heads(b, t.q, "self_attn.q_norm");
    t.k = mx_rmsnorm_heads(b, t.k, "self_attn.k_norm");
    const mx_value a = mx_layer_attention(b, c, i_layer, t);
    const mx_value y = mx_gate(b, gate, a, MX_ACT_SIGMOID, "self_attn.gated");
    return mx_linear(b, y, "self_attn.o_proj", c->d_model, c->has_o_bias);
}

static mx_value qwen_mlp(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_value z)
{
    const qwen_fields *own = (const qwen_fields *)c->own;
    const mx_moe_settings moe = mx_moe_settings_of(c);
    if (!c->layers[i_layer].is_moe) {
        return mx_glu_mlp(b, z, "mlp", c->layers[i_layer].d_ff, false);
    }
    const mx_value y = mx_moe_mlp(b, z, "mlp", &moe);
    return mx_add(b, y, mx_gated_mlp(b, z, "mlp.shared_expert", "mlp.shared_expert_gate", own->d_ff_shared));
}

static void qwen_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    if (i_layer == 0) {
        find_norm_offset(b, c);
    }
    const mx_value x = mx_stream(b);
    const mx_value h = mx_rmsnorm(b, x, "input_layernorm");
    const mx_value y =
        mx_add(b, x, c->layers[i_layer].is_recurrent ? qwen_delta_rule(b, c, h) : qwen_attention(b, c, i_layer, h));
    const mx_value z = mx_rmsnorm(b, y, "post_attention_layernorm");
    mx_set_stream(b, mx_add(b, y, qwen_mlp(b, c, i_layer, z)));
}

static const mx_fusion qwen_fusions[] = {
    {"self_attn.query", "self_attn.q_proj", MX_PART_HEAD_Q},
    {"self_attn.gate", "self_attn.q_proj", MX_PART_HEAD_GATE},
    {"mlp.switch_mlp.gate_proj", "mlp.experts.gate_up_proj", MX_PART_FIRST_HALF},
    {"mlp.switch_mlp.up_proj", "mlp.experts.gate_up_proj", MX_PART_SECOND_HALF},
    {NULL, NULL, MX_PART_Q},
};

static const mx_rename qwen_renames[] = {
    {"mlp.switch_mlp.gate_proj", "mlp.experts.*.gate_proj"},
    {"mlp.switch_mlp.up_proj", "mlp.experts.*.up_proj"},
    {"mlp.switch_mlp.down_proj", "mlp.experts.*.down_proj"},
    {"mlp.switch_mlp.down_proj", "mlp.experts.down_proj"},
    {NULL, NULL},
};

const mx_family mx_family_qwen3_next = {
    .model_types = {"qwen3_next"},
    .title = "Qwen3-Next",
    .limits = "CPU only",
    .source = "transformers, models/qwen3_next/modeling_qwen3_next.py",
    .defaults = &next_defaults,
    .renames = qwen_renames,
    .fusions = qwen_fusions,
    .own = {sizeof(qwen_fields), &next_own, own_fields},
    .read = qwen_read,
    .sparse = mx_sparse_by_step,
    .layers = qwen_layers,
    .layer = qwen_layer,
};

const mx_family mx_family_qwen3_5 = {
    .model_types = {"qwen3_5", "qwen3_5_text"},
    .title = "Qwen 3.5",
    .limits = "CPU only",
    .source = "transformers, models/qwen3_5/modeling_qwen3_5.py",
    .defaults = &qwen35_defaults,
    .fusions = qwen_fusions,
    .own = {sizeof(qwen_fields), &qwen35_own, own_fields},
    .read = qwen_read,
    .layers = qwen_layers,
    .layer = qwen_layer,
};

const mx_family mx_family_qwen3_5_moe = {
    .model_types = {"qwen3_5_moe", "qwen3_5_moe_text"},
    .title = "Qwen 3.5 with experts",
    .limits = "CPU only",
    .source = "transformers, models/qwen3_5_moe/modeling_qwen3_5_moe.py",
    .defaults = &qwen35_moe_defaults,
    .renames = qwen_renames,
    .fusions = qwen_fusions,
    .own = {sizeof(qwen_fields), &qwen35_own, own_fields},
    .read = qwen_read,
    .sparse = mx_sparse_all,
    .layers = qwen_layers,
    .layer = qwen_layer,
};
