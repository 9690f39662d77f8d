/* parts.h - what normalizers, pre-tokenizers, post-processors and decoders have in common in a tokenizer.json: an
 * object with a "type", or a Sequence of such. */
#ifndef MX_TEXT_TOKENIZER_PARTS_H
#define MX_TEXT_TOKENIZER_PARTS_H

#include "base/json.h"

#define MX_PARTS_MAX_DEPTH 16

/* Takes one object of the given type, which is no Sequence. */
typedef mx_status (*mx_part_read)(void *ctx, mx_str type, yyjson_val *val, mx_error *err);

/* Reads val, and what lies in the lists of Sequences, which have this key, in order. MX_FORMAT (no object, nested too
 * deep, a Sequence without its list), and what `read` fails with. */
mx_status mx_parts_read(yyjson_val *val, const char *list_key, mx_part_read read, void *ctx,
                        mx_error *err) MX_NODISCARD;

/* MX_UNSUPPORTED, for a type that a reader has not in its table. */
mx_status mx_parts_fail_unknown(mx_str type, mx_error *err);

#endif
