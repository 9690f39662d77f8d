/* strmap.c - open addressing with linear probing. */
#include "base/strmap.h"

#include "base/mem.h"

static const char empty_key[1];

/* The slot that holds key, or the free slot where it belongs. */
static mx_strmap_slot *find_slot(const mx_strmap *map, mx_str key, uint64_t hash)
{
    const size_t mask = map->n_slots - 1;
    for (size_t i = (size_t)hash & mask;; i = (i + 1) & mask) {
        mx_strmap_slot *slot = &map->slots[i];
        if (!slot->key.ptr || (slot->hash32 == (uint32_t)(hash >> 32) && mx_str_eq(slot->key, key))) {
            return slot;
        }
    }
}

void mx_strmap_deinit(mx_strmap *map)
{
    mx_free(map->slots);
    *map = (mx_strmap){0};
}

mx_status mx_strmap_reserve(mx_strmap *map, size_t n_items, mx_error *err)
{
    size_t n_slots = map->n_slots ? map->n_slots : 16;
    if (n_items > SIZE_MAX / 4) {
        return mx_fail_no_memory(err, n_items, "a table of names"); /* doubling would pass the largest power of two */
    }
    while (n_slots / 4 * 3 < n_items) {
        n_slots *= 2;
    }
    if (n_slots == map->n_slots) {
        return MX_OK;
    }
    mx_strmap grown = {
        .slots = mx_calloc(n_slots, sizeof(mx_strmap_slot)), .n_slots = n_slots, .n_items = map->n_items};
    if (!grown.slots) {
        return mx_fail_no_memory(err, n_slots * sizeof(mx_strmap_slot), "a table of names");
    }
    for (size_t i = 0; i < map->n_slots; i++) {
        if (map->slots[i].key.ptr) {
            *find_slot(&grown, map->slots[i].key, mx_str_hash(map->slots[i].key)) = map->slots[i];
        }
    }
    mx_free(map->slots);
    *map = grown;
    return MX_OK;
}

mx_status mx_strmap_put(mx_strmap *map, mx_str key, int32_t value, bool *was_there, mx_error *err)
{
    MX_TRY(mx_strmap_reserve(map, map->n_items + 1, err));
    const uint64_t hash = mx_str_hash(key);
    mx_strmap_slot *slot = find_slot(map, key, hash);
    const bool is_there = slot->key.ptr != NULL;
    if (!is_there) {
        slot->key = (mx_str){key.ptr ? key.ptr : empty_key, key.len};
        slot->hash32 = (uint32_t)(hash >> 32);
        map->n_items++;
    }
    slot->value = value;
    if (was_there) {
        *was_there = is_there;
    }
    return MX_OK;
}

bool mx_strmap_get(const mx_strmap *map, mx_str key, int32_t *value)
{
    if (map->n_items == 0) {
        return false;
    }
    const mx_strmap_slot *slot = find_slot(map, key, mx_str_hash(key));
    if (slot->key.ptr) {
        *value = slot->value;
    }
    return slot->key.ptr != NULL;
}
