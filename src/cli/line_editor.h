/* line_editor.h - one line of input with editing and history, in a terminal.
 *
 * The keys and the picture are plain functions over bytes, so that tests need no terminal: keys go in, and a row of
 * text with escape sequences comes out. A line may hold line ends (Alt-Enter, or pasted text); they are shown as one
 * mark. Rows wider than the terminal are shown in part, around the cursor.
 *
 * Keys: arrows, Home, End, Delete, Backspace, Ctrl-A E B F P N H D K U W L; Enter ends the line, Alt-Enter begins
 * another one, Ctrl-C gives the line up, Ctrl-D ends the input where the line is empty.
 */
#ifndef MX_CLI_LINE_EDITOR_H
#define MX_CLI_LINE_EDITOR_H

#include "base/buf.h"
#include "base/error.h"

#define MX_LINE_MAX_HISTORY 1000

typedef enum mx_line_event {
    MX_LINE_GOES_ON,
    MX_LINE_IS_DONE,
    MX_LINE_IS_GIVEN_UP, /* Ctrl-C */
    MX_LINE_INPUT_ENDS,  /* Ctrl-D */
} mx_line_event;

typedef struct mx_line_editor {
    mx_buf text;   /* owned; UTF-8 */
    size_t cursor; /* byte of text; at a character's start */
    char keys[64]; /* bytes of an escape sequence or character that is not whole yet */
    size_t n_keys;
    bool is_pasting;  /* between the marks of a bracketed paste: line ends are text */
    bool wants_clear; /* Ctrl-L: the screen is to be cleared before the next picture */
    char **history;   /* owned [n_history] owned lines, oldest first */
    size_t n_history;
    size_t cap_history;
    size_t i_history; /* which is shown; n_history: the new line */
    char *draft;      /* owned; the new line while an old one is shown; NULL for none */
} mx_line_editor;

void mx_line_editor_init(mx_line_editor *e);
void mx_line_editor_deinit(mx_line_editor *e);

/* Begins a new, empty line. */
void mx_line_editor_begin(mx_line_editor *e);

/* Takes typed bytes; *n_used is less than n where an event came before the end. MX_NO_MEMORY, MX_INVALID (too long). */
mx_status mx_line_editor_feed(mx_line_editor *e, const char *bytes, size_t n, size_t *n_used, mx_line_event *event,
                              mx_error *err) MX_NODISCARD;

/* Appends what draws prompt and line over the present row of a terminal with `width` columns, the cursor at its place.
 */
mx_status mx_line_editor_draw(const mx_line_editor *e, const char *prompt, int32_t width, mx_buf *out,
                              mx_error *err) MX_NODISCARD;

/* Adds a line to the history, unless it is empty or the same as the last. */
mx_status mx_line_editor_remember(mx_line_editor *e, mx_str line, mx_error *err) MX_NODISCARD;

/* The history as a file, one line each with its line ends as \n. A missing file is an empty history. */
mx_status mx_line_editor_load(mx_line_editor *e, const char *path, mx_error *err) MX_NODISCARD;
mx_status mx_line_editor_save(const mx_line_editor *e, const char *path, mx_error *err) MX_NODISCARD;

/* Reads a line from the terminal, or, where standard input or output is none, plainly. The line is in e->text. MX_IO,
 * MX_NO_MEMORY, MX_INVALID. */
mx_status mx_line_editor_read(mx_line_editor *e, const char *prompt, mx_line_event *event, mx_error *err) MX_NODISCARD;

#endif
