/* tokenizer.h - text to token ids and back, as a tokenizer.json file says.
 *
 * What such a file means is defined by the Rust library `tokenizers`; this folder gives the same ids and the same text.
 *
 *     text -> added tokens cut out -> normalizer -> added tokens (normalized) -> pre-tokenizer -> model ->
 * post-processor ids  -> token strings -> decoder -> text
 *
 * An mx_tokenizer never changes after it was opened, and any number of threads may use it. What changes lives in an
 * mx_encoder (buffers and a cache of words) or an mx_detokenizer (one stream), each for one thread at a time; both
 * borrow the tokenizer, which must outlive them. In the steady state encoding allocates nothing.
 *
 * "truncation" and "padding" of the file are not applied: they are batch settings of the program that wrote it, and a
 * prompt must never be cut unseen.
 */
#ifndef MX_TEXT_TOKENIZER_TOKENIZER_H
#define MX_TEXT_TOKENIZER_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

#define MX_TOKENIZER_MAX_IDS  ((size_t)1 << 22) /* a larger id in a file is refused */
#define MX_TOKENIZER_MAX_TEXT ((size_t)1 << 30) /* bytes in one call of mx_encode */

typedef struct mx_tokenizer mx_tokenizer;
typedef struct mx_encoder mx_encoder;
typedef struct mx_detokenizer mx_detokenizer;

/* A growing array of token ids with a cap from birth. */
typedef struct mx_ids {
    int32_t *data; /* owned */
    size_t len;
    size_t cap;
    size_t max; /* ids; more is refused with MX_INVALID */
} mx_ids;

static inline void mx_ids_init(mx_ids *ids, size_t max)
{
    *ids = (mx_ids){.max = max};
}

/* Frees the ids; the array is then empty and usable again. A zeroed array is fine. */
void mx_ids_deinit(mx_ids *ids);

/* Room for n_more ids behind the present ones. MX_NO_MEMORY, or MX_INVALID when the cap would be passed. */
mx_status mx_ids_reserve(mx_ids *ids, size_t n_more, mx_error *err) MX_NODISCARD;
mx_status mx_ids_append(mx_ids *ids, const int32_t *more, size_t n_more, mx_error *err) MX_NODISCARD;

/* A token that is found in the text before anything else looks at it. */
typedef struct mx_added_token {
    mx_str content; /* lives as long as the tokenizer */
    int32_t id;
    int32_t i_file;      /* place in the file's list */
    bool is_special;     /* left out by skip_special; plain text where MX_ENCODE_SPECIAL is not given */
    bool is_normalized;  /* searched for in the normalized text, itself normalized */
    bool is_single_word; /* counts only where no word character is beside it */
    bool strips_left;    /* swallows the white space before it */
    bool strips_right;   /* and after it */
} mx_added_token;

/* Reads a tokenizer.json.
 *
 * json   the file's bytes; not needed afterwards
 * name   what errors call the file
 * out    the tokenizer; the caller closes it
 * MX_FORMAT names the part of the file that is wrong, MX_UNSUPPORTED a part that this program does not know,
 * MX_NO_MEMORY.
 */
mx_status mx_tokenizer_open(mx_str json, const char *name, mx_tokenizer **out, mx_error *err) MX_NODISCARD;
void mx_tokenizer_close(mx_tokenizer *tok);

/* Number of different tokens, added ones included. */
size_t mx_tokenizer_n_tokens(const mx_tokenizer *tok);

/* One more than the largest id. Ids below it may be holes that no token has. */
size_t mx_tokenizer_n_ids(const mx_tokenizer *tok);

/* The id of a token by its string as the file spells it ("<|im_end|>", "\u0120the"); false where there is none. */
bool mx_tokenizer_find(const mx_tokenizer *tok, mx_str token, int32_t *id);

/* The string of a token, borrowed from the tokenizer; false for a hole or an id out of range. */
bool mx_tokenizer_view_token(const mx_tokenizer *tok, int32_t id, mx_str *token);

/* Appends the bytes that a token stands for in the middle of a text, which may be a part of a character; nothing for a
 * hole. MX_UNSUPPORTED for tokenizers whose tokens have none of their own (WordPiece, for one), MX_NO_MEMORY. */
mx_status mx_tokenizer_append_bytes(const mx_tokenizer *tok, int32_t id, mx_buf *out, mx_error *err) MX_NODISCARD;

/* True where a space that the first token of a text begins with is not part of the text. */
bool mx_tokenizer_strips_first(const mx_tokenizer *tok);

/* True for the ids that skip_special leaves out. */
bool mx_tokenizer_is_special(const mx_tokenizer *tok, int32_t id);

/* The added tokens in the order of their ids, borrowed from the tokenizer. */
const mx_added_token *mx_tokenizer_view_added(const mx_tokenizer *tok, size_t *n_added);

enum {
    /* Special tokens written in the text ("<|im_start|>") become their ids. Without it their characters are encoded
     * like any others, which is what text that a user typed wants. Added tokens that are not special are always found.
     */
    MX_ENCODE_SPECIAL = 1,
    /* The post-processor's tokens (bos, eos, [CLS] ...) are put around the text. */
    MX_ENCODE_TEMPLATE = 2,
};

/* Scratch memory and word cache for one thread. MX_NO_MEMORY. */
mx_status mx_encoder_new(const mx_tokenizer *tok, mx_encoder **out, mx_error *err) MX_NODISCARD;
void mx_encoder_free(mx_encoder *enc);

/* Appends the ids of text to out, which is unchanged on failure.
 *
 * text    UTF-8; each ill-formed part counts as U+FFFD
 * flags   of the enum above, or 0
 * MX_INVALID (text longer than MX_TOKENIZER_MAX_TEXT, the cap of out, a pattern of the file that gives up on this
 * text), MX_FORMAT (a character without a token, and the file has no unknown token), MX_NO_MEMORY.
 */
mx_status mx_encode(mx_encoder *enc, mx_str text, unsigned flags, mx_ids *out, mx_error *err) MX_NODISCARD;

/* The same for a text that is a user's in part: with MX_ENCODE_SPECIAL, no special token is found that begins at one of
 * the bytes plain_at [n_plain], which rise. A chat template's own tokens count so, while those that a message spells
 * are characters like any others. Special tokens that are searched for in the normalized text count only where the
 * text itself spells them, too: what becomes one by normalizing is characters. plain_at is not used for a text that is
 * not UTF-8. */
mx_status mx_encode_mixed(mx_encoder *enc, mx_str text, const size_t *plain_at, size_t n_plain, unsigned flags,
                          mx_ids *out, mx_error *err) MX_NODISCARD;

/* Appends the text of ids to out. Ids that no token has are left out; with skip_special the special tokens too.
 * Ill-formed UTF-8 becomes U+FFFD. MX_NO_MEMORY, MX_INVALID (the cap of out, a pattern that gives up). */
mx_status mx_decode(const mx_tokenizer *tok, const int32_t *ids, size_t n_ids, bool skip_special, mx_buf *out,
                    mx_error *err) MX_NODISCARD;

/* The same for ids that come one at a time.
 *
 * Each push appends what is settled by now to out: whole characters only. finish appends the rest and makes the
 * detokenizer ready for a new stream. All the pieces joined are the text that mx_decode gives. Byte tokens of
 * sentencepiece-style vocabularies are held until their run ends, since one bad byte spoils the whole run.
 * The statuses of mx_decode. A stream that failed must be reset or freed.
 */
mx_status mx_detokenizer_new(const mx_tokenizer *tok, bool skip_special, mx_detokenizer **out,
                             mx_error *err) MX_NODISCARD;
mx_status mx_detokenizer_push(mx_detokenizer *detok, int32_t id, mx_buf *out, mx_error *err) MX_NODISCARD;
mx_status mx_detokenizer_finish(mx_detokenizer *detok, mx_buf *out, mx_error *err) MX_NODISCARD;
void mx_detokenizer_reset(mx_detokenizer *detok);
void mx_detokenizer_free(mx_detokenizer *detok);

#endif
