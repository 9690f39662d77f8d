/* dict.c - dictionaries: entries in the order of insertion, with a hash table of their numbers once there are many. */
#include "text/template/run.h"

#define SMALL_DICT 8

mx_status mx_tpl_new_dict(mx_tpl_run *run, size_t n, mx_tpl_value *out)
{
    mx_tpl_dict *dict = NULL;
    MX_TRY(mx_tpl_alloc(run, 1, sizeof *dict, &dict));
    dict->cap = n;
    MX_TRY(mx_tpl_alloc(run, n, sizeof *dict->entries, &dict->entries));
    *out = (mx_tpl_value){.kind = MX_TPL_DICT, .as.dict = dict};
    return MX_OK;
}

static void index_put(mx_tpl_dict *dict, size_t i_entry)
{
    size_t at = dict->entries[i_entry].hash & (dict->n_index - 1);
    while (dict->index[at]) {
        at = (at + 1) & (dict->n_index - 1);
    }
    dict->index[at] = (uint32_t)i_entry + 1;
}

static mx_status make_room(mx_tpl_run *run, mx_tpl_dict *dict)
{
    if (dict->n == dict->cap) {
        const size_t cap = dict->cap ? dict->cap * 2 : 4;
        mx_tpl_entry *entries = NULL;
        MX_TRY(mx_tpl_alloc(run, cap, sizeof *entries, &entries));
        if (dict->n) {
            memcpy(entries, dict->entries, dict->n * sizeof *entries);
        }
        dict->entries = entries;
        dict->cap = cap;
    }
    if (dict->n >= SMALL_DICT && dict->n * 2 >= dict->n_index) {
        dict->n_index = dict->n_index ? dict->n_index * 2 : SMALL_DICT * 4;
        while (dict->n * 2 >= dict->n_index) {
            dict->n_index *= 2;
        }
        MX_TRY(mx_tpl_alloc(run, dict->n_index, sizeof *dict->index, &dict->index));
        for (size_t i = 0; i < dict->n; i++) {
            index_put(dict, i);
        }
    }
    return MX_OK;
}

static mx_status key_equals(mx_tpl_run *run, const mx_tpl_entry *entry, mx_tpl_value key, uint64_t hash, bool *equal)
{
    *equal = false;
    if (entry->hash != hash) {
        return MX_OK;
    }
    if (mx_tpl_is_str(entry->key) && mx_tpl_is_str(key)) {
        *equal = mx_str_eq(mx_tpl_view(entry->key), mx_tpl_view(key));
        return MX_OK;
    }
    if (mx_tpl_same(entry->key, key)) {
        *equal = true;
        return MX_OK;
    }
    return mx_tpl_equal(run, entry->key, key, equal);
}

/* The entry of a key, or NULL. */
static mx_status find_entry(mx_tpl_run *run, const mx_tpl_dict *dict, mx_tpl_value key, uint64_t hash,
                            mx_tpl_entry **out)
{
    *out = NULL;
    bool equal = false;
    if (!dict->index) {
        for (size_t i = 0; i < dict->n; i++) {
            MX_TRY(key_equals(run, &dict->entries[i], key, hash, &equal));
            if (equal) {
                *out = &dict->entries[i];
                return MX_OK;
            }
        }
        return MX_OK;
    }
    for (size_t at = hash & (dict->n_index - 1); dict->index[at]; at = (at + 1) & (dict->n_index - 1)) {
        MX_TRY(mx_tpl_steps(run, 1)); /* keys chosen to collide end at the limit */
        mx_tpl_entry *entry = &dict->entries[dict->index[at] - 1];
        MX_TRY(key_equals(run, entry, key, hash, &equal));
        if (equal) {
            *out = entry;
            return MX_OK;
        }
    }
    return MX_OK;
}

mx_status mx_tpl_dict_set(mx_tpl_run *run, mx_tpl_dict *dict, mx_tpl_value key, mx_tpl_value value)
{
    uint64_t hash = 0;
    MX_TRY(mx_tpl_steps(run, 1));
    MX_TRY(mx_tpl_hash(run, key, &hash));
    mx_tpl_entry *entry = NULL;
    MX_TRY(find_entry(run, dict, key, hash, &entry));
    if (entry) {
        entry->value = value;
        return MX_OK;
    }
    MX_TRY(make_room(run, dict));
    dict->entries[dict->n++] = (mx_tpl_entry){key, value, hash};
    if (dict->index) {
        index_put(dict, dict->n - 1);
    }
    return MX_OK;
}

mx_status mx_tpl_dict_find(mx_tpl_run *run, const mx_tpl_dict *dict, mx_tpl_value key, mx_tpl_value *out, bool *found)
{
    uint64_t hash = 0;
    mx_tpl_entry *entry = NULL;
    MX_TRY(mx_tpl_hash(run, key, &hash));
    MX_TRY(find_entry(run, dict, key, hash, &entry));
    *found = entry != NULL;
    if (entry) {
        *out = entry->value;
    }
    return MX_OK;
}

bool mx_tpl_dict_find_str(const mx_tpl_dict *dict, mx_str key, mx_tpl_value *out)
{
    const uint64_t hash = mx_str_hash(key);
    if (!dict->index) {
        for (size_t i = 0; i < dict->n; i++) {
            const mx_tpl_entry *entry = &dict->entries[i];
            if (entry->hash == hash && mx_tpl_is_str(entry->key) && mx_str_eq(mx_tpl_view(entry->key), key)) {
                *out = entry->value;
                return true;
            }
        }
        return false;
    }
    for (size_t at = hash & (dict->n_index - 1); dict->index[at]; at = (at + 1) & (dict->n_index - 1)) {
        const mx_tpl_entry *entry = &dict->entries[dict->index[at] - 1];
        if (entry->hash == hash && mx_tpl_is_str(entry->key) && mx_str_eq(mx_tpl_view(entry->key), key)) {
            *out = entry->value;
            return true;
        }
    }
    return false;
}
