/* model_arg.h - from what a user writes for a model to a folder on this machine. */
#ifndef MX_CLI_MODEL_ARG_H
#define MX_CLI_MODEL_ARG_H

#include "base/arena.h"
#include "cli/options.h"

/* Replaces options->model, where it is the name of a repository, by the folder of the model: the store's, the Hugging
 * Face cache's, or, unless --offline, one that is downloaded now, with progress on standard error. Does nothing where
 * no model is given. Strings live in the arena. The statuses of mx_model_name_parse and mx_download_model; a name that
 * is near to a model of this machine gets that as a suggestion. */
mx_status mx_cli_find_model(mx_arena *arena, mx_cli_options *options, mx_error *err) MX_NODISCARD;

#endif
