/* prompt_guard.h - keeps special tokens that a message spells apart from those that the chat template writes.
 *
 * A template puts texts of users and turn markers of its own into one string, and in that string "<|im_end|>" looks the
 * same whoever wrote it. So before rendering, a mark goes in front of each special token that a message spells: a
 * Unicode noncharacter that no message has and no template minds. After rendering the marks are taken out, and their
 * places tell the tokenizer where no special token may begin.
 */
#ifndef MX_ENGINE_PROMPT_GUARD_H
#define MX_ENGINE_PROMPT_GUARD_H

#include <stdbool.h>

#include "base/strmap.h"
#include "text/chat.h"
#include "text/tokenizer/tokenizer.h"

#define MX_GUARD_MARK_BYTES 3

typedef struct mx_prompt_guard {
    char mark[MX_GUARD_MARK_BYTES];
    mx_strmap tokens;   /* owned: special tokens by their text, which the tokenizer has */
    bool is_first[256]; /* bytes that one of them begins with */
    size_t *lengths;    /* owned [n_lengths]: the different lengths that they have */
    size_t n_lengths;
    mx_buf *contents; /* owned [n_contents]: the marked texts of messages that had to be copied */
    size_t n_contents;
    size_t *plain_at; /* owned [n_plain]: places in the rendered text where no special token begins, rising */
    size_t n_plain;
} mx_prompt_guard;

/* Makes each message's content (in place, in the caller's array) one with marks where it spells special tokens; such
 * contents are the guard's. MX_INVALID (a content that is not UTF-8, or messages that use up all marks), MX_NO_MEMORY;
 * the guard must be freed after failures too. */
mx_status mx_prompt_guard_mark(mx_prompt_guard *guard, const mx_tokenizer *tokenizer, mx_chat_message *messages,
                               size_t n_messages, mx_error *err) MX_NODISCARD;

/* Takes the marks out of the rendered text and fills plain_at. MX_NO_MEMORY. */
mx_status mx_prompt_guard_strip(mx_prompt_guard *guard, mx_buf *text, mx_error *err) MX_NODISCARD;

/* A zeroed guard is fine. */
void mx_prompt_guard_deinit(mx_prompt_guard *guard);

#endif
