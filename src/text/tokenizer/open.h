/* open.h - what an opened tokenizer consists of; for the files of this folder. */
#ifndef MX_TEXT_TOKENIZER_OPEN_H
#define MX_TEXT_TOKENIZER_OPEN_H

#include "text/tokenizer/added_tokens.h"
#include "text/tokenizer/decoder.h"
#include "text/tokenizer/normalizer.h"
#include "text/tokenizer/postprocessor.h"
#include "text/tokenizer/token_model.h"
#include "text/tokenizer/tokenizer.h"

struct mx_tokenizer {
    mx_unicode unicode;
    mx_normalizer normalizer;
    mx_pretokenizer pretokenizer;
    mx_token_model model;
    mx_added_tokens added;
    mx_postprocessor postprocessor;
    mx_decoder decoder;
    uint8_t *id_flags; /* owned; [n_ids] of the bits below */
    size_t n_ids;
};

enum {
    MX_ID_IS_ADDED = 1,
    MX_ID_IS_SPECIAL = 2,
};

/* The string of an id as the decoder gets it, which for a "normalized" added token is its normalized form; ptr NULL for
 * a hole or an id out of range. */
mx_str mx_tokenizer_view_decoded(const mx_tokenizer *tok, int32_t id);

#endif
