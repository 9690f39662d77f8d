/* engine.h - steps over sequences: the only caller of an executor.
 *
 * engine/ owns what texts need while they are made. kv_pages.h hands out the cache's pages, sequence.h holds a text's
 * tokens and pages, prefix_tree.h keeps pages that other texts may begin with, sampler.h picks the next token,
 * stop_text.h ends the text, generation.h takes one text from its prompt to its end, and this file packs the parts of
 * several sequences into the ragged batch of one step. scheduler.h decides who has a part in a step, engine_loop.h runs
 * it in a thread of its own, and the mlxcel_*.c files put all of it behind the public header. But for the loop,
 * everything here is used by one thread at a time.
 */
#ifndef MX_ENGINE_ENGINE_H
#define MX_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/executor.h"
#include "engine/sequence.h"

typedef struct mx_engine_limits {
    int32_t n_vocab;
    int32_t n_ctx;           /* positions that one sequence may have */
    int32_t max_seqs;        /* sequences in one step */
    int32_t max_step_tokens; /* tokens in one step, and */
    int32_t max_samples;     /* rows whose logits are wanted: what the plan was made for; 0: max_seqs */
    int32_t n_checkpoints;   /* of recurrent state, kept for later texts; 0 for models without it */
    int32_t n_pages;         /* of the pool, at least those of n_ctx positions; 0: n_ctx positions for each sequence */
} mx_engine_limits;

typedef struct mx_engine {
    mx_executor *executor; /* borrowed */
    mx_engine_limits limits;
    mx_kv_pages pages;
    mx_kv_pages slots;    /* of recurrent state, one for each of max_seqs: the same book-keeping as for pages */
    int32_t n_page_cols;  /* pages of n_ctx positions */
    int32_t *tokens;      /* owned [max_step_tokens]; this and the next are the batch of a step */
    int32_t *positions;   /* owned [max_step_tokens] */
    int32_t *row_start;   /* owned [max_seqs + 1] */
    int32_t *kv_len;      /* owned [max_seqs] */
    int32_t *page_table;  /* owned [max_seqs, n_page_cols] */
    int32_t *state_slots; /* owned [max_seqs] */
    int32_t *sample_rows; /* owned [max_samples] */
} mx_engine;

/* A sequence's part in a step: its next n_rows tokens that are not in the cache. */
typedef struct mx_step_part {
    mx_sequence *sequence;
    int32_t n_rows;      /* at least 1; those past the sequence's n_tokens are drafts, which lie behind its tokens */
    int32_t n_logits;    /* wanted, of the last n_logits rows */
    const float *logits; /* result [n_logits, n_vocab], borrowed until the next step; NULL unless wanted */
} mx_step_part;

/* Pages that the limits ask of an executor. */
int32_t mx_engine_count_pages(const mx_engine_limits *limits);

/* The executor must have been opened for these limits and outlive the engine. MX_NO_MEMORY. Steps allocate nothing. */
mx_status mx_engine_init(mx_engine *engine, mx_executor *executor, const mx_engine_limits *limits,
                         mx_error *err) MX_NODISCARD;

/* All sequences must be gone. A zeroed engine is fine. */
void mx_engine_deinit(mx_engine *engine);

/* Computes the parts in one batch; afterwards their tokens are in the cache. The caller keeps to the limits, and a
 * sequence has at most one part. MX_BUSY (no page left: give one back and try again), and what the executor fails
 * with; then no sequence has moved on. */
mx_status mx_engine_step(mx_engine *engine, mx_step_part *parts, int32_t n_parts, mx_error *err) MX_NODISCARD;

#endif
