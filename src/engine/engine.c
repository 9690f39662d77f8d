/* engine.c - packs sequences into a batch. */
#include "engine/engine.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

static int32_t count_page_cols(const mx_engine_limits *limits)
{
    return limits->n_ctx / MX_PAGE_TOKENS + (limits->n_ctx % MX_PAGE_TOKENS != 0);
}

int32_t mx_engine_count_pages(const mx_engine_limits *limits)
{
    return limits->n_pages > 0 ? limits->n_pages : count_page_cols(limits) * limits->max_seqs;
}

static int32_t *new_ids(size_t n_rows, size_t n_cols)
{
    return (int32_t *)mx_calloc(n_rows, n_cols * sizeof(int32_t));
}

mx_status mx_engine_init(mx_engine *engine, mx_executor *executor, const mx_engine_limits *limits, mx_error *err)
{
    assert(limits->n_ctx > 0 && limits->max_seqs > 0 && limits->max_step_tokens > 0);
    const size_t n_seqs = (size_t)limits->max_seqs;
    const size_t n_tokens = (size_t)limits->max_step_tokens;
    mx_status st;

    *engine = (mx_engine){.executor = executor, .limits = *limits, .n_page_cols = count_page_cols(limits)};
    engine->limits.n_pages = mx_engine_count_pages(limits);
    engine->limits.max_samples = limits->max_samples > 0 ? limits->max_samples : limits->max_seqs;
    assert(engine->limits.n_pages >= engine->n_page_cols);
    MX_TRY_OR(failed, st, mx_kv_pages_init(&engine->pages, engine->limits.n_pages, err));
    MX_TRY_OR(failed, st, mx_kv_pages_init(&engine->slots, limits->max_seqs, err));
    engine->tokens = new_ids(n_tokens, 1);
    engine->positions = new_ids(n_tokens, 1);
    engine->row_start = new_ids(n_seqs + 1, 1);
    engine->kv_len = new_ids(n_seqs, 1);
    engine->page_table = new_ids(n_seqs, (size_t)engine->n_page_cols);
    engine->state_slots = new_ids(n_seqs, 1);
    engine->sample_rows = new_ids((size_t)engine->limits.max_samples, 1);
    if (engine->tokens && engine->positions && engine->row_start && engine->kv_len && engine->page_table &&
        engine->state_slots && engine->sample_rows) {
        return MX_OK;
    }
    st = mx_fail_no_memory(err, (n_seqs * (size_t)engine->n_page_cols + n_tokens) * sizeof(int32_t),
                           "the lists of a step");
failed:
    mx_engine_deinit(engine);
    return st;
}

void mx_engine_deinit(mx_engine *engine)
{
    mx_kv_pages_deinit(&engine->pages);
    mx_kv_pages_deinit(&engine->slots);
    mx_free(engine->tokens);
    mx_free(engine->positions);
    mx_free(engine->row_start);
    mx_free(engine->kv_len);
    mx_free(engine->page_table);
    mx_free(engine->state_slots);
    mx_free(engine->sample_rows);
    *engine = (mx_engine){0};
}

/* Writes one part as sequence i_seq of the batch, from row `row` on. */
static void pack_part(mx_engine *engine, const mx_step_part *part, int32_t i_seq, int32_t row)
{
    const mx_sequence *seq = part->sequence;
    memcpy(engine->tokens + row, seq->tokens + seq->n_cached, (size_t)part->n_rows * sizeof(int32_t));
    for (int32_t i = 0; i < part->n_rows; i++) {
        engine->positions[row + i] = seq->n_cached + i;
    }
    engine->row_start[i_seq + 1] = row + part->n_rows;
    engine->kv_len[i_seq] = seq->n_cached + part->n_rows;
    engine->state_slots[i_seq] = seq->state_slot;
    memcpy(engine->page_table + (size_t)i_seq * (size_t)engine->n_page_cols, seq->pages,
           (size_t)seq->n_pages * sizeof(int32_t));
}

mx_status mx_engine_step(mx_engine *engine, mx_step_part *parts, int32_t n_parts, mx_error *err)
{
    assert(n_parts > 0 && n_parts <= engine->limits.max_seqs);
    int32_t n_rows = 0;
    int32_t n_samples = 0;
    engine->row_start[0] = 0;
    for (int32_t i = 0; i < n_parts; i++) {
        mx_sequence *seq = parts[i].sequence;
        assert(parts[i].n_rows > 0 && seq->n_cached + parts[i].n_rows <= seq->max_tokens);
        assert(n_rows + parts[i].n_rows <= engine->limits.max_step_tokens);
        assert(n_samples + parts[i].n_logits <= engine->limits.max_samples && parts[i].n_logits <= parts[i].n_rows);
        assert(seq->max_tokens <= engine->limits.n_ctx);
        MX_TRY(mx_sequence_reserve(seq, seq->n_cached + parts[i].n_rows, err));
        MX_TRY(mx_sequence_hold_slot(seq, &engine->slots, err));
        pack_part(engine, &parts[i], i, n_rows);
        n_rows += parts[i].n_rows;
        for (int32_t j = parts[i].n_logits; j > 0; j--) {
            engine->sample_rows[n_samples++] = n_rows - j;
        }
    }
    const mx_batch batch = {
        .n_tokens = n_rows,
        .n_seqs = n_parts,
        .n_samples = n_samples,
        .n_page_cols = engine->n_page_cols,
        .tokens = engine->tokens,
        .positions = engine->positions,
        .row_start = engine->row_start,
        .kv_len = engine->kv_len,
        .page_table = engine->page_table,
        .state_slots = engine->state_slots,
        .sample_rows = engine->sample_rows,
    };
    MX_TRY(mx_executor_run(engine->executor, &batch, err));
    const float *logits = mx_executor_view_logits(engine->executor);
    size_t i_sample = 0;
    for (int32_t i = 0; i < n_parts; i++) {
        parts[i].sequence->n_cached += parts[i].n_rows;
        parts[i].logits = parts[i].n_logits > 0 ? logits + i_sample * (size_t)engine->limits.n_vocab : NULL;
        i_sample += (size_t)parts[i].n_logits;
    }
    return MX_OK;
}
