/* prefix_tree.h - pages that texts may begin with: a radix tree over pages of MX_PAGE_TOKENS tokens.
 *
 *     key 0 ─┬─ page 3 "You are a ..." ─┬─ page 7 "... weather in" ── page 1
 *            │                          └─ page 4 "... write a poem"
 *            └─ page 9 "Translate ..."
 *     key 5 ─── page 2 "You are a ..."
 *
 * A page's place in the tree is the text up to its end, so a page is found only where every token before it is the
 * same, too. The key stands for everything else that changes keys and values, such as an adapter, and keeps texts apart
 * that must not share. Only full pages are in the tree and their contents never change: whoever holds one may read it,
 * nobody writes to it. The tree is one user of each of its pages; evicting takes the pages that nobody else uses, the
 * one that was least recently used first.
 *
 * Models with recurrent layers can go on from a page only with the state behind its last token. So a page may have a
 * checkpoint, which is a number here: where the state is kept is the engine's affair (state_reuse.h). There are fewer
 * checkpoints than pages; the least recently used one gives way.
 *
 * Nodes are numbered as their pages, so all memory is taken when the tree is made. One thread at a time, the engine's.
 */
#ifndef MX_ENGINE_PREFIX_TREE_H
#define MX_ENGINE_PREFIX_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/kv_pages.h"

#define MX_NO_PAGE (-1)

typedef struct mx_prefix_node mx_prefix_node;

typedef struct mx_prefix_tree {
    mx_kv_pages *pool;     /* borrowed */
    mx_prefix_node *nodes; /* owned [pool's n_pages] */
    int32_t *buckets;      /* owned [n_buckets]: first node of each chain of equal hashes */
    uint32_t n_buckets;    /* a power of two */
    int32_t newest;        /* ends of the list of nodes by last use */
    int32_t oldest;
    int32_t n_pages;      /* in the tree */
    int32_t *checkpoints; /* owned [n_checkpoints]: the page that has each; MX_NO_PAGE for a free one */
    int32_t n_checkpoints;
} mx_prefix_tree;

/* An empty tree over the pool, which must outlive it, with so many checkpoints. MX_NO_MEMORY. */
mx_status mx_prefix_tree_init(mx_prefix_tree *tree, mx_kv_pages *pool, int32_t n_checkpoints,
                              mx_error *err) MX_NODISCARD;

/* Gives its pages back. A zeroed tree is fine. */
void mx_prefix_tree_deinit(mx_prefix_tree *tree);

/* The page that holds tokens [MX_PAGE_TOKENS] behind the text that ends with page `parent` (MX_NO_PAGE: at the
 * beginning of texts with this key); MX_NO_PAGE where there is none. */
int32_t mx_prefix_tree_find(const mx_prefix_tree *tree, uint64_t key, int32_t parent, const int32_t *tokens);

/* Puts a page there, unless one is there already. The tree becomes one more user of it. Returns the page that is there
 * now. */
int32_t mx_prefix_tree_add(mx_prefix_tree *tree, uint64_t key, int32_t parent, const int32_t *tokens, int32_t page);

/* The text that ends with this page was used just now. */
void mx_prefix_tree_touch(mx_prefix_tree *tree, int32_t page);

/* Takes out the page that was used least recently and that nobody else uses, which makes it free. False when there is
 * none. */
bool mx_prefix_tree_evict(mx_prefix_tree *tree);

/* Pages that eviction could make free. Looks at every page of the tree. */
int32_t mx_prefix_tree_count_evictable(const mx_prefix_tree *tree);

/* The checkpoint of a page of the tree; -1 where it has none. */
int32_t mx_prefix_tree_view_checkpoint(const mx_prefix_tree *tree, int32_t page);

/* Gives a page of the tree a checkpoint, if need be the one that was used least recently. Returns its number, for the
 * state to be written there; -1 when the page has one already or there are none. */
int32_t mx_prefix_tree_add_checkpoint(mx_prefix_tree *tree, int32_t page);

/* Takes it away. A page without one is fine. */
void mx_prefix_tree_drop_checkpoint(mx_prefix_tree *tree, int32_t page);

/* Forgets everything that nobody else uses. */
void mx_prefix_tree_clear(mx_prefix_tree *tree);

#endif
