/* console.h - standard input, output and error as UTF-8 streams.
 *
 * Writes go to the system at once and past stdio, so a program uses either these or printf on one stream.
 */
#ifndef MX_PLATFORM_CONSOLE_H
#define MX_PLATFORM_CONSOLE_H

#include <stdbool.h>

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

/* Reads standard input to its end into a new buffer, which the caller frees (also after a failure). MX_INVALID when
 * there are more than max_bytes, MX_CANCELLED by Ctrl-C once mx_signal_install was called, MX_IO, MX_NO_MEMORY. */
mx_status mx_console_read_all(size_t max_bytes, mx_buf *out, mx_error *err) MX_NODISCARD;

#endif
