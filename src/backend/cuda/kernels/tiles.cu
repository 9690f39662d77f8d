/* tiles.cu - brings a weight matrix from the checkpoint's bytes into tiles, once, when a model is loaded.
 *
 * Source    tiles.params.h describes the result.
 * Grid      tile_range: any; tile_pack: (n_chunks, n_tiles).
 * Block     tile_range: 256 threads; tile_pack: 32, one warp a chunk, lane = 4 * g + c.
 * Roofline  reads the checkpoint's bytes and writes as many; byte loads keep it far below the memory's speed, and
 *           it hides behind the copy from the host.
 */
#include "backend/cuda/kernels/raw_matrix.cuh"

extern "C" __global__ void __launch_bounds__(256) tile_range(const __grid_constant__ tile_range_params p)
{
    __shared__ float shared[32];
    const raw_matrix *m = &p.raw;
    const int64_t n_units = (int64_t)m->n_rows * (m->n_cols / m->group);
    float largest = 0.0f;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n_units;
         i += (int64_t)gridDim.x * blockDim.x) {
        const int32_t row = (int32_t)(i / (m->n_cols / m->group));
        const int32_t col = (int32_t)(i % (m->n_cols / m->group)) * m->group;
        float v;
        if (m->mode == RAW_DENSE) {
            v = fabsf(raw_value(m, row, col));
        } else if (m->mode == RAW_AFFINE) {
            v = fmaxf(fabsf(raw_scale(m, row, col)), fabsf(raw_bias(m, row, col)));
        } else {
            v = (m->mode == RAW_MXFP8 ? 448.0f : 6.0f) * fabsf(raw_scale(m, row, col));
        }
        largest = v <= 3.0e38f ? fmaxf(largest, v) : largest; /* what is not finite has no say */
    }
    largest = block_max(largest, shared);
    if (threadIdx.x == 0) {
        atomicMax(p.largest, __float_as_uint(largest)); /* as bits, floats above zero have the order of integers */
    }
}

/* The power of two that brings `largest` into [4, 8). */
__device__ static float range_factor(uint32_t largest)
{
    const int32_t exponent = (int32_t)(largest >> 23) - 127;
    return largest ? exp2f((float)(2 - exponent)) : 1.0f;
}

__device__ static uint32_t tile_code(const raw_matrix *m, int32_t row, int32_t col)
{
    if (row >= m->n_rows || col >= m->n_cols) {
        return 0;
    }
    const uint32_t code = raw_code(m, row, col);
    return m->mode == RAW_MXFP4 ? (uint32_t)(e2m1_twice(code) + 12) : code;
}

/* A scale and its bias, in f16; zeros in the padding. */
__device__ static uint32_t tile_scale(const raw_matrix *m, float factor, int32_t row, int32_t col)
{
    if (row >= m->n_rows || col >= m->n_cols) {
        return 0;
    }
    const float scale = raw_scale(m, row, col) * factor;
    return m->mode == RAW_MXFP4 ? h2_from_f32(0.5f * scale, -6.0f * scale)
                                : h2_from_f32(scale, raw_bias(m, row, col) * factor);
}

__device__ static uint32_t tile_values(const raw_matrix *m, float factor, int32_t row, int32_t col)
{
    const float low = row < m->n_rows && col < m->n_cols ? raw_value(m, row, col) : 0.0f;
    const float high = row < m->n_rows && col + 1 < m->n_cols ? raw_value(m, row, col + 1) : 0.0f;
    return h2_from_f32(low * factor, high * factor);
}

extern "C" __global__ void __launch_bounds__(32) tile_pack(const __grid_constant__ tile_pack_params p)
{
    const raw_matrix *m = &p.raw;
    const float factor = range_factor(*p.largest);
    const int32_t g = threadIdx.x / 4;
    const int32_t c = threadIdx.x % 4;
    const int32_t row = blockIdx.y * TILE_ROWS + g;
    const int64_t tile = p.first_tile + (int64_t)blockIdx.y * p.tile_step;
    const int64_t chunk = tile * p.n_chunks + blockIdx.x;
    if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) {
        *p.factor = 1.0f / factor;
    }
    for (int32_t b = 0; b < 2; b++) {
        const int32_t col = blockIdx.x * CHUNK_COLS + 32 * b + 8 * c;
        for (int32_t h = 0; h < 2; h++) {
            const int32_t r = row + 8 * h;
            if (p.kind == TILE_Q4) {
                uint32_t word = 0;
                for (int32_t i = 0; i < 8; i++) {
                    word |= tile_code(m, r, col + i) << 4 * (i % 2 ? 4 + i / 2 : i / 2);
                }
                ((uint32_t *)(p.tiles + chunk * 512))[threadIdx.x * 4 + 2 * b + h] = word;
            } else if (p.kind == TILE_Q8) {
                for (int32_t w = 0; w < 2; w++) {
                    uint32_t word = 0;
                    for (int32_t i = 0; i < 4; i++) {
                        word |= tile_code(m, r, col + 4 * w + i) << 8 * (i / 2 + i % 2 * 2);
                    }
                    ((uint32_t *)(p.tiles + chunk * 1024 + 512 * b))[threadIdx.x * 4 + 2 * h + w] = word;
                }
            } else {
                for (int32_t w = 0; w < 4; w++) {
                    ((uint32_t *)(p.tiles + chunk * 2048 + 1024 * b + 512 * h))[threadIdx.x * 4 + w] =
                        tile_values(m, factor, r, col + 2 * w);
                }
            }
        }
    }
    /* The scales of the groups that begin in this chunk. */
    if (p.kind != TILE_F16 && c == 0) {
        for (int32_t col = blockIdx.x * CHUNK_COLS; col < ((int32_t)blockIdx.x + 1) * CHUNK_COLS; col += 32) {
            if (col % p.group == 0) {
                const int32_t n_groups = SPAN_COLS / p.group;
                const int64_t span = tile * (p.n_chunks / 2) + col / SPAN_COLS;
                uint32_t *to = p.scales + ((span * 8 + g) * n_groups + col % SPAN_COLS / p.group) * 2;
                to[0] = tile_scale(m, factor, row, col);
                to[1] = tile_scale(m, factor, row + 8, col);
            }
        }
    }
}
