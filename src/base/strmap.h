/* strmap.h - a hash table from byte strings to 32-bit numbers (usually places in an array beside it). */
#ifndef MX_BASE_STRMAP_H
#define MX_BASE_STRMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

typedef struct mx_strmap_slot {
    mx_str key;      /* borrowed from whoever put it; ptr NULL in a free slot */
    uint32_t hash32; /* upper half of the hash, compared first */
    int32_t value;
} mx_strmap_slot;

typedef struct mx_strmap {
    mx_strmap_slot *slots; /* owned */
    size_t n_slots;        /* 0 or a power of two, at most 3/4 full */
    size_t n_items;
} mx_strmap;

/* Frees the table (not the keys). A zeroed map is empty and usable. */
void mx_strmap_deinit(mx_strmap *map);

/* Room for n_items without growing again. MX_NO_MEMORY. */
mx_status mx_strmap_reserve(mx_strmap *map, size_t n_items, mx_error *err) MX_NODISCARD;

/* Sets key to value; the key's bytes must outlive the map. *was_there (if not NULL) tells whether a value was replaced.
 * MX_NO_MEMORY. */
mx_status mx_strmap_put(mx_strmap *map, mx_str key, int32_t value, bool *was_there, mx_error *err) MX_NODISCARD;

/* True and *value when the key is there. */
bool mx_strmap_get(const mx_strmap *map, mx_str key, int32_t *value);

#endif
