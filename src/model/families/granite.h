/* granite.h - the multipliers that all Granite models have. */
#ifndef MX_MODEL_FAMILIES_GRANITE_H
#define MX_MODEL_FAMILIES_GRANITE_H

#include "model/family.h"

/* Rows of a table of fields. */
#define MX_GRANITE_SCALES                                                                    \
    MX_FIELD(mx_model_config, F64, attention_scale, "attention_multiplier", 0, 1000000),     \
        MX_FIELD(mx_model_config, F64, embedding_scale, "embedding_multiplier", 0, 1000000), \
        MX_FIELD(mx_model_config, F64, residual_scale, "residual_multiplier", 0, 1000000),   \
        MX_FIELD(mx_model_config, F64, logit_scale, "logits_scaling", 0, 1000000)

/* Turns "logits_scaling", which divides, into a factor. MX_FORMAT where a multiplier is 0. */
mx_status mx_granite_read_scales(mx_model_config *c, mx_error *err);

#endif
