/* recurrent.h - what families with recurrent layers have in common. */
#ifndef MX_MODEL_RECURRENT_H
#define MX_MODEL_RECURRENT_H

#include "model/family.h"

/* For mx_family.layers: the list under `key` names the kind of every layer; those called `recurrent` are recurrent, and
 * the others must be called `attention`. *found is false where there is no such list. */
mx_status mx_layers_by_types(yyjson_val *obj, const char *key, const char *recurrent, const char *attention,
                             const mx_model_config *config, mx_layer_config *layers, bool *found, mx_error *err);

#endif
