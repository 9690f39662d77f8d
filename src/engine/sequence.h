/* sequence.h - one text as the engine sees it: its tokens, and the pages that hold their keys and values.
 *
 *     tokens: [ in the cache: n_cached | known, not yet computed: n_tokens - n_cached | room up to max_tokens ]
 *
 * All memory is taken when it is made; pages are taken from the pool as the text grows. One thread at a time.
 */
#ifndef MX_ENGINE_SEQUENCE_H
#define MX_ENGINE_SEQUENCE_H

#include <stdint.h>

#include "engine/kv_pages.h"
#include "engine/prefix_tree.h"

typedef struct mx_sequence {
    mx_kv_pages *pool; /* borrowed */
    int32_t *tokens;   /* owned [max_tokens] */
    int32_t *pages;    /* owned [pages for max_tokens]; the first n_pages are held */
    int32_t max_tokens;
    int32_t n_tokens;
    int32_t n_cached;
    int32_t n_pages;
    int32_t n_in_tree;  /* pages from the first on that a prefix tree has, too */
    mx_kv_pages *slots; /* borrowed; NULL while no slot of recurrent state is held */
    int32_t state_slot;
} mx_sequence;

/* An empty sequence with room for max_tokens. The pool must outlive it. MX_NO_MEMORY. */
mx_status mx_sequence_init(mx_sequence *sequence, mx_kv_pages *pool, int32_t max_tokens, mx_error *err) MX_NODISCARD;

/* Gives the pages and the state's slot back. A zeroed sequence is fine. */
void mx_sequence_deinit(mx_sequence *sequence);

/* Adds tokens at the end. MX_INVALID when they do not fit, with both numbers; then none is added. */
mx_status mx_sequence_append(mx_sequence *sequence, const int32_t *tokens, int32_t n_tokens,
                             mx_error *err) MX_NODISCARD;

/* Holds pages for the first n_positions (at most max_tokens). MX_BUSY when the pool is empty; pages taken until then
 * are kept. */
mx_status mx_sequence_reserve(mx_sequence *sequence, int32_t n_positions, mx_error *err) MX_NODISCARD;

/* Holds a slot of recurrent state, until the end. MX_BUSY when there is none. */
mx_status mx_sequence_hold_slot(mx_sequence *sequence, mx_kv_pages *slots, mx_error *err) MX_NODISCARD;

/* Gives all pages and the slot back; the tokens stay, to be computed again. */
void mx_sequence_drop_pages(mx_sequence *sequence);

/* At the border of a page: the pages of the tree that hold the tokens that come next, up to the last one with a
 * checkpoint if that is needed. They are not taken yet; their numbers are behind the sequence's own, in pages[n_pages]
 * and further. At least one known token is left to compute, or there would be no logits. Returns how many there are.
 * key as in mx_prefix_tree_find. */
int32_t mx_sequence_find_pages(const mx_sequence *sequence, const mx_prefix_tree *tree, uint64_t key,
                               bool needs_checkpoint);

/* Takes over the first n of the pages just found. */
void mx_sequence_take_pages(mx_sequence *sequence, int32_t n);

/* At the border of a page: takes over pages of the tree as long as they hold the tokens that come next, so that those
 * need no computing. Returns how many tokens were taken over. */
int32_t mx_sequence_reuse(mx_sequence *sequence, const mx_prefix_tree *tree, uint64_t key);

/* Offers the full pages of the cache to the tree. Where the tree has a page with the same text, that page takes the
 * place of the sequence's own. */
void mx_sequence_publish(mx_sequence *sequence, mx_prefix_tree *tree, uint64_t key);

#endif
