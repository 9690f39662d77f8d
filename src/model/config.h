/* config.h - what config.json and generation_config.json say, checked.
 *
 * Every number comes from a file and is held to caps and to the others before it is used. A field that is absent has
 * the value that the family's official configuration class gives it (mx_family.defaults).
 */
#ifndef MX_MODEL_CONFIG_H
#define MX_MODEL_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "program/program.h"

#define MX_MAX_EOS_IDS 16

typedef enum mx_rope_kind {
    MX_ROPE_DEFAULT,
    MX_ROPE_LINEAR,
    MX_ROPE_DYNAMIC,
    MX_ROPE_YARN,
    MX_ROPE_LLAMA3,
    MX_ROPE_LONGROPE,
} mx_rope_kind;

/* One rotary embedding as configured; rope.h makes the table. */
typedef struct mx_rope_config {
    mx_rope_kind kind;
    double theta;
    double partial_factor; /* share of head_dim that rotates */
    double factor;
    int32_t original_n_ctx;  /* context before scaling; 0 where not said */
    double attention_factor; /* on cos and sin; 0: by the kind's rule */
    double low_freq_factor;  /* llama3 */
    double high_freq_factor;
    double beta_fast; /* yarn */
    double beta_slow;
    double mscale;
    double mscale_all_dim;
    bool truncate;
    const double *short_factors; /* longrope: [rot_dim / 2], in the configuration's arena */
    const double *long_factors;
    int32_t n_short_factors;
    int32_t n_long_factors;
} mx_rope_config;

/* Rotary embeddings by kind of layer; most models have only the first. */
typedef enum mx_layer_rope {
    MX_LAYER_ROPE_GLOBAL,
    MX_LAYER_ROPE_LOCAL, /* Gemma's sliding layers */
    MX_LAYER_ROPE_COUNT
} mx_layer_rope;

typedef struct mx_layer_config {
    bool is_sliding; /* attends to the last `window` positions */
    bool is_moe;
} mx_layer_config;

typedef struct mx_model_config {
    const char *model_type; /* as the file says: "qwen3"; in the arena or static */
    int32_t n_layers;
    int32_t n_heads;
    int32_t n_kv_heads;
    int32_t head_dim;
    int32_t n_ctx; /* max_position_embeddings */
    int64_t d_model;
    int64_t d_ff;
    int64_t n_vocab;
    double norm_eps;
    mx_activation act;
    bool has_qkv_bias;
    bool has_o_bias;
    bool has_mlp_bias;
    bool is_tied;         /* logits are products with the embedding */
    int32_t window;       /* of sliding layers; 0: there are none */
    double query_scale;   /* scores are q.k / sqrt(query_scale); 0: head_dim */
    double attn_softcap;  /* 0: none */
    double logit_softcap; /* 0: none */
    int64_t n_experts;    /* 0: none */
    int64_t d_ff_expert;
    int32_t top_k;
    bool normalize_top_k;
    mx_rope_config ropes[MX_LAYER_ROPE_COUNT];
    const mx_layer_config *layers; /* [n_layers], in the arena */
    int32_t eos_ids[MX_MAX_EOS_IDS];
    int32_t n_eos_ids;
} mx_model_config;

/* What generation_config.json recommends to those who do not choose; a negative number where it says nothing. */
typedef struct mx_sampling_defaults {
    bool do_sample; /* false: greedy, or nothing said */
    double temperature;
    double top_p;
    double min_p;
    double repetition_penalty;
    int32_t top_k;
} mx_sampling_defaults;

#endif
