/* stop_text.h - ends a streamed text before the first stop string, wherever token borders fall.
 *
 * Text goes in as it is made and comes out as soon as it cannot be part of a stop string any more. The stop string that
 * is complete first ends the text (of several that end at one place, the longest), so the result does not depend on
 * how the text was cut into pieces.
 */
#ifndef MX_ENGINE_STOP_TEXT_H
#define MX_ENGINE_STOP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

#define MX_STOP_MAX_STRINGS 64
#define MX_STOP_MAX_BYTES   1024 /* of one string */

typedef struct mx_stop_text {
    const mx_str *stops; /* borrowed [n_stops] */
    size_t n_stops;
    mx_buf pending;  /* text that is not out yet; the beginning is ready, the rest is held back */
    size_t n_ready;  /* bytes of pending that may go out */
    size_t max_stop; /* bytes of the longest stop string */
    bool has_stopped;
    int32_t i_stop; /* by which string */
} mx_stop_text;

/* Watches for `stops`, which must outlive the object.
 * MX_INVALID: too many, an empty or too long one, or one that is not UTF-8. MX_NO_MEMORY. */
mx_status mx_stop_text_init(mx_stop_text *s, const mx_str *stops, size_t n_stops, mx_error *err) MX_NODISCARD;

/* A zeroed object is fine. */
void mx_stop_text_deinit(mx_stop_text *s);

/* Adds a piece of whole characters. *out is what may be shown now, borrowed until the next call; after a stop string
 * was found it is the last piece and has_stopped is set. Allocates only for pieces longer than any before.
 * MX_NO_MEMORY. */
mx_status mx_stop_text_push(mx_stop_text *s, mx_str piece, mx_str *out, mx_error *err) MX_NODISCARD;

/* The text is at its end: what was held back. Borrowed as above; empty after a stop string. */
mx_str mx_stop_text_finish(mx_stop_text *s);

#endif
