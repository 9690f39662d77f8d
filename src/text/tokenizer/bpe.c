/* bpe.c - reading merges, and turning a piece into symbols. bpe_join.c joins them. */
#include "text/tokenizer/bpe.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "text/tokenizer/bytechars.h"
#include "text/tokenizer/unicode.h"

#define FREE_SLOT UINT64_MAX
#define BATCH     32

static uint64_t make_pair(const mx_bpe *bpe, int32_t left, int32_t right)
{
    return (uint64_t)(uint32_t)left << bpe->id_bits | (uint32_t)right;
}

static size_t pair_slot(const mx_bpe *bpe, uint64_t pair)
{
    const uint64_t h = pair * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(h >> 32 ^ h >> 15) & (bpe->n_slots - 1);
}

uint32_t mx_bpe_find_rank(const mx_bpe *bpe, int32_t left, int32_t right)
{
    const uint64_t pair = make_pair(bpe, left, right);
    for (size_t i = pair_slot(bpe, pair);; i = (i + 1) & (bpe->n_slots - 1)) {
        const uint64_t slot = bpe->merges[i];
        if (slot >> bpe->rank_bits == pair && slot != FREE_SLOT) {
            return (uint32_t)(slot & ((UINT64_C(1) << bpe->rank_bits) - 1));
        }
        if (slot == FREE_SLOT) {
            return MX_BPE_NO_RANK;
        }
    }
}

/* Of two merges of the same pair the later counts. */
static void put_merge(mx_bpe *bpe, uint64_t pair, size_t rank)
{
    size_t i = pair_slot(bpe, pair);
    while (bpe->merges[i] != FREE_SLOT && bpe->merges[i] >> bpe->rank_bits != pair) {
        i = (i + 1) & (bpe->n_slots - 1);
    }
    bpe->merges[i] = pair << bpe->rank_bits | rank;
}

/* The two sides of a merge, "a b" or ["a", "b"]. */
static mx_status split_merge(yyjson_val *val, size_t i_merge, mx_str *left, mx_str *right, mx_error *err)
{
    if (yyjson_is_str(val)) {
        const mx_str line = mx_json_view_str(val);
        const char *space = memchr(line.ptr, ' ', line.len);
        if (space && !memchr(space + 1, ' ', line.len - (size_t)(space - line.ptr) - 1)) {
            *left = (mx_str){line.ptr, (size_t)(space - line.ptr)};
            *right = mx_str_slice(line, left->len + 1, line.len);
            return MX_OK;
        }
    } else if (yyjson_arr_size(val) == 2 && yyjson_is_str(yyjson_arr_get(val, 0)) &&
               yyjson_is_str(yyjson_arr_get(val, 1))) {
        *left = mx_json_view_str(yyjson_arr_get(val, 0));
        *right = mx_json_view_str(yyjson_arr_get(val, 1));
        return MX_OK;
    }
    return mx_fail(err, MX_FORMAT, "merge %zu must be two tokens with a space between, or an array of two tokens",
                   i_merge);
}

static uint32_t junction_bit(int32_t left, int32_t right)
{
    const uint32_t h = (uint32_t)left * 0x9E3779B1u ^ (uint32_t)right * 0x85EBCA77u;
    return (h ^ h >> 15) & (MX_BPE_N_JUNCTIONS - 1);
}

static bool is_byte_token(mx_str s)
{
    return s.len == 6 && mx_str_starts_with(s, MX_STR("<0x")) && s.ptr[5] == '>';
}

/* Remembers that a merge crosses from the last character of left to the first of right. */
static void add_junction(mx_bpe *bpe, mx_str left, mx_str right)
{
    size_t size;
    const int32_t last = mx_utf8_next(left.ptr + left.len - mx_utf8_last_size(left.ptr, left.len), &size);
    const uint32_t bit = junction_bit(last, mx_utf8_next(right.ptr, &size));
    bpe->junctions[bit / 64] |= UINT64_C(1) << bit % 64;
}

static void drop_junctions(mx_bpe *bpe)
{
    mx_free(bpe->junctions);
    bpe->junctions = NULL;
}

/* A batch of merges on their way into the table: the strings are looked up in rounds, so that the reads of memory that
 * each round needs were started by the one before. Loading is bound by these reads. */
typedef struct merge_batch {
    size_t n;
    mx_str side[BATCH][3]; /* left, right, joined */
    uint64_t hash[BATCH][3];
    int32_t id[BATCH][3];
    mx_buf joined; /* the strings of side[][2] */
} merge_batch;

static mx_status fail_unknown(size_t i_merge, mx_str token, mx_error *err)
{
    return mx_fail(err, MX_FORMAT, "merge %zu needs the token \"%.*s\", which is not in the vocabulary", i_merge,
                   (int)MX_MIN(token.len, (size_t)60), token.ptr);
}

static mx_status fill_batch(const mx_bpe *bpe, merge_batch *b, yyjson_arr_iter *items, size_t rank, mx_error *err)
{
    size_t place[BATCH + 1] = {0};
    b->joined.len = 0;
    b->n = 0;
    for (yyjson_val *val; b->n < BATCH && (val = yyjson_arr_iter_next(items));) {
        if (yyjson_is_str(val) && mx_str_starts_with(mx_json_view_str(val), MX_STR("#version"))) {
            continue; /* the first line of a merges.txt, which old files kept */
        }
        mx_str *side = b->side[b->n];
        MX_TRY(split_merge(val, rank + b->n, &side[0], &side[1], err));
        if (side[1].len < bpe->prefix_len || side[0].len == 0 || side[1].len == 0) {
            return mx_fail(err, MX_FORMAT, "merge %zu has a token that is too short", rank + b->n);
        }
        MX_TRY(mx_buf_append(&b->joined, side[0], err));
        MX_TRY(mx_buf_append(&b->joined, mx_str_slice(side[1], bpe->prefix_len, side[1].len), err));
        place[++b->n] = b->joined.len;
    }
    for (size_t i = 0; i < b->n; i++) {
        b->side[i][2] = mx_str_slice(mx_buf_view(&b->joined), place[i], place[i + 1]);
    }
    return MX_OK;
}

static mx_status put_batch(mx_bpe *bpe, merge_batch *b, size_t rank, mx_error *err)
{
    for (size_t i = 0; i < b->n; i++) {
        for (int k = 0; k < 3; k++) {
            b->hash[i][k] = mx_vocab_hash(bpe->vocab, b->side[i][k]);
        }
    }
    for (size_t i = 0; i < b->n; i++) {
        for (int k = 0; k < 3; k++) {
            mx_vocab_prefetch(bpe->vocab, b->hash[i][k]);
        }
    }
    for (size_t i = 0; i < b->n; i++) {
        for (int k = 0; k < 3; k++) {
            b->id[i][k] = mx_vocab_find_hashed(bpe->vocab, b->side[i][k], b->hash[i][k]);
            if (b->id[i][k] < 0) {
                return fail_unknown(rank + i, b->side[i][k], err);
            }
        }
        MX_PREFETCH(&bpe->merges[pair_slot(bpe, make_pair(bpe, b->id[i][0], b->id[i][1]))]);
    }
    for (size_t i = 0; i < b->n; i++) {
        put_merge(bpe, make_pair(bpe, b->id[i][0], b->id[i][1]), rank + i);
        bpe->merged[rank + i] = b->id[i][2];
        if (bpe->junctions && (is_byte_token(b->side[i][0]) || is_byte_token(b->side[i][1]))) {
            drop_junctions(bpe); /* then a byte token may stand for a part of any character */
        }
        if (bpe->junctions) {
            add_junction(bpe, b->side[i][0], b->side[i][1]);
        }
    }
    return MX_OK;
}

/* The table, empty: as many bits for ids as the vocabulary needs, the rest for ranks. */
static mx_status make_table(mx_bpe *bpe, size_t n_merges, mx_error *err)
{
    while ((size_t)1 << bpe->id_bits < bpe->vocab->n_ids) {
        bpe->id_bits++;
    }
    bpe->rank_bits = MX_MIN(64 - 2 * bpe->id_bits, 31);
    if (n_merges >= ((size_t)1 << bpe->rank_bits) - 1) {
        return mx_fail(err, MX_FORMAT, "%zu merges are too many for %zu tokens", n_merges, bpe->vocab->n_ids);
    }
    bpe->n_slots = 16;
    while (bpe->n_slots / 2 < n_merges) {
        bpe->n_slots *= 2;
    }
    bpe->merges = mx_malloc(bpe->n_slots * sizeof *bpe->merges);
    bpe->merged = mx_malloc(n_merges * sizeof *bpe->merged);
    if (!bpe->merges || !bpe->merged) {
        return mx_fail_no_memory(err, bpe->n_slots * sizeof *bpe->merges, "the merges");
    }
    memset(bpe->merges, 0xFF, bpe->n_slots * sizeof *bpe->merges); /* FREE_SLOT */
    return MX_OK;
}

static mx_status read_merges(mx_bpe *bpe, yyjson_val *list, mx_error *err)
{
    MX_TRY(make_table(bpe, yyjson_arr_size(list), err));
    yyjson_arr_iter items = yyjson_arr_iter_with(list);
    merge_batch batch = {.joined = {.max = UINT32_MAX}};
    mx_status st = MX_OK;
    size_t rank = 0;
    do {
        MX_TRY_OR(done, st, fill_batch(bpe, &batch, &items, rank, err));
        MX_TRY_OR(done, st, put_batch(bpe, &batch, rank, err));
        rank += batch.n;
    } while (batch.n);
done:
    mx_buf_deinit(&batch.joined);
    return st;
}

/* Adds tokens first..end as the bytes they stand for, written to `bytes`. As in put_batch, slots are read ahead. */
static mx_status add_raw(mx_bpe *bpe, size_t first, size_t end, char *bytes, mx_error *err)
{
    mx_str raw[BATCH];
    bool is_raw[BATCH];
    uint64_t hash[BATCH];
    for (size_t id = first; id < end; id++) {
        const mx_str token = mx_vocab_view(bpe->vocab, (int32_t)id);
        const size_t n = token.ptr ? mx_bytechars_decode(token, bytes) : MX_STR_NPOS;
        is_raw[id - first] = n != MX_STR_NPOS;
        raw[id - first] = (mx_str){bytes, n != MX_STR_NPOS ? n : 0};
        hash[id - first] = mx_vocab_hash(&bpe->raw, raw[id - first]);
        bytes += raw[id - first].len;
    }
    for (size_t id = first; id < end; id++) {
        if (is_raw[id - first]) {
            MX_TRY(mx_vocab_add_hashed(&bpe->raw, raw[id - first], (int64_t)id, hash[id - first], err));
        }
    }
    return MX_OK;
}

/* Byte-level: the tokens as bytes, to take whole pieces from where ignore_merges asks for it. */
static mx_status init_raw(mx_bpe *bpe, mx_error *err)
{
    const mx_vocab *vocab = bpe->vocab;
    char *bytes = mx_malloc(vocab->pool_len);
    if (!bytes) {
        return mx_fail_no_memory(err, vocab->pool_len, "the bytes of tokens");
    }
    mx_status st = mx_vocab_init(&bpe->raw, vocab->n_tokens, vocab->pool_len, err);
    for (size_t id = 0; st == MX_OK && id < vocab->n_ids; id += BATCH) {
        st = add_raw(bpe, id, MX_MIN(id + BATCH, vocab->n_ids), bytes, err);
    }
    mx_free(bytes);
    return st;
}

static mx_status init_alphabet(mx_bpe *bpe, mx_error *err)
{
    for (int b = 0; b < 256; b++) {
        char text[8];
        snprintf(text, sizeof text, "<0x%02X>", (unsigned)b);
        bpe->fallback_ids[b] = mx_vocab_find(bpe->vocab, mx_str_from(text));
        const size_t n = mx_utf8_encode(mx_bytechar_from((uint8_t)b), text);
        bpe->byte_ids[b] = mx_vocab_find(bpe->vocab, (mx_str){text, n});
    }
    if (bpe->is_byte_level) {
        return bpe->ignore_merges ? init_raw(bpe, err) : MX_OK;
    }
    bpe->char_ids = mx_malloc(MX_BPE_N_CHARS * sizeof *bpe->char_ids);
    if (!bpe->char_ids) {
        return mx_fail_no_memory(err, MX_BPE_N_CHARS * sizeof *bpe->char_ids, "the characters of a vocabulary");
    }
    memset(bpe->char_ids, 0xFF, MX_BPE_N_CHARS * sizeof *bpe->char_ids);
    for (size_t i = 0; i < bpe->vocab->n_slots; i++) {
        const mx_vocab_slot *slot = &bpe->vocab->slots[i];
        if (slot->id >= 0 && slot->len > 0 && slot->len < 4 && mx_utf8_size(bpe->vocab->pool[slot->at]) == slot->len) {
            size_t size;
            bpe->char_ids[mx_utf8_next(bpe->vocab->pool + slot->at, &size)] = slot->id;
        }
    }
    return MX_OK;
}

/* Words may be cut where no merge crosses, if what a character becomes does not depend on its neighbours. */
static mx_status init_junctions(mx_bpe *bpe, mx_error *err)
{
    bool has_all_bytes = bpe->byte_fallback;
    for (int b = 0; b < 256; b++) {
        has_all_bytes = has_all_bytes && bpe->fallback_ids[b] >= 0;
    }
    if (bpe->is_byte_level || !has_all_bytes || bpe->prefix_len || bpe->suffix_len || bpe->ignore_merges) {
        return MX_OK;
    }
    bpe->junctions = mx_calloc(MX_BPE_N_JUNCTIONS / 64, sizeof *bpe->junctions);
    return bpe->junctions ? MX_OK : mx_fail_no_memory(err, MX_BPE_N_JUNCTIONS / 8, "the junctions of merges");
}

static mx_status read_options(mx_bpe *bpe, yyjson_val *model, mx_error *err)
{
    mx_str unk = {0};
    mx_str prefix = {0};
    mx_str suffix = {0};
    double dropout = 0;
    MX_TRY(mx_json_get_str(model, "unk_token", &unk, err));
    MX_TRY(mx_json_get_str(model, "continuing_subword_prefix", &prefix, err));
    MX_TRY(mx_json_get_str(model, "end_of_word_suffix", &suffix, err));
    MX_TRY(mx_json_get_bool(model, "fuse_unk", &bpe->fuse_unk, err));
    MX_TRY(mx_json_get_bool(model, "byte_fallback", &bpe->byte_fallback, err));
    MX_TRY(mx_json_get_bool(model, "ignore_merges", &bpe->ignore_merges, err));
    MX_TRY(mx_json_get_f64(model, "dropout", &dropout, err));
    if (dropout != 0) { /* NaN too */
        return mx_fail(err, MX_UNSUPPORTED, "\"dropout\" is %g: encoding would be random", dropout);
    }
    bpe->unk_id = unk.ptr ? mx_vocab_find(bpe->vocab, unk) : -1;
    bpe->is_unk_missing = unk.ptr && bpe->unk_id < 0;
    bpe->affixes = mx_malloc(prefix.len + suffix.len);
    if (!bpe->affixes) {
        return mx_fail_no_memory(err, prefix.len + suffix.len, "a prefix");
    }
    if (prefix.len) {
        memcpy(bpe->affixes, prefix.ptr, prefix.len);
    }
    if (suffix.len) {
        memcpy(bpe->affixes + prefix.len, suffix.ptr, suffix.len);
    }
    bpe->prefix_len = prefix.len;
    bpe->suffix_len = suffix.len;
    return MX_OK;
}

mx_status mx_bpe_init(mx_bpe *bpe, const mx_vocab *vocab, yyjson_val *model, bool is_byte_level, mx_error *err)
{
    *bpe = (mx_bpe){.vocab = vocab, .is_byte_level = is_byte_level};
    yyjson_val *merges = NULL;
    mx_status st = mx_json_get_arr(model, "merges", &merges, err);
    if (st == MX_OK && !merges) {
        st = mx_fail(err, MX_FORMAT, "\"merges\" is missing");
    }
    MX_TRY_OR(done, st, st);
    MX_TRY_OR(done, st, read_options(bpe, model, err));
    MX_TRY_OR(done, st, init_alphabet(bpe, err));
    MX_TRY_OR(done, st, init_junctions(bpe, err));
    MX_TRY_OR(done, st, read_merges(bpe, merges, err));
done:
    if (st != MX_OK) {
        mx_bpe_deinit(bpe);
    }
    return st;
}

void mx_bpe_deinit(mx_bpe *bpe)
{
    mx_free(bpe->merges);
    mx_free(bpe->merged);
    mx_free(bpe->char_ids);
    mx_free(bpe->junctions);
    mx_free(bpe->affixes);
    mx_vocab_deinit(&bpe->raw);
    *bpe = (mx_bpe){0};
}

size_t mx_bpe_cut(const mx_bpe *bpe, mx_str text, size_t from)
{
    if (!bpe->junctions) {
        return text.len;
    }
    size_t size;
    int32_t left = mx_utf8_next(text.ptr + from, &size);
    for (size_t at = from + size; at < text.len; at += size) {
        const int32_t right = mx_utf8_next(text.ptr + at, &size);
        const uint32_t bit = junction_bit(left, right);
        if (!(bpe->junctions[bit / 64] >> bit % 64 & 1)) {
            return at;
        }
        left = right;
    }
    return text.len;
}

/* Symbols of a word in the making: an unknown character waits, since the next may join it. */
typedef struct symbols {
    const mx_bpe *bpe;
    mx_bpe_scratch *scratch;
    bool has_unk;
    mx_error *err;
} symbols;

static mx_status add_symbol(symbols *s, int32_t id)
{
    mx_bpe_scratch *scratch = s->scratch;
    if (scratch->n_ids == scratch->ids_cap) {
        int32_t *ids = mx_array_grow(scratch->ids, &scratch->ids_cap, scratch->n_ids + 1, sizeof *ids, UINT32_MAX - 1);
        if (!ids) {
            return mx_fail_no_memory(s->err, scratch->n_ids * sizeof *ids, "the symbols of a word");
        }
        scratch->ids = ids;
    }
    scratch->ids[scratch->n_ids++] = id;
    return MX_OK;
}

static mx_status flush_unk(symbols *s)
{
    const bool has_unk = s->has_unk;
    s->has_unk = false;
    return has_unk ? add_symbol(s, s->bpe->unk_id) : MX_OK;
}

/* A character (with its affixes) that no token spells. */
static mx_status add_unknown(symbols *s, mx_str chr)
{
    const mx_bpe *bpe = s->bpe;
    bool has_bytes = bpe->byte_fallback;
    for (size_t i = 0; i < chr.len && has_bytes; i++) {
        has_bytes = bpe->fallback_ids[(uint8_t)chr.ptr[i]] >= 0;
    }
    if (has_bytes) { /* the unknown character before stays waiting: so the Rust library has it */
        for (size_t i = 0; i < chr.len; i++) {
            MX_TRY(add_symbol(s, bpe->fallback_ids[(uint8_t)chr.ptr[i]]));
        }
        return MX_OK;
    }
    if (bpe->is_unk_missing) {
        return mx_fail(s->err, MX_FORMAT, "\"%.*s\" has no token, and the unknown token is not in the vocabulary",
                       (int)MX_MIN(chr.len, (size_t)32), chr.ptr);
    }
    if (bpe->unk_id >= 0) {
        if (!bpe->fuse_unk) {
            MX_TRY(flush_unk(s));
        }
        s->has_unk = true;
    }
    return MX_OK;
}

static mx_status add_token(symbols *s, int32_t id, mx_str chr)
{
    if (id < 0) {
        return add_unknown(s, chr);
    }
    MX_TRY(flush_unk(s));
    return add_symbol(s, id);
}

/* The character at chr with what the model puts before it and behind it. */
static mx_status add_affixed(symbols *s, mx_str chr, bool is_first, bool is_last)
{
    const mx_bpe *bpe = s->bpe;
    mx_buf *buf = &s->scratch->affixed;
    buf->max = SIZE_MAX;
    buf->len = 0;
    MX_TRY(mx_buf_append(buf, (mx_str){bpe->affixes, is_first ? 0 : bpe->prefix_len}, s->err));
    MX_TRY(mx_buf_append(buf, chr, s->err));
    MX_TRY(mx_buf_append(buf, (mx_str){bpe->affixes + bpe->prefix_len, is_last ? bpe->suffix_len : 0}, s->err));
    return add_token(s, mx_vocab_find(bpe->vocab, mx_buf_view(buf)), mx_buf_view(buf));
}

static mx_status split_chars(symbols *s, mx_str piece)
{
    const mx_bpe *bpe = s->bpe;
    const bool has_affixes = bpe->prefix_len || bpe->suffix_len;
    for (size_t at = 0, size; at < piece.len; at += size) {
        const int32_t code_point = mx_utf8_next(piece.ptr + at, &size);
        const mx_str chr = {piece.ptr + at, size};
        if (has_affixes) {
            MX_TRY(add_affixed(s, chr, at == 0, at + size == piece.len));
        } else {
            MX_TRY(add_token(
                s, code_point < MX_BPE_N_CHARS ? bpe->char_ids[code_point] : mx_vocab_find(bpe->vocab, chr), chr));
        }
    }
    return flush_unk(s);
}

/* Each byte stands for one character; it is that character that has a token, falls back or is unknown. */
static mx_status split_bytes(symbols *s, mx_str piece)
{
    for (size_t at = 0; at < piece.len; at++) {
        const int32_t id = s->bpe->byte_ids[(uint8_t)piece.ptr[at]];
        if (MX_LIKELY(id >= 0 && !s->has_unk)) {
            MX_TRY(add_symbol(s, id));
            continue;
        }
        char chr[4];
        const size_t n = mx_utf8_encode(mx_bytechar_from((uint8_t)piece.ptr[at]), chr);
        MX_TRY(add_token(s, id, (mx_str){chr, n}));
    }
    return flush_unk(s);
}

mx_status mx_bpe_encode(const mx_bpe *bpe, mx_bpe_scratch *scratch, mx_str piece, mx_ids *out, mx_error *err)
{
    if (bpe->ignore_merges) {
        const int32_t whole = mx_vocab_find(bpe->is_byte_level ? &bpe->raw : bpe->vocab, piece);
        if (whole >= 0) {
            return mx_ids_append(out, &whole, 1, err);
        }
    }
    symbols s = {.bpe = bpe, .scratch = scratch, .err = err};
    scratch->n_ids = 0;
    MX_TRY(bpe->is_byte_level ? split_bytes(&s, piece) : split_chars(&s, piece));
    return mx_bpe_join(bpe, scratch, out, err);
}
