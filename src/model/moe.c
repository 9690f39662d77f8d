/* moe.c - what families with mixtures of experts have in common. */
#include "model/moe.h"

#include "model/families/families.h"

typedef struct moe_only {
    mx_moe_config moe;
} moe_only;

const mx_field mx_moe_fields[] = {
    MX_MOE_FIELDS(moe_only, moe),
    MX_FIELD_END,
};

const mx_rename mx_moe_renames[] = {
    {"mlp.switch_mlp.gate_proj", "mlp.experts.*.gate_proj"},
    {"mlp.switch_mlp.up_proj", "mlp.experts.*.up_proj"},
    {"mlp.switch_mlp.down_proj", "mlp.experts.*.down_proj"},
    {NULL, NULL},
};

static const mx_moe_config *moe_of(const mx_model_config *c)
{
    return (const mx_moe_config *)c->own;
}

mx_status mx_sparse_all(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    (void)obj;
    (void)err;
    for (int32_t i = 0; i < c->n_layers; i++) {
        layers[i].is_moe = true;
    }
    return MX_OK;
}

mx_status mx_sparse_after_dense(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    (void)obj;
    (void)err;
    const mx_moe_config *moe = moe_of(c);
    for (int32_t i = 0; i < c->n_layers; i++) {
        layers[i].is_moe = c->n_experts > 0 && i >= moe->n_dense_first && i % MX_MAX(moe->layer_step, 1) == 0;
    }
    return MX_OK;
}

mx_status mx_sparse_by_step(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err)
{
    int64_t step = 1;
    yyjson_val *dense = NULL;
    MX_TRY(mx_json_get_i64(obj, "decoder_sparse_step", 1, INT32_MAX, &step, err));
    MX_TRY(mx_json_get_arr(obj, "mlp_only_layers", &dense, err));
    for (int32_t i = 0; i < c->n_layers; i++) {
        layers[i].is_moe = (i + 1) % step == 0;
    }
    yyjson_arr_iter it = yyjson_arr_iter_with(dense);
    for (yyjson_val *val = yyjson_arr_iter_next(&it); val; val = yyjson_arr_iter_next(&it)) {
        const int64_t i_layer = yyjson_is_int(val) ? yyjson_get_sint(val) : -1;
        if (i_layer < 0 || i_layer >= c->n_layers) {
            return mx_fail(err, MX_FORMAT, "\"mlp_only_layers\" must list layers from 0 to %d", c->n_layers - 1);
        }
        layers[i_layer].is_moe = false;
    }
    return MX_OK;
}

mx_status mx_moe_experts_are_mlps(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err)
{
    (void)obj;
    (void)arena;
    (void)err;
    c->d_ff_expert = c->d_ff;
    return MX_OK;
}

mx_moe_settings mx_moe_settings_of(const mx_model_config *c)
{
    return (mx_moe_settings){
        .n_experts = c->n_experts,
        .d_ff = c->d_ff_expert,
        .route = {.top_k = c->top_k, .normalize = c->normalize_top_k, .scale = 1.0f},
    };
}

mx_moe_settings mx_moe_settings_of_own(const mx_model_config *c)
{
    const mx_moe_config *moe = moe_of(c);
    mx_moe_settings s = mx_moe_settings_of(c);
    s.route.n_groups = moe->n_groups;
    s.route.top_groups = moe->top_groups;
    s.route.min_sum = 1e-20f;
    s.route.scale = moe->scale != 0 ? (float)moe->scale : 1.0f;
    s.d_ff_shared = c->d_ff_expert * moe->n_shared;
    s.has_shared_bias = c->has_mlp_bias;
    return s;
}

mx_moe_settings mx_moe_settings_of_v3(const mx_model_config *c)
{
    mx_moe_settings s = mx_moe_settings_of_own(c);
    s.route.score = MX_SCORE_SIGMOID;
    s.route.ranks_by_top_two = true;
    s.choice_bias = "mlp.gate.e_score_correction_bias";
    return s;
}

mx_value mx_moe_layer_mlp(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_value x,
                          const mx_moe_settings *settings)
{
    return c->layers[i_layer].is_moe ? mx_moe_mlp(b, x, "mlp", settings) : mx_layer_mlp(b, c, i_layer, x);
}

void mx_moe_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer, const mx_moe_settings *settings)
{
    const mx_value x = mx_stream(b);
    const mx_value a = mx_self_attention(b, c, i_layer, mx_norm(b, x, "input_layernorm"));
    const mx_value y = mx_add_residual(b, c, x, a);
    const mx_value z = mx_norm(b, y, "post_attention_layernorm");
    mx_set_stream(b, mx_add_residual(b, c, y, mx_moe_layer_mlp(b, c, i_layer, z, settings)));
}
