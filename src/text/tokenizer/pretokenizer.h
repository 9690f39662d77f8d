/* pretokenizer.h - cutting the text into the pieces that the model gets, each encoded by itself.
 *
 * A file's pre-tokenizer becomes a flat list of stages. A piece runs through them depth first: what a stage cuts off
 * goes straight through the following stages and into the model, so that no list of pieces is ever made. */
#ifndef MX_TEXT_TOKENIZER_PRETOKENIZER_H
#define MX_TEXT_TOKENIZER_PRETOKENIZER_H

#include "base/buf.h"
#include "base/json.h"
#include "text/tokenizer/pattern.h"

#define MX_PRETOKENIZER_MAX_STAGES 32

/* A stretch of text on its way to the model. */
typedef struct mx_piece {
    const char *ptr;
    size_t len;
    size_t n_origin; /* the leading bytes that came from the first character of the whole text; 0: none did */
} mx_piece;

/* What becomes of the matches of a pattern. The names are the file's. */
typedef enum mx_split_behavior {
    MX_SPLIT_REMOVED,
    MX_SPLIT_ISOLATED,
    MX_SPLIT_MERGED_WITH_PREVIOUS,
    MX_SPLIT_MERGED_WITH_NEXT,
    MX_SPLIT_CONTIGUOUS,
} mx_split_behavior;

typedef enum mx_stage_kind {
    MX_STAGE_PATTERN,      /* split at the matches of a pattern */
    MX_STAGE_CLASS,        /* split at each character of a class */
    MX_STAGE_CHAR,         /* split at one character */
    MX_STAGE_WORDS,        /* keep runs of word characters and runs of other visible ones */
    MX_STAGE_FIXED_LENGTH, /* pieces of so many characters */
    MX_STAGE_PREFIX_SPACE, /* a space before a piece that has none */
    MX_STAGE_METASPACE,    /* spaces become a visible character, and one goes in front */
    MX_STAGE_BYTES,        /* every byte becomes the character that stands for it (bytechars.h) */
} mx_stage_kind;

typedef enum mx_prepend_scheme { MX_PREPEND_ALWAYS, MX_PREPEND_FIRST, MX_PREPEND_NEVER } mx_prepend_scheme;

typedef struct mx_stage {
    mx_stage_kind kind;
    mx_split_behavior behavior;
    bool is_inverted;          /* the matches are what lies between them */
    unsigned classes;          /* CLASS: of unicode.h */
    char chr[5];               /* CHAR, METASPACE: the character */
    size_t length;             /* FIXED_LENGTH: characters; else bytes of chr */
    mx_prepend_scheme prepend; /* METASPACE */
    mx_pattern pattern;        /* PATTERN */
} mx_stage;

typedef struct mx_pretokenizer {
    mx_stage stages[MX_PRETOKENIZER_MAX_STAGES]; /* n_stages of them */
    size_t n_stages;
} mx_pretokenizer;

/* Reads "pre_tokenizer"; val NULL or null: no stages. MX_FORMAT, MX_UNSUPPORTED, MX_NO_MEMORY. */
mx_status mx_pretokenizer_init(mx_pretokenizer *pre, yyjson_val *val, mx_error *err) MX_NODISCARD;
void mx_pretokenizer_deinit(mx_pretokenizer *pre);

/* Drops a last stage of kind BYTES: true when there was one. For a model that takes bytes as they are. */
bool mx_pretokenizer_take_bytes(mx_pretokenizer *pre);

/* Scratch memory of one thread, and where the pieces go. */
typedef struct mx_pretokenizer_run {
    const mx_pretokenizer *pre;
    const mx_unicode *unicode;
    mx_regex_scratch *scratch;
    mx_buf *bufs; /* [MX_PRETOKENIZER_MAX_STAGES]; for stages that rewrite the text */
    mx_status (*emit)(void *ctx, mx_str piece, mx_error *err);
    void *ctx;
} mx_pretokenizer_run;

/* Cuts a piece; emit gets each part in order, none of them empty. The statuses of emit and of mx_regex_find. */
mx_status mx_pretokenize(const mx_pretokenizer_run *run, mx_piece piece, mx_error *err) MX_NODISCARD;

#endif
