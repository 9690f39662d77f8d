/* trie.h - a trie over byte strings, in flat arrays, and the search for many strings in a text at once.
 *
 * Nodes are numbered breadth first, so a node's children lie side by side:
 *
 *     first_child[node] .. first_child[node + 1]      the children, their labels in rising order
 *     value[node]                                     of the string that ends here, or -1
 */
#ifndef MX_TEXT_TOKENIZER_TRIE_H
#define MX_TEXT_TOKENIZER_TRIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

typedef struct mx_trie_key {
    mx_str str;    /* not empty */
    int32_t value; /* 0 or more; of equal strings the last one's counts */
} mx_trie_key;

typedef struct mx_trie {
    uint32_t *first_child; /* owned; [n_nodes + 1] */
    int32_t *value;        /* owned; [n_nodes] */
    uint8_t *label;        /* owned; [n_nodes] */
    uint32_t *suffix;      /* owned; [n_nodes], only after mx_trie_link: the longest proper suffix that is a node */
    uint32_t root[256];    /* child of the root by byte; 0: none */
    size_t n_nodes;        /* 0 in an empty trie */
} mx_trie;

#define MX_TRIE_ROOT 0u

/* Builds the trie. MX_NO_MEMORY. */
mx_status mx_trie_init(mx_trie *trie, const mx_trie_key *keys, size_t n_keys, mx_error *err) MX_NODISCARD;
void mx_trie_deinit(mx_trie *trie);

/* Adds the suffix links of Aho and Corasick, and lets value[node] be that of the longest string that ends there: of the
 * node itself or of a suffix. "Efficient string matching", CACM 18 (1975). MX_NO_MEMORY. */
mx_status mx_trie_link(mx_trie *trie, mx_error *err) MX_NODISCARD;

/* The child of a node by byte; false where there is none. */
static inline bool mx_trie_child(const mx_trie *trie, uint32_t node, uint8_t byte, uint32_t *child)
{
    if (node == MX_TRIE_ROOT) {
        *child = trie->root[byte];
        return *child != 0;
    }
    uint32_t lo = trie->first_child[node];
    uint32_t hi = trie->first_child[node + 1];
    while (hi - lo > 8) {
        const uint32_t mid = lo + (hi - lo) / 2;
        if (trie->label[mid] <= byte) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    for (; lo < hi; lo++) {
        if (trie->label[lo] == byte) {
            *child = lo;
            return true;
        }
    }
    return false;
}

/* One step of the search through a linked trie: from the node reached so far over the next byte. */
static inline uint32_t mx_trie_step(const mx_trie *trie, uint32_t node, uint8_t byte)
{
    uint32_t next = MX_TRIE_ROOT;
    while (!mx_trie_child(trie, node, byte, &next) && node != MX_TRIE_ROOT) {
        node = trie->suffix[node];
        next = MX_TRIE_ROOT;
    }
    return next;
}

#endif
