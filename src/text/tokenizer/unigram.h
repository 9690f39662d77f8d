/* unigram.h - the segmentation with the highest sum of scores (log probabilities), by Viterbi's method.
 *
 * Source: Kudo, "Subword regularization", arXiv 1804.10959; ties are broken as in the Rust library. */
#ifndef MX_TEXT_TOKENIZER_UNIGRAM_H
#define MX_TEXT_TOKENIZER_UNIGRAM_H

#include "base/json.h"
#include "text/tokenizer/tokenizer.h"
#include "text/tokenizer/trie.h"
#include "text/tokenizer/vocab.h"

typedef struct mx_unigram {
    const mx_vocab *vocab;
    double *scores; /* owned; [vocab->n_ids] */
    mx_trie trie;   /* token -> id */
    double unk_score;
    int32_t unk_id; /* -1: none */
    int32_t fallback_ids[256];
    bool byte_fallback; /* and all of "<0xNN>" that it takes */
} mx_unigram;

/* The best way to a place in the piece. */
typedef struct mx_unigram_node {
    double score;
    uint32_t start; /* of the last token on the way; UINT32_MAX: no way yet */
    int32_t id;
} mx_unigram_node;

typedef struct mx_unigram_scratch {
    mx_unigram_node *nodes; /* owned */
    size_t cap;
} mx_unigram_scratch;

/* Reads the model, and its vocabulary ([[token, score], ...], the id is the place) into *vocab, which must outlive it.
 * MX_FORMAT, MX_NO_MEMORY. */
mx_status mx_unigram_init(mx_unigram *uni, mx_vocab *vocab, yyjson_val *model, mx_error *err) MX_NODISCARD;
void mx_unigram_deinit(mx_unigram *uni);

/* Appends the ids of one piece, not empty. MX_FORMAT (no unknown token, and one is needed), MX_NO_MEMORY, MX_INVALID.
 */
mx_status mx_unigram_encode(const mx_unigram *uni, mx_unigram_scratch *scratch, mx_str piece, mx_ids *out,
                            mx_error *err) MX_NODISCARD;

#endif
