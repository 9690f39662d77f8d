/* chat.h - a model's chat template: from the texts of its directory to the prompt of a conversation.
 *
 * Callers read the files; this part finds the template and the special tokens in them. A chat does not change after it
 * is opened and may be used from any thread.
 */
#ifndef MX_TEXT_CHAT_H
#define MX_TEXT_CHAT_H

#include "text/template/template.h"

typedef struct mx_chat mx_chat;

/* Contents of a model directory's files; ptr NULL where a file is absent. Borrowed for the call. */
typedef struct mx_chat_files {
    mx_str
        tokenizer_config_json; /* chat_template (a string, or a list of {name, template}), bos_token, eos_token, ... */
    mx_str special_tokens_map_json; /* tokens that tokenizer_config.json does not have */
    mx_str chat_template_jinja;     /* takes precedence over the others */
    mx_str chat_template_json;      /* {"chat_template": ...}; next in precedence */
} mx_chat_files;

/* Finds and parses the templates. `name` names the model in errors.
 * MX_NOT_FOUND where no file has a template, MX_FORMAT for a file or a template that does not parse, MX_NO_MEMORY. */
mx_status mx_chat_open(const mx_chat_files *files, const char *name, mx_chat **out, mx_error *err) MX_NODISCARD;

/* NULL is fine. */
void mx_chat_close(mx_chat *chat);

typedef struct mx_chat_message {
    mx_str role; /* "system", "user", "assistant", ... */
    mx_str content;
} mx_chat_message;

/* Renders a conversation as the prompt text, special tokens included (it is not to get a further bos).
 *
 * extra_json             further variables as the text of a JSON object, {"enable_thinking": false}; ptr NULL: none
 * add_generation_prompt  ends with the opening of the assistant's turn
 * The statuses of mx_template_render; report may be NULL.
 */
mx_status mx_chat_render(const mx_chat *chat, const mx_chat_message *messages, size_t n_messages,
                         bool add_generation_prompt, mx_str extra_json, const mx_template_options *options, mx_buf *out,
                         mx_template_report *report, mx_error *err) MX_NODISCARD;

/* The same for messages in the form of the OpenAI API (tool calls, content parts) and tool descriptions.
 * messages is a JSON array, tools one too or NULL. With tools, the template named "tool_use" is taken where there is
 * one. */
mx_status mx_chat_render_json(const mx_chat *chat, yyjson_val *messages, yyjson_val *tools, bool add_generation_prompt,
                              yyjson_val *extra, const mx_template_options *options, mx_buf *out,
                              mx_template_report *report, mx_error *err) MX_NODISCARD;

/* The text of a special token, "bos_token" or "eos_token" and the like; ptr NULL where the model has none. Borrowed
 * from the chat. */
mx_str mx_chat_view_token(const mx_chat *chat, const char *name);

#endif
