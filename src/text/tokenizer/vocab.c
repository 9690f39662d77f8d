/* vocab.c - one pool of bytes, one array by id, one hash table by string. */
#include "text/tokenizer/vocab.h"

#include <inttypes.h>

#include "base/mem.h"
#include "text/tokenizer/shorthash.h"
#include "text/tokenizer/tokenizer.h"

#define POOL_MAX ((size_t)UINT32_MAX - 1)

static mx_str slot_str(const mx_vocab *vocab, const mx_vocab_slot *slot)
{
    return (mx_str){vocab->pool + slot->at, slot->len};
}

static mx_status resize_slots(mx_vocab *vocab, size_t n_tokens, mx_error *err)
{
    size_t n_slots = 16;
    while (n_slots / 2 < n_tokens) {
        n_slots *= 2;
    }
    if (n_slots <= vocab->n_slots) {
        return MX_OK;
    }
    mx_vocab_slot *slots = mx_malloc(n_slots * sizeof *slots);
    if (!slots) {
        return mx_fail_no_memory(err, n_slots * sizeof *slots, "a table of tokens");
    }
    memset(slots, 0xFF, n_slots * sizeof *slots); /* id -1 */
    for (size_t i = 0; i < vocab->n_slots; i++) {
        if (vocab->slots[i].id >= 0) {
            size_t at = (size_t)mx_short_hash(slot_str(vocab, &vocab->slots[i])) & (n_slots - 1);
            while (slots[at].id >= 0) {
                at = (at + 1) & (n_slots - 1);
            }
            slots[at] = vocab->slots[i];
        }
    }
    mx_free(vocab->slots);
    vocab->slots = slots;
    vocab->n_slots = n_slots;
    return MX_OK;
}

mx_status mx_vocab_init(mx_vocab *vocab, size_t n_tokens, size_t n_bytes, mx_error *err)
{
    *vocab = (mx_vocab){0};
    void *pool = mx_array_grow(NULL, &vocab->pool_cap, n_bytes, 1, POOL_MAX);
    void *entries = mx_array_grow(NULL, &vocab->entries_cap, n_tokens, sizeof(mx_vocab_entry), MX_TOKENIZER_MAX_IDS);
    vocab->pool = pool;
    vocab->entries = entries;
    mx_status st = MX_OK;
    if (!pool || !entries) {
        st = mx_fail_no_memory(err, n_bytes + n_tokens * sizeof(mx_vocab_entry), "a vocabulary");
    }
    if (st == MX_OK) {
        st = resize_slots(vocab, n_tokens, err);
    }
    if (st != MX_OK) {
        mx_vocab_deinit(vocab);
    }
    return st;
}

void mx_vocab_deinit(mx_vocab *vocab)
{
    mx_free(vocab->pool);
    mx_free(vocab->entries);
    mx_free(vocab->slots);
    *vocab = (mx_vocab){0};
}

static mx_status set_entry(mx_vocab *vocab, mx_str token, int64_t id, mx_error *err)
{
    if (id < 0 || (uint64_t)id >= MX_TOKENIZER_MAX_IDS) {
        return mx_fail(err, MX_FORMAT, "token \"%.*s\" has the id %" PRId64 ", must be from 0 to %zu",
                       (int)MX_MIN(token.len, (size_t)60), token.ptr, id, MX_TOKENIZER_MAX_IDS - 1);
    }
    if (token.len > POOL_MAX - vocab->pool_len) {
        return mx_fail(err, MX_FORMAT, "the tokens are longer than 4 GiB in all");
    }
    char *pool = mx_array_grow(vocab->pool, &vocab->pool_cap, vocab->pool_len + token.len, 1, POOL_MAX);
    if (!pool) {
        return mx_fail_no_memory(err, vocab->pool_len + token.len, "the strings of a vocabulary");
    }
    vocab->pool = pool;
    mx_vocab_entry *entries =
        mx_array_grow(vocab->entries, &vocab->entries_cap, (size_t)id + 1, sizeof *entries, MX_TOKENIZER_MAX_IDS);
    if (!entries) {
        return mx_fail_no_memory(err, ((size_t)id + 1) * sizeof *entries, "the ids of a vocabulary");
    }
    vocab->entries = entries;
    for (; vocab->n_ids <= (size_t)id; vocab->n_ids++) {
        entries[vocab->n_ids] = (mx_vocab_entry){UINT32_MAX, 0};
    }
    entries[id] = (mx_vocab_entry){(uint32_t)vocab->pool_len, (uint32_t)token.len};
    if (token.len) {
        memcpy(pool + vocab->pool_len, token.ptr, token.len);
    }
    vocab->pool_len += token.len;
    return MX_OK;
}

/* The slot that holds the token, or the free slot where it belongs. */
static mx_vocab_slot *find_slot(const mx_vocab *vocab, mx_str token, uint64_t hash)
{
    const size_t mask = vocab->n_slots - 1;
    const uint32_t tag = (uint32_t)(hash >> 32);
    for (size_t i = (size_t)hash & mask;; i = (i + 1) & mask) {
        mx_vocab_slot *slot = &vocab->slots[i];
        if (slot->id < 0) {
            return slot;
        }
        if (slot->tag == tag && slot->len == token.len && mx_short_eq(vocab->pool + slot->at, token.ptr, token.len)) {
            return slot;
        }
    }
}

mx_status mx_vocab_add(mx_vocab *vocab, mx_str token, int64_t id, mx_error *err)
{
    return mx_vocab_add_hashed(vocab, token, id, mx_short_hash(token), err);
}

mx_status mx_vocab_add_hashed(mx_vocab *vocab, mx_str token, int64_t id, uint64_t hash, mx_error *err)
{
    MX_TRY(resize_slots(vocab, vocab->n_tokens + 1, err));
    mx_vocab_slot *slot = find_slot(vocab, token, hash);
    const int32_t old = slot->id;
    MX_TRY(set_entry(vocab, token, id, err));
    if (old >= 0 && old != id) {
        vocab->entries[old] = (mx_vocab_entry){UINT32_MAX, 0};
    }
    vocab->n_tokens += old < 0;
    *slot = (mx_vocab_slot){(uint32_t)(hash >> 32), (int32_t)id, vocab->entries[id].at, vocab->entries[id].len};
    return MX_OK;
}

mx_status mx_vocab_add_hidden(mx_vocab *vocab, mx_str token, int64_t id, mx_error *err)
{
    return set_entry(vocab, token, id, err);
}

uint64_t mx_vocab_hash(const mx_vocab *vocab, mx_str token)
{
    const uint64_t hash = mx_short_hash(token);
    MX_PREFETCH(&vocab->slots[(size_t)hash & (vocab->n_slots - 1)]);
    return hash;
}

void mx_vocab_prefetch(const mx_vocab *vocab, uint64_t hash)
{
    const mx_vocab_slot *slot = &vocab->slots[(size_t)hash & (vocab->n_slots - 1)];
    if (slot->id >= 0) {
        MX_PREFETCH(vocab->pool + slot->at);
    }
}

int32_t mx_vocab_find_hashed(const mx_vocab *vocab, mx_str token, uint64_t hash)
{
    return find_slot(vocab, token, hash)->id;
}

int32_t mx_vocab_find(const mx_vocab *vocab, mx_str token)
{
    return vocab->n_slots ? find_slot(vocab, token, mx_short_hash(token))->id : -1;
}
