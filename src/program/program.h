/* program.h - a model as a flat list of operations over typed values.
 *
 * A family builds a program through builder.h; passes (passes.h) rewrite it; plan.h places its values; a back end runs
 * the plan on a batch (batch.h). A program is immutable after its passes and shared by threads. It owns its lists; it
 * borrows weight bytes from the checkpoint.
 *
 * A value is a matrix [rows, n_cols]. Rows are symbolic: T tokens of a step, or S rows to be sampled, times a constant
 * factor (experts per token). All other numbers are known at load.
 */
#ifndef MX_PROGRAM_PROGRAM_H
#define MX_PROGRAM_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "program/recurrent_ops.h"
#include "weights/weight.h"

#define MX_NO_VALUE  (-1)
#define MX_NO_WEIGHT (-1)
#define MX_NO_ROPE   (-1)

#define MX_OP_MAX_IN  5
#define MX_OP_MAX_OUT 4

typedef int32_t mx_value; /* place in mx_program.values */

typedef enum mx_row_kind {
    MX_ROWS_TOKENS,  /* T: tokens of the step, all sequences one after the other */
    MX_ROWS_SAMPLES, /* S: rows whose logits are wanted */
} mx_row_kind;

typedef enum mx_value_type {
    MX_VALUE_F32, /* activations; a back end may hold them in another float format */
    MX_VALUE_I32, /* token and expert ids */
} mx_value_type;

typedef struct mx_value_info {
    mx_row_kind rows;
    int32_t row_factor; /* rows = T or S, times this; 1 but for expert slots */
    int64_t n_cols;
    mx_value_type type;
    const char *name; /* for printing: "layers.3.mlp.gate"; lives in the program's arena */
} mx_value_info;

typedef enum mx_op_kind {
#define MX_OP(name, n_in, n_out, params, formula) MX_OP_##name,
#include "program/ops.def"
#undef MX_OP
    MX_OP_COUNT
} mx_op_kind;

typedef enum mx_activation {
    MX_ACT_SILU,       /* x / (1 + exp(-x)) */
    MX_ACT_GELU,       /* x * 0.5 * (1 + erf(x / sqrt(2))) */
    MX_ACT_GELU_TANH,  /* x * 0.5 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))) */
    MX_ACT_GELU_QUICK, /* x / (1 + exp(-1.702 x)) */
    MX_ACT_RELU,       /* max(x, 0) */
    MX_ACT_RELU2,      /* max(x, 0)^2 */
    MX_ACT_SIGMOID,    /* 1 / (1 + exp(-x)): gates on the output of attention */
    MX_ACT_SWIGLU_OAI, /* of a GLU alone, GPT-OSS: g = min(gate, 7), u = min(max(up, -7), 7);
                          g / (1 + exp(-1.702 g)) * (u + 1) */
    MX_ACT_COUNT
} mx_activation;

typedef struct mx_none_params {
    char reserved;
} mx_none_params;

typedef struct mx_embed_params {
    int32_t weight; /* [at most n_vocab, n_cols]; places in mx_program.weights here and below */
    float scale;
} mx_embed_params;

/* A table with a row for each position. */
typedef struct mx_position_params {
    int32_t weight; /* [at least n_ctx, n_cols] */
} mx_position_params;

typedef struct mx_norm_params {
    int32_t weight; /* [n_group_cols], of LAYERNORM also [n_groups, n_group_cols]; MX_NO_WEIGHT for a plain one */
    float eps;
    float weight_offset;  /* 0, or 1 for Gemma's (1 + w) */
    int64_t n_group_cols; /* columns normalised together: n_cols, or head_dim for norms on heads */
    bool is_wide;         /* of RMSNORM alone: weight is [n_cols], each group has its own */
    bool is_centered;     /* LAYERNORM: the mean is subtracted first, and bias is looked at */
    int32_t bias;         /* [n_group_cols], or MX_NO_WEIGHT */
} mx_norm_params;

typedef struct mx_scale_params {
    float factor;
} mx_scale_params;

/* Of MULTIPLY and SCALE_CHOSEN. */
typedef struct mx_vector_params {
    int32_t weight; /* [n_cols] or [1]; SCALE_CHOSEN: [n_experts] */
} mx_vector_params;

typedef struct mx_xielu_params {
    int32_t alpha_p, alpha_n, beta, eps; /* weights [1] */
} mx_xielu_params;

/* A value of n_streams values side by side, each of n_cols / n_streams columns. */
typedef struct mx_streams_params {
    int32_t n_streams;
    int32_t first; /* ADD_STREAMS: streams before it stay as they are */
    float offset;  /* ADD_STREAMS: on m */
} mx_streams_params;

/* Of GLU and ACTIVATION. */
typedef struct mx_glu_params {
    mx_activation act;
} mx_glu_params;

/* in[0] is x [R, K]; LINEAR: in[1] is the residual or MX_NO_VALUE; EXPERT_LINEAR: in[1] holds the ids [T, k] i32.
 * Plain form: one weight, one output. Passes make one operation of several that share x (n_weights > 1, out[i] from
 * weights[i]); with has_glu, weights are {gate, up} and out[0] = act(y_0) * y_1 alone; with has_act there is one.
 * HEAD_LINEAR has one weight, a stack of one matrix a head, and nothing else. */
typedef struct mx_linear_params {
    int32_t n_weights;
    int32_t weights[MX_OP_MAX_OUT]; /* [n_i, K] */
    int32_t biases[MX_OP_MAX_OUT];  /* [n_i] (EXPERT_LINEAR: [n_experts, n_i]) or MX_NO_WEIGHT */
    bool has_norm;                  /* x is normalised first, by `norm` over all of its K columns */
    bool has_glu;
    bool has_act;      /* the one output is act(y_0), before the residual is added */
    mx_activation act; /* of has_glu or has_act */
    mx_norm_params norm;
} mx_linear_params;

typedef struct mx_rope_params {
    int32_t rope;    /* place in mx_program.ropes */
    int32_t n_heads; /* n_cols = n_heads * head_dim */
    int32_t head_dim;
} mx_rope_params;

typedef struct mx_kv_append_params {
    int32_t i_cache; /* place in mx_program.caches */
} mx_kv_append_params;

/* Queries far from the start are sharpened: those of position p are also times 1 + beta * log(1 + floor((p + shift) /
 * n_positions)). */
typedef struct mx_sharpening {
    float beta; /* 0: not */
    int32_t n_positions;
    int32_t shift;
} mx_sharpening;

/* Plain form: in = {q, MX_NO_VALUE, MX_NO_VALUE}, keys and values are in the cache, this step's included.
 * Fused form (has_append): in = {q, k, v} as projected; q_norm and k_norm (over head_dim) and rope are applied where
 * they are set, then k and v are appended, then the attention is computed. */
typedef struct mx_attention_params {
    int32_t i_cache;
    int32_t n_heads; /* query heads; a multiple of the cache's n_kv_heads: head h reads kv head h / (n_heads /
                        n_kv_heads) */
    float scale;     /* usually 1 / sqrt(head_dim) */
    mx_sharpening sharpening;
    int32_t window; /* a token sees this many positions, its own included; 0: all */
    int32_t chunk;  /* positions come in chunks of so many, and a token sees none before its own chunk; 0: one chunk */
    float softcap;  /* 0: none; else scores become softcap * tanh(score / softcap) */
    int32_t sinks;  /* weight [n_heads]: one more logit a head in the softmax's sum; or MX_NO_WEIGHT */
    bool has_append;
    bool has_qk_norm;
    mx_norm_params q_norm;
    mx_norm_params k_norm;
    int32_t rope; /* MX_NO_ROPE: none */
} mx_attention_params;

/* in[0] is a [T, n_heads * n_a], in[1] b [T, n_heads * n_b] or MX_NO_VALUE, then n_second is 0. */
typedef struct mx_columns_params {
    int32_t n_heads;
    int32_t first; /* column of each of a's heads */
    int32_t n_first;
    int32_t second; /* column of each of b's heads */
    int32_t n_second;
} mx_columns_params;

typedef enum mx_route_score {
    MX_SCORE_SOFTMAX,     /* p[e] = exp(x[e]) / sum of exp(x) over all experts */
    MX_SCORE_SIGMOID,     /* p[e] = 1 / (1 + exp(-x[e])) */
    MX_SCORE_SPARSEMIXER, /* p[e] = x[e]; see mx_route_params */
} mx_route_score;

/* 1. p = score(x). 2. c = p + bias. 3. With groups, neighbours of n_experts / n_groups experts: only the top_groups
 * groups with the largest ranks stay. 4. The top_k largest c among them, largest first, the first of equals.
 * 5. w[j] = p[ids[j]]; normalize: divided by max(sum of w, min_sum). 6. w times scale.
 * SPARSEMIXER has neither bias nor groups nor sum: w[j] = 1 / sum of exp(x[e] - m), m = x[ids[j]], over the experts e
 * not chosen before j with (m - x[e]) / max(|x[e]|, m) <= 2 * jitter (Phi-3.5-MoE). */
typedef struct mx_route_params {
    int32_t top_k;
    mx_route_score score;
    int32_t bias;          /* weight [n_experts], for the choice alone; or MX_NO_WEIGHT */
    int32_t n_groups;      /* 0 or 1: none */
    int32_t top_groups;    /* with groups: how many of them stay */
    bool ranks_by_top_two; /* a group's rank is the sum of its two largest c; else its largest */
    bool normalize;
    float min_sum;
    float scale;
    float jitter; /* of SPARSEMIXER */
} mx_route_params;

typedef struct mx_peer_params {
    int32_t i_stage; /* the other stage; what one sends to another arrives in the order of sending */
} mx_peer_params;

/* Inputs and outputs by kind (LINEAR, EXPERT_LINEAR and ATTENTION above):
 *   EMBED {tokens}   ADD_POSITIONS, GATHER_ROWS, RMSNORM, LAYERNORM, SCALE, SOFTCAP, CLIP, MULTIPLY, XIELU,
 *   CUTOFF, ACTIVATION, ROPE, SLICE {x}   CONCAT, MATCH_RMS {a, b}
 *   MIX_STREAMS {x [T, n * d], m [T, n * n]}   ADD_STREAMS {x [T, n * d], a [T, d], m [T, n] or MX_NO_VALUE}
 *   ADD {a, b}   GLU {gate, up}   KV_APPEND {k, v; of a latent cache {k}}
 *   ROUTE {scores [T, n_experts]} -> {ids [T, top_k] i32, weights [T, top_k]}
 *   SCALE_CHOSEN {weights [T, top_k], ids [T, top_k] i32} -> {y [T, top_k]}
 *   EXPERT_COMBINE {x [T * top_k, n_cols], weights [T, top_k]} -> {y [T, n_cols]}
 *   ALLREDUCE {x, residual or MX_NO_VALUE} -> {y}   ALLGATHER {x [R, part of the columns]} -> {y [R, n_cols]}
 *   SEND {x}   RECV {} -> {y}
 *   CAUSAL_CONV, SSM_SCAN, DELTA_RULE, RG_LRU: recurrent_ops.h */
typedef struct mx_op {
    mx_op_kind kind;
    int32_t i_layer;             /* -1 outside the layers */
    mx_value in[MX_OP_MAX_IN];   /* MX_NO_VALUE where absent */
    mx_value out[MX_OP_MAX_OUT]; /* MX_NO_VALUE where absent */
    union {
        mx_none_params none;
        mx_embed_params embed;
        mx_position_params position;
        mx_norm_params norm;
        mx_scale_params scale;
        mx_vector_params vector;
        mx_xielu_params xielu;
        mx_streams_params streams;
        mx_glu_params glu;
        mx_linear_params linear;
        mx_rope_params rope;
        mx_kv_append_params kv_append;
        mx_attention_params attention;
        mx_route_params route;
        mx_columns_params columns;
        mx_peer_params peer;
        mx_slice_params slice;
        mx_conv_params conv;
        mx_ssm_params ssm;
        mx_delta_params delta;
        mx_lru_params lru;
    } u;
} mx_op;

/* Keys and values of one layer, for every position of every sequence. */
typedef struct mx_cache_spec {
    int32_t n_kv_heads;
    int32_t k_dim;   /* columns of one key head */
    int32_t v_dim;   /* columns of one value head */
    int32_t window;  /* positions that are ever looked back at; 0: all */
    int32_t i_layer; /* which fills it; later layers may read it too */
    bool is_latent;  /* values are the last v_dim columns of the keys, stored once (MLA) */
} mx_cache_spec;

/* The first position that a token at `position` sees. */
static inline int32_t mx_attention_first(const mx_attention_params *p, int32_t position)
{
    const int32_t first = p->window > 0 && position >= p->window ? position - p->window + 1 : 0;
    const int32_t start = p->chunk > 0 ? position - position % p->chunk : 0;
    return first > start ? first : start;
}

/* What a recurrent layer remembers of a sequence, however long it is: [n_rows, n_cols] f32, all 0 before its first
 * token. The states of all layers of one sequence together are a slot (batch.h). */
typedef struct mx_state_spec {
    int32_t n_rows; /* channels or heads, each of which goes on without the others */
    int32_t n_cols; /* numbers of each */
} mx_state_spec;

/* Rotary embedding, resolved at load: scaling of every kind ends as a table of frequencies and a factor. */
typedef struct mx_rope_spec {
    int32_t rot_dim;       /* even; columns of a head that rotate */
    bool is_interleaved;   /* pairs (0,1), (2,3), ... ; else pairs (i, i + rot_dim/2) */
    const float *inv_freq; /* [rot_dim / 2] radians a position; lives in the program's arena */
    float factor;          /* on cos and sin (yarn, longrope); 1 otherwise */
} mx_rope_spec;

/* Which part this is of a model that is divided among several executors: in each of n_stages groups of layers, n_ranks
 * hold a part of every matrix (pass_shard.c, pass_cut.c). Counts of 0 mean 1: an undivided model is zeroed. */
typedef struct mx_shard {
    int32_t i_rank;
    int32_t n_ranks;
    int32_t i_stage;
    int32_t n_stages;
} mx_shard;

/* The part of n items that rank i_rank of n_ranks has: [*from, *to). Parts differ by at most one item. */
static inline void mx_shard_part(int64_t n, int32_t i_rank, int32_t n_ranks, int64_t *from, int64_t *to)
{
    *from = n * i_rank / n_ranks;
    *to = n * (i_rank + 1) / n_ranks;
}

/* Columns that a cache stores for a position and head. */
static inline int64_t mx_cache_cols(const mx_cache_spec *cache)
{
    return (int64_t)cache->k_dim + (cache->is_latent ? 0 : cache->v_dim);
}

typedef struct mx_program {
    mx_arena arena; /* owns everything below */
    mx_value_info *values;
    int32_t n_values;
    mx_op *ops; /* in the order of execution */
    int32_t n_ops;
    mx_weight *weights;
    int32_t n_weights;
    mx_cache_spec *caches;
    int32_t n_caches;
    mx_rope_spec *ropes;
    int32_t n_ropes;
    mx_state_spec *states;
    int32_t n_states;
    mx_value tokens; /* input: token ids [T, 1] i32 */
    mx_value logits; /* output: [S, n_vocab]; MX_NO_VALUE in all stages but the last */
    mx_shard shard;
    int32_t n_layers;
    int32_t n_ctx; /* positions that a sequence may have */
    int32_t n_vocab;
} mx_program;

typedef struct mx_op_info {
    const char *name;
    int32_t n_in;
    int32_t n_out;
    const char *formula;
} mx_op_info;

/* The scale of the scores of a token at this position: p->scale, sharpened. */
float mx_attention_scale(const mx_attention_params *p, int32_t position);

/* Name, arity and formula of every kind, from ops.def; index with the kind. */
extern const mx_op_info mx_op_infos[MX_OP_COUNT];

/* An operation of this kind without inputs and outputs. */
mx_op mx_op_of(mx_op_kind kind, int32_t i_layer);

/* Bytes of the states of one sequence; 0 for a program without recurrent layers. */
int64_t mx_program_state_bytes(const mx_program *program);

/* Whether each of the n_groups groups of a LAYERNORM has a weight of its own. */
bool mx_norm_has_group_weights(const mx_program *program, const mx_norm_params *norm, int64_t n_groups);

/* Whether operations of this kind multiply with the weights of mx_op.u.linear. */
static inline bool mx_op_is_linear(mx_op_kind kind)
{
    return kind == MX_OP_LINEAR || kind == MX_OP_EXPERT_LINEAR || kind == MX_OP_HEAD_LINEAR;
}

/* Frees the program's lists. A zeroed program is fine. */
void mx_program_deinit(mx_program *program);

#endif
