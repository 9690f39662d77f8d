/* chat_session.h - a chat with an open model: one message in, one answer out, streamed. */
#ifndef MX_CLI_CHAT_SESSION_H
#define MX_CLI_CHAT_SESSION_H

#include "cli/conversation.h"
#include "cli/options.h"
#include "cli/sampling_options.h"

typedef struct mx_chat_session {
    const mx_cli_options *options;
    mlxcel_model *model;   /* owned */
    mlxcel_engine *engine; /* owned */
    mlxcel_model_info info;
    mx_cli_sampling sampling;
    mx_conversation chat;
    int32_t n_predict; /* most tokens of an answer; 0: no limit */
    bool has_seed;     /* else each answer gets a new one */
    bool show_reasoning;
    bool is_coloured; /* standard output takes escape sequences and the user wants them */
} mx_chat_session;

/* Opens model and engine by the command line; *out must stay where it is. The statuses of the engine, and MX_INVALID.
 */
mx_status mx_chat_session_open(const mx_cli_options *options, mx_chat_session *out, mx_error *err) MX_NODISCARD;
void mx_chat_session_close(mx_chat_session *s);

/* Answers the conversation on standard output, ends it with a line end, and adds the answer, without the thinking, to
 * the conversation. Ctrl-C ends the answer; what is there of it stays, and *finish says so. Counts and speeds go to
 * standard error. */
mx_status mx_chat_session_answer(mx_chat_session *s, mlxcel_finish *finish, mx_error *err) MX_NODISCARD;

#endif
