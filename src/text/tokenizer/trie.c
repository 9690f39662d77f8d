/* trie.c - built level by level from the sorted keys: a node is the range of keys that share its prefix. */
#include "text/tokenizer/trie.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "base/mem.h"

/* The first 8 bytes as a number that sorts like the bytes; most comparisons end here. */
static uint64_t prefix_of(mx_str s)
{
    uint64_t prefix = 0;
    for (size_t i = 0; i < 8; i++) {
        prefix = prefix << 8 | (i < s.len ? (uint8_t)s.ptr[i] : 0);
    }
    return prefix;
}

typedef struct sort_item {
    uint64_t prefix;
    uint32_t i_key;
} sort_item;

/* Sorts by the prefixes, one byte at a time from the last to the first; equal items keep their order. */
static void radix_sort(sort_item *items, sort_item *spare, size_t n)
{
    for (int shift = 0; shift < 64; shift += 8) {
        size_t start[257] = {0};
        for (size_t i = 0; i < n; i++) {
            start[(items[i].prefix >> shift & 0xFF) + 1]++;
        }
        for (size_t b = 0; b < 256; b++) {
            start[b + 1] += start[b];
        }
        for (size_t i = 0; i < n; i++) {
            spare[start[items[i].prefix >> shift & 0xFF]++] = items[i];
        }
        sort_item *swap = items;
        items = spare;
        spare = swap;
    }
}

/* Strings with equal prefixes, then by value's place: qsort is not stable, so the address breaks ties. */
static int compare_keys(const void *a, const void *b)
{
    const mx_trie_key *x = *(const mx_trie_key *const *)a;
    const mx_trie_key *y = *(const mx_trie_key *const *)b;
    const int order = mx_str_compare(x->str, y->str);
    return order != 0 ? order : (x > y) - (x < y);
}

/* *sorted: the keys in rising order, of equal strings only the last; *n_sorted of them. */
static mx_status sort_keys(const mx_trie_key *keys, size_t n_keys, const mx_trie_key ***sorted, size_t *n_sorted,
                           mx_error *err)
{
    sort_item *items = mx_calloc(n_keys * 2, sizeof *items);
    const mx_trie_key **order = mx_calloc(n_keys, sizeof *order);
    if (!items || !order) {
        mx_free(items);
        mx_free(order);
        return mx_fail_no_memory(err, n_keys * (2 * sizeof *items + sizeof *order), "sorting tokens");
    }
    for (size_t i = 0; i < n_keys; i++) {
        items[i] = (sort_item){prefix_of(keys[i].str), (uint32_t)i};
    }
    radix_sort(items, items + n_keys, n_keys); /* an even number of passes: the result is back in the first half */
    for (size_t i = 0; i < n_keys; i++) {
        order[i] = &keys[items[i].i_key];
    }
    for (size_t i = 0, end; i < n_keys; i = end) {
        for (end = i + 1; end < n_keys && items[end].prefix == items[i].prefix; end++) {
        }
        if (end - i > 1) {
            qsort(order + i, end - i, sizeof *order, compare_keys);
        }
    }
    size_t n = 0;
    for (size_t i = 0; i < n_keys; i++) {
        if (i + 1 == n_keys || !mx_str_eq(order[i]->str, order[i + 1]->str)) {
            order[n++] = order[i];
        }
    }
    mx_free(items);
    *sorted = order;
    *n_sorted = n;
    return MX_OK;
}

/* A node that waits for its children: the keys lo..hi share its first `depth` bytes. */
typedef struct node_range {
    uint32_t lo, hi, depth;
} node_range;

static mx_status build(mx_trie *trie, const mx_trie_key **keys, size_t n_keys, size_t max_nodes, mx_error *err)
{
    trie->first_child = mx_calloc(max_nodes + 1, sizeof *trie->first_child);
    trie->value = mx_calloc(max_nodes, sizeof *trie->value);
    trie->label = mx_calloc(max_nodes, 1);
    node_range *ranges = mx_calloc(max_nodes, sizeof *ranges);
    if (!trie->first_child || !trie->value || !trie->label || !ranges) {
        mx_free(ranges);
        return mx_fail_no_memory(err, max_nodes * (sizeof(node_range) + 9), "a trie of tokens");
    }
    size_t n_nodes = 1;
    ranges[0] = (node_range){0, (uint32_t)n_keys, 0};
    for (size_t node = 0; node < n_nodes; node++) {
        node_range r = ranges[node];
        trie->first_child[node] = (uint32_t)n_nodes;
        trie->value[node] = -1;
        if (r.lo < r.hi && keys[r.lo]->str.len == r.depth) {
            trie->value[node] = keys[r.lo++]->value;
        }
        while (r.lo < r.hi) {
            const uint8_t byte = (uint8_t)keys[r.lo]->str.ptr[r.depth];
            uint32_t end = r.lo + 1;
            while (end < r.hi && (uint8_t)keys[end]->str.ptr[r.depth] == byte) {
                end++;
            }
            if (node == MX_TRIE_ROOT) {
                trie->root[byte] = (uint32_t)n_nodes;
            }
            trie->label[n_nodes] = byte;
            ranges[n_nodes++] = (node_range){r.lo, end, r.depth + 1};
            r.lo = end;
        }
    }
    trie->first_child[n_nodes] = (uint32_t)n_nodes;
    trie->n_nodes = n_nodes;
    mx_free(ranges);
    return MX_OK;
}

/* Nodes of the trie: the root and, of every key, the bytes that it does not share with the key before. */
static size_t count_nodes(const mx_trie_key **keys, size_t n_keys)
{
    size_t n = 1;
    for (size_t i = 0; i < n_keys; i++) {
        size_t shared = 0;
        if (i > 0) {
            const mx_str a = keys[i - 1]->str;
            const mx_str b = keys[i]->str;
            while (shared < a.len && shared < b.len && a.ptr[shared] == b.ptr[shared]) {
                shared++;
            }
        }
        n += keys[i]->str.len - shared;
    }
    return n;
}

mx_status mx_trie_init(mx_trie *trie, const mx_trie_key *keys, size_t n_keys, mx_error *err)
{
    *trie = (mx_trie){0};
    if (n_keys == 0) {
        return MX_OK;
    }
    const mx_trie_key **sorted = NULL;
    size_t n_sorted = 0;
    MX_TRY(sort_keys(keys, n_keys, &sorted, &n_sorted, err));
    const size_t n_nodes = count_nodes(sorted, n_sorted);
    mx_status st = n_nodes < UINT32_MAX - 1 ? build(trie, sorted, n_sorted, n_nodes, err)
                                            : mx_fail(err, MX_FORMAT, "the tokens are longer than 4 GiB in all");
    mx_free(sorted);
    if (st != MX_OK) {
        mx_trie_deinit(trie);
    }
    return st;
}

void mx_trie_deinit(mx_trie *trie)
{
    mx_free(trie->first_child);
    mx_free(trie->value);
    mx_free(trie->label);
    mx_free(trie->suffix);
    *trie = (mx_trie){0};
}

mx_status mx_trie_link(mx_trie *trie, mx_error *err)
{
    if (trie->n_nodes == 0) {
        return MX_OK;
    }
    trie->suffix = mx_calloc(trie->n_nodes, sizeof *trie->suffix);
    if (!trie->suffix) {
        return mx_fail_no_memory(err, trie->n_nodes * sizeof *trie->suffix, "the links of a trie");
    }
    for (uint32_t node = 0; node < trie->n_nodes; node++) {
        for (uint32_t child = trie->first_child[node]; child < trie->first_child[node + 1]; child++) {
            const uint32_t suffix =
                node == MX_TRIE_ROOT ? MX_TRIE_ROOT : mx_trie_step(trie, trie->suffix[node], trie->label[child]);
            trie->suffix[child] = suffix;
            if (trie->value[child] < 0) {
                trie->value[child] = trie->value[suffix];
            }
        }
    }
    return MX_OK;
}
