/* state_reuse.c - the longest beginning with a checkpoint, and the borders to stop at. */
#include "engine/state_reuse.h"

#include "program/batch.h"

int32_t mx_state_reuse(mx_engine *engine, mx_sequence *seq, const mx_prefix_tree *tree, uint64_t key)
{
    const int32_t n = mx_sequence_find_pages(seq, tree, key, true);
    if (n == 0 || mx_sequence_hold_slot(seq, &engine->slots, NULL) != MX_OK) {
        return 0;
    }
    const int32_t last = seq->pages[seq->n_pages + n - 1];
    const int32_t from = engine->limits.max_seqs + mx_prefix_tree_view_checkpoint(tree, last);
    if (mx_executor_copy_state(engine->executor, from, seq->state_slot, NULL) != MX_OK) {
        mx_sequence_drop_pages(seq); /* its own state may be lost as well */
        return 0;
    }
    mx_sequence_take_pages(seq, n);
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
