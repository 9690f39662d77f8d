/* bpe.h - byte pair encoding: join the neighbours whose merge has the lowest rank, leftmost first, until none is left.
 *
 * Source: Sennrich, Haddow & Birch, "Neural machine translation of rare words with subword units", arXiv 1508.07909.
 *
 * Two alphabets: byte-level (a piece is raw bytes; each byte has a token) and characters (with "<0xNN>" tokens or an
 * unknown token for those without one). */
#ifndef MX_TEXT_TOKENIZER_BPE_H
#define MX_TEXT_TOKENIZER_BPE_H

#include "base/json.h"
#include "text/tokenizer/tokenizer.h"
#include "text/tokenizer/vocab.h"

#define MX_BPE_N_CHARS     0x10000
#define MX_BPE_N_JUNCTIONS (1u << 18) /* bits */
#define MX_BPE_NO_RANK     UINT32_MAX

typedef struct mx_bpe {
    const mx_vocab *vocab;
    /* left id | right id | rank, packed: the lowest rank_bits are the rank, the others divided in two. All ones in a
     * free slot. Open addressing, at most half full. */
    uint64_t *merges; /* owned */
    size_t n_slots;   /* a power of two */
    unsigned rank_bits, id_bits;
    int32_t *merged;       /* owned; rank -> id of the joined token */
    int32_t *char_ids;     /* owned; [MX_BPE_N_CHARS] the token of a character, -1: none. NULL in byte-level models */
    mx_vocab raw;          /* byte-level: the tokens as the bytes they stand for; found only where ignore_merges */
    int32_t byte_ids[256]; /* byte-level: the token of each byte, -1: none */
    int32_t fallback_ids[256]; /* "<0xNN>", -1: none */
    uint64_t *junctions; /* owned; a bit for each hash of (last character of left, first of right) over all merges. NULL
                            where words must not be cut at places that no merge crosses */
    char *affixes;       /* owned; the prefix of continuing pieces, then the suffix of the last */
    size_t prefix_len, suffix_len;
    int32_t unk_id;      /* -1: no unknown token */
    bool is_unk_missing; /* one is named but is not in the vocabulary: an error when it is needed */
    bool is_byte_level, fuse_unk, byte_fallback, ignore_merges;
} mx_bpe;

/* A symbol of a long word: a list through the array, and the merge with the symbol to the right. */
typedef struct mx_bpe_symbol {
    int32_t id;              /* -1: joined to its left neighbour */
    uint32_t previous, next; /* UINT32_MAX: none */
    uint32_t rank;           /* of the merge with the next; MX_BPE_NO_RANK: none */
} mx_bpe_symbol;

typedef struct mx_bpe_scratch {
    int32_t *ids; /* owned; a word's symbols before merging */
    size_t n_ids, ids_cap;
    mx_bpe_symbol *symbols; /* owned */
    size_t symbols_cap;
    uint64_t *heap; /* owned; rank << 32 | place */
    size_t heap_len, heap_cap;
    mx_buf affixed; /* a character with prefix or suffix */
} mx_bpe_scratch;

/* Reads the model. vocab must outlive it; is_byte_level: pieces will be raw bytes. MX_FORMAT, MX_NO_MEMORY. */
mx_status mx_bpe_init(mx_bpe *bpe, const mx_vocab *vocab, yyjson_val *model, bool is_byte_level,
                      mx_error *err) MX_NODISCARD;
void mx_bpe_deinit(mx_bpe *bpe);
void mx_bpe_scratch_deinit(mx_bpe_scratch *scratch);

/* Appends the ids of one piece, not empty. MX_FORMAT (the unknown token is missing), MX_NO_MEMORY, MX_INVALID. */
mx_status mx_bpe_encode(const mx_bpe *bpe, mx_bpe_scratch *scratch, mx_str piece, mx_ids *out,
                        mx_error *err) MX_NODISCARD;

/* The end of the part of text that begins at byte `from` and that no merge leaves: text.len, or an earlier place. */
size_t mx_bpe_cut(const mx_bpe *bpe, mx_str text, size_t from);

/* The rank of the merge of two neighbours, or MX_BPE_NO_RANK. */
uint32_t mx_bpe_find_rank(const mx_bpe *bpe, int32_t left, int32_t right);

/* Joins the n symbols in scratch->ids and appends what is left. MX_NO_MEMORY, MX_INVALID. */
mx_status mx_bpe_join(const mx_bpe *bpe, mx_bpe_scratch *scratch, mx_ids *out, mx_error *err) MX_NODISCARD;

#endif
