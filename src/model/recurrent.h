/* recurrent.h - what families with recurrent layers have in common. */
#ifndef MX_MODEL_RECURRENT_H
#define MX_MODEL_RECURRENT_H

#include "model/family.h"

/* For mx_family.read: a copy of the family's own fields, of n_bytes, which may be changed; c->own is the copy. */
mx_status mx_own_edit(mx_arena *arena, mx_model_config *c, size_t n_bytes, void **out, mx_error *err);

/* For mx_family.layers: every layer is recurrent. */
mx_status mx_layers_all_recurrent(yyjson_val *obj, const mx_model_config *c, mx_layer_config *layers, mx_error *err);

/* For mx_family.layers: the list under `key` names the kind of every layer. Those called `recurrent` are recurrent, and
 * the others must be called `attention`, each a name or several, "mamba|linear_attention". *found is false where there
 * is no such list. */
mx_status mx_layers_by_types(yyjson_val *obj, const char *key, const char *recurrent, const char *attention,
                             const mx_model_config *config, mx_layer_config *layers, bool *found, mx_error *err);

#endif
