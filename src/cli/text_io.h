/* text_io.h - prompts in, text and sentences out. */
#ifndef MX_CLI_TEXT_IO_H
#define MX_CLI_TEXT_IO_H

#include "base/buf.h"
#include "base/error.h"
#include "cli/options.h"
#include "mlxcel.h"

/* Prints "mlxcel: <sentence>" on standard error and returns the exit code that fits the status: usage for MX_INVALID,
 * else failed. */
int mx_cli_fail(const mx_error *err);

/* The same for an error of the public interface, which is always a failure of the work. */
int mx_cli_fail_api(const mlxcel_error *err);

/* Prints formatted text on standard error; what cannot be written there is lost. */
void mx_cli_note(const char *fmt, ...) MX_PRINTF(1, 2);

/* Writes all of it to standard output. Returns the exit code: a reader that has gone away is a quiet end. */
int mx_cli_print(mx_str text);

/* Reads the text that -p, -f or standard input give, without one line end at its end when it comes from -f or standard
 * input. *out is set to a new buffer, which the caller frees (also after a failure).
 * MX_INVALID (both -p and -f, nothing to read, an empty text, not UTF-8, too long), and what reading fails with. */
mx_status mx_cli_read_text(const mx_cli_options *options, mx_buf *out, mx_error *err) MX_NODISCARD;

/* MX_INVALID, in one sentence, where -m is missing. */
mx_status mx_cli_need_model(const mx_cli_options *options, mx_error *err) MX_NODISCARD;

#endif
