/* decoder.h - token strings back to text.
 *
 * A file's decoder becomes a flat list of steps. Tokens run through them as a stream of bytes with marks where a token
 * ends; a step gives on what is settled and keeps what may still change. Decoding at once is the same stream, fed and
 * finished in one go, so that the two cannot differ. */
#ifndef MX_TEXT_TOKENIZER_DECODER_H
#define MX_TEXT_TOKENIZER_DECODER_H

#include "base/buf.h"
#include "base/json.h"
#include "text/tokenizer/pattern.h"

#define MX_DECODER_MAX_STEPS 16

typedef enum mx_step_kind {
    MX_STEP_SPACED,        /* no decoder in the file: a space between tokens */
    MX_STEP_BYTE_LEVEL,    /* characters stand for bytes (bytechars.h) */
    MX_STEP_BYTE_FALLBACK, /* "<0xNN>" stands for a byte */
    MX_STEP_FUSE,          /* all tokens become one */
    MX_STEP_REPLACE,       /* a pattern by a text */
    MX_STEP_STRIP,         /* characters off the ends of every token */
    MX_STEP_METASPACE,     /* a visible character becomes a space */
    MX_STEP_WORDPIECE,     /* a space before tokens without the prefix */
    MX_STEP_BPE,           /* an end-of-word suffix becomes a space */
    MX_STEP_CTC,           /* repeated tokens and padding go */
} mx_step_kind;

typedef struct mx_decoder_step {
    mx_step_kind kind;
    mx_pattern pattern;   /* REPLACE */
    char *first, *second; /* owned. REPLACE: the text. STRIP, METASPACE: the character. WORDPIECE: the prefix. BPE: the
                             suffix. CTC: padding, word delimiter */
    size_t first_len, second_len;
    bool cleans_up;         /* WORDPIECE, CTC: no space before punctuation */
    bool drops_first;       /* METASPACE: in the first token the character becomes nothing */
    size_t n_start, n_stop; /* STRIP: characters */
} mx_decoder_step;

typedef struct mx_decoder {
    mx_decoder_step steps[MX_DECODER_MAX_STEPS];
    size_t n_steps;
} mx_decoder;

/* Reads "decoder"; val NULL or null: none. MX_FORMAT, MX_UNSUPPORTED, MX_NO_MEMORY. */
mx_status mx_decoder_init(mx_decoder *decoder, yyjson_val *val, mx_error *err) MX_NODISCARD;
void mx_decoder_deinit(mx_decoder *decoder);

/* What a step knows of the stream so far. */
typedef struct mx_step_state {
    mx_buf token;    /* what is kept: bytes of the token that has not ended, or of tokens that may still change */
    mx_buf scratch;  /* of one call, and CTC: the token before */
    size_t n_tokens; /* that have ended */
    size_t n_start;  /* STRIP: characters taken off this token's start */
    size_t n_held;   /* STRIP: characters that may turn out to be the end */
    bool in_token;   /* STRIP: something else than the character has come; CTC, BPE: a token is kept */
} mx_step_state;

typedef struct mx_decode_run {
    const mx_decoder *decoder;
    const mx_unicode *unicode;
    mx_step_state states[MX_DECODER_MAX_STEPS];
    mx_regex_scratch regex;
    mx_buf *out; /* of the current call */
} mx_decode_run;

void mx_decode_run_init(mx_decode_run *run, const mx_decoder *decoder, const mx_unicode *unicode);
void mx_decode_run_reset(mx_decode_run *run);
void mx_decode_run_deinit(mx_decode_run *run);

/* Feeds one token; finish ends the stream. Both append to run->out. */
mx_status mx_decode_token(mx_decode_run *run, mx_str token, mx_error *err) MX_NODISCARD;
mx_status mx_decode_finish(mx_decode_run *run, mx_error *err) MX_NODISCARD;

#endif
