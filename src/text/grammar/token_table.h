/* token_table.h - the bytes of every token, sorted so that tokens with the same beginning lie side by side. */
#ifndef MX_TEXT_GRAMMAR_TOKEN_TABLE_H
#define MX_TEXT_GRAMMAR_TOKEN_TABLE_H

#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "text/tokenizer/tokenizer.h"

typedef struct mx_token_table {
    int32_t n_vocab;
    int32_t n_tokens;  /* that stand for text: neither special nor empty */
    int32_t *ids;      /* owned [n_tokens] in the order of their bytes */
    int32_t *n_shared; /* owned [n_tokens]: bytes that a token begins with as the one before it does */
    uint32_t *offsets; /* owned [n_vocab + 1]: bytes of token i are bytes[offsets[i], offsets[i + 1]) */
    char *bytes;       /* owned */
    int32_t n_longest; /* bytes of the longest token */
    bool strips_first; /* a space that the first token of a text begins with is not part of the text */
} mx_token_table;

/* For the ids [0, n_vocab); ids that the tokenizer does not have stand for nothing. MX_UNSUPPORTED: a tokenizer whose
 * tokens have no bytes of their own. MX_NO_MEMORY. */
mx_status mx_token_table_init(mx_token_table *table, const mx_tokenizer *tokenizer, int32_t n_vocab,
                              mx_error *err) MX_NODISCARD;

/* A zeroed table is fine. */
void mx_token_table_deinit(mx_token_table *table);

static inline mx_str mx_token_table_view(const mx_token_table *table, int32_t id)
{
    return (mx_str){table->bytes + table->offsets[id], table->offsets[id + 1] - table->offsets[id]};
}

#endif
