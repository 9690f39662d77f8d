/* engine_use.h - what the commands that write text share: the engine, and the line of counts and speeds. */
#ifndef MX_CLI_ENGINE_USE_H
#define MX_CLI_ENGINE_USE_H

#include "cli/options.h"
#include "mlxcel.h"

/* Opens an engine for texts of n_ctx tokens with the command line's threads and device, and says on standard error why
 * a GPU that is there is not used. */
mlxcel_status mx_cli_open_engine(const mlxcel_model *model, const mx_cli_options *options, int32_t n_ctx,
                                 mlxcel_engine **out, mlxcel_error *err);

/* Tokens a second; 0 where no time has passed. */
double mx_cli_per_second(int32_t n, double seconds);

/* One line on standard error, behind `begin`. */
void mx_cli_print_statistics(const mlxcel_result *result, const mlxcel_sampling *sampling, const char *begin);

#endif
