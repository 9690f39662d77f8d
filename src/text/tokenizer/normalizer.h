/* normalizer.h - rewriting the text before it is cut.
 *
 * A file's normalizer becomes a flat list of operations; BertNormalizer, say, is up to five of them. */
#ifndef MX_TEXT_TOKENIZER_NORMALIZER_H
#define MX_TEXT_TOKENIZER_NORMALIZER_H

#include "base/json.h"
#include "text/tokenizer/charsmap.h"
#include "text/tokenizer/pattern.h"
#include "text/tokenizer/pretokenizer.h"
#include "text/tokenizer/unicode_form.h"

#define MX_NORMALIZER_MAX_OPS 32

typedef enum mx_norm_kind {
    MX_NORM_FORM,        /* NFC, NFD, NFKC, NFKD */
    MX_NORM_LOWERCASE,   /* each character by itself */
    MX_NORM_STRIP,       /* white space off the ends */
    MX_NORM_DROP,        /* characters of a class go */
    MX_NORM_NMT,         /* sentencepiece's rules for control characters and odd spaces */
    MX_NORM_BERT_CLEAN,  /* control characters go, white space becomes spaces */
    MX_NORM_BERT_CJK,    /* spaces around Chinese characters */
    MX_NORM_PRECOMPILED, /* a sentencepiece character map */
    MX_NORM_REPLACE,     /* a pattern by a text */
    MX_NORM_PREPEND,     /* a text in front of what is not empty */
    MX_NORM_BYTES,       /* every byte becomes the character that stands for it */
} mx_norm_kind;

typedef struct mx_norm_op {
    mx_norm_kind kind;
    mx_unicode_form form;           /* FORM */
    unsigned classes;               /* DROP */
    bool strips_left, strips_right; /* STRIP */
    char *text;                     /* owned; REPLACE, PREPEND */
    size_t text_len;
    mx_pattern pattern;   /* REPLACE */
    mx_charsmap charsmap; /* PRECOMPILED */
} mx_norm_op;

typedef struct mx_normalizer {
    mx_norm_op ops[MX_NORMALIZER_MAX_OPS];
    size_t n_ops;
} mx_normalizer;

/* Reads "normalizer"; val NULL or null: none. MX_FORMAT, MX_UNSUPPORTED, MX_NO_MEMORY. */
mx_status mx_normalizer_init(mx_normalizer *norm, yyjson_val *val, mx_error *err) MX_NODISCARD;
void mx_normalizer_deinit(mx_normalizer *norm);

/* Scratch memory of one thread. */
typedef struct mx_normalizer_run {
    const mx_normalizer *norm;
    const mx_unicode *unicode;
    mx_regex_scratch *regex;
    mx_buf bufs[2];
    mx_form_scratch form;
} mx_normalizer_run;

void mx_normalizer_run_init(mx_normalizer_run *run, const mx_normalizer *norm, const mx_unicode *unicode,
                            mx_regex_scratch *regex);
void mx_normalizer_run_deinit(mx_normalizer_run *run);

/* *out is the normalized text: `in` itself, or in a buffer of the run until its next use. MX_NO_MEMORY, MX_INVALID. */
mx_status mx_normalize(mx_normalizer_run *run, mx_piece in, mx_piece *out, mx_error *err) MX_NODISCARD;

/* Text on its way through one operation, with the account of where the first character's bytes went. */
typedef struct mx_norm_out {
    mx_piece in;
    mx_buf *buf;
    size_t n_origin; /* of the bytes in buf */
} mx_norm_out;

/* Input up to byte `at` is done; what it became is in buf. */
static inline void mx_norm_mark(mx_norm_out *o, size_t at)
{
    if (at <= o->in.n_origin) {
        o->n_origin = o->buf->len;
    }
}

/* Copies the input bytes start..end. The statuses of mx_buf_append. */
static inline mx_status mx_norm_copy(mx_norm_out *o, size_t start, size_t end, mx_error *err)
{
    if (start < o->in.n_origin) {
        const size_t n = MX_MIN(end, o->in.n_origin) - start;
        o->n_origin = o->buf->len + n;
    }
    return mx_buf_append(o->buf, (mx_str){o->in.ptr + start, end - start}, err);
}

#endif
