/* conversation.h - the messages of a chat. */
#ifndef MX_CLI_CONVERSATION_H
#define MX_CLI_CONVERSATION_H

#include "base/error.h"
#include "base/str.h"
#include "mlxcel.h"

typedef struct mx_conversation {
    mlxcel_message *messages; /* owned [n] with owned roles and contents */
    int32_t n;
    size_t cap;
} mx_conversation;

/* Frees and empties. A zeroed object is an empty conversation. */
void mx_conversation_clear(mx_conversation *c);

/* Adds a message; the role and content are copied. MX_NO_MEMORY. */
mx_status mx_conversation_add(mx_conversation *c, const char *role, mx_str content, mx_error *err) MX_NODISCARD;

/* Sets the message of the system, the first; an empty text takes it away. MX_NO_MEMORY. */
mx_status mx_conversation_set_system(mx_conversation *c, mx_str content, mx_error *err) MX_NODISCARD;

/* Takes the last message away. */
void mx_conversation_pop(mx_conversation *c);

/* As a JSON array of {"role", "content"}, which other chat programs read too. MX_IO, MX_NO_MEMORY. */
mx_status mx_conversation_save(const mx_conversation *c, const char *path, mx_error *err) MX_NODISCARD;

/* Replaces the conversation by a file's; after a failure it is as it was. MX_FORMAT, MX_NOT_FOUND, MX_IO. */
mx_status mx_conversation_load(mx_conversation *c, const char *path, mx_error *err) MX_NODISCARD;

#endif
