/* batch.h - the work of one step: a ragged batch over a paged cache.
 *
 * Prefill, decode and mixed steps are the same thing: each sequence brings one or more tokens. Rows of sequence i are
 * [row_start[i], row_start[i + 1]), their positions follow one another and end at kv_len[i] - 1.
 * The key and value of position p of sequence i lie in page page_table[i * n_page_cols + p / MX_PAGE_TOKENS], slot
 * p % MX_PAGE_TOKENS, of every cache; the engine hands the pages out.
 * A recurrent program also keeps a state of each sequence: what slot state_slots[i] holds stands behind the position
 * before the sequence's first row, and the step leaves there what stands behind its last row. A first row of position
 * 0 starts from the initial state, whatever the slot held; a sequence without rows leaves its slot alone.
 */
#ifndef MX_PROGRAM_BATCH_H
#define MX_PROGRAM_BATCH_H

#include <stdint.h>

#define MX_PAGE_TOKENS 32

typedef struct mx_batch {
    int32_t n_tokens; /* T */
    int32_t n_seqs;
    int32_t n_samples;          /* S */
    int32_t n_page_cols;        /* entries of a page-table row */
    const int32_t *tokens;      /* [n_tokens] token ids, each below n_vocab */
    const int32_t *positions;   /* [n_tokens] */
    const int32_t *row_start;   /* [n_seqs + 1] */
    const int32_t *kv_len;      /* [n_seqs] positions in the cache after this step, its own tokens included */
    const int32_t *page_table;  /* [n_seqs, n_page_cols] */
    const int32_t *state_slots; /* [n_seqs] no two the same; NULL where the program has no states */
    const int32_t *sample_rows; /* [n_samples] rows whose logits are wanted, ascending */
} mx_batch;

#endif
