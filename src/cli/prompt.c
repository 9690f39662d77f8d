/* prompt.c - a conversation of one turn. */
#include "cli/prompt.h"

#include <string.h>

mlxcel_status mx_cli_tokenize_chat(const mlxcel_model *model, const mx_cli_options *options, mx_str text,
                                   mlxcel_tokens *tokens, mlxcel_error *err)
{
    mlxcel_message messages[2];
    int32_t n_messages = 0;
    if (options->system) {
        messages[n_messages++] = (mlxcel_message){"system", options->system, strlen(options->system)};
    }
    messages[n_messages++] = (mlxcel_message){"user", text.ptr, text.len};
    return mlxcel_tokenize_chat(model, messages, n_messages, tokens, err);
}

mlxcel_status mx_cli_open_text(const mx_cli_options *options, mlxcel_model **model, mlxcel_error *err)
{
    const mlxcel_model_options open = {.n_struct_bytes = sizeof open, .text_only = 1};
    return mlxcel_model_open(options->model, &open, model, err);
}
