/* token_model.h - the part of a tokenizer that gives pieces their ids: one of four kinds. */
#ifndef MX_TEXT_TOKENIZER_TOKEN_MODEL_H
#define MX_TEXT_TOKENIZER_TOKEN_MODEL_H

#include "text/tokenizer/bpe.h"
#include "text/tokenizer/unigram.h"
#include "text/tokenizer/wordpiece.h"

typedef enum mx_model_kind { MX_MODEL_BPE, MX_MODEL_UNIGRAM, MX_MODEL_WORDPIECE, MX_MODEL_WORD_LEVEL } mx_model_kind;

typedef struct mx_token_model {
    mx_model_kind kind;
    mx_vocab vocab;
    union {
        mx_bpe bpe;
        mx_unigram unigram;
        mx_wordpiece wordpiece;
    } u;
} mx_token_model;

typedef struct mx_model_scratch {
    mx_bpe_scratch bpe;
    mx_unigram_scratch unigram;
} mx_model_scratch;

/* Tells the kind of a model; files from before "type" was written are told by what they hold. MX_FORMAT,
 * MX_UNSUPPORTED. */
mx_status mx_token_model_kind(yyjson_val *val, mx_model_kind *kind, mx_error *err) MX_NODISCARD;

/* Reads "model". takes_bytes: the pieces are raw bytes, of which byte-level BPE knows what they stand for. MX_FORMAT,
 * MX_UNSUPPORTED, MX_NO_MEMORY. */
mx_status mx_token_model_init(mx_token_model *model, yyjson_val *val, bool takes_bytes, mx_error *err) MX_NODISCARD;
void mx_token_model_deinit(mx_token_model *model);

/* Appends the ids of one piece, not empty. The statuses of mx_bpe_encode and its like. */
mx_status mx_token_model_encode(const mx_token_model *model, mx_model_scratch *scratch, mx_str piece, mx_ids *out,
                                mx_error *err) MX_NODISCARD;
void mx_model_scratch_deinit(mx_model_scratch *scratch);

#endif
