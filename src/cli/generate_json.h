/* generate_json.h - mlxcel generate --json: the whole answer as one JSON object. */
#ifndef MX_CLI_GENERATE_JSON_H
#define MX_CLI_GENERATE_JSON_H

#include "mlxcel.h"

/* What standard error says of a finish. */
const char *mx_cli_finish_text(mlxcel_finish finish);

/* Runs the request (its callbacks are not used) and prints what came of it. has_tokens: each token, too. Returns the
 * exit code. */
int mx_cli_generate_json(mlxcel_engine *engine, const mlxcel_request *request, int has_tokens);

#endif
