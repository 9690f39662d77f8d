/* attention.params.h - ATTENTION, ROPE's place in it, and the cache of keys and values.
 *
 * A cache holds f16, in pages of 32 positions; heads are padded with zeros to `dim` columns (64, 128 or 256):
 *     keys    [n_pages, n_kv_heads, 32, dim]
 *     values  [n_pages, n_kv_heads, dim, 32]   transposed, so that a lane finds 8 positions of a column side by side
 *
 * attention_prepare normalises and rotates heads, appends keys and values, and leaves queries in f16. attention_split
 * (few queries: the positions are split over blocks) and attention_tiles (many: blocks take 64 queries) read them.
 * Where every sequence has one token, attention_split does for itself what attention_prepare does.
 */
#ifndef MX_CUDA_ATTENTION_PARAMS_H
#define MX_CUDA_ATTENTION_PARAMS_H

#include "backend/cuda/kernels/params.h"

enum { ATTENTION_MAX_SPLITS = 64 };

typedef struct attention_step {
    MX_DEVPTR(const step_header) header;
    MX_DEVPTR(const int32_t) positions;   /* [n_tokens] */
    MX_DEVPTR(const int32_t) token_seqs;  /* [n_tokens] */
    MX_DEVPTR(const int32_t) row_start;   /* [n_seqs + 1] */
    MX_DEVPTR(const int32_t) page_table;  /* [n_seqs, n_page_cols] */
    MX_DEVPTR(const int32_t) query_tiles; /* [][2] sequence, its first row here; 64 tokens each */
} attention_step;
MX_PARAMS_SIZE(attention_step, 48);

typedef struct attention_prepare_params {
    attention_step step;
    MX_DEVPTR(const float) q; /* [n_tokens, n_heads, k_dim] or null */
    MX_DEVPTR(const float) k; /* [n_tokens, n_kv_heads, k_dim] or null */
    MX_DEVPTR(const float) v; /* [n_tokens, n_kv_heads, v_dim] or null */
    MX_DEVPTR(uint16_t) q16;  /* [n_tokens, n_heads, dim] */
    MX_DEVPTR(uint16_t) keys;
    MX_DEVPTR(uint16_t) values;
    MX_DEVPTR(const float) q_norm; /* [k_dim] or null */
    MX_DEVPTR(const float) k_norm;
    MX_DEVPTR(const float) inv_freq; /* [rot_dim / 2] or null: no rotation */
    int32_t n_heads;                 /* 0 where q is null */
    int32_t n_kv_heads;
    int32_t k_dim;
    int32_t v_dim;
    int32_t dim;
    int32_t has_norm;
    float q_eps;
    float q_offset;
    float k_eps;
    float k_offset;
    int32_t rot_dim;
    int32_t is_interleaved;
    float rope_factor;
    float sharpening_beta; /* q of position p is also times 1 + beta * log(1 + floor((p + shift) / n)); 0: not */
    int32_t sharpening_n;
    int32_t sharpening_shift;
} attention_prepare_params;
MX_PARAMS_SIZE(attention_prepare_params, 184);

typedef struct attention_params {
    attention_step step;
    MX_DEVPTR(const uint16_t) q16;
    MX_DEVPTR(const uint16_t) keys;
    MX_DEVPTR(const uint16_t) values;
    MX_DEVPTR(const float) sinks; /* [n_heads] or null */
    MX_DEVPTR(float) y;           /* [n_tokens, n_heads, v_dim] */
    MX_DEVPTR(float)
    partials; /* attention_split: [block x, block y, split][16][dim + 2]: sums, then largest and total */
    MX_DEVPTR(uint32_t) counters;     /* attention_split: [block x, block y], zeros before and after */
    attention_prepare_params prepare; /* attention_split, has_prepare: every sequence has one token */
    int32_t n_heads;
    int32_t n_kv_heads;
    int32_t v_dim;
    int32_t n_row_tiles; /* attention_split: of 16 queries, for each sequence and kv head */
    int32_t window;      /* 0: all */
    float scale;
    float softcap; /* 0: none */
    int32_t has_prepare;
} attention_params;
MX_PARAMS_SIZE(attention_params, 320);

/* y = x with the first rot_dim columns of each head rotated. */
typedef struct rope_params {
    MX_DEVPTR(const float) x;
    MX_DEVPTR(float) y;
    MX_DEVPTR(const float) inv_freq;
    MX_DEVPTR(const int32_t) positions; /* [n_tokens] */
    int32_t n_heads;
    int32_t head_dim;
    int32_t rot_dim;
    int32_t is_interleaved;
    float factor;
    int32_t reserved;
} rope_params;
MX_PARAMS_SIZE(rope_params, 56);

#endif
