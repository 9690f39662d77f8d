/* bpe_join.c - joining symbols in the order of the ranks.
 *
 * Words are short as a rule; then looking through all ranks for the lowest is faster than any order kept. Long ones (a
 * megabyte of one letter, or text without a pre-tokenizer) go through a heap: O(n log n). */
#include "base/mem.h"
#include "text/tokenizer/bpe.h"

#define N_SHORT 48 /* symbols; beyond about this many the heap wins */
#define NONE    UINT32_MAX

static mx_status join_short(const mx_bpe *bpe, int32_t *ids, size_t n, mx_ids *out, mx_error *err)
{
    uint32_t ranks[N_SHORT]; /* of joining i and i + 1 */
    for (size_t i = 0; i + 1 < n; i++) {
        ranks[i] = mx_bpe_find_rank(bpe, ids[i], ids[i + 1]);
    }
    while (n > 1) {
        size_t best = 0;
        for (size_t i = 1; i + 1 < n; i++) {
            best = ranks[i] < ranks[best] ? i : best;
        }
        if (ranks[best] == MX_BPE_NO_RANK) {
            break;
        }
        ids[best] = bpe->merged[ranks[best]];
        n--;
        for (size_t i = best + 1; i < n; i++) {
            ids[i] = ids[i + 1];
            ranks[i - 1] = ranks[i];
        }
        if (best + 1 < n) {
            ranks[best] = mx_bpe_find_rank(bpe, ids[best], ids[best + 1]);
        }
        if (best > 0) {
            ranks[best - 1] = mx_bpe_find_rank(bpe, ids[best - 1], ids[best]);
        }
    }
    return mx_ids_append(out, ids, n, err);
}

static void sift_down(uint64_t *heap, size_t len, size_t at)
{
    const uint64_t item = heap[at];
    for (size_t child; (child = 2 * at + 1) < len; at = child) {
        child += child + 1 < len && heap[child + 1] < heap[child];
        if (heap[child] >= item) {
            break;
        }
        heap[at] = heap[child];
    }
    heap[at] = item;
}

static mx_status push(mx_bpe_scratch *scratch, uint64_t item, mx_error *err)
{
    if (scratch->heap_len == scratch->heap_cap) {
        uint64_t *heap =
            mx_array_grow(scratch->heap, &scratch->heap_cap, scratch->heap_len + 1, sizeof *heap, SIZE_MAX / 8);
        if (!heap) {
            return mx_fail_no_memory(err, scratch->heap_len * sizeof *heap, "the merges of a long word");
        }
        scratch->heap = heap;
    }
    size_t at = scratch->heap_len++;
    for (size_t parent; at > 0 && scratch->heap[parent = (at - 1) / 2] > item; at = parent) {
        scratch->heap[at] = scratch->heap[parent];
    }
    scratch->heap[at] = item;
    return MX_OK;
}

/* Looks up the merge of the symbol at `at` with its next, and puts it into the heap. */
static mx_status update(const mx_bpe *bpe, mx_bpe_scratch *scratch, uint32_t at, mx_error *err)
{
    mx_bpe_symbol *s = &scratch->symbols[at];
    s->rank = s->next == NONE ? MX_BPE_NO_RANK : mx_bpe_find_rank(bpe, s->id, scratch->symbols[s->next].id);
    return s->rank == MX_BPE_NO_RANK ? MX_OK : push(scratch, (uint64_t)s->rank << 32 | at, err);
}

static mx_status join_long(const mx_bpe *bpe, mx_bpe_scratch *scratch, mx_ids *out, mx_error *err)
{
    const size_t n = scratch->n_ids;
    mx_bpe_symbol *symbols = mx_array_grow(scratch->symbols, &scratch->symbols_cap, n, sizeof *symbols, UINT32_MAX - 1);
    if (!symbols) {
        return mx_fail_no_memory(err, n * sizeof *symbols, "the symbols of a long word");
    }
    scratch->symbols = symbols;
    scratch->heap_len = 0;
    for (size_t i = 0; i < n; i++) {
        symbols[i] = (mx_bpe_symbol){
            .id = scratch->ids[i], .previous = i ? (uint32_t)i - 1 : NONE, .next = i + 1 < n ? (uint32_t)i + 1 : NONE};
    }
    for (size_t i = 0; i < n; i++) {
        MX_TRY(update(bpe, scratch, (uint32_t)i, err));
    }
    while (scratch->heap_len) {
        const uint64_t top = scratch->heap[0];
        scratch->heap[0] = scratch->heap[--scratch->heap_len];
        if (scratch->heap_len) {
            sift_down(scratch->heap, scratch->heap_len, 0);
        }
        const uint32_t at = (uint32_t)top;
        mx_bpe_symbol *s = &symbols[at];
        if (s->id < 0 || s->rank != (uint32_t)(top >> 32)) {
            continue; /* joined, or its neighbour changed since */
        }
        mx_bpe_symbol *right = &symbols[s->next];
        s->id = bpe->merged[s->rank];
        s->next = right->next;
        right->id = -1;
        if (s->next != NONE) {
            symbols[s->next].previous = at;
        }
        MX_TRY(update(bpe, scratch, at, err));
        if (s->previous != NONE) {
            MX_TRY(update(bpe, scratch, s->previous, err));
        }
    }
    for (uint32_t at = 0; at != NONE; at = symbols[at].next) {
        MX_TRY(mx_ids_append(out, &symbols[at].id, 1, err));
    }
    return MX_OK;
}

mx_status mx_bpe_join(const mx_bpe *bpe, mx_bpe_scratch *scratch, mx_ids *out, mx_error *err)
{
    if (scratch->n_ids == 0) {
        return MX_OK;
    }
    return scratch->n_ids <= N_SHORT ? join_short(bpe, scratch->ids, scratch->n_ids, out, err)
                                     : join_long(bpe, scratch, out, err);
}

void mx_bpe_scratch_deinit(mx_bpe_scratch *scratch)
{
    mx_free(scratch->ids);
    mx_free(scratch->symbols);
    mx_free(scratch->heap);
    mx_buf_deinit(&scratch->affixed);
    *scratch = (mx_bpe_scratch){0};
}
