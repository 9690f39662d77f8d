/* build.h - a configuration and a family into a program. */
#ifndef MX_MODEL_BUILD_H
#define MX_MODEL_BUILD_H

#include "model/config.h"
#include "program/builder.h"

/* Builds the plain program of a model for sequences of up to n_ctx positions; weights come from `source`.
 * `has_lm_head` tells whether the checkpoint has one; where it has not, or the configuration ties them, logits are
 * products with the embedding. The statuses of mx_builder_finish. */
mx_status mx_model_build(const mx_model_config *config, const mx_family *family, int32_t n_ctx, bool has_lm_head,
                         mx_weight_source source, mx_program *out, mx_error *err) MX_NODISCARD;

#endif
