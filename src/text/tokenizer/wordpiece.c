/* wordpiece.c - a trie finds the longest token in one walk; tokens that continue a word are a part of the same trie. */
#include "text/tokenizer/wordpiece.h"

#include "base/mem.h"
#include "text/tokenizer/unicode.h"

static mx_status init_trie(mx_wordpiece *wp, mx_str prefix, mx_error *err)
{
    size_t n = 0;
    mx_trie_key *keys = mx_calloc(wp->vocab->n_tokens, sizeof *keys);
    if (!keys) {
        return mx_fail_no_memory(err, wp->vocab->n_tokens * sizeof *keys, "a vocabulary");
    }
    for (size_t i = 0; i < wp->vocab->n_slots; i++) {
        const mx_vocab_slot *slot = &wp->vocab->slots[i];
        if (slot->id >= 0 && slot->len) {
            keys[n++] = (mx_trie_key){{wp->vocab->pool + slot->at, slot->len}, slot->id};
        }
    }
    const mx_status st = mx_trie_init(&wp->trie, keys, n, err);
    mx_free(keys);
    wp->continuation = MX_TRIE_ROOT;
    wp->has_continuation = true;
    for (size_t i = 0; st == MX_OK && i < prefix.len && wp->has_continuation; i++) {
        wp->has_continuation = mx_trie_child(&wp->trie, wp->continuation, (uint8_t)prefix.ptr[i], &wp->continuation);
    }
    return st;
}

mx_status mx_wordpiece_init(mx_wordpiece *wp, const mx_vocab *vocab, yyjson_val *model, bool is_word_level,
                            mx_error *err)
{
    *wp = (mx_wordpiece){.vocab = vocab, .is_word_level = is_word_level};
    mx_str unk = is_word_level ? MX_STR("<unk>") : MX_STR("[UNK]");
    mx_str prefix = MX_STR("##");
    int64_t max_chars = 100;
    MX_TRY(mx_json_get_str(model, "unk_token", &unk, err));
    wp->unk_id = mx_vocab_find(vocab, unk);
    if (is_word_level) {
        return MX_OK;
    }
    MX_TRY(mx_json_get_str(model, "continuing_subword_prefix", &prefix, err));
    MX_TRY(mx_json_get_i64(model, "max_input_chars_per_word", 0, INT64_MAX, &max_chars, err));
    wp->max_chars = (size_t)max_chars;
    return init_trie(wp, prefix, err);
}

void mx_wordpiece_deinit(mx_wordpiece *wp)
{
    mx_trie_deinit(&wp->trie);
    *wp = (mx_wordpiece){0};
}

static mx_status put_unknown(const mx_wordpiece *wp, mx_str piece, mx_ids *out, mx_error *err)
{
    if (wp->unk_id < 0) {
        return mx_fail(err, MX_FORMAT, "\"%.*s\" has no token, and the unknown token is not in the vocabulary",
                       (int)MX_MIN(piece.len, (size_t)32), piece.ptr);
    }
    return mx_ids_append(out, &wp->unk_id, 1, err);
}

static bool is_longer(mx_str s, size_t max_chars)
{
    size_t n = 0;
    for (size_t at = 0; at < s.len && n <= max_chars; at += mx_utf8_size(s.ptr[at])) {
        n++;
    }
    return n > max_chars;
}

/* The longest token at byte `at`: its end, or `at` where there is none. */
static size_t longest(const mx_wordpiece *wp, mx_str piece, size_t at, int32_t *id)
{
    size_t best = at;
    uint32_t node = at ? wp->continuation : MX_TRIE_ROOT;
    if ((at && !wp->has_continuation) || wp->trie.n_nodes == 0) {
        return at;
    }
    for (size_t end = at; end < piece.len && mx_trie_child(&wp->trie, node, (uint8_t)piece.ptr[end], &node);) {
        end++;
        if (wp->trie.value[node] >= 0) {
            best = end;
            *id = wp->trie.value[node];
        }
    }
    return best;
}

mx_status mx_wordpiece_encode(const mx_wordpiece *wp, mx_str piece, mx_ids *out, mx_error *err)
{
    if (wp->is_word_level) {
        const int32_t id = mx_vocab_find(wp->vocab, piece);
        return id >= 0 ? mx_ids_append(out, &id, 1, err) : put_unknown(wp, piece, out, err);
    }
    if (is_longer(piece, wp->max_chars)) {
        return put_unknown(wp, piece, out, err);
    }
    const size_t n_before = out->len;
    for (size_t at = 0; at < piece.len;) {
        int32_t id = -1;
        const size_t end = longest(wp, piece, at, &id);
        if (end == at) { /* the word has a part without a token: then all of it is unknown */
            out->len = n_before;
            return put_unknown(wp, piece, out, err);
        }
        MX_TRY(mx_ids_append(out, &id, 1, err));
        at = end;
    }
    return MX_OK;
}
