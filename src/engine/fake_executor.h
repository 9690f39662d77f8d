/* fake_executor.h - an executor for tests: a cache that remembers token ids, and logits that depend on all of them.
 *
 * It stores each token of a step in the page and slot that the batch names, and makes the logits of a row from the
 * tokens that it finds there for all positions up to that row. So a wrong page, position, length or order changes what
 * is generated. With a script, the logits say the scripted token instead. With states, it also keeps a hash of each
 * sequence's tokens in the slot that the batch names, and fails where that is not the hash of what the cache holds.
 */
#ifndef MX_ENGINE_FAKE_EXECUTOR_H
#define MX_ENGINE_FAKE_EXECUTOR_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/executor.h"
#include "program/batch.h"

typedef struct fake_executor {
    mx_executor base; /* first */
    int32_t n_vocab;
    int32_t *cache;        /* owned [n_pages, MX_PAGE_TOKENS] */
    float *logits;         /* owned [max_samples, n_vocab] */
    const int32_t *script; /* [n_script] tokens to say after the prompt; NULL: by the cache's contents */
    int32_t n_script;
    int32_t script_from; /* position of the prompt's last token */
    uint32_t *states;    /* owned [n_slots]; NULL: a model without states */
    int32_t n_runs;
    int32_t n_copies; /* of states */
    int32_t fail_at;  /* the run that fails; 0: none */
} fake_executor;

static uint32_t fake_hash(uint32_t h, int32_t token)
{
    h = (h ^ (uint32_t)token) * 16777619u;
    return h ^ h >> 15;
}

/* Of the tokens that the cache has up to a position. */
static uint32_t fake_hash_cache(const fake_executor *f, const mx_batch *b, int32_t i_seq, int32_t position)
{
    uint32_t h = 2166136261u;
    for (int32_t p = 0; p <= position; p++) {
        const int32_t page = b->page_table[i_seq * b->n_page_cols + p / MX_PAGE_TOKENS];
        h = fake_hash(h, f->cache[page * MX_PAGE_TOKENS + p % MX_PAGE_TOKENS]);
    }
    return h;
}

static mx_status fake_step_state(fake_executor *f, const mx_batch *b, int32_t i_seq, int32_t row, mx_error *err)
{
    const int32_t position = b->positions[row];
    uint32_t *state = &f->states[b->state_slots[i_seq]];
    *state = fake_hash(position == 0 ? 2166136261u : *state, b->tokens[row]);
    return *state == fake_hash_cache(f, b, i_seq, position)
               ? MX_OK
               : mx_fail(err, MX_DEVICE, "the state at position %d is of another text", position);
}

static mx_status fake_copy_state(mx_executor *executor, int32_t from_slot, int32_t to_slot, mx_error *err)
{
    (void)err;
    fake_executor *f = (fake_executor *)executor;
    f->states[to_slot] = f->states[from_slot];
    f->n_copies++;
    return MX_OK;
}

static void fake_row_logits(fake_executor *f, const mx_batch *b, int32_t i_seq, int32_t row, float *logits)
{
    const int32_t position = b->positions[row];
    const int32_t at = position - f->script_from;
    for (int32_t v = 0; f->script && v < f->n_vocab; v++) {
        logits[v] = at >= 0 && at < f->n_script && v == f->script[at] ? 10.0f : 0.0f;
    }
    const uint32_t h = fake_hash_cache(f, b, i_seq, position);
    for (int32_t v = 0; !f->script && v < f->n_vocab; v++) {
        logits[v] = (float)(fake_hash(h, v) % 1000u) * 0.01f;
    }
}

static mx_status fake_run(mx_executor *executor, const mx_batch *b, mx_error *err)
{
    fake_executor *f = (fake_executor *)executor;
    if (++f->n_runs == f->fail_at) {
        return mx_fail(err, MX_DEVICE, "the fake device fails at run %d", f->n_runs);
    }
    int32_t i_sample = 0;
    for (int32_t i = 0; i < b->n_seqs; i++) {
        for (int32_t row = b->row_start[i]; row < b->row_start[i + 1]; row++) {
            const int32_t p = b->positions[row];
            const int32_t page = b->page_table[i * b->n_page_cols + p / MX_PAGE_TOKENS];
            if (p != b->kv_len[i] - (b->row_start[i + 1] - row)) {
                return mx_fail(err, MX_DEVICE, "position %d in row %d of a cache of %d", p, row, b->kv_len[i]);
            }
            f->cache[page * MX_PAGE_TOKENS + p % MX_PAGE_TOKENS] = b->tokens[row];
            if (f->states) {
                MX_TRY(fake_step_state(f, b, i, row, err));
            }
            if (i_sample < b->n_samples && b->sample_rows[i_sample] == row) {
                fake_row_logits(f, b, i, row, f->logits + i_sample++ * f->n_vocab);
            }
        }
    }
    return MX_OK;
}

static const float *fake_view_logits(const mx_executor *executor)
{
    return ((const fake_executor *)executor)->logits;
}

/* The caller frees it with fake_free. Tests cannot go on without it. */
static fake_executor *fake_new(int32_t n_vocab, int32_t n_pages, int32_t max_samples)
{
    fake_executor *f = (fake_executor *)calloc(1, sizeof *f);
    int32_t *cache = (int32_t *)calloc((size_t)n_pages * MX_PAGE_TOKENS, sizeof *cache);
    float *logits = (float *)calloc((size_t)max_samples * (size_t)n_vocab, sizeof *logits);
    if (!f || !cache || !logits) {
        printf("no memory for the fake executor\n");
        exit(1);
    }
    *f = (fake_executor){.base = {.run = fake_run, .view_logits = fake_view_logits, .copy_state = fake_copy_state},
                         .n_vocab = n_vocab,
                         .cache = cache,
                         .logits = logits};
    return f;
}

static inline void fake_add_states(fake_executor *f, int32_t n_slots)
{
    f->states = (uint32_t *)calloc((size_t)n_slots, sizeof *f->states);
    if (!f->states) {
        printf("no memory for the fake executor\n");
        exit(1);
    }
}

static void fake_free(fake_executor *f)
{
    free(f->cache);
    free(f->logits);
    free(f->states);
    free(f);
}

#endif
