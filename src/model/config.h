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
#include "program/builder.h"

#define MX_MAX_EOS_IDS  16
#define MX_MAX_CTX      (1 << 27) /* positions */
#define MX_MAX_HEAD_DIM 4096

typedef struct mx_family mx_family; /* family.h */

typedef enum mx_rope_kind {
    MX_ROPE_DEFAULT,
    MX_ROPE_LINEAR,
    MX_ROPE_DYNAMIC,
    MX_ROPE_YARN,
    MX_ROPE_LLAMA3,
    MX_ROPE_LONGROPE,
    MX_ROPE_PROPORTIONAL, /* all columns take part; those beyond partial_factor turn at no speed (Gemma 4) */
    MX_ROPE_KIND_COUNT
} mx_rope_kind;

/* One rotary embedding as configured; rope_scaling.h makes the table. */
typedef struct mx_rope_config {
    mx_rope_kind kind;
    int32_t head_dim; /* columns of the heads that it turns; as defaults, 0: the model's head_dim */
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
    double short_mscale; /* longrope: the factor on cos and sin, by the context; 0: by attention_factor */
    double long_mscale;
    bool truncate;
    double alpha;                /* of dynamic: a fixed stretch of the base (Hunyuan); 0: by the context */
    double query_beta;           /* queries are sharpened by it every original_n_ctx positions; 0: not */
    const double *short_factors; /* longrope: [rot_dim / 2], in the configuration's arena */
    const double *long_factors;
    int32_t n_short_factors;
    int32_t n_long_factors;
} mx_rope_config;

/* Rotary embeddings by kind of layer; most models have only the first. */
typedef enum mx_layer_rope {
    MX_LAYER_ROPE_NONE = -1, /* positions are not told to this layer (NoPE) */
    MX_LAYER_ROPE_GLOBAL,
    MX_LAYER_ROPE_LOCAL, /* Gemma's sliding layers */
    MX_LAYER_ROPE_COUNT
} mx_layer_rope;

/* What may differ by layer. The rules of a family (family.h) start from the model's own numbers. */
typedef struct mx_layer_config {
    bool is_sliding; /* attends to the last `window` positions */
    bool is_moe;
    bool is_recurrent; /* remembers a state instead of keys and values */
    mx_layer_rope rope;
    int32_t n_heads;
    int32_t n_kv_heads;
    int32_t head_dim;
    int32_t i_kv_layer; /* whose keys and values it attends to: its own number, or an earlier layer's */
    int64_t d_ff;
} mx_layer_config;

/* Attention over a compressed cache (blocks_mla.c). */
typedef struct mx_mla_config {
    int32_t q_rank; /* 0: queries are made from the stream itself */
    int32_t kv_rank;
    int32_t nope_dim;
    int32_t rope_dim;
    int32_t v_dim;
} mx_mla_config;

/* Norms on queries and keys. */
typedef enum mx_qk_norm {
    MX_QK_NORM_NONE,
    MX_QK_NORM_HEADS,        /* over each head, before it turns */
    MX_QK_NORM_TURNED_HEADS, /* the same, after */
    MX_QK_NORM_ROWS,         /* over all heads together, before they turn */
    MX_QK_NORM_LAYER_HEADS,  /* LAYERNORM over each head, a weight and a bias for all */
    MX_QK_NORM_LAYER_EACH,   /* the same, a weight for each head */
} mx_qk_norm;

typedef struct mx_model_config {
    const char *model_type; /* as the file says: "qwen3"; static */
    int32_t n_layers;
    int32_t n_heads;
    int32_t n_kv_heads; /* as defaults, 0: n_heads */
    int32_t head_dim;   /* as defaults, 0: d_model / n_heads */
    int32_t n_ctx;      /* max_position_embeddings */
    int32_t window;     /* of sliding layers; 0: there are none */
    int64_t d_model;
    int64_t d_ff;
    int64_t n_vocab;
    double norm_eps;
    double norm_weight_offset; /* 1 for Gemma's (1 + w) */
    mx_norm_kind norm;         /* of the stream */
    mx_activation act;
    mx_qk_norm qk_norm;
    int32_t sliding_pattern; /* every so-many-th layer does not slide (mx_sliding_pattern) */
    bool has_plain_mlp;      /* up, activation, down: no gate */
    bool has_position_table; /* n_ctx learned positions are added to the embedding */
    bool is_parallel;        /* the MLP reads what attention reads, not what it has added (mx_parallel_layer) */
    bool has_qkv_bias;
    bool has_o_bias;
    bool has_mlp_bias;
    bool has_head_bias;       /* of the lm_head */
    bool is_tied;             /* logits are products with the embedding */
    bool scales_embedding;    /* by sqrt(d_model) in bf16 (Gemma) */
    bool has_local_rope;      /* sliding layers use MX_LAYER_ROPE_LOCAL */
    bool is_rope_interleaved; /* pairs of neighbours turn, not of halves */
    bool normalize_top_k;
    int32_t top_k;
    double qkv_clip;          /* queries, keys and values are held between -qkv_clip and qkv_clip; 0: not */
    double query_scale;       /* scores are q.k / sqrt(query_scale); as defaults, 0: head_dim of the layer */
    double attention_scale;   /* scores are q.k times this; 0: by query_scale */
    double attention_softcap; /* of scores; 0: none. Read by families that have it */
    const char *sinks;        /* path of a logit a head in the softmax's sum, by layer; NULL: none. Static */
    double embedding_scale;   /* further factors; as defaults, 0: 1 */
    double residual_scale;    /* of what attention and MLP add to the stream (mx_add_residual) */
    double logit_scale;       /* of the logits, before the soft cap */
    double logit_softcap;     /* 0: none */
    int64_t n_experts;        /* 0: none */
    int64_t d_ff_expert;
    mx_mla_config mla;      /* kv_rank 0: attention is plain */
    int32_t n_extra_layers; /* behind the last, for guessing further tokens: not used */
    mx_rope_config ropes[MX_LAYER_ROPE_COUNT];
    const mx_layer_config *layers; /* [n_layers], in the arena */
    void *own;                     /* the family's own fields (mx_family.own), in the arena; NULL: it has none */
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

/* Reads a config.json that is already parsed; `name` names it in errors. The text model's fields are those of
 * "text_config" where there is one. Arrays lie in the arena.
 *
 * MX_FORMAT       a field of the wrong type, out of range, or that does not fit the others
 * MX_UNSUPPORTED  an unknown model_type (naming the nearest known) or a feature we do not have
 * MX_NO_MEMORY
 */
mx_status mx_model_config_read(yyjson_val *root, const char *name, mx_arena *arena, mx_model_config *out,
                               const mx_family **family, mx_error *err) MX_NODISCARD;

/* Reads generation_config.json: end ids (which replace those of config.json where it has any) and sampling. MX_FORMAT.
 */
mx_status mx_generation_config_read(yyjson_val *root, const char *name, mx_model_config *config,
                                    mx_sampling_defaults *out, mx_error *err) MX_NODISCARD;

/* "nothing said" in every field. */
mx_sampling_defaults mx_sampling_defaults_none(void);

#endif
