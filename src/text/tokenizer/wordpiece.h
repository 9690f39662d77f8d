/* wordpiece.h - the longest token first, then the longest that continues it; and whole words only (WordLevel).
 *
 * Source: Schuster & Nakajima, "Japanese and Korean voice search", ICASSP 2012; Devlin et al., arXiv 1810.04805. */
#ifndef MX_TEXT_TOKENIZER_WORDPIECE_H
#define MX_TEXT_TOKENIZER_WORDPIECE_H

#include "base/json.h"
#include "text/tokenizer/tokenizer.h"
#include "text/tokenizer/trie.h"
#include "text/tokenizer/vocab.h"

typedef struct mx_wordpiece {
    const mx_vocab *vocab;
    mx_trie trie;          /* token -> id; empty for WordLevel */
    uint32_t continuation; /* the node of the prefix of continuing pieces ("##") */
    bool has_continuation; /* no token begins with it otherwise */
    bool is_word_level;
    size_t max_chars; /* longer words are unknown */
    int32_t unk_id;   /* -1: it is not in the vocabulary, an error when it is needed */
} mx_wordpiece;

/* Reads the model; vocab must outlive it. MX_FORMAT, MX_NO_MEMORY. */
mx_status mx_wordpiece_init(mx_wordpiece *wp, const mx_vocab *vocab, yyjson_val *model, bool is_word_level,
                            mx_error *err) MX_NODISCARD;
void mx_wordpiece_deinit(mx_wordpiece *wp);

/* Appends the ids of one piece, not empty. MX_FORMAT (no unknown token, and one is needed), MX_NO_MEMORY, MX_INVALID.
 */
mx_status mx_wordpiece_encode(const mx_wordpiece *wp, mx_str piece, mx_ids *out, mx_error *err) MX_NODISCARD;

#endif
