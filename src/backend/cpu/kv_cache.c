/* kv_cache.c - where a position's key and value lie. */
#include "backend/cpu/kv_cache.h"

#include <string.h>

#include "base/mem.h"
#include "program/batch.h"
#include "weights/dtype.h"

#define F16_MAX 65504.0f

static size_t element_size(const mx_kv_cache *cache)
{
    return cache->type == MX_KV_F16 ? sizeof(uint16_t) : sizeof(float);
}

mx_status mx_kv_cache_init(mx_kv_cache *cache, const mx_cache_spec *spec, mx_kv_type type, int32_t n_pages,
                           mx_error *err)
{
    *cache = (mx_kv_cache){.spec = *spec, .type = type};
    int64_t n_positions = 0;
    int64_t n_keys = 0;
    int64_t n_values = 0;
    const int64_t size = (int64_t)element_size(cache);
    if (!mx_mul_i64((int64_t)n_pages * MX_PAGE_TOKENS, spec->n_kv_heads, &n_positions) ||
        !mx_mul_i64(n_positions, spec->k_dim * size, &n_keys) ||
        !mx_mul_i64(n_positions, spec->is_latent ? 0 : spec->v_dim * size, &n_values) || n_keys > INT64_MAX / 4 ||
        n_values > INT64_MAX / 4) {
        return mx_fail(err, MX_NO_MEMORY, "a KV cache of %d pages is too large", n_pages);
    }
    const mx_status st = mx_block_alloc((size_t)(n_keys + n_values) + MX_KV_PADDING, &cache->block, err);
    if (st != MX_OK) {
        return mx_error_prefix(err, st, "the KV cache of one layer, %d pages", n_pages);
    }
    cache->keys = (uint8_t *)cache->block.ptr;
    cache->values = cache->keys + n_keys;
    return MX_OK;
}

void mx_kv_cache_deinit(mx_kv_cache *cache)
{
    mx_block_free(&cache->block);
    *cache = (mx_kv_cache){0};
}

uint8_t *mx_kv_cache_keys(const mx_kv_cache *cache, int32_t page, int32_t i_kv_head)
{
    const int64_t i_block = (int64_t)page * cache->spec.n_kv_heads + i_kv_head;
    return cache->keys + (size_t)(i_block * cache->spec.k_dim * MX_PAGE_TOKENS) * element_size(cache);
}

uint8_t *mx_kv_cache_values(const mx_kv_cache *cache, int32_t page, int32_t i_kv_head)
{
    const int64_t i_block = (int64_t)page * cache->spec.n_kv_heads + i_kv_head;
    return cache->values + (size_t)(i_block * cache->spec.v_dim * MX_PAGE_TOKENS) * element_size(cache);
}

static void store(mx_kv_type type, uint8_t *block, int64_t i, float value)
{
    if (type == MX_KV_F32) {
        memcpy(block + 4 * i, &value, sizeof value);
    } else {
        const uint16_t half = mx_f16_from_f32(value > F16_MAX ? F16_MAX : value < -F16_MAX ? -F16_MAX : value);
        memcpy(block + 2 * i, &half, sizeof half);
    }
}

static float load(mx_kv_type type, const uint8_t *block, int64_t i)
{
    float value;
    uint16_t half;
    if (type == MX_KV_F32) {
        memcpy(&value, block + 4 * i, sizeof value);
        return value;
    }
    memcpy(&half, block + 2 * i, sizeof half);
    return mx_f16_to_f32(half);
}

void mx_kv_cache_store_k(const mx_kv_cache *cache, int32_t page, int32_t slot, int32_t i_kv_head, const float *k)
{
    uint8_t *block = mx_kv_cache_keys(cache, page, i_kv_head);
    for (int64_t d = 0; d < cache->spec.k_dim; d++) {
        store(cache->type, block, d * MX_PAGE_TOKENS + slot, k[d]);
    }
}

void mx_kv_cache_store_v(const mx_kv_cache *cache, int32_t page, int32_t slot, int32_t i_kv_head, const float *v)
{
    uint8_t *block = mx_kv_cache_values(cache, page, i_kv_head);
    for (int64_t d = 0; !cache->spec.is_latent && d < cache->spec.v_dim; d++) {
        store(cache->type, block, (int64_t)slot * cache->spec.v_dim + d, v[d]);
    }
}

void mx_kv_cache_load_k(const mx_kv_cache *cache, int32_t page, int32_t slot, int32_t i_kv_head, float *k)
{
    const uint8_t *block = mx_kv_cache_keys(cache, page, i_kv_head);
    for (int64_t d = 0; d < cache->spec.k_dim; d++) {
        k[d] = load(cache->type, block, d * MX_PAGE_TOKENS + slot);
    }
}

void mx_kv_cache_load_v(const mx_kv_cache *cache, int32_t page, int32_t slot, int32_t i_kv_head, float *v)
{
    if (cache->spec.is_latent) {
        const uint8_t *keys = mx_kv_cache_keys(cache, page, i_kv_head);
        for (int64_t d = 0; d < cache->spec.v_dim; d++) {
            v[d] = load(cache->type, keys, (cache->spec.k_dim - cache->spec.v_dim + d) * MX_PAGE_TOKENS + slot);
        }
        return;
    }
    const uint8_t *block = mx_kv_cache_values(cache, page, i_kv_head);
    for (int64_t d = 0; d < cache->spec.v_dim; d++) {
        v[d] = load(cache->type, block, (int64_t)slot * cache->spec.v_dim + d);
    }
}
