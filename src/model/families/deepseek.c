/* deepseek.c - DeepSeek: the first with plain attention, V2 and V3 over a compressed cache; shared experts, V2's in
 * groups by their best, V3's by sigmoids, with a bias in the choice, in groups by their two best. */
#include "model/families/families.h"
#include "model/mla.h"
#include "model/moe.h"

static const mx_moe_config deepseek_moe = {.n_shared = 0};
static const mx_moe_config deepseek_v2_moe = {.n_shared = 2};
static const mx_moe_config deepseek_v3_moe = {
    .n_shared = 1, .n_groups = 8, .top_groups = 4, .scale = 2.5, .n_dense_first = 3};

static const mx_model_config deepseek_defaults = {
    .model_type = "deepseek",
    .n_layers = 30,
    .n_heads = 32,
    .n_ctx = 2048,
    .d_model = 4096,
    .d_ff = 11008,
    .n_vocab = 102400,
    .norm_eps = 1e-6,
    .act = MX_ACT_SILU,
    .d_ff_expert = 1407,
    .ropes = {MX_ROPE_PLAIN(1e4), MX_ROPE_PLAIN(1e4)},
    .eos_ids = {100001},
    .n_eos_ids = 1,
};

static const mx_model_config deepseek_v2_defaults = {
    .model_type = "deepseek_v2",
    .n_layers = 32,
    .n_heads = 32,
    .n_ctx = 2048,
    .d_model = 4096,
    .d_ff = 11008,
    .n_vocab = 102400,
    .norm_eps = 1e-6,
    .act = MX_ACT_SILU,
    .mla = {.q_rank = 1536, .kv_rank = 512, .nope_dim = 128, .rope_dim = 64, .v_dim = 128},
    .n_experts = 64,
    .d_ff_expert = 1407,
    .ropes = {MX_ROPE_PLAIN(1e4), MX_ROPE_PLAIN(1e4)},
    .is_rope_interleaved = true,
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static const mx_model_config deepseek_v3_defaults = {
    .model_type = "deepseek_v3",
    .n_layers = 61,
    .n_heads = 128,
    .n_ctx = 4096,
    .d_model = 7168,
    .d_ff = 18432,
    .n_vocab = 129280,
    .norm_eps = 1e-6,
    .act = MX_ACT_SILU,
    .mla = {.q_rank = 1536, .kv_rank = 512, .nope_dim = 128, .rope_dim = 64, .v_dim = 128},
    .n_experts = 256,
    .d_ff_expert = 2048,
    .top_k = 8,
    .normalize_top_k = true,
    .ropes = {MX_ROPE_PLAIN(1e4), MX_ROPE_PLAIN(1e4)},
    .is_rope_interleaved = true,
    .eos_ids = {1},
    .n_eos_ids = 1,
};

static const mx_field mla_fields[] = {MX_MLA_FIELDS, MX_MTP_FIELD, MX_FIELD_END};

static mx_status deepseek_v2_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    (void)arena;
    mx_moe_config *moe = (mx_moe_config *)c->own;
    mx_str method = MX_STR("greedy");
    MX_TRY(mx_json_get_str(obj, "topk_method", &method, err));
    if (mx_str_eq_cstr(method, "greedy")) {
        moe->n_groups = 1;
    } else if (!mx_str_eq_cstr(method, "group_limited_greedy")) {
        return mx_fail(err, MX_UNSUPPORTED, "\"topk_method\" \"%.*s\" is not supported in DeepSeek V2",
                       MX_STR_ARG(method));
    }
    return mx_mla_read(obj, c, err);
}

static mx_status deepseek_v3_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    (void)arena;
    return mx_mla_read(obj, c, err);
}

static void deepseek_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_moe_settings moe = mx_moe_settings_of_own(c);
    mx_moe_layer(b, c, i_layer, &moe);
}

static void mla_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer, const mx_moe_settings *moe)
{
    const mx_value x = mx_stream(b);
    const mx_value y = mx_add(b, x, mx_mla_self_attention(b, c, mx_rmsnorm(b, x, "input_layernorm")));
    const mx_value z = mx_rmsnorm(b, y, "post_attention_layernorm");
    mx_set_stream(b, mx_add(b, y, mx_moe_layer_mlp(b, c, i_layer, z, moe)));
}

static void deepseek_v2_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_moe_settings moe = mx_moe_settings_of_own(c);
    mla_layer(b, c, i_layer, &moe);
}

static void deepseek_v3_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer)
{
    const mx_moe_settings moe = mx_moe_settings_of_v3(c);
    mla_layer(b, c, i_layer, &moe);
}

static const mx_fusion mla_fusions[] = {MX_MLA_FUSIONS, {NULL, NULL, MX_PART_Q}};

const mx_family mx_family_deepseek = {
    .model_types = {"deepseek"},
    .title = "DeepSeek (first)",
    .source = "deepseek-ai/deepseek-moe-16b-base, modeling_deepseek.py",
    .defaults = &deepseek_defaults,
    .renames = mx_moe_renames,
    .own = {sizeof(mx_moe_config), &deepseek_moe, mx_moe_fields},
    .sparse = mx_sparse_after_dense,
    .layer = deepseek_layer,
};

const mx_family mx_family_deepseek_v2 = {
    .model_types = {"deepseek_v2"},
    .title = "DeepSeek-V2",
    .source = "transformers, models/deepseek_v2/modeling_deepseek_v2.py",
    .defaults = &deepseek_v2_defaults,
    .renames = mx_moe_renames,
    .fusions = mla_fusions,
    .fields = mla_fields,
    .own = {sizeof(mx_moe_config), &deepseek_v2_moe, mx_moe_fields},
    .read = deepseek_v2_read,
    .sparse = mx_sparse_after_dense,
    .layer = deepseek_v2_layer,
};

const mx_family mx_family_deepseek_v3 = {
    .model_types = {"deepseek_v3", "kimi_k2", "joyai_llm_flash"},
    .title = "DeepSeek-V3, R1, Kimi K2",
    .source = "transformers, models/deepseek_v3/modeling_deepseek_v3.py",
    .defaults = &deepseek_v3_defaults,
    .renames = mx_moe_renames,
    .fusions = mla_fusions,
    .fields = mla_fields,
    .own = {sizeof(mx_moe_config), &deepseek_v3_moe, mx_moe_fields},
    .read = deepseek_v3_read,
    .sparse = mx_sparse_after_dense,
    .layer = deepseek_v3_layer,
};
