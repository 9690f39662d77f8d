/* moe.h - what families with mixtures of experts have in common: keys of config.json, rules and blocks. */
#ifndef MX_MODEL_MOE_H
#define MX_MODEL_MOE_H

#include "model/family.h"

/* What most of them say beyond n_experts, d_ff_expert, top_k and normalize_top_k of mx_model_config: a family's own
 * fields (mx_family.own), or the first member of these. */
typedef struct mx_moe_config {
    int32_t n_shared; /* experts that every token has, side by side as one MLP of n_shared * d_ff_expert columns */
    int32_t n_groups; /* mx_route_params */
    int32_t top_groups;
    double scale;          /* on the weights of the chosen experts; as defaults, 0: 1 */
    int32_t n_dense_first; /* layers before the first with experts */
    int32_t layer_step;    /* of the others, every layer_step-th; as defaults, 0: 1 */
} mx_moe_config;

/* Rows of a table of fields for a struct that begins with a mx_moe_config called `member`. */
#define MX_MOE_FIELDS(struct_, member_)                                                     \
    MX_FIELD(struct_, I32, member_.n_shared, "n_shared_experts", 0, 4096),                  \
        MX_FIELD(struct_, I32, member_.n_shared, "num_shared_experts", 0, 4096),            \
        MX_FIELD(struct_, I32, member_.n_groups, "n_group", 1, 4096),                       \
        MX_FIELD(struct_, I32, member_.top_groups, "topk_group", 1, 4096),                  \
        MX_FIELD(struct_, F64, member_.scale, "routed_scaling_factor", 0, 1000000),         \
        MX_FIELD(struct_, I32, member_.n_dense_first, "first_k_dense_replace", 0, 1 << 20), \
        MX_FIELD(struct_, I32, member_.layer_step, "moe_layer_freq", 1, 1 << 20)

/* A row of a family's table of fields: layers that guess further tokens, whose tensors are passed over. */
#define MX_MTP_FIELD MX_FIELD(mx_model_config, I32, n_extra_layers, "num_nextn_predict_layers", 0, 1024)

/* The table for families whose own fields are a mx_moe_config and nothing else. */
extern const mx_field mx_moe_fields[];

/* Rules for `sparse`. after_dense: by n_dense_first and layer_step of the mx_moe_config that c->own begins with. all:
 * every layer. by_step: every "decoder_sparse_step"-th layer but those of "mlp_only_layers". */
mx_status mx_sparse_after_dense(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err);
mx_status mx_sparse_all(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err);
mx_status mx_sparse_by_step(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err);

/* For `read`: the width of an expert is "intermediate_size". */
mx_status mx_moe_experts_are_mlps(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err);

/* Softmax over all experts, the top_k of them, normalised if the configuration says so: to be changed by the family. */
mx_moe_settings mx_moe_settings_of(const mx_model_config *c);

/* The same with what the mx_moe_config says that c->own begins with: shared experts, groups ranked by their largest,
 * and the scale. */
mx_moe_settings mx_moe_settings_of_own(const mx_model_config *c);

/* The same by sigmoid, with groups ranked by their two largest and "mlp.gate.e_score_correction_bias": DeepSeek V3 and
 * what follows it. */
mx_moe_settings mx_moe_settings_of_v3(const mx_model_config *c);

/* The MLP of a layer at "mlp": dense, or with experts as `settings` say. */
mx_value mx_moe_layer_mlp(mx_builder *b, const mx_model_config *c, int32_t i_layer, mx_value x,
                          const mx_moe_settings *settings);

/* mx_prenorm_layer with such an MLP. */
void mx_moe_layer(mx_builder *b, const mx_model_config *c, int32_t i_layer, const mx_moe_settings *settings);

/* Renames for "mlp.switch_mlp.*_proj" as MLX stacks experts: the original checkpoints have "mlp.experts.N.*_proj". */
extern const mx_rename mx_moe_renames[];

#endif
