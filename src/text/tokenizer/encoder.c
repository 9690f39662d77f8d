/* encoder.c - a text through all parts of a tokenizer.
 *
 * Words repeat, so the ids of short ones are kept: one place for each value of a hash, the newcomer wins. */
#include "base/mem.h"
#include "base/utf8.h"
#include "text/tokenizer/open.h"
#include "text/tokenizer/shorthash.h"

#define N_CACHED     ((size_t)1 << 15) /* words; 2 MiB */
#define CACHED_BYTES 34
#define CACHED_IDS   6

typedef struct cached_word {
    uint32_t tag;
    uint8_t n_bytes, n_ids; /* n_bytes 0: free */
    char bytes[CACHED_BYTES];
    int32_t ids[CACHED_IDS];
} cached_word;
_Static_assert(sizeof(cached_word) == 64, "one cache line a word");

/* The places where added tokens stand; one list for the text as given, one for the normalized stretches of it. */
typedef struct hit_list {
    mx_added_hit *hits; /* owned */
    size_t cap;
} hit_list;

struct mx_encoder {
    const mx_tokenizer *tok;
    cached_word *cache; /* owned; [N_CACHED] */
    mx_regex_scratch regex;
    mx_normalizer_run normalizer;
    mx_buf stage_bufs[MX_PRETOKENIZER_MAX_STAGES];
    mx_model_scratch model;
    hit_list plain, normalized;
    mx_added_end *spelled; /* owned; [n_spelled] where special tokens may end in a normalized stretch */
    size_t n_spelled;
    size_t spelled_cap;
    mx_buf repaired;        /* the text, where it was not UTF-8 */
    mx_ids *out;            /* of the current call */
    mx_str text;            /* of the current call */
    bool with_special;      /* of the current call */
    bool is_mixed;          /* the text of the current call is a user's in part */
    const size_t *plain_at; /* [n_plain] of the current call */
    size_t n_plain;
    bool cuts; /* pieces may be cut where no merge crosses */
};

mx_status mx_encoder_new(const mx_tokenizer *tok, mx_encoder **out, mx_error *err)
{
    mx_encoder *enc = mx_calloc(1, sizeof *enc);
    *out = NULL;
    if (enc) {
        enc->cache = mx_calloc(N_CACHED, sizeof *enc->cache);
    }
    if (!enc || !enc->cache) {
        mx_free(enc);
        return mx_fail_no_memory(err, sizeof *enc + N_CACHED * sizeof(cached_word), "an encoder");
    }
    enc->tok = tok;
    enc->cuts = tok->model.kind == MX_MODEL_BPE && tok->model.u.bpe.junctions;
    enc->repaired.max = UINT32_MAX;
    mx_normalizer_run_init(&enc->normalizer, &tok->normalizer, &tok->unicode, &enc->regex);
    *out = enc;
    return MX_OK;
}

void mx_encoder_free(mx_encoder *enc)
{
    if (!enc) {
        return;
    }
    mx_regex_scratch_deinit(&enc->regex);
    mx_normalizer_run_deinit(&enc->normalizer);
    mx_model_scratch_deinit(&enc->model);
    for (size_t i = 0; i < MX_PRETOKENIZER_MAX_STAGES; i++) {
        mx_buf_deinit(&enc->stage_bufs[i]);
    }
    mx_buf_deinit(&enc->repaired);
    mx_free(enc->plain.hits);
    mx_free(enc->normalized.hits);
    mx_free(enc->spelled);
    mx_free(enc->cache);
    mx_free(enc);
}

static mx_status encode_long(mx_encoder *enc, mx_str word, mx_error *err)
{
    return mx_token_model_encode(&enc->tok->model, &enc->model, word, enc->out, err);
}

static mx_status encode_word(mx_encoder *enc, mx_str word, mx_error *err)
{
    if (word.len > CACHED_BYTES) {
        return encode_long(enc, word, err);
    }
    const uint64_t hash = mx_short_hash(word);
    cached_word *slot = &enc->cache[(size_t)hash & (N_CACHED - 1)];
    const uint32_t tag = (uint32_t)(hash >> 32);
    if (slot->tag == tag && slot->n_bytes == word.len && mx_short_eq(slot->bytes, word.ptr, word.len)) {
        return mx_ids_append(enc->out, slot->ids, slot->n_ids, err);
    }
    const size_t n_before = enc->out->len;
    MX_TRY(encode_long(enc, word, err));
    const size_t n_ids = enc->out->len - n_before;
    if (n_ids <= CACHED_IDS) {
        slot->tag = tag;
        slot->n_bytes = (uint8_t)word.len;
        slot->n_ids = (uint8_t)n_ids;
        memcpy(slot->bytes, word.ptr, word.len);
        for (size_t i = 0; i < n_ids; i++) {
            slot->ids[i] = enc->out->data[n_before + i];
        }
    }
    return MX_OK;
}

static mx_status take_piece(void *ctx, mx_str piece, mx_error *err)
{
    mx_encoder *enc = ctx;
    if (!enc->cuts) {
        return encode_word(enc, piece, err);
    }
    for (size_t at = 0, end; at < piece.len; at = end) {
        end = mx_bpe_cut(&enc->tok->model.u.bpe, piece, at);
        MX_TRY(encode_word(enc, mx_str_slice(piece, at, end), err));
    }
    return MX_OK;
}

static mx_piece part_of(mx_piece piece, size_t start, size_t end)
{
    const size_t n_origin = piece.n_origin > start ? MX_MIN(piece.n_origin, end) - start : 0;
    return (mx_piece){piece.ptr + start, end - start, n_origin};
}

static mx_status pretokenize(mx_encoder *enc, mx_piece piece, mx_error *err)
{
    const mx_pretokenizer_run run = {.pre = &enc->tok->pretokenizer,
                                     .unicode = &enc->tok->unicode,
                                     .scratch = &enc->regex,
                                     .bufs = enc->stage_bufs,
                                     .emit = take_piece,
                                     .ctx = enc};
    return mx_pretokenize(&run, piece, err);
}

static mx_status normalize(mx_encoder *enc, mx_piece piece, mx_error *err);

static mx_added_walk walk_over(const mx_encoder *enc, const mx_added_set *set, mx_piece piece)
{
    mx_added_walk walk = {.added = &enc->tok->added,
                          .set = set,
                          .unicode = &enc->tok->unicode,
                          .text = {piece.ptr, piece.len},
                          .with_special = enc->with_special};
    const uintptr_t text_at = (uintptr_t)piece.ptr - (uintptr_t)enc->text.ptr;
    if (text_at < enc->text.len) { /* a part of the text itself, which normalizing has left as it was */
        walk.text_at = (size_t)text_at;
        walk.plain_at = enc->plain_at;
        walk.n_plain = enc->n_plain;
    }
    return walk;
}

/* Cuts the added tokens of a set out of a piece; what lies between them goes to `next`. */
static mx_status cut_out(mx_encoder *enc, const mx_added_set *set, hit_list *list, mx_piece piece,
                         mx_status (*next)(mx_encoder *enc, mx_piece piece, mx_error *err), mx_error *err)
{
    if (set->trie.n_nodes == 0) {
        return next(enc, piece, err);
    }
    mx_added_walk walk = walk_over(enc, set, piece);
    if (set == &enc->tok->added.normalized && enc->is_mixed) {
        walk.must_be_spelled = true;
        walk.spelled = enc->spelled;
        walk.n_spelled = enc->n_spelled;
    }
    mx_added_part part;
    MX_TRY(mx_added_begin(&walk, &list->hits, &list->cap, err));
    while (mx_added_next(&walk, &part)) {
        MX_TRY(part.id >= 0 ? mx_ids_append(enc->out, &part.id, 1, err)
                            : next(enc, part_of(piece, part.start, part.end), err));
    }
    return MX_OK;
}

/* Where the special tokens that the piece spells end in the normalized piece, so that what a user wrote becomes none by
 * normalizing: there ends the normalized text up to each. This takes time for each of them that is linear in the
 * piece, and few tokenizers have such tokens. */
static mx_status find_spelled(mx_encoder *enc, mx_piece piece, mx_error *err)
{
    mx_added_end at;
    mx_added_walk walk = walk_over(enc, &enc->tok->added.spelled, piece);
    enc->n_spelled = 0;
    MX_TRY(mx_added_begin(&walk, &enc->normalized.hits, &enc->normalized.cap, err));
    while (mx_added_next_spelled(&walk, &at)) {
        mx_piece normalized;
        MX_TRY(mx_normalize(&enc->normalizer, part_of(piece, 0, at.end), &normalized, err));
        mx_added_end *grown =
            mx_array_grow(enc->spelled, &enc->spelled_cap, enc->n_spelled + 1, sizeof *grown, MX_TOKENIZER_MAX_TEXT);
        if (!grown) {
            return mx_fail_no_memory(err, enc->n_spelled * sizeof *grown, "special tokens in a text");
        }
        enc->spelled = grown;
        enc->spelled[enc->n_spelled++] = (mx_added_end){normalized.len, at.i_token};
    }
    return MX_OK;
}

static mx_status normalize(mx_encoder *enc, mx_piece piece, mx_error *err)
{
    mx_piece normalized;
    if (enc->is_mixed) {
        MX_TRY(find_spelled(enc, piece, err));
    }
    MX_TRY(mx_normalize(&enc->normalizer, piece, &normalized, err));
    return cut_out(enc, &enc->tok->added.normalized, &enc->normalized, normalized, pretokenize, err);
}

/* What a file can make of a text is bounded: it is the file that may be hostile, and memory is not endless. */
static void set_limits(mx_encoder *enc, size_t n_bytes)
{
    const size_t max = MX_MIN((size_t)UINT32_MAX, (n_bytes << 6) + ((size_t)1 << 20));
    enc->normalizer.bufs[0].max = max;
    enc->normalizer.bufs[1].max = max;
    for (size_t i = 0; i < enc->tok->pretokenizer.n_stages; i++) {
        enc->stage_bufs[i].max = max;
    }
}

static mx_status encode_text(mx_encoder *enc, mx_str text, mx_error *err)
{
    const mx_piece whole = {text.ptr, text.len, text.len ? mx_utf8_size(text.ptr[0]) : 0};
    return text.len ? cut_out(enc, &enc->tok->added.plain, &enc->plain, whole, normalize, err) : MX_OK;
}

/* A template that names the text never, or twice, does so without its tokens too. */
static mx_status encode_items(mx_encoder *enc, mx_str text, bool with_tokens, mx_error *err)
{
    const mx_ids *items = &enc->tok->postprocessor.items;
    for (size_t i = 0; i < items->len; i++) {
        if (items->data[i] == MX_POSTPROCESSOR_TEXT) {
            MX_TRY(encode_text(enc, text, err));
        } else if (with_tokens) {
            MX_TRY(mx_ids_append(enc->out, &items->data[i], 1, err));
        }
    }
    return MX_OK;
}

static mx_status encode(mx_encoder *enc, mx_str text, unsigned flags, mx_ids *out, mx_error *err)
{
    if (text.len > MX_TOKENIZER_MAX_TEXT) {
        return mx_fail(err, MX_INVALID, "a text of %zu bytes is longer than %zu", text.len, MX_TOKENIZER_MAX_TEXT);
    }
    if (!mx_utf8_is_valid(text)) {
        enc->repaired.len = 0;
        MX_TRY(mx_utf8_append_lossy(&enc->repaired, text, err));
        text = mx_buf_view(&enc->repaired);
        enc->n_plain = 0;
    }
    enc->text = text;
    const size_t n_before = out->len;
    enc->out = out;
    enc->with_special = flags & MX_ENCODE_SPECIAL;
    set_limits(enc, text.len);
    const mx_status st = enc->tok->postprocessor.items.len ? encode_items(enc, text, flags & MX_ENCODE_TEMPLATE, err)
                                                           : encode_text(enc, text, err);
    if (st != MX_OK) {
        out->len = n_before;
    }
    return st;
}

mx_status mx_encode(mx_encoder *enc, mx_str text, unsigned flags, mx_ids *out, mx_error *err)
{
    enc->is_mixed = false;
    enc->n_plain = 0;
    return encode(enc, text, flags, out, err);
}

mx_status mx_encode_mixed(mx_encoder *enc, mx_str text, const size_t *plain_at, size_t n_plain, unsigned flags,
                          mx_ids *out, mx_error *err)
{
    enc->is_mixed = true;
    enc->plain_at = plain_at;
    enc->n_plain = n_plain;
    return encode(enc, text, flags, out, err);
}
