/* family.h - what one family file offers: names, defaults and a build function. The table of all is registry.c. */
#ifndef MX_MODEL_FAMILY_H
#define MX_MODEL_FAMILY_H

#include "model/config.h"
#include "model/fields.h"
#include "program/builder.h"

#define MX_FAMILY_MAX_TYPES 6

/* A rotary embedding without scaling, for tables of defaults. */
#define MX_ROPE_PLAIN(theta_)                                                                     \
    {                                                                                             \
        .theta = (theta_), .partial_factor = 1, .beta_fast = 32, .beta_slow = 1, .truncate = true \
    }

/* The same of heads of which only a share turns. */
#define MX_ROPE_PARTIAL(theta_, share_)                                                                  \
    {                                                                                                    \
        .theta = (theta_), .partial_factor = (share_), .beta_fast = 32, .beta_slow = 1, .truncate = true \
    }

/* Which rows of a fused matrix, and which elements of its bias, a weight is. */
typedef enum mx_part {
    MX_PART_Q, /* all queries, then all keys, then all values, of the layer's heads */
    MX_PART_K,
    MX_PART_V,
    MX_PART_GROUP_Q, /* for each key head: the queries that read it, the key, the value */
    MX_PART_GROUP_K,
    MX_PART_GROUP_V,
    MX_PART_HEAD_Q, /* for each query head: its query, and the gate on its output */
    MX_PART_HEAD_GATE,
    MX_PART_FIRST_HALF, /* gate and up */
    MX_PART_SECOND_HALF,
    /* Of stacks of experts, which are stored [n_experts, n_in, n_out] where they are dense and have no ".weight": */
    MX_PART_TURNED,
    MX_PART_TURNED_FIRST_HALF,
    MX_PART_TURNED_SECOND_HALF,
    MX_PART_TURNED_EVEN, /* outputs 0, 2, ... */
    MX_PART_TURNED_ODD,
    MX_PART_STACKED,        /* experts one after the other: [n_experts * n_out, n_in] */
    MX_PART_STACKED_TURNED, /* [n_experts * n_in, n_out], dense */
    MX_PART_LATENT_KEYS,    /* of each head, its first mla.nope_dim rows, turned: [n_heads, kv_rank, nope_dim] */
    MX_PART_LATENT_VALUES,  /* and its last mla.v_dim rows: [n_heads, v_dim, kv_rank] */
} mx_part;

/* Another name of a weight in some checkpoints. A path that contains `name` is also looked for with `other` in its
 * place; a '*' in `other` stands for the number of an expert, each a tensor of its own. */
typedef struct mx_rename {
    const char *name;
    const char *other;
} mx_rename;

/* The weight `name` is a part of the weight `fused` of the same layer. */
typedef struct mx_fusion {
    const char *name;
    const char *fused;
    mx_part part;
} mx_fusion;

/* How the names of a checkpoint's tensors begin: "<body>embed_tokens", "<body><layers>3.", "<head>lm_head". */
typedef struct mx_stem {
    const char *body; /* NULL past the last */
    const char *layers;
    const char *head;
    bool is_by_input; /* matrices inside the layers are stored [n_in, n_out] */
} mx_stem;

/* Sets one field of all layers from the text configuration. */
typedef mx_status (*mx_layer_rule)(yyjson_val *obj, const mx_model_config *config, mx_layer_config *layers,
                                   mx_error *err);

/* What one family alone reads from config.json, into a struct of its own: mx_model_config.own. */
typedef struct mx_own_fields {
    size_t n_bytes;         /* of the struct; 0: the family has none */
    const void *defaults;   /* of the official configuration class */
    const mx_field *fields; /* offsets are into the struct */
} mx_own_fields;

/* The four that read are called in the order in which they stand here. */
struct mx_family {
    const char *model_types[MX_FAMILY_MAX_TYPES]; /* as in config.json; NULL past the last */
    const char *title;                            /* what people call it; NULL: as the first of its types */
    const char *limits;                           /* what it does not do, for people; NULL: nothing is known */
    const char *source;                           /* where the architecture is defined */
    const mx_model_config *defaults;              /* of the official configuration class */
    const mx_rename *renames;                     /* NULL, or up to a row without a name */
    const mx_fusion *fusions;                     /* NULL, or up to a row without a name */
    const mx_stem *stems;                         /* NULL: those that most have (tensor_map.c) */
    const mx_field *fields;                       /* NULL, or further keys for members of mx_model_config */
    mx_own_fields own;
    const char *own_activation; /* a "hidden_act" that the family's own blocks compute; NULL: there is none */

    /* NULL, or reads what no table can, or derives shared numbers: before they are checked and the layers are laid out.
     */
    mx_status (*read)(yyjson_val *obj, mx_arena *arena, mx_model_config *c, mx_error *err);

    mx_layer_rule sliding; /* NULL: every layer sees all positions */
    mx_layer_rule sparse;  /* NULL: no layer has experts */
    mx_layer_rule layers;  /* NULL, or anything else that differs by layer; the result is checked */

    /* NULL, or what comes between the embedding and the layers, and between the layers and the last norm. */
    void (*begin)(mx_builder *b, const mx_model_config *c);
    void (*end)(mx_builder *b, const mx_model_config *c);

    /* One layer: reads mx_stream and sets it. Paths are relative to the layer. */
    void (*layer)(mx_builder *b, const mx_model_config *c, int32_t i_layer);

    /* NULL, or the last change of the logits, which are products with the embedding if is_tied. */
    mx_value (*logits)(mx_builder *b, const mx_model_config *c, mx_value logits, bool is_tied);
};

/* Rules for `sliding`. All of them read "sliding_window"; none slides where it is null or 0.
 * all: every layer. listed: the same. after_full: if "use_sliding_window", the layers from "max_window_layers" on.
 * pattern: all but every "sliding_window_pattern"-th. alternate: the first, the third, and so on. All but the first are
 * overruled by "layer_types". */
mx_status mx_sliding_all(yyjson_val *obj, const mx_model_config *config, mx_layer_config *layers, mx_error *err);
mx_status mx_sliding_listed(yyjson_val *obj, const mx_model_config *config, mx_layer_config *layers, mx_error *err);
mx_status mx_sliding_after_full(yyjson_val *obj, const mx_model_config *config, mx_layer_config *layers, mx_error *err);
mx_status mx_sliding_alternate(yyjson_val *obj, const mx_model_config *config, mx_layer_config *layers, mx_error *err);
mx_status mx_sliding_pattern(yyjson_val *obj, const mx_model_config *config, mx_layer_config *layers, mx_error *err);

/* For `layers`: those that see everything know no positions. */
mx_status mx_rope_where_sliding(yyjson_val *obj, const mx_model_config *config, mx_layer_config *layers, mx_error *err);

/* What overrules them: "layer_types": ["sliding_attention", "full_attention", ...]; *found is false where there is
 * none.
 */
mx_status mx_sliding_by_types(yyjson_val *obj, const mx_model_config *config, mx_layer_config *layers, bool *found,
                              mx_error *err);

/* The golden logits that a model_type has (tests/golden/logits). */
typedef struct mx_family_proof {
    const char *model_type;
    int32_t n_float; /* checkpoints as they were trained */
    int32_t n_quantised;
    int32_t n_tokens; /* of the longest run */
} mx_family_proof;

/* The family of a model_type, NULL when there is none. */
const mx_family *mx_family_find(mx_str model_type);

/* The i-th of all families, NULL past the last. */
const mx_family *mx_family_at(size_t i);

/* Zeros where there are no goldens. */
mx_family_proof mx_family_find_proof(const char *model_type);

/* MX_UNSUPPORTED with the nearest known model_type. */
mx_status mx_family_fail_unknown(mx_str model_type, mx_error *err);

#endif
