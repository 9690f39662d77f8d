/* attention_prepare.cu - heads as attention takes them: queries normalised, rotated and in f16, keys and values in the
 * cache. Also ROPE alone.
 *
 * Grid      attention_prepare: (n_tokens, blocks that share a token's heads of q, k and v); rope: (n_tokens, n_heads).
 * Block     attention_prepare: 128 threads, a warp a head; rope: 64.
 * Roofline  a few kilobytes a token: the launch is the cost.
 */
#include "backend/cuda/kernels/attention_heads.cuh"

enum { PREPARE_WARPS = 4 };

extern "C" __global__ void __launch_bounds__(128) attention_prepare(const __grid_constant__ attention_prepare_params p)
{
    __shared__ float heads[PREPARE_WARPS][HEAD_MAX];
    __shared__ head_tables tables;
    let_next_start();
    const int32_t t = blockIdx.x;
    const int32_t position = p.step.positions[t]; /* of the batch, which was there before the step */
    const int64_t page =
        p.step.page_table[(int64_t)p.step.token_seqs[t] * p.step.header->n_page_cols + position / PAGE_TOKENS];
    float *head = heads[threadIdx.x / 32];
    fill_tables(&p, &tables, position);
    __syncthreads(); /* the tables are there */
    wait_for_previous();
    const int32_t n_all = p.n_heads + (p.k ? 2 * p.n_kv_heads : 0); /* q heads, then k heads, then v heads */
    for (int32_t i = blockIdx.y * PREPARE_WARPS + threadIdx.x / 32; i < n_all; i += gridDim.y * PREPARE_WARPS) {
        const int32_t kv_head = (i - p.n_heads) % p.n_kv_heads;
        const int64_t block = (page * p.n_kv_heads + kv_head) * PAGE_TOKENS * p.dim;
        if (i < p.n_heads) {
            prepare_query(&p, &tables, p.q16 + ((int64_t)t * p.n_heads + i) * p.dim, head, t, i);
        } else if (i < p.n_heads + p.n_kv_heads) {
            append_key(&p, &tables, block, head, t, kv_head, position % PAGE_TOKENS);
        } else {
            append_value(&p, block, t, kv_head, position % PAGE_TOKENS);
        }
    }
}

extern "C" __global__ void __launch_bounds__(64) rope(const __grid_constant__ rope_params p)
{
    let_next_start();
    wait_for_previous();
    const int64_t first = ((int64_t)blockIdx.x * p.n_heads + blockIdx.y) * p.head_dim;
    const int32_t position = p.positions[blockIdx.x];
    for (int32_t d = threadIdx.x; d < p.head_dim; d += 64) {
        p.y[first + d] = rotated(p.x + first, d, p.inv_freq, p.rot_dim, p.is_interleaved, p.factor, position);
    }
}
