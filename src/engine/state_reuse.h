/* state_reuse.h - prefixes of models with recurrent layers: pages, and the state behind them.
 *
 * Slots of state are [0, max_seqs) for sequences and the rest for the tree's checkpoints. A step that ends at the
 * border of a page leaves the state behind that page in the sequence's slot, and there it can be kept: a copy goes to a
 * checkpoint. A later text goes on from the longest beginning that has its pages and a checkpoint at its end.
 */
#ifndef MX_ENGINE_STATE_REUSE_H
#define MX_ENGINE_STATE_REUSE_H

#include "engine/engine.h"
#include "engine/prefix_tree.h"

/* As mx_sequence_reuse, as far as there are checkpoints; the sequence's slot then holds the state. A copy that fails
 * ends in nothing being reused. */
int32_t mx_state_reuse(mx_engine *engine, mx_sequence *sequence, const mx_prefix_tree *tree, uint64_t key);

/* At a page border, after mx_sequence_publish: keeps the state. Returns the page that has it now; MX_NO_PAGE when this
 * is no border, or it was kept already or could not be. */
int32_t mx_state_keep(mx_engine *engine, const mx_sequence *sequence, mx_prefix_tree *tree);

/* How many of max_rows the next part of the sequence takes, so that it ends where its state is worth keeping: at the
 * last border of the known tokens, and before it at borders where the budget allows. */
int32_t mx_state_rows(const mx_sequence *sequence, int32_t max_rows);

#endif
