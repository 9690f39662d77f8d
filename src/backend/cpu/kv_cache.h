/* kv_cache.h - keys and values of one layer, in pages that the engine hands out.
 *
 * Keys of a page and head lie transposed, dimension after dimension with the page's positions side by side, so that the
 * scores of 32 positions are plain vector multiply-adds with no sums across a vector; values lie position after
 * position:
 *
 *     keys    [n_pages, n_kv_heads, k_dim, MX_PAGE_TOKENS]
 *     values  [n_pages, n_kv_heads, MX_PAGE_TOKENS, v_dim]
 *
 * A latent cache (mx_cache_spec) has keys alone; values are read from their last v_dim columns. In f16 or f32. Memory
 * is taken page by page as the engine uses them. A new cache is all zeros, and whatever a page held before is finite,
 * so positions past a sequence's end may be computed and then left out.
 */
#ifndef MX_BACKEND_CPU_KV_CACHE_H
#define MX_BACKEND_CPU_KV_CACHE_H

#include <stdint.h>

#include "backend/executor.h"
#include "platform/memory.h"
#include "program/program.h"

#define MX_KV_PADDING 256 /* bytes behind the last value: kernels read whole vectors */

typedef struct mx_kv_cache {
    mx_cache_spec spec;
    mx_kv_type type;
    mx_block block; /* owned: keys, then values */
    uint8_t *keys;
    uint8_t *values;
} mx_kv_cache;

/* Reserves n_pages pages. MX_NO_MEMORY. */
mx_status mx_kv_cache_init(mx_kv_cache *cache, const mx_cache_spec *spec, mx_kv_type type, int32_t n_pages,
                           mx_error *err) MX_NODISCARD;

/* A zeroed cache is fine. */
void mx_kv_cache_deinit(mx_kv_cache *cache);

/* The keys and the values of a page and head, in the cache's type. */
uint8_t *mx_kv_cache_keys(const mx_kv_cache *cache, int32_t page, int32_t i_kv_head);
uint8_t *mx_kv_cache_values(const mx_kv_cache *cache, int32_t page, int32_t i_kv_head);

/* Stores one position of one head: k [k_dim], v [v_dim] (of a latent cache not looked at). Values past the range of f16
 * are stored as its largest. */
void mx_kv_cache_store_k(const mx_kv_cache *cache, int32_t page, int32_t slot, int32_t i_kv_head, const float *k);
void mx_kv_cache_store_v(const mx_kv_cache *cache, int32_t page, int32_t slot, int32_t i_kv_head, const float *v);

/* Reads them back. */
void mx_kv_cache_load_k(const mx_kv_cache *cache, int32_t page, int32_t slot, int32_t i_kv_head, float *k);
void mx_kv_cache_load_v(const mx_kv_cache *cache, int32_t page, int32_t slot, int32_t i_kv_head, float *v);

#endif
