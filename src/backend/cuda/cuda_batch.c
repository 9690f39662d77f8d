/* cuda_batch.c - a step's batch in device memory, copied there in one piece. */
#include <string.h>

#include "backend/cuda/cuda_backend.h"

#define QUERY_TILE_TOKENS 64 /* as attention.cu has it */

static size_t place(size_t *end, size_t n_items)
{
    const size_t at = *end;
    *end += (n_items * sizeof(int32_t) + 15) / 16 * 16;
    return at;
}

static size_t max_query_tiles(const mx_cuda *cuda)
{
    return (size_t)cuda->plan->max_tokens / QUERY_TILE_TOKENS + (size_t)cuda->options.max_seqs;
}

void mx_cuda_place_batch(mx_cuda *cuda)
{
    const size_t max_tokens = (size_t)cuda->plan->max_tokens;
    const size_t max_seqs = (size_t)cuda->options.max_seqs;
    mx_cuda_batch_layout *layout = &cuda->batch_layout;
    size_t end = sizeof(step_header);
    layout->max_page_cols = cuda->program->n_ctx / MX_PAGE_TOKENS + 1;
    layout->tokens = place(&end, max_tokens);
    layout->positions = place(&end, max_tokens);
    layout->token_seqs = place(&end, max_tokens);
    layout->row_start = place(&end, max_seqs + 1);
    layout->sample_rows = place(&end, (size_t)cuda->plan->max_samples);
    layout->query_tiles = place(&end, 2 * max_query_tiles(cuda));
    layout->page_table = place(&end, max_seqs * (size_t)layout->max_page_cols);
    layout->n_bytes = end;
    cuda->batch_memory = mx_cuda_take(cuda, end);
}

mx_cu_ptr mx_cuda_batch_at(const mx_cuda *cuda, size_t offset)
{
    return cuda->batch_memory + offset;
}

attention_step mx_cuda_attention_step(const mx_cuda *cuda)
{
    const mx_cuda_batch_layout *layout = &cuda->batch_layout;
    return (attention_step){
        .header = cuda->batch_memory,
        .positions = mx_cuda_batch_at(cuda, layout->positions),
        .token_seqs = mx_cuda_batch_at(cuda, layout->token_seqs),
        .row_start = mx_cuda_batch_at(cuda, layout->row_start),
        .page_table = mx_cuda_batch_at(cuda, layout->page_table),
        .query_tiles = mx_cuda_batch_at(cuda, layout->query_tiles),
    };
}

static int32_t next_power_of_2(int32_t n)
{
    int32_t p = 1;
    while (p < n) {
        p *= 2;
    }
    return p;
}

/* Fills the lists that follow from the batch, and what the step's launches depend on. */
static void describe_step(mx_cuda *cuda, const mx_batch *batch)
{
    int32_t *token_seqs = (int32_t *)(cuda->batch_host + cuda->batch_layout.token_seqs);
    int32_t *tiles = (int32_t *)(cuda->batch_host + cuda->batch_layout.query_tiles);
    int32_t longest = 1;
    mx_cuda_step *step = &cuda->step;
    *step = (mx_cuda_step){.n_tokens = batch->n_tokens, .n_seqs = batch->n_seqs, .n_samples = batch->n_samples};
    for (int32_t i = 0; i < batch->n_seqs; i++) {
        const int32_t from = batch->row_start[i];
        const int32_t to = batch->row_start[i + 1];
        step->max_seq_tokens = MX_MAX(step->max_seq_tokens, to - from);
        longest = to > from ? MX_MAX(longest, batch->kv_len[i]) : longest;
        for (int32_t t = from; t < to; t++) {
            token_seqs[t] = i;
            if ((t - from) % QUERY_TILE_TOKENS == 0) {
                tiles[2 * step->n_query_tiles] = i;
                tiles[2 * step->n_query_tiles + 1] = t;
                step->n_query_tiles++;
            }
        }
    }
    step->n_pages = next_power_of_2((longest + MX_PAGE_TOKENS - 1) / MX_PAGE_TOKENS);
}

static void copy_ids(mx_cuda *cuda, size_t offset, const int32_t *from, int32_t n)
{
    if (n > 0) {
        memcpy(cuda->batch_host + offset, from, (size_t)n * sizeof(int32_t));
    }
}

mx_status mx_cuda_send_batch(mx_cuda *cuda, const mx_batch *batch, mx_error *err)
{
    const mx_cuda_batch_layout *layout = &cuda->batch_layout;
    if (batch->n_page_cols > layout->max_page_cols) {
        return mx_fail(err, MX_INVALID, "a page table of %d columns: the model's context has %d", batch->n_page_cols,
                       layout->max_page_cols);
    }
    const step_header header = {batch->n_tokens, batch->n_seqs, batch->n_samples, batch->n_page_cols};
    memcpy(cuda->batch_host, &header, sizeof header);
    copy_ids(cuda, layout->tokens, batch->tokens, batch->n_tokens);
    copy_ids(cuda, layout->positions, batch->positions, batch->n_tokens);
    copy_ids(cuda, layout->row_start, batch->row_start, batch->n_seqs + 1);
    copy_ids(cuda, layout->sample_rows, batch->sample_rows, batch->n_samples);
    copy_ids(cuda, layout->page_table, batch->page_table, batch->n_seqs * batch->n_page_cols);
    describe_step(cuda, batch);
    const size_t n_bytes = layout->page_table + (size_t)batch->n_seqs * (size_t)batch->n_page_cols * sizeof(int32_t);
    return mx_cuda_check(
        &cuda->driver,
        cuda->driver.api.cuMemcpyHtoDAsync_v2(cuda->batch_memory, cuda->batch_host, n_bytes, cuda->stream),
        "copying a batch to the GPU", err);
}
