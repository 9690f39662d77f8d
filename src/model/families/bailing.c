/* bailing.c - Bailing (Ling, Ring): queries, keys and values in one matrix, and experts as DeepSeek's, by softmax or by
 * sigmoids. */
#include "model/moe.h"

typedef struct own_config {
    mx_moe_config moe;
    int64_t d_ff_shared; /* of one shared expert; 0: as the others */
    bool is_sigmoid;
    bool has_choice_bias;
    bool has_scale;
    bool has_shared;
} own_config;

static const own_config bailing_own = {
    .moe = {.n_groups = 1, .top_groups = 4, .scale = 1}, .has_scale = true, .has_shared = true};

static const mx_field bailing_own_fields[] = {
    MX_MOE_FIELDS(own_config, moe),
    MX_FIELD(own_config, I64, d_ff_shared, "moe_shared_expert_intermediate_size", 1, 1 << 24),
    MX_FIELD(own_config, BOOL, has_choice_bias, "moe_router_enable_expert_bias", 0, 0),
    MX_FIELD(own_config, BOOL, has_scale, "moe_router_enable_routed_scaling", 0, 0),
    MX_FIELD(own_config, BOOL, has_shared, "moe_router_enable_shared_expert", 0, 0),
    MX_FIELD_END,
};

static const mx_field bailing_fields[] = {
    MX_FIELD(mx_model_config, BOOL, has_qkv_bias, "use_qkv_bias", 0, 0),
    MX_FIELD(mx_model_config, BOOL, has_o_bias, "use_bias", 0, 0),
    MX_FIELD(mx_model_config, BOOL, has_mlp_bias, "use_bias", 0, 0),
    MX_MTP_FIELD,
    MX_FIELD_END,
};

static const mx_model_config bailing_defaults = {
    .model_type = "bailing_moe",
    .n_layers = 28,
    .n_heads = 16,
    .n_kv_heads = 4,
    .n_ctx = 16384,
    .d_model = 2048,
    .d_ff = 5632,
    .n_vocab = 126464,
    .norm_eps = 1e-6,
    .act = MX_ACT_SILU,
    .n_experts = 64,
    .d_ff_expert = 1408,
    .top_k = 6,
    .normalize_top_k = true,
    .ropes = {MX_ROPE_PLAIN(6e5)},
};

static mx_status bailing_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    own_config *own = (own_config *)c->own;
    mx_str score = MX_STR("softmax");
    bool has_qk_norm = false;
    bool has_norm_head = false;
    int64_t rot_dim = 0;
    (void)arena;
    MX_TRY(mx_json_get_str(obj, "score_function", &score, err));
    MX_TRY(mx_json_get_bool(obj, "use_qk_norm", &has_qk_norm, err));
    MX_TRY(mx_json_get_bool(obj, "norm_head", &has_norm_head, err));
    MX_TRY(mx_json_get_i64(obj, "rotary_dim", 2, MX_MAX_HEAD_DIM, &rot_dim, err));
    own->is_sigmoid = mx_str_eq_cstr(score, "sigmoid");
    if (has_norm_head || (!own->is_sigmoid && !mx_str_eq_cstr(score, "softmax"))) {
        return mx_fail(err, MX_UNSUPPORTED,
                       "\"norm_head\" and \"score_function\" \"%.*s\" of Bailing: only without, and "
                       "only softmax and sigmoid, are supported",
                       MX_STR_ARG(score));
    }
    const int64_t head_dim = c->head_dim ? c->head_dim : c->d_model / c->n_heads;
    if (rot_dim > head_dim) {
        return mx_fail(err, MX_FORMAT, "\"rotary_dim\" is %lld, but heads have %lld columns", (long long)rot_dim,
                       (long long)head_dim);
    }
    if (rot_dim > 0) {
        c->ropes[MX_LAYER_ROPE_GLOBAL].partial_factor = (double)rot_dim / (double)head_dim;
    }
    c->qk_norm = has_qk_norm ? MX_QK_NORM_HEADS : MX_QK_NORM_NONE;
    own->moe.scale = own->has_scale ? own->moe.scale : 1;
    own->moe.n_shared = own->has_shared ? own->moe.n_shared : 0;
    return MX_OK;
}

static void bailing_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const own_config *own = (const own_config *)c->own;
    mx_moe_settings moe = mx_moe_settings_of_own(c);
    moe.route.score = own->is_sigmoid ? MX_SCORE_SIGMOID : MX_SCORE_SOFTMAX;
    moe.route.ranks_by_top_two = true;
    moe.choice_bias = own->has_choice_bias ? "mlp.gate.expert_bias" : NULL;
    moe.d_ff_shared = (own->d_ff_shared ? own->d_ff_shared : c->d_ff_expert) * own->moe.n_shared;
    moe.has_expert_bias = c->has_mlp_bias;
    mx_moe_layer(b, c, i_layer, &moe);
}

static const mx_rename bailing_renames[] = {
    {"embed_tokens", "word_embeddings"},
    {"self_attn.o_proj", "attention.dense"},
    {"self_attn.q_norm", "attention.query_layernorm"},
    {"self_attn.k_norm", "attention.key_layernorm"},
    {"mlp.gate", "mlp.gate.gate_proj"},
    {"mlp.switch_mlp.gate_proj", "mlp.experts.*.gate_proj"},
    {"mlp.switch_mlp.up_proj", "mlp.experts.*.up_proj"},
    {"mlp.switch_mlp.down_proj", "mlp.experts.*.down_proj"},
    {NULL, NULL},
};

static const mx_fusion bailing_fusions[] = {
    {"self_attn.q_proj", "attention.query_key_value", MX_PART_Q},
    {"self_attn.k_proj", "attention.query_key_value", MX_PART_K},
    {"self_attn.v_proj", "attention.query_key_value", MX_PART_V},
    {NULL, NULL, MX_PART_Q},
};

const mx_family mx_family_bailing_moe = {
    .model_types = {"bailing_moe", "bailing_moe_v2"},
    .title = "Bailing (Ling, Ring)",
    .source = "mlx-lm, models/bailing_moe.py",
    .defaults = &bailing_defaults,
    .renames = bailing_renames,
    .fusions = bailing_fusions,
    .fields = bailing_fields,
    .own = {sizeof(own_config), &bailing_own, bailing_own_fields},
    .read = bailing_read,
    .sparse = mx_sparse_after_dense,
    .layer = bailing_layer,
};
