/* prompt.h - from what a user gives to the model's prompt. */
#ifndef MX_CLI_PROMPT_H
#define MX_CLI_PROMPT_H

#include "base/str.h"
#include "cli/options.h"
#include "mlxcel.h"

/* Tokens of a conversation of --system (where given) and one message of the user. */
mlxcel_status mx_cli_tokenize_chat(const mlxcel_model *model, const mx_cli_options *options, mx_str text,
                                   mlxcel_tokens *tokens, mlxcel_error *err);

/* Opens the tokenizer and template of -m, without its weights. */
mlxcel_status mx_cli_open_text(const mx_cli_options *options, mlxcel_model **model, mlxcel_error *err);

#endif
