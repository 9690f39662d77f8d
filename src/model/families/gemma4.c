/* gemma4.c - Gemma 4, the text models.
 *
 * Gemma 3's norms, stored as they are; scores are not scaled, values are normalised. Layers that see everything have
 * wider heads and, where "attention_k_eq_v" says so, values that are the keys before their norm. The last layers of the
 * small models have no keys of their own: they attend to those of the last layer of their kind that has, and their MLP
 * may be twice as wide. Each layer also gets a small embedding of the token that is meant for it alone. The model with
 * experts has them beside the MLP, chosen by what comes before its norm.
 */
#include <math.h>

#include "model/families/gemma_parts.h"
#include "model/moe.h"

typedef struct gemma4_config {
    int64_t d_small; /* columns of a layer's own embedding; 0: there is none */
    int64_t n_small_vocab;
    int32_t n_shared_layers; /* at the end: without keys of their own */
    int32_t wide_head_dim;   /* of layers that see everything */
    int32_t n_wide_kv_heads; /* 0: as the others */
    bool has_k_as_v;
    bool has_double_mlp;
    bool has_experts;
} gemma4_config;

static const gemma4_config gemma4_own = {.d_small = 256, .n_small_vocab = 262144, .wide_head_dim = 512};

static const mx_field gemma4_fields[] = {
    MX_FIELD(gemma4_config, I64, d_small, "hidden_size_per_layer_input", 0, 1 << 20),
    MX_FIELD(gemma4_config, I64, n_small_vocab, "vocab_size_per_layer_input", 1, 1 << 24),
    MX_FIELD(gemma4_config, I32, n_shared_layers, "num_kv_shared_layers", 0, 1024),
    MX_FIELD(gemma4_config, I32, wide_head_dim, "global_head_dim", 2, MX_MAX_HEAD_DIM),
    MX_FIELD(gemma4_config, I32, n_wide_kv_heads, "num_global_key_value_heads", 1, 4096),
    MX_FIELD(gemma4_config, BOOL, has_k_as_v, "attention_k_eq_v", 0, 0),
    MX_FIELD(gemma4_config, BOOL, has_double_mlp, "use_double_wide_mlp", 0, 0),
    MX_FIELD(gemma4_config, BOOL, has_experts, "enable_moe_block", 0, 0),
    MX_FIELD_END,
};

static const mx_field gemma4_shared_fields[] = {
    MX_FIELD(mx_model_config, I32, top_k, "top_k_experts", 1, 4096),
    MX_FIELD_END,
};

static const mx_model_config gemma4_defaults = {
    .model_type = "gemma4_text",
    .n_layers = 30,
    .n_heads = 8,
    .n_kv_heads = 4,
    .head_dim = 256,
    .n_ctx = 131072,
    .d_model = 2304,
    .d_ff = 9216,
    .n_vocab = 262144,
    .norm_eps = 1e-6,
    .act = MX_ACT_GELU_TANH,
    .is_tied = true,
    .scales_embedding = true,
    .window = 512,
    .sliding_pattern = 6,
    .attention_scale = 1,
    .ropes = {{.kind = MX_ROPE_PROPORTIONAL,
               .theta = 1e6,
               .partial_factor = 0.25,
               .beta_fast = 32,
               .beta_slow = 1,
               .truncate = true},
              MX_ROPE_PLAIN(1e4)},
    .has_local_rope = true,
    .eos_ids = {1},
    .n_eos_ids = 1,
};

/* "per_layer_config": {"5": {"head_dim": 512}, ...}, as newer files say what is special about layers that see
 * everything: the same of each. */
static mx_status read_wide_layers(yyjson_val *obj, gemma4_config *own, mx_error *err)
{
    yyjson_val *by_layer = NULL;
    MX_TRY(mx_json_get_obj(obj, "per_layer_config", &by_layer, err));
    yyjson_obj_iter it = yyjson_obj_iter_with(by_layer);
    bool is_first = true;
    for (yyjson_val *key = yyjson_obj_iter_next(&it); key; key = yyjson_obj_iter_next(&it)) {
        yyjson_val *layer = yyjson_obj_iter_get_val(key);
        int64_t head_dim = own->wide_head_dim;
        int64_t n_kv_heads = own->n_wide_kv_heads;
        MX_TRY(mx_json_get_i64(layer, "head_dim", 2, MX_MAX_HEAD_DIM, &head_dim, err));
        MX_TRY(mx_json_get_i64(layer, "num_key_value_heads", 1, 4096, &n_kv_heads, err));
        if (!is_first && (head_dim != own->wide_head_dim || n_kv_heads != own->n_wide_kv_heads)) {
            return mx_fail(err, MX_UNSUPPORTED,
                           "\"per_layer_config\": layers of more than two kinds are not supported");
        }
        own->wide_head_dim = (int32_t)head_dim;
        own->n_wide_kv_heads = (int32_t)n_kv_heads;
        is_first = false;
    }
    return MX_OK;
}

static mx_status gemma4_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    gemma4_config *own = c->own;
    MX_TRY(read_wide_layers(obj, own, err));
    (void)arena;
    if (own->has_experts && (c->n_experts < 1 || c->top_k < 1 || c->d_ff_expert < 1)) {
        return mx_fail(err, MX_FORMAT,
                       "\"enable_moe_block\" needs \"num_experts\", \"top_k_experts\" and \"moe_intermediate_size\"");
    }
    if (yyjson_equals_str(yyjson_obj_get(obj, "use_bidirectional_attention"), "all")) {
        return mx_fail(err, MX_UNSUPPORTED, "\"use_bidirectional_attention\": embedding models are not supported");
    }
    c->ropes[MX_LAYER_ROPE_GLOBAL].head_dim = own->wide_head_dim;
    return MX_OK;
}

/* The last layer always sees everything. */
static mx_status gemma4_sliding(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    MX_TRY(mx_sliding_pattern(obj, c, layers, err));
    layers[c->n_layers - 1].is_sliding = false;
    return MX_OK;
}

static mx_status gemma4_sparse(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    const gemma4_config *own = c->own;
    return own->has_experts ? mx_sparse_all(obj, c, layers, err) : MX_OK;
}

static mx_status gemma4_layers(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    const gemma4_config *own = c->own;
    (void)obj;
    for (int32_t i = 0; i < c->n_layers; i++) {
        if (!layers[i].is_sliding) {
            layers[i].head_dim = own->wide_head_dim;
            layers[i].n_kv_heads =
                own->has_k_as_v && own->n_wide_kv_heads ? own->n_wide_kv_heads : layers[i].n_kv_heads;
        }
    }
    MX_TRY(mx_share_last_keys(c, layers, own->n_shared_layers, err));
    for (int32_t i = 0; i < c->n_layers; i++) {
        layers[i].d_ff *= own->has_double_mlp && layers[i].i_kv_layer != i ? 2 : 1;
    }
    return MX_OK;
}

static void gemma4_begin(mx_builder *b, const mx_model_config *c)
{
    const gemma4_config *own = c->own;
    if (own->d_small > 0) {
        mx_set_side(b, mx_small_embeddings(b, c, own->d_small, own->n_small_vocab));
    }
}

static mx_value gemma4_attention(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_value h)
{
    const gemma4_config *own = c->own;
    return mx_shared_key_attention(b, c, i_layer, h, own->has_k_as_v && !c->layers[i_layer].is_sliding);
}

/* The MLP of y, and beside it, where the layer has them, experts. */
static mx_value gemma4_mlp(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_value y)
{
    const mx_value m = mx_layer_mlp(b, c, i_layer, mx_norm(b, y, "pre_feedforward_layernorm"));
    if (!c->layers[i_layer].is_moe) {
        return m;
    }
    const mx_moe_settings moe = {
        .n_experts = c->n_experts,
        .d_ff = c->d_ff_expert,
        .route = {.top_k = c->top_k, .normalize = true, .scale = 1.0f},
        .expert_scale = "router.per_expert_scale",
    };
    const mx_value h = mx_scale(b, mx_norm(b, y, "router.scale"), (float)(1 / sqrt((double)c->d_model)));
    const mx_value scores = mx_linear(b, h, "router.proj", c->n_experts, false);
    const mx_value x = mx_norm(b, y, "pre_feedforward_layernorm_2");
    const mx_value e = mx_moe_by_scores(b, x, scores, "mlp", &moe);
    return mx_add(b, mx_norm(b, m, "post_feedforward_layernorm_1"), mx_norm(b, e, "post_feedforward_layernorm_2"));
}

static void gemma4_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const gemma4_config *own = c->own;
    const mx_value x = mx_stream(b);
    const mx_value a = gemma4_attention(b, c, i_layer, mx_norm(b, x, "input_layernorm"));
    mx_value y = mx_add(b, x, mx_norm(b, a, "post_attention_layernorm"));
    y = mx_add(b, y, mx_norm(b, gemma4_mlp(b, c, i_layer, y), "post_feedforward_layernorm"));
    if (own->d_small > 0) {
        y = mx_add(b, y, mx_small_embedding_mlp(b, c, i_layer, own->d_small, y));
    }
    mx_set_stream(b, mx_multiply(b, y, "layer_scalar", 1));
}

static const mx_rename gemma4_renames[] = {
    {"mlp.switch_mlp", "experts.switch_glu"},
    {"mlp.switch_mlp.down_proj", "experts.down_proj"},
    {NULL, NULL},
};

static const mx_fusion gemma4_fusions[] = {
    {"mlp.switch_mlp.gate_proj", "experts.gate_up_proj", MX_PART_FIRST_HALF},
    {"mlp.switch_mlp.up_proj", "experts.gate_up_proj", MX_PART_SECOND_HALF},
    {NULL, NULL, MX_PART_FIRST_HALF},
};

const mx_family mx_family_gemma4 = {
    .model_types = {"gemma4_text", "gemma4"},
    .title = "Gemma 4",
    .limits = "text only; on the CPU alone, for its heads of 512 columns",
    .source = "transformers, models/gemma4/modeling_gemma4.py",
    .defaults = &gemma4_defaults,
    .renames = gemma4_renames,
    .fusions = gemma4_fusions,
    .fields = gemma4_shared_fields,
    .own = {sizeof(gemma4_config), &gemma4_own, gemma4_fields},
    .read = gemma4_read,
    .sliding = gemma4_sliding,
    .sparse = gemma4_sparse,
    .layers = gemma4_layers,
    .begin = gemma4_begin,
    .layer = gemma4_layer,
};
