/* state_reuse.c - the longest beginning with a checkpoint, and the borders to stop at. */
#include "engine/state_reuse.h"

#include "program/batch.h"

/* Finds the pages that come next without taking them, in the room behind the sequence's own. Returns how many there are
 * up to the last one with a checkpoint. */
static int32_t find_pages(const mx_sequence *seq, const mx_prefix_tree *tree, uint64_t key)
{
    int32_t n_best = 0;
    int32_t parent = seq->n_pages > 0 ? seq->pages[seq->n_pages - 1] : MX_NO_PAGE;
    for (int32_t n = 0; seq->n_cached + (n + 1) * MX_PAGE_TOKENS < seq->n_tokens; n++) {
        const int32_t page = mx_prefix_tree_find(tree, key, parent, seq->tokens + seq->n_cached + n * MX_PAGE_TOKENS);
        if (page == MX_NO_PAGE) {
            break;
        }
        seq->pages[seq->n_pages + n] = parent = page;
        if (mx_prefix_tree_view_checkpoint(tree, page) >= 0) {
            n_best = n + 1;
        }
    }
    return n_best;
}

int32_t mx_state_reuse(mx_engine *engine, mx_sequence *seq, mx_prefix_tree *tree, uint64_t key)
{
    if (seq->n_in_tree != seq->n_pages || seq->n_cached != seq->n_pages * MX_PAGE_TOKENS) {
        return 0;
    }
    const int32_t n = find_pages(seq, tree, key);
    if (n == 0 || mx_sequence_hold_slot(seq, &engine->slots, NULL) != MX_OK) {
        return 0;
    }
    const int32_t last = seq->pages[seq->n_pages + n - 1];
    const int32_t from = engine->limits.max_seqs + mx_prefix_tree_view_checkpoint(tree, last);
    if (mx_executor_copy_state(engine->executor, from, seq->state_slot, NULL) != MX_OK) {
        mx_sequence_drop_pages(seq); /* its own state may be lost as well */
        return 0;
    }
    for (int32_t i = 0; i < n; i++) {
        mx_kv_pages_share(seq->pool, seq->pages[seq->n_pages++]);
    }
    seq->n_in_tree = seq->n_pages;
    seq->n_cached += n * MX_PAGE_TOKENS;
    return n * MX_PAGE_TOKENS;
}

int32_t mx_state_keep(mx_engine *engine, const mx_sequence *seq, mx_prefix_tree *tree)
{
    if (seq->n_cached == 0 || seq->n_cached % MX_PAGE_TOKENS != 0 || seq->n_in_tree * MX_PAGE_TOKENS != seq->n_cached) {
        return MX_NO_PAGE;
    }
    const int32_t page = seq->pages[seq->n_in_tree - 1];
    const int32_t i = mx_prefix_tree_add_checkpoint(tree, page);
    if (i < 0) {
        return MX_NO_PAGE;
    }
    if (mx_executor_copy_state(engine->executor, seq->state_slot, engine->limits.max_seqs + i, NULL) != MX_OK) {
        mx_prefix_tree_drop_checkpoint(tree, page);
        return MX_NO_PAGE;
    }
    return page;
}

int32_t mx_state_rows(const mx_sequence *seq, int32_t max_rows)
{
    const int32_t last_border = (seq->n_tokens - 1) / MX_PAGE_TOKENS * MX_PAGE_TOKENS;
    const int32_t end = MX_MIN(seq->n_cached + max_rows, seq->n_tokens);
    if (seq->n_cached >= last_border || end == last_border) {
        return max_rows;
    }
    const int32_t border = MX_MIN(end, last_border) / MX_PAGE_TOKENS * MX_PAGE_TOKENS;
    return border > seq->n_cached ? border - seq->n_cached : max_rows;
}
