/* sequence.c - a list of tokens and a list of pages. */
#include "engine/sequence.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "program/batch.h"

static int32_t pages_for(int32_t n_positions)
{
    return n_positions / MX_PAGE_TOKENS + (n_positions % MX_PAGE_TOKENS != 0);
}

mx_status mx_sequence_init(mx_sequence *sequence, mx_kv_pages *pool, int32_t max_tokens, mx_error *err)
{
    assert(max_tokens > 0);
    *sequence = (mx_sequence){.pool = pool, .max_tokens = max_tokens};
    sequence->tokens = (int32_t *)mx_calloc((size_t)max_tokens, sizeof(int32_t));
    sequence->pages = (int32_t *)mx_calloc((size_t)pages_for(max_tokens), sizeof(int32_t));
    if (!sequence->tokens || !sequence->pages) {
        mx_sequence_deinit(sequence);
        return mx_fail_no_memory(err, (size_t)max_tokens * sizeof(int32_t), "the tokens of a sequence");
    }
    return MX_OK;
}

void mx_sequence_drop_pages(mx_sequence *sequence)
{
    assert(sequence->n_pages == 0 || sequence->pages);
    for (int32_t i = sequence->n_pages - 1; i >= 0; i--) {
        mx_kv_pages_drop(sequence->pool, sequence->pages[i]);
    }
    if (sequence->slots) {
        mx_kv_pages_drop(sequence->slots, sequence->state_slot);
        sequence->slots = NULL;
    }
    sequence->n_pages = 0;
    sequence->n_cached = 0;
    sequence->n_in_tree = 0;
}

void mx_sequence_deinit(mx_sequence *sequence)
{
    mx_sequence_drop_pages(sequence);
    mx_free(sequence->tokens);
    mx_free(sequence->pages);
    *sequence = (mx_sequence){0};
}

mx_status mx_sequence_append(mx_sequence *sequence, const int32_t *tokens, int32_t n_tokens, mx_error *err)
{
    if (n_tokens > sequence->max_tokens - sequence->n_tokens) {
        return mx_fail(err, MX_INVALID, "%d tokens do not fit behind %d: the sequence holds %d", (int)n_tokens,
                       (int)sequence->n_tokens, (int)sequence->max_tokens);
    }
    if (n_tokens > 0) {
        memcpy(sequence->tokens + sequence->n_tokens, tokens, (size_t)n_tokens * sizeof(int32_t));
        sequence->n_tokens += n_tokens;
    }
    return MX_OK;
}

mx_status mx_sequence_reserve(mx_sequence *sequence, int32_t n_positions, mx_error *err)
{
    assert(n_positions <= sequence->max_tokens);
    while (sequence->n_pages < pages_for(n_positions)) {
        MX_TRY(mx_kv_pages_take(sequence->pool, &sequence->pages[sequence->n_pages], err));
        sequence->n_pages++;
    }
    return MX_OK;
}

mx_status mx_sequence_hold_slot(mx_sequence *sequence, mx_kv_pages *slots, mx_error *err)
{
    if (!sequence->slots) {
        MX_TRY(mx_kv_pages_take(slots, &sequence->state_slot, err));
        sequence->slots = slots;
    }
    return MX_OK;
}

static int32_t last_in_tree(const mx_sequence *sequence)
{
    return sequence->n_in_tree > 0 ? sequence->pages[sequence->n_in_tree - 1] : MX_NO_PAGE;
}

int32_t mx_sequence_find_pages(const mx_sequence *sequence, const mx_prefix_tree *tree, uint64_t key,
                               bool needs_checkpoint)
{
    int32_t n_found = 0;
    int32_t parent = last_in_tree(sequence);
    if (sequence->n_in_tree != sequence->n_pages || sequence->n_cached != sequence->n_pages * MX_PAGE_TOKENS) {
        return 0;
    }
    for (int32_t n = 0; sequence->n_cached + (n + 1) * MX_PAGE_TOKENS < sequence->n_tokens; n++) {
        const int32_t *tokens = sequence->tokens + sequence->n_cached + n * MX_PAGE_TOKENS;
        const int32_t page = mx_prefix_tree_find(tree, key, parent, tokens);
        if (page == MX_NO_PAGE) {
            break;
        }
        sequence->pages[sequence->n_pages + n] = parent = page;
        if (!needs_checkpoint || mx_prefix_tree_view_checkpoint(tree, page) >= 0) {
            n_found = n + 1;
        }
    }
    return n_found;
}

void mx_sequence_take_pages(mx_sequence *sequence, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        mx_kv_pages_share(sequence->pool, sequence->pages[sequence->n_pages++]);
    }
    sequence->n_in_tree += n;
    sequence->n_cached += n * MX_PAGE_TOKENS;
}

int32_t mx_sequence_reuse(mx_sequence *sequence, const mx_prefix_tree *tree, uint64_t key)
{
    const int32_t n = mx_sequence_find_pages(sequence, tree, key, false);
    mx_sequence_take_pages(sequence, n);
    return n * MX_PAGE_TOKENS;
}

void mx_sequence_publish(mx_sequence *sequence, mx_prefix_tree *tree, uint64_t key)
{
    while (sequence->n_in_tree < sequence->n_cached / MX_PAGE_TOKENS) {
        const int32_t i = sequence->n_in_tree;
        const int32_t own = sequence->pages[i];
        const int32_t page =
            mx_prefix_tree_add(tree, key, last_in_tree(sequence), sequence->tokens + i * MX_PAGE_TOKENS, own);
        if (page != own) {
            mx_kv_pages_share(sequence->pool, page);
            mx_kv_pages_drop(sequence->pool, own);
            sequence->pages[i] = page;
        }
        sequence->n_in_tree++;
    }
}
