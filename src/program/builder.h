/* builder.h - how a family says what its model is: blocks that append operations to a program.
 *
 * Blocks compute nothing: they resolve weights by path, check shapes and append operations in their plain form (passes
 * make richer ones). The first failure is kept and later blocks do nothing, so a family is written without checks and
 * mx_builder_finish tells what went wrong. One thread.
 *
 * Paths are canonical: "embed_tokens", "norm", "lm_head", and inside a layer relative to it ("self_attn.q_proj" is
 * "layers.3.self_attn.q_proj"). What a checkpoint calls them is the weight source's matter.
 */
#ifndef MX_PROGRAM_BUILDER_H
#define MX_PROGRAM_BUILDER_H

#include "program/program.h"

/* A low-rank change of a product y = W x: factors * y + scale * B (A x). */
typedef struct mx_adaptation {
    mx_weight a; /* [rank, n_in] */
    mx_weight b; /* [n_out, rank] */
    float scale;
    mx_weight factors; /* DoRA: a vector [n_out]; n_cols is 0 where there are none */
} mx_adaptation;

/* Where weights come from: a checkpoint (model/tensors.h), or a test's memory. */
typedef struct mx_weight_source {
    void *object;

    /* The weight at a canonical path; its name stays valid as long as the source. MX_NOT_FOUND and the statuses of
     * mx_weight_resolve. */
    mx_status (*resolve)(void *object, mx_str path, mx_weight *out, mx_error *err);

    /* NULL, or what an adapter adds to the product with the weight at a canonical path; *found is false where it has
     * nothing to add. Lifetimes and statuses as of resolve. */
    mx_status (*adapt)(void *object, mx_str path, mx_adaptation *out, bool *found, mx_error *err);
} mx_weight_source;

/* The norm of a model's layers. */
typedef enum mx_norm_kind {
    MX_NORM_RMS,
    MX_NORM_LAYER,      /* a weight */
    MX_NORM_LAYER_BIAS, /* a weight and a bias */
    MX_NORM_LAYER_BARE, /* neither */
} mx_norm_kind;

/* What the blocks know of the model. */
typedef struct mx_builder_shape {
    int32_t n_layers;
    int32_t n_ctx;
    int32_t n_heads; /* heads of the attention blocks; mx_builder_set_heads changes them by layer */
    int32_t n_kv_heads;
    int32_t head_dim;
    int64_t d_model;
    int64_t n_vocab;
    float norm_eps;
    float norm_weight_offset; /* 1 for Gemma's (1 + w) */
    mx_norm_kind norm;        /* of mx_norm */
    mx_activation act;        /* of MLPs */
} mx_builder_shape;

typedef struct mx_builder mx_builder;

/* Queries [T, n_heads * head_dim], keys and values [T, n_kv_heads * head_dim]. */
typedef struct mx_qkv {
    mx_value q, k, v;
} mx_qkv;

typedef struct mx_attention_settings {
    float scale; /* usually 1 / sqrt(head_dim) */
    mx_sharpening sharpening;
    float softcap;  /* 0: none */
    int32_t window; /* positions that a token sees, its own included; 0: all */
    int32_t chunk;  /* positions of a chunk, out of which a token does not see; 0: all are one */
    int32_t
        latent_dim;    /* values are the last so many columns of the keys (t.v is MX_NO_VALUE); 0: they are their own */
    const char *sinks; /* path of a logit a head that takes part in the softmax's sum, [n_heads]; NULL: none */
} mx_attention_settings;

typedef struct mx_moe_settings {
    int64_t n_experts;
    int64_t d_ff;              /* of one expert */
    mx_route_params route;     /* its bias is found by `choice_bias` */
    const char *choice_bias;   /* path of the bias in the choice of experts, [n_experts]; NULL: none */
    bool may_lack_choice_bias; /* where the checkpoint has none, there is none */
    bool has_router_bias;
    const char *expert_scale; /* path of a factor for each expert on its weight, [n_experts]; NULL: none */
    bool has_expert_bias;
    int64_t d_ff_shared; /* columns of `<path>.shared_experts`, an MLP that every token has too; 0: there is none */
    bool has_shared_bias;
    bool is_plain;     /* experts are fc2(act(fc1(x))), without a gate */
    bool scales_input; /* the expert reads x times its weight, and its output counts as it is; route.top_k must be 1 */
} mx_moe_settings;

/* Multi-head latent attention: of each head nope_dim columns do not rotate and rope_dim do. */
typedef struct mx_mla_settings {
    int32_t q_rank; /* columns that queries are made from; 0: from x itself */
    int32_t kv_rank;
    int32_t nope_dim;
    int32_t rope_dim;
    int32_t v_dim;
    int32_t rope; /* place from mx_builder_add_rope, of rope_dim columns; MX_NO_ROPE: positions are not told */
    float scale;
    float norm_eps;
    bool has_bias; /* on q_a_proj and kv_a_proj_with_mqa */
} mx_mla_settings;

/* An empty program of this shape. The source must outlive the builder. MX_NO_MEMORY. */
mx_status mx_builder_new(const mx_builder_shape *shape, mx_weight_source source, mx_builder **out,
                         mx_error *err) MX_NODISCARD;

/* Frees the builder and, unless it was finished, what it has built. NULL is fine. */
void mx_builder_free(mx_builder *b);

/* Moves the program to *out, checked (mx_program_check); its output is `logits`. Gives the first failure of any block
 * where there was one: MX_NOT_FOUND or MX_FORMAT naming the tensor, MX_NO_MEMORY. */
mx_status mx_builder_finish(mx_builder *b, mx_value logits, mx_program *out, mx_error *err) MX_NODISCARD;

/* Paths and names of the blocks that follow are those of layer i_layer; -1 for outside the layers. */
void mx_builder_set_layer(mx_builder *b, int32_t i_layer);

/* Heads of the attention blocks that follow. */
void mx_builder_set_heads(mx_builder *b, int32_t n_heads, int32_t n_kv_heads, int32_t head_dim);

/* Adds a rotary embedding (inv_freq [rot_dim / 2] is copied) and returns its place in mx_program.ropes. */
int32_t mx_builder_add_rope(mx_builder *b, const mx_rope_spec *rope);

/* The residual stream: the value that layers read and leave to the next. */
mx_value mx_stream(const mx_builder *b);
void mx_set_stream(mx_builder *b, mx_value x);

/* A second value that all layers may read; MX_NO_VALUE until it is set. */
mx_value mx_side(const mx_builder *b);
void mx_set_side(mx_builder *b, mx_value x);

/* Rows of the table at `path` for this step's tokens, times scale: [T, d_model]. */
mx_value mx_embed(mx_builder *b, const char *path, float scale);

/* The same of a table [n_rows, n_cols]; tokens past its end are row 0. */
mx_value mx_embed_table(mx_builder *b, const char *path, int64_t n_rows, int64_t n_cols, float scale);

/* x plus the rows of the table at `path` for the tokens' positions. The table has n_positions rows, at least n_ctx. */
mx_value mx_add_positions(mx_builder *b, mx_value x, const char *path, int64_t n_positions);

/* The rows whose logits are wanted: [S, n_cols of x]. */
mx_value mx_gather_samples(mx_builder *b, mx_value x);

/* Root-mean-square norm over whole rows, each head's head_dim columns. path NULL: without weights. */
mx_value mx_rmsnorm(mx_builder *b, mx_value x, const char *path);
mx_value mx_rmsnorm_heads(mx_builder *b, mx_value x, const char *path);

/* Mean and variance over each head's columns: one weight and bias for all heads, or a weight for each head and no bias.
 */
mx_value mx_layernorm_heads(mx_builder *b, mx_value x, const char *path, bool is_shared);

/* The norm that the shape names, over whole rows. */
mx_value mx_norm(mx_builder *b, mx_value x, const char *path);

/* x times the transpose of the weight at `path`, which must be [n_out, n_cols of x]; plus `<path>.bias` [n_out]. */
mx_value mx_linear(mx_builder *b, mx_value x, const char *path, int64_t n_out, bool has_bias);

/* The program's output: mx_linear with the table at `path`, [S, n_vocab], under the name "logits". */
mx_value mx_logits(mx_builder *b, mx_value x, const char *path, bool has_bias);

/* `<path>.q_proj`, `.k_proj`, `.v_proj`. */
mx_qkv mx_linear_qkv(mx_builder *b, mx_value x, const char *path, bool has_bias);

/* Rotates queries and keys by their positions; `rope` is a place from mx_builder_add_rope. k may be MX_NO_VALUE. */
mx_qkv mx_rope(mx_builder *b, mx_qkv t, int32_t rope);

/* Appends keys and values to a new cache and attends over it: [T, n_heads * head_dim]. */
mx_value mx_attention(mx_builder *b, mx_qkv t, const mx_attention_settings *settings);

/* Attends over the cache that layer i_layer, an earlier one, has made. */
mx_value mx_attention_shared(mx_builder *b, mx_value q, int32_t i_layer, const mx_attention_settings *settings);

/* Attention over latents of kv_rank columns (blocks_mla.c): weights `<path>.q_proj`, or `.q_a_proj`, `.q_a_layernorm`
 * and
 * `.q_b_proj`; `.kv_a_proj_with_mqa`, `.kv_a_layernorm`, `.embed_q` [n_heads, kv_rank, nope_dim], `.unembed_out`
 * [n_heads, v_dim, kv_rank]. Gives [T, n_heads * v_dim]. */
mx_value mx_mla(mx_builder *b, mx_value x, const char *path, const mx_mla_settings *settings);

/* down_proj(act(gate_proj(x)) * up_proj(x)), with d_ff columns in between. */
mx_value mx_glu_mlp(mx_builder *b, mx_value x, const char *path, int64_t d_ff, bool has_bias);

/* act(gate_proj(x)) * up_proj(x): the first half of it. */
mx_value mx_glu(mx_builder *b, mx_value x, const char *path, int64_t d_ff, bool has_bias);

/* down_proj(act(up_proj(x))), with d_ff columns in between. */
mx_value mx_plain_mlp(mx_builder *b, mx_value x, const char *path, int64_t d_ff, bool has_bias);

/* The same as mx_glu_mlp by route.top_k of n_experts: router `<path>.gate`, experts
 * `<path>.switch_mlp.{gate,up,down}_proj`. */
mx_value mx_moe_mlp(mx_builder *b, mx_value x, const char *path, const mx_moe_settings *settings);

/* The same by scores [T, n_experts] of the caller's. */
mx_value mx_moe_by_scores(mx_builder *b, mx_value x, mx_value scores, const char *path,
                          const mx_moe_settings *settings);

/* Each row of x [T, n_cols] times the sigmoid of its score [T, 1]. */
mx_value mx_gate_rows(mx_builder *b, mx_value x, mx_value score, const char *name);

/* mx_glu_mlp times the sigmoid of the row `gate_path` times x: an expert that every token has, to a degree. */
mx_value mx_gated_mlp(mx_builder *b, mx_value x, const char *path, const char *gate_path, int64_t d_ff);

/* down_proj(xielu(up_proj(x))) with the numbers of `<path>.act_fn` (Apertus). */
mx_value mx_xielu_mlp(mx_builder *b, mx_value x, const char *path, int64_t d_ff);

/* x times the numbers of the weight at `path`: n of them, one a column, or one for all. */
mx_value mx_multiply(mx_builder *b, mx_value x, const char *path, int64_t n);

/* min(max(x, -factor), factor). */
mx_value mx_clip(mx_builder *b, mx_value x, float factor);

/* a + b; x * factor; factor * tanh(x / factor). */
mx_value mx_add(mx_builder *b, mx_value x, mx_value y);
mx_value mx_scale(mx_builder *b, mx_value x, float factor);
mx_value mx_softcap(mx_builder *b, mx_value x, float factor);

/* Several values side by side (blocks_streams.c): the formulas are those of ops.def. m may be MX_NO_VALUE where values
 * are added to streams. */
mx_value mx_cutoff(mx_builder *b, mx_value x, float n_deviations);
mx_value mx_concat(mx_builder *b, mx_value x, mx_value y);
mx_value mx_match_rms(mx_builder *b, mx_value x, mx_value like, float least);
mx_value mx_mix_streams(mx_builder *b, mx_value x, mx_value m, int32_t n_streams);
mx_value mx_add_streams(mx_builder *b, mx_value x, mx_value a, mx_value m, mx_streams_params params);

/* Blocks with a state (blocks_recurrent.c) --------------------------------------------------------------------------
 */

/* The weight `<layer><path><suffix>` as n_rows x n_cols numbers, whatever dimensions of 1 the checkpoint has around or
 * between them: the small weights of convolutions and decays. */
int32_t mx_builder_numbers(mx_builder *b, const char *path, const char *suffix, int64_t n_rows, int64_t n_cols);

/* The weight at `path`, if there is one, without making it a part of the program: how a checkpoint stores it may tell
 * what a family has to know. */
bool mx_builder_probe(mx_builder *b, const char *path, mx_weight *out);

/* Replaces norm_weight_offset of the shape for the norms that follow. */
void mx_builder_set_norm_offset(mx_builder *b, float offset);

/* Root-mean-square norm over groups of n_group_cols with plain weights, whatever norm_weight_offset is: one for all
 * groups, or with is_wide one for every column. path NULL: without weights. */
mx_value mx_rmsnorm_groups(mx_builder *b, mx_value x, const char *path, int64_t n_group_cols, float eps, bool is_wide);

/* act(gate) * x. */
mx_value mx_gate(mx_builder *b, mx_value gate, mx_value x, mx_activation act, const char *name);

/* The view of n columns from `first` on. */
mx_columns mx_columns_from(int64_t first, int64_t n);

/* The view as a value of its own, [T, n_cols]. */
mx_value mx_slice(mx_builder *b, mx_value x, mx_columns view, int64_t n_cols, const char *name);

typedef struct mx_conv_settings {
    mx_value x;
    mx_columns x_columns;
    mx_value in_gate; /* or MX_NO_VALUE; see mx_conv_params */
    mx_columns in_gate_columns;
    mx_value out_gate;
    mx_columns out_gate_columns;
    int64_t n_channels;
    int32_t width;
    const char *path;       /* of the weight and the bias */
    int64_t n_all_channels; /* that these have; 0: n_channels */
    int32_t first_channel;  /* of them, to use */
    bool has_bias;
    bool has_silu;
} mx_conv_settings;

/* A causal convolution by channel: [T, n_channels]. */
mx_value mx_causal_conv(mx_builder *b, const mx_conv_settings *settings);

typedef struct mx_ssm_inputs {
    mx_value x, dt, b, c;
} mx_ssm_inputs;

/* Mamba's state space, [T, n_heads * head_dim]; the state's place in the parameters is filled here. */
mx_value mx_ssm_scan(mx_builder *b, const mx_ssm_inputs *in, mx_ssm_params params, const char *name);

typedef struct mx_delta_inputs {
    mx_value q, k, v, gate, beta;
} mx_delta_inputs;

/* The gated linear unit of Griffin at `path`, [T, n_cols of x]: input_gate_weight and _bias, recurrent_gate_weight and
 * _bias, recurrent_param. */
mx_value mx_rg_lru(mx_builder *b, mx_value x, const char *path, int32_t n_heads);

/* The gated delta rule, [T, n_v_heads * v_dim]; the same. */
mx_value mx_delta_rule(mx_builder *b, const mx_delta_inputs *in, mx_delta_params params, const char *name);

#endif
