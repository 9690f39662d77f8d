/* streams.cu - several values side by side, and columns of a value; streams.params.h says what each computes.
 *
 * Grid      a block a row; mix_streams and add_streams: (n_rows, n_streams).
 * Block     256 threads.
 * Roofline  a few kilobytes a row, mostly in the second cache: the launch is the cost.
 */
#include "backend/cuda/kernels/device.cuh"
#include "backend/cuda/kernels/streams.params.h"

extern "C" __global__ void __launch_bounds__(256) slice(const __grid_constant__ slice_params p)
{
    let_next_start();
    wait_for_previous();
    const float *x = p.x + blockIdx.x * p.n_x_cols + p.first;
    for (int64_t c = threadIdx.x; c < p.n_y_cols; c += 256) {
        p.y[blockIdx.x * p.n_y_cols + c] = load_f32(x + c / p.n_group * p.stride + c % p.n_group);
    }
}

extern "C" __global__ void __launch_bounds__(256) concat_rows(const __grid_constant__ row_pair_params p)
{
    let_next_start();
    wait_for_previous();
    float *y = p.y + blockIdx.x * (p.n_a_cols + p.n_b_cols);
    for (int64_t c = threadIdx.x; c < p.n_a_cols; c += 256) {
        y[c] = load_f32(p.a + blockIdx.x * p.n_a_cols + c);
    }
    for (int64_t c = threadIdx.x; c < p.n_b_cols; c += 256) {
        y[p.n_a_cols + c] = load_f32(p.b + blockIdx.x * p.n_b_cols + c);
    }
}

extern "C" __global__ void __launch_bounds__(256) match_rms(const __grid_constant__ row_pair_params p)
{
    __shared__ float shared[32];
    let_next_start();
    wait_for_previous();
    const int64_t first = blockIdx.x * p.n_a_cols;
    float squares_a = 0.0f;
    float squares_b = 0.0f;
    for (int64_t c = threadIdx.x; c < p.n_a_cols; c += 256) {
        const float a = load_f32(p.a + first + c);
        const float b = load_f32(p.b + first + c);
        squares_a += a * a;
        squares_b += b * b;
    }
    squares_a = block_sum(squares_a, shared) / (float)p.n_a_cols;
    __syncthreads(); /* all have read the first sum before the second takes its place */
    squares_b = block_sum(squares_b, shared) / (float)p.n_a_cols;
    const float factor = sqrtf(squares_b / fmaxf(squares_a, p.least));
    for (int64_t c = threadIdx.x; c < p.n_a_cols; c += 256) {
        p.y[first + c] = load_f32(p.a + first + c) * factor;
    }
}

extern "C" __global__ void __launch_bounds__(256) cutoff(const __grid_constant__ row_pair_params p)
{
    __shared__ float shared[32];
    let_next_start();
    wait_for_previous();
    const int64_t first = blockIdx.x * p.n_a_cols;
    float sum = 0.0f;
    for (int64_t c = threadIdx.x; c < p.n_a_cols; c += 256) {
        sum += load_f32(p.a + first + c);
    }
    const float mean = block_sum(sum, shared) / (float)p.n_a_cols;
    float squares = 0.0f;
    for (int64_t c = threadIdx.x; c < p.n_a_cols; c += 256) {
        const float v = load_f32(p.a + first + c) - mean;
        squares += v * v;
    }
    __syncthreads(); /* all have read the first sum before the second takes its place */
    const float least = mean + p.least * sqrtf(block_sum(squares, shared) / (float)p.n_a_cols);
    for (int64_t c = threadIdx.x; c < p.n_a_cols; c += 256) {
        p.y[first + c] = fmaxf(load_f32(p.a + first + c) - least, 0.0f);
    }
}

extern "C" __global__ void __launch_bounds__(256) mix_streams(const __grid_constant__ streams_params p)
{
    let_next_start();
    wait_for_previous();
    const float *x = p.x + (int64_t)blockIdx.x * p.n_streams * p.n_cols;
    const int64_t to = ((int64_t)blockIdx.x * p.n_streams + blockIdx.y) * p.n_cols;
    const float *m = p.m + ((int64_t)blockIdx.x * p.n_streams + blockIdx.y) * p.n_streams;
    for (int64_t c = threadIdx.x; c < p.n_cols; c += 256) {
        float sum = load_f32(p.x + to + c);
        for (int32_t i = 0; i < p.n_streams; i++) {
            sum += load_f32(m + i) * load_f32(x + i * p.n_cols + c);
        }
        p.y[to + c] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(256) add_streams(const __grid_constant__ streams_params p)
{
    let_next_start();
    wait_for_previous();
    const int64_t stream = (int64_t)blockIdx.x * p.n_streams + blockIdx.y;
    const float weight = (int32_t)blockIdx.y < p.first ? 0.0f : p.m ? load_f32(p.m + stream) + p.offset : 1.0f;
    for (int64_t c = threadIdx.x; c < p.n_cols; c += 256) {
        const float a = load_f32(p.a + blockIdx.x * p.n_cols + c);
        p.y[stream * p.n_cols + c] = load_f32(p.x + stream * p.n_cols + c) + weight * a;
    }
}
