/* unigram.c - one forward pass over the piece, one back. */
#include "text/tokenizer/unigram.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "text/tokenizer/unicode.h"

#define UNK_PENALTY 10.0
#define NO_WAY      UINT32_MAX

static mx_status read_vocab(mx_unigram *uni, mx_vocab *vocab, yyjson_val *list, mx_trie_key *keys, size_t *n_keys,
                            mx_error *err)
{
    double min_score = (double)INFINITY;
    int64_t id = 0;
    yyjson_arr_iter items = yyjson_arr_iter_with(list);
    for (yyjson_val *item; (item = yyjson_arr_iter_next(&items)); id++) {
        yyjson_val *score = yyjson_arr_get(item, 1);
        const mx_str token = mx_json_view_str(yyjson_arr_get(item, 0));
        if (yyjson_arr_size(item) != 2 || !token.ptr || !yyjson_is_num(score)) {
            return mx_fail(err, MX_FORMAT, "entry %lld of \"vocab\" must be [token, score]", (long long)id);
        }
        MX_TRY(mx_vocab_add(vocab, token, id, err));
        uni->scores[id] = yyjson_get_num(score);
        min_score = uni->scores[id] < min_score ? uni->scores[id] : min_score;
        if (token.len) {
            keys[(*n_keys)++] = (mx_trie_key){token, (int32_t)id};
        }
    }
    uni->unk_score = min_score - UNK_PENALTY;
    return MX_OK;
}

/* Of equal tokens only the last has its string in the vocabulary; their ids still count. */
static mx_status keep_all_strings(mx_vocab *vocab, yyjson_val *list, mx_error *err)
{
    int64_t id = 0;
    yyjson_arr_iter items = yyjson_arr_iter_with(list);
    for (yyjson_val *item; (item = yyjson_arr_iter_next(&items)); id++) {
        if (!mx_vocab_view(vocab, (int32_t)id).ptr) {
            MX_TRY(mx_vocab_add_hidden(vocab, mx_json_view_str(yyjson_arr_get(item, 0)), id, err));
        }
    }
    return MX_OK;
}

static mx_status read_options(mx_unigram *uni, const mx_vocab *vocab, yyjson_val *model, size_t n, mx_error *err)
{
    int64_t unk_id = -1;
    MX_TRY(mx_json_get_i64(model, "unk_id", 0, n ? (int64_t)n - 1 : 0, &unk_id, err));
    MX_TRY(mx_json_get_bool(model, "byte_fallback", &uni->byte_fallback, err));
    if (n == 0) {
        return mx_fail(err, MX_FORMAT, "\"vocab\" is empty");
    }
    uni->unk_id = (int32_t)unk_id;
    for (int b = 0; b < 256; b++) {
        char text[8];
        snprintf(text, sizeof text, "<0x%02X>", (unsigned)b);
        uni->fallback_ids[b] = mx_vocab_find(vocab, mx_str_from(text));
    }
    return MX_OK;
}

mx_status mx_unigram_init(mx_unigram *uni, mx_vocab *vocab, yyjson_val *model, mx_error *err)
{
    *uni = (mx_unigram){.vocab = vocab};
    yyjson_val *list = NULL;
    MX_TRY(mx_json_get_arr(model, "vocab", &list, err));
    const size_t n = yyjson_arr_size(list);
    size_t n_keys = 0;
    mx_status st = MX_OK;
    mx_trie_key *keys = mx_calloc(n, sizeof *keys);
    uni->scores = mx_calloc(n, sizeof *uni->scores);
    if (!keys || !uni->scores) {
        st = mx_fail_no_memory(err, n * (sizeof *keys + sizeof *uni->scores), "a vocabulary");
        goto done;
    }
    MX_TRY_OR(done, st, mx_vocab_init(vocab, n, n * 8, err));
    MX_TRY_OR(done, st, read_vocab(uni, vocab, list, keys, &n_keys, err));
    MX_TRY_OR(done, st, keep_all_strings(vocab, list, err));
    MX_TRY_OR(done, st, read_options(uni, vocab, model, n, err));
    MX_TRY_OR(done, st, mx_trie_init(&uni->trie, keys, n_keys, err));
done:
    mx_free(keys);
    if (st != MX_OK) {
        mx_unigram_deinit(uni);
    }
    return st;
}

void mx_unigram_deinit(mx_unigram *uni)
{
    mx_free(uni->scores);
    mx_trie_deinit(&uni->trie);
    *uni = (mx_unigram){0};
}

/* A way to the place `end` whose last token is id. The first of equal ways stays. */
static void offer(mx_unigram_node *nodes, size_t start, size_t end, double score, int32_t id)
{
    mx_unigram_node *node = &nodes[end];
    if (node->start == NO_WAY || score > node->score) {
        *node = (mx_unigram_node){score, (uint32_t)start, id};
    }
}

static mx_status walk_forward(const mx_unigram *uni, mx_unigram_node *nodes, mx_str piece, mx_error *err)
{
    for (size_t i = 0; i <= piece.len; i++) {
        nodes[i] = (mx_unigram_node){0, NO_WAY, 0};
    }
    for (size_t at = 0, size; at < piece.len; at += size) {
        const double here = nodes[at].score;
        bool has_single = false;
        size = mx_utf8_size(piece.ptr[at]);
        uint32_t node = MX_TRIE_ROOT;
        for (size_t end = at; end < piece.len && uni->trie.n_nodes;) {
            if (!mx_trie_child(&uni->trie, node, (uint8_t)piece.ptr[end], &node)) {
                break;
            }
            end++;
            const int32_t id = uni->trie.value[node];
            if (id >= 0) {
                offer(nodes, at, end, uni->scores[id] + here, id);
                has_single = has_single || end == at + size;
            }
        }
        if (!has_single) {
            const bool is_better = nodes[at + size].start == NO_WAY || uni->unk_score + here > nodes[at + size].score;
            if (is_better && uni->unk_id < 0) {
                return mx_fail(err, MX_FORMAT, "\"%.*s\" has no token, and the model has no unknown token", (int)size,
                               piece.ptr + at);
            }
            offer(nodes, at, at + size, uni->unk_score + here, uni->unk_id);
        }
    }
    return MX_OK;
}

/* A stretch of unknown characters: its bytes if there are tokens for all of them, else one unknown token. */
static mx_status put_unknown(const mx_unigram *uni, mx_str stretch, mx_ids *out, mx_error *err)
{
    const int32_t known =
        mx_vocab_find(uni->vocab, stretch); /* the unknown token's own string, or one without a score */
    if (known >= 0) {
        return mx_ids_append(out, &known, 1, err);
    }
    bool has_bytes = uni->byte_fallback;
    for (size_t i = 0; i < stretch.len && has_bytes; i++) {
        has_bytes = uni->fallback_ids[(uint8_t)stretch.ptr[i]] >= 0;
    }
    for (size_t i = 0; i < stretch.len && has_bytes; i++) {
        MX_TRY(mx_ids_append(out, &uni->fallback_ids[(uint8_t)stretch.ptr[i]], 1, err));
    }
    return has_bytes ? MX_OK : mx_ids_append(out, &uni->unk_id, 1, err);
}

mx_status mx_unigram_encode(const mx_unigram *uni, mx_unigram_scratch *scratch, mx_str piece, mx_ids *out,
                            mx_error *err)
{
    mx_unigram_node *nodes = mx_array_grow(scratch->nodes, &scratch->cap, piece.len + 1, sizeof *nodes, UINT32_MAX - 1);
    if (!nodes) {
        return mx_fail_no_memory(err, (piece.len + 1) * sizeof *nodes, "the segmentation of a text");
    }
    scratch->nodes = nodes;
    MX_TRY(walk_forward(uni, nodes, piece, err));
    /* Turn the way back into a way forward: nodes[start].id is then the token there, and its end is kept in `start` of
     * the place where it begins. */
    size_t next_end = piece.len;
    int32_t next_id = nodes[piece.len].id;
    for (size_t at = nodes[piece.len].start; next_end > 0;) {
        const mx_unigram_node here = nodes[at];
        nodes[at].start = (uint32_t)next_end;
        nodes[at].id = next_id;
        next_end = at;
        next_id = here.id;
        at = at ? here.start : 0;
    }
    for (size_t at = 0, end; at < piece.len; at = end) {
        end = nodes[at].start;
        if (nodes[at].id != uni->unk_id) {
            MX_TRY(mx_ids_append(out, &nodes[at].id, 1, err));
            continue;
        }
        while (end < piece.len && nodes[end].id == uni->unk_id) {
            end = nodes[end].start;
        }
        MX_TRY(put_unknown(uni, (mx_str){piece.ptr + at, end - at}, out, err));
    }
    return MX_OK;
}
