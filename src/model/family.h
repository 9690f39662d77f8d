/* family.h - what one family file offers: names, defaults and a build function. The table of all is registry.c. */
#ifndef MX_MODEL_FAMILY_H
#define MX_MODEL_FAMILY_H

#include "model/config.h"
#include "program/builder.h"

#define MX_FAMILY_MAX_TYPES 4

/* A rotary embedding without scaling, for tables of defaults. */
#define MX_ROPE_PLAIN(theta_)                                                                     \
    {                                                                                             \
        .theta = (theta_), .partial_factor = 1, .beta_fast = 32, .beta_slow = 1, .truncate = true \
    }

/* Another name of a weight in some checkpoints. A path that contains `name` is also looked for with `other` in its
 * place; a '*' in `other` stands for the number of an expert, each a tensor of its own. */
typedef struct mx_rename {
    const char *name;
    const char *other;
} mx_rename;

/* Sets one field of all layers from the text configuration. */
typedef mx_status (*mx_layer_rule)(yyjson_val *obj, const mx_model_config *config, mx_layer_config *layers,
                                   mx_error *err);

struct mx_family {
    const char *model_types[MX_FAMILY_MAX_TYPES]; /* as in config.json; NULL past the last */
    const char *source;                           /* where the architecture is defined */
    const mx_model_config *defaults;              /* of the official configuration class */
    mx_layer_rule sliding;                        /* NULL: every layer sees all positions */
    mx_layer_rule sparse;                         /* NULL: no layer has experts */
    const mx_rename *renames;                     /* NULL, or up to a row without a name */

    /* One layer: reads mx_stream and sets it. Paths are relative to the layer. */
    void (*layer)(mx_builder *b, const mx_model_config *c, int32_t i_layer);
};

/* Rules for `sliding`. All of them read "sliding_window"; none slides where it is null or 0.
 * all: every layer. after_full: if "use_sliding_window", the layers from "max_window_layers" on. pattern: all but every
 * "sliding_window_pattern"-th. The last two are overruled by "layer_types". */
mx_status mx_sliding_all(yyjson_val *obj, const mx_model_config *config, mx_layer_config *layers, mx_error *err);
mx_status mx_sliding_after_full(yyjson_val *obj, const mx_model_config *config, mx_layer_config *layers, mx_error *err);
mx_status mx_sliding_pattern(yyjson_val *obj, const mx_model_config *config, mx_layer_config *layers, mx_error *err);

/* The family of a model_type, NULL when there is none. */
const mx_family *mx_family_find(mx_str model_type);

/* MX_UNSUPPORTED with the nearest known model_type and the list of all. */
mx_status mx_family_fail_unknown(mx_str model_type, mx_error *err);

#endif
