/* sampling_options.h - from the command line to the settings of mlxcel.h. */
#ifndef MX_CLI_SAMPLING_OPTIONS_H
#define MX_CLI_SAMPLING_OPTIONS_H

#include "cli/options.h"
#include "mlxcel.h"

#define MX_CLI_MAX_SAMPLERS 9

typedef struct mx_cli_sampling {
    mlxcel_sampling settings; /* may point to the next */
    mlxcel_sampler order[MX_CLI_MAX_SAMPLERS];
} mx_cli_sampling;

/* The model's recommendations, with what the command line says on top, and a new seed where it names none. *out must
 * stay where it is. MX_INVALID: a name of --samplers that there is not. */
mx_status mx_cli_read_sampling(const mlxcel_model *model, const mx_cli_options *options, mx_cli_sampling *out,
                               mx_error *err) MX_NODISCARD;

#endif
