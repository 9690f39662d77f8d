/* hunyuan.c - Hunyuan without experts: Llama's layer with norms on the heads of queries and keys after they have
 * turned. */
#include "model/families/families.h"

static const mx_model_config hunyuan_v1_dense_defaults = {
    .model_type = "hunyuan_v1_dense",
    .n_layers = 32,
    .n_heads = 32,
    .n_ctx = 2048,
    .d_model = 4096,
    .d_ff = 11008,
    .n_vocab = 290943,
    .norm_eps = 1e-5,
    .act = MX_ACT_SILU,
    .qk_norm = MX_QK_NORM_TURNED_HEADS,
    .ropes = {MX_ROPE_PLAIN(1e4)},
    .eos_ids = {2},
    .n_eos_ids = 1,
};

static const mx_rename hunyuan_renames[] = {
    {"self_attn.q_norm", "self_attn.query_layernorm"},
    {"self_attn.k_norm", "self_attn.key_layernorm"},
    {NULL, NULL},
};

/* mlx-lm's switch, which transformers does not have: its models always have the norms. */
static mx_status hunyuan_read(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    bool has_qk_norm = true;
    (void)arena;
    MX_TRY(mx_json_get_bool(obj, "use_qk_norm", &has_qk_norm, err));
    c->qk_norm = has_qk_norm ? c->qk_norm : MX_QK_NORM_NONE;
    return MX_OK;
}

const mx_family mx_family_hunyuan_v1_dense = {
    .model_types = {"hunyuan_v1_dense"},
    .title = "Hunyuan",
    .source = "transformers, models/hunyuan_v1_dense/modeling_hunyuan_v1_dense.py",
    .defaults = &hunyuan_v1_dense_defaults,
    .renames = hunyuan_renames,
    .read = hunyuan_read,
    .layer = mx_prenorm_layer,
};
