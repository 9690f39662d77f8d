/* console.h - standard input, output and error as UTF-8 streams.
 *
 * Writes go to the system at once and past stdio, so a program uses either these or printf on one stream.
 */
#ifndef MX_PLATFORM_CONSOLE_H
#define MX_PLATFORM_CONSOLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

typedef enum mx_console_stream { MX_STDIN, MX_STDOUT, MX_STDERR } mx_console_stream;

/* True where a person sits at the other end. */
bool mx_console_is_terminal(mx_console_stream stream);

/* Writes all bytes; they must not end within a character. Blocks on a slow reader. MX_IO, also when the reader has gone
 * away. */
mx_status mx_console_write(mx_console_stream stream, mx_str bytes, mx_error *err) MX_NODISCARD;

/* True for an error of mx_console_write that says that the reader has gone away, as `head` does when it has enough. */
bool mx_console_is_closed(const mx_error *err);

/* Columns of the terminal; 0 where the stream is none or does not say. */
int32_t mx_console_width(mx_console_stream stream);

/* Whether escape sequences for colours and for moving the cursor work: the stream is a terminal that is not "dumb".
 * On Windows this switches them on. NO_COLOR is for whoever prints colours to ask. */
bool mx_console_takes_escapes(mx_console_stream stream);

/* Reads one line of standard input into a new buffer, without its line end; the caller frees it (also after a failure).
 * *is_end is true where there is no more. MX_INVALID for a line longer than max_bytes, MX_CANCELLED by Ctrl-C once
 * mx_signal_install was called, MX_IO, MX_NO_MEMORY. */
mx_status mx_console_read_line(size_t max_bytes, mx_buf *out, bool *is_end, mx_error *err) MX_NODISCARD;

/* Key by key instead of line by line, without echo, until mx_console_raw_end. False where standard input or output is
 * no terminal. */
bool mx_console_raw_begin(void);
void mx_console_raw_end(void);

/* What was typed, at least one byte, in raw mode: UTF-8, and the escape sequences of xterm for keys that are no
 * characters, on every system. *n is 0 at the end of the input and where Ctrl-C came as a signal. MX_IO. */
mx_status mx_console_read_keys(char *bytes, size_t cap, size_t *n, mx_error *err) MX_NODISCARD;

/* Reads standard input to its end into a new buffer, which the caller frees (also after a failure). MX_INVALID when
 * there are more than max_bytes, MX_CANCELLED by Ctrl-C once mx_signal_install was called, MX_IO, MX_NO_MEMORY. */
mx_status mx_console_read_all(size_t max_bytes, mx_buf *out, mx_error *err) MX_NODISCARD;

#endif
