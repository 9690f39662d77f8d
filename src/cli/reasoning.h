/* reasoning.h - tells a model's thinking from its answer while the text streams in.
 *
 * Thinking stands between two marks, "<think>" and "</think>" or the like, at the beginning of an answer; the first may
 * have been part of the prompt. Pieces may end within a mark: what may still become one is held back.
 */
#ifndef MX_CLI_REASONING_H
#define MX_CLI_REASONING_H

#include "base/error.h"
#include "base/str.h"

typedef enum mx_reasoning_state {
    MX_REASONING_MAY_BEGIN, /* nothing but white space so far */
    MX_REASONING_INSIDE,
    MX_REASONING_AFTER, /* the answer; further marks are plain text */
} mx_reasoning_state;

typedef struct mx_reasoning {
    mx_reasoning_state state;
    int32_t i_marks; /* which pair of marks it is */
    bool skip_space; /* white space behind the closing mark belongs to neither */
    char held[32];   /* text that may be the beginning of a mark */
    size_t n_held;
    mx_status (*write)(void *arg, bool is_reasoning, mx_str text, mx_error *err);
    void *arg;
} mx_reasoning;

/* `prompt_tail` is the end of the rendered prompt, which may have opened the thinking. */
void mx_reasoning_begin(mx_reasoning *r, mx_str prompt_tail);

/* Passes text on, told apart. What `write` fails with. */
mx_status mx_reasoning_feed(mx_reasoning *r, mx_str text, mx_error *err) MX_NODISCARD;

/* Passes on what was held back. */
mx_status mx_reasoning_end(mx_reasoning *r, mx_error *err) MX_NODISCARD;

#endif
