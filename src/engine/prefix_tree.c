/* prefix_tree.c - a hash table of (parent, tokens), and a list by last use.
 *
 * Children are found through the hash table rather than through lists of children: a system prompt may have thousands
 * of different continuations. A node in use has its ancestors in use, too, since whoever holds a page holds those
 * before it; so a node that only the tree uses has only such descendants, and leaves are evicted first.
 */
#include "engine/prefix_tree.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "program/batch.h"

struct mx_prefix_node {
    int32_t tokens[MX_PAGE_TOKENS];
    uint64_t key;
    int32_t parent;     /* MX_NO_PAGE at the beginning of a text */
    int32_t n_children; /* -1: the page is not in the tree */
    int32_t next_in_bucket;
    int32_t newer; /* the list by last use; MX_NO_PAGE at its ends */
    int32_t older;
    int32_t i_checkpoint; /* -1: none */
};

mx_status mx_prefix_tree_init(mx_prefix_tree *tree, mx_kv_pages *pool, int32_t n_checkpoints, mx_error *err)
{
    *tree = (mx_prefix_tree){
        .pool = pool, .n_buckets = 16, .newest = MX_NO_PAGE, .oldest = MX_NO_PAGE, .n_checkpoints = n_checkpoints};
    while (tree->n_buckets < (uint32_t)pool->n_pages) {
        tree->n_buckets *= 2;
    }
    tree->nodes = (mx_prefix_node *)mx_calloc((size_t)pool->n_pages, sizeof *tree->nodes);
    tree->buckets = (int32_t *)mx_calloc(tree->n_buckets, sizeof(int32_t));
    tree->checkpoints = (int32_t *)mx_calloc((size_t)n_checkpoints, sizeof(int32_t));
    if (!tree->nodes || !tree->buckets || !tree->checkpoints) {
        mx_prefix_tree_deinit(tree);
        return mx_fail_no_memory(err, (size_t)pool->n_pages * sizeof *tree->nodes, "the prefix tree");
    }
    for (int32_t i = 0; i < pool->n_pages; i++) {
        tree->nodes[i].n_children = -1;
    }
    for (int32_t i = 0; i < n_checkpoints; i++) {
        tree->checkpoints[i] = MX_NO_PAGE;
    }
    for (uint32_t i = 0; i < tree->n_buckets; i++) {
        tree->buckets[i] = MX_NO_PAGE;
    }
    return MX_OK;
}

static int32_t *bucket_of(const mx_prefix_tree *tree, uint64_t key, int32_t parent, const int32_t *tokens)
{
    const uint64_t words[] = {mx_str_hash((mx_str){(const char *)tokens, MX_PAGE_TOKENS * sizeof *tokens}), key,
                              (uint64_t)parent};
    return &tree->buckets[mx_str_hash((mx_str){(const char *)words, sizeof words}) & (tree->n_buckets - 1)];
}

int32_t mx_prefix_tree_find(const mx_prefix_tree *tree, uint64_t key, int32_t parent, const int32_t *tokens)
{
    int32_t i = *bucket_of(tree, key, parent, tokens);
    while (i != MX_NO_PAGE) {
        const mx_prefix_node *node = &tree->nodes[i];
        if (node->parent == parent && node->key == key && memcmp(node->tokens, tokens, sizeof node->tokens) == 0) {
            break;
        }
        i = node->next_in_bucket;
    }
    return i;
}

static void put_first(mx_prefix_tree *tree, int32_t i)
{
    mx_prefix_node *node = &tree->nodes[i];
    node->newer = MX_NO_PAGE;
    node->older = tree->newest;
    if (tree->newest != MX_NO_PAGE) {
        tree->nodes[tree->newest].newer = i;
    } else {
        tree->oldest = i;
    }
    tree->newest = i;
}

static void take_from_list(mx_prefix_tree *tree, int32_t i)
{
    const mx_prefix_node *node = &tree->nodes[i];
    *(node->newer != MX_NO_PAGE ? &tree->nodes[node->newer].older : &tree->newest) = node->older;
    *(node->older != MX_NO_PAGE ? &tree->nodes[node->older].newer : &tree->oldest) = node->newer;
}

int32_t mx_prefix_tree_add(mx_prefix_tree *tree, uint64_t key, int32_t parent, const int32_t *tokens, int32_t page)
{
    const int32_t found = mx_prefix_tree_find(tree, key, parent, tokens);
    if (found != MX_NO_PAGE) {
        return found;
    }
    mx_prefix_node *node = &tree->nodes[page];
    int32_t *bucket = bucket_of(tree, key, parent, tokens);
    assert(node->n_children == -1 && (parent == MX_NO_PAGE || tree->nodes[parent].n_children >= 0));
    *node = (mx_prefix_node){.key = key, .parent = parent, .next_in_bucket = *bucket, .i_checkpoint = -1};
    memcpy(node->tokens, tokens, sizeof node->tokens);
    *bucket = page;
    put_first(tree, page);
    if (parent != MX_NO_PAGE) {
        tree->nodes[parent].n_children++;
    }
    mx_kv_pages_share(tree->pool, page);
    tree->n_pages++;
    return page;
}

void mx_prefix_tree_touch(mx_prefix_tree *tree, int32_t page)
{
    while (page != MX_NO_PAGE) { /* ancestors last, so that they are newer than what hangs on them */
        take_from_list(tree, page);
        put_first(tree, page);
        page = tree->nodes[page].parent;
    }
}

int32_t mx_prefix_tree_view_checkpoint(const mx_prefix_tree *tree, int32_t page)
{
    return tree->nodes[page].i_checkpoint;
}

void mx_prefix_tree_drop_checkpoint(mx_prefix_tree *tree, int32_t page)
{
    mx_prefix_node *node = &tree->nodes[page];
    if (node->i_checkpoint >= 0) {
        tree->checkpoints[node->i_checkpoint] = MX_NO_PAGE;
        node->i_checkpoint = -1;
    }
}

static int32_t free_checkpoint(const mx_prefix_tree *tree)
{
    int32_t i = 0;
    while (i < tree->n_checkpoints && tree->checkpoints[i] != MX_NO_PAGE) {
        i++;
    }
    return i;
}

int32_t mx_prefix_tree_add_checkpoint(mx_prefix_tree *tree, int32_t page)
{
    mx_prefix_node *node = &tree->nodes[page];
    assert(node->n_children >= 0);
    if (tree->n_checkpoints == 0 || node->i_checkpoint >= 0) {
        return -1;
    }
    int32_t i = free_checkpoint(tree);
    if (i == tree->n_checkpoints) {
        int32_t victim = tree->oldest;
        while (tree->nodes[victim].i_checkpoint < 0) {
            victim = tree->nodes[victim].newer;
        }
        i = tree->nodes[victim].i_checkpoint;
        mx_prefix_tree_drop_checkpoint(tree, victim);
    }
    node->i_checkpoint = i;
    tree->checkpoints[i] = page;
    return i;
}

static bool is_evictable(const mx_prefix_tree *tree, int32_t i)
{
    return tree->nodes[i].n_children == 0 && tree->pool->n_users[i] == 1;
}

static void take_out(mx_prefix_tree *tree, int32_t i)
{
    mx_prefix_node *node = &tree->nodes[i];
    int32_t *link = bucket_of(tree, node->key, node->parent, node->tokens);
    while (*link != i) {
        link = &tree->nodes[*link].next_in_bucket;
    }
    *link = node->next_in_bucket;
    take_from_list(tree, i);
    mx_prefix_tree_drop_checkpoint(tree, i);
    if (node->parent != MX_NO_PAGE) {
        tree->nodes[node->parent].n_children--;
    }
    node->n_children = -1;
    tree->n_pages--;
    mx_kv_pages_drop(tree->pool, i);
}

bool mx_prefix_tree_evict(mx_prefix_tree *tree)
{
    int32_t i = tree->oldest;
    while (i != MX_NO_PAGE && !is_evictable(tree, i)) {
        i = tree->nodes[i].newer;
    }
    if (i != MX_NO_PAGE) {
        take_out(tree, i);
    }
    return i != MX_NO_PAGE;
}

int32_t mx_prefix_tree_count_evictable(const mx_prefix_tree *tree)
{
    int32_t n = 0;
    for (int32_t i = tree->oldest; i != MX_NO_PAGE; i = tree->nodes[i].newer) {
        n += tree->pool->n_users[i] == 1;
    }
    return n;
}

void mx_prefix_tree_clear(mx_prefix_tree *tree)
{
    while (mx_prefix_tree_evict(tree)) {
    }
}

void mx_prefix_tree_deinit(mx_prefix_tree *tree)
{
    if (tree->nodes && tree->buckets && tree->checkpoints) {
        mx_prefix_tree_clear(tree);
    }
    mx_free(tree->nodes);
    mx_free(tree->buckets);
    mx_free(tree->checkpoints);
    *tree = (mx_prefix_tree){0};
}
