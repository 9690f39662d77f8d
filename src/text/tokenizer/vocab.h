/* vocab.h - a compact two-way table of token strings and ids. */
#ifndef MX_TEXT_TOKENIZER_VOCAB_H
#define MX_TEXT_TOKENIZER_VOCAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

typedef struct mx_vocab_slot {
    uint32_t tag;     /* of the hash; compared before the string */
    int32_t id;       /* -1 in a free slot */
    uint32_t at, len; /* the string's place in the pool: two strings may share an id, so entries would not do */
} mx_vocab_slot;

/* Where the string of an id lies in the pool. */
typedef struct mx_vocab_entry {
    uint32_t at; /* UINT32_MAX: no token has this id */
    uint32_t len;
} mx_vocab_entry;

/*  pool     "helloworldthe..."           every string, in the order it was added
 *  entries  id -> {at, len}              indexed by id
 *  slots    hash of string -> id         open addressing, at most half full
 */
typedef struct mx_vocab {
    char *pool; /* owned */
    size_t pool_len, pool_cap;
    mx_vocab_entry *entries; /* owned */
    size_t n_ids, entries_cap;
    mx_vocab_slot *slots; /* owned */
    size_t n_slots;       /* a power of two */
    size_t n_tokens;      /* different strings */
} mx_vocab;

/* Room for n_tokens tokens of n_bytes bytes in all. MX_NO_MEMORY. */
mx_status mx_vocab_init(mx_vocab *vocab, size_t n_tokens, size_t n_bytes, mx_error *err) MX_NODISCARD;
void mx_vocab_deinit(mx_vocab *vocab);

/* Gives a string an id. A string that is there already moves to the new id; an id that is taken gets the new string,
 * and the old string still leads to it. MX_FORMAT for an id out of range, MX_NO_MEMORY. */
mx_status mx_vocab_add(mx_vocab *vocab, mx_str token, int64_t id, mx_error *err) MX_NODISCARD;

/* Gives an id a string that mx_vocab_find will not find. */
mx_status mx_vocab_add_hidden(mx_vocab *vocab, mx_str token, int64_t id, mx_error *err) MX_NODISCARD;

/* The id of a string, -1 where there is none. */
int32_t mx_vocab_find(const mx_vocab *vocab, mx_str token);

/* The same in steps, so that a caller with many strings can let the memory work: each starts the reads of the next. */
uint64_t mx_vocab_hash(const mx_vocab *vocab, mx_str token);
void mx_vocab_prefetch(const mx_vocab *vocab, uint64_t hash);
int32_t mx_vocab_find_hashed(const mx_vocab *vocab, mx_str token, uint64_t hash);
mx_status mx_vocab_add_hashed(mx_vocab *vocab, mx_str token, int64_t id, uint64_t hash, mx_error *err) MX_NODISCARD;

/* The string of an id; ptr NULL for a hole or an id out of range. Borrowed until the next add. */
static inline mx_str mx_vocab_view(const mx_vocab *vocab, int32_t id)
{
    if (id < 0 || (size_t)id >= vocab->n_ids || vocab->entries[id].at == UINT32_MAX) {
        return (mx_str){NULL, 0};
    }
    return (mx_str){vocab->pool + vocab->entries[id].at, vocab->entries[id].len};
}

#endif
