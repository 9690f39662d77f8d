/* added_tokens.c - reading the tokens, and the two searches. */
#include "text/tokenizer/added_tokens.h"

#include <stdlib.h>

#include "base/mem.h"

#define ARENA_MAX  ((size_t)1 << 30)
#define MAX_LENGTH ((size_t)64 << 10) /* bytes of one token */

static mx_status read_token(yyjson_val *val, mx_added_token *token, mx_error *err)
{
    *token = (mx_added_token){0};
    if (!yyjson_is_obj(val)) {
        return mx_fail(err, MX_FORMAT, "must be objects, found %s", mx_json_kind(val));
    }
    MX_TRY(mx_json_get_str(val, "content", &token->content, err));
    MX_TRY(mx_json_get_bool(val, "special", &token->is_special, err));
    MX_TRY(mx_json_get_bool(val, "single_word", &token->is_single_word, err));
    MX_TRY(mx_json_get_bool(val, "lstrip", &token->strips_left, err));
    MX_TRY(mx_json_get_bool(val, "rstrip", &token->strips_right, err));
    token->is_normalized = !token->is_special;
    MX_TRY(mx_json_get_bool(val, "normalized", &token->is_normalized, err));
    if (token->content.len > MAX_LENGTH) {
        return mx_fail(err, MX_FORMAT, "one has %zu bytes, must have at most %zu", token->content.len, MAX_LENGTH);
    }
    return MX_OK;
}

/* New ids follow the number of tokens in the vocabulary, as the Rust library counts. */
static mx_status give_id(mx_added_tokens *added, const mx_vocab *vocab, mx_added_token *token, mx_error *err)
{
    if (mx_strmap_get(&added->by_content, token->content, &token->id)) {
        return MX_OK;
    }
    token->id = mx_vocab_find(vocab, token->content);
    if (token->id < 0) {
        const size_t id = vocab->n_tokens + added->n_new++;
        if (id >= MX_TOKENIZER_MAX_IDS) {
            return mx_fail(err, MX_FORMAT, "there are more than %zu tokens", MX_TOKENIZER_MAX_IDS);
        }
        token->id = (int32_t)id;
    }
    return mx_strmap_put(&added->by_content, token->content, token->id, NULL, err);
}

/* By id, then in the order of the file. */
static int compare_tokens(const void *a, const void *b)
{
    const mx_added_token *x = a;
    const mx_added_token *y = b;
    if (x->id != y->id) {
        return x->id < y->id ? -1 : 1;
    }
    return (x->i_file > y->i_file) - (x->i_file < y->i_file);
}

/* Of tokens with the same id the last one counts. */
static void sort_tokens(mx_added_tokens *added)
{
    qsort(added->tokens, added->n_tokens, sizeof *added->tokens, compare_tokens);
    size_t n = 0;
    for (size_t i = 0; i < added->n_tokens; i++) {
        if (i + 1 == added->n_tokens || added->tokens[i].id != added->tokens[i + 1].id) {
            added->tokens[n++] = added->tokens[i];
        }
    }
    added->n_tokens = n;
}

static mx_status read_list(mx_added_tokens *added, yyjson_val *list, const mx_vocab *vocab, mx_error *err)
{
    added->tokens = mx_arena_array(&added->arena, mx_added_token, yyjson_arr_size(list));
    if (!added->tokens) {
        return mx_fail_no_memory(err, yyjson_arr_size(list) * sizeof(mx_added_token), "added tokens");
    }
    yyjson_arr_iter items = yyjson_arr_iter_with(list);
    for (yyjson_val *item; (item = yyjson_arr_iter_next(&items));) {
        mx_added_token token;
        MX_TRY(read_token(item, &token, err));
        if (token.content.len == 0) {
            continue;
        }
        token.content = mx_arena_copy_str(&added->arena, token.content);
        if (!token.content.ptr) {
            return mx_fail_no_memory(err, token.content.len, "an added token");
        }
        MX_TRY(give_id(added, vocab, &token, err));
        token.i_file = (int32_t)added->n_tokens;
        added->tokens[added->n_tokens++] = token;
    }
    sort_tokens(added);
    return MX_OK;
}

static mx_status make_patterns(mx_added_tokens *added, mx_added_normalize normalize, void *ctx, mx_error *err)
{
    mx_buf buf = {.max = MAX_LENGTH * 64};
    mx_status st = MX_OK;
    added->patterns = mx_arena_array(&added->arena, mx_str, added->n_tokens);
    added->contents = mx_arena_array(&added->arena, mx_str, added->n_tokens);
    if (!added->patterns || !added->contents) {
        st = mx_fail_no_memory(err, added->n_tokens * sizeof(mx_str), "added tokens");
    }
    for (size_t i = 0; st == MX_OK && i < added->n_tokens; i++) {
        added->patterns[i] = added->tokens[i].content;
        added->contents[i] = added->tokens[i].content;
        if (!added->tokens[i].is_normalized) {
            continue;
        }
        buf.len = 0;
        MX_TRY_OR(done, st, normalize(ctx, added->tokens[i].content, &buf, err));
        if (!mx_str_eq(mx_buf_view(&buf), added->patterns[i])) {
            added->patterns[i] = mx_arena_copy_str(&added->arena, mx_buf_view(&buf));
            if (!added->patterns[i].ptr) {
                st = mx_fail_no_memory(err, buf.len, "an added token");
            }
        }
    }
done:
    mx_buf_deinit(&buf);
    return st;
}

typedef bool (*token_choice)(const mx_added_token *token);

static bool is_searched_as_given(const mx_added_token *token)
{
    return !token->is_normalized;
}

static bool is_searched_normalized(const mx_added_token *token)
{
    return token->is_normalized;
}

static bool is_special_and_normalized(const mx_added_token *token)
{
    return token->is_special && token->is_normalized;
}

static mx_status init_set(mx_added_tokens *added, mx_added_set *set, const mx_str *patterns, token_choice is_chosen,
                          mx_error *err)
{
    mx_arena scratch = {.max_bytes = ARENA_MAX};
    mx_trie_key *keys = mx_arena_array(&scratch, mx_trie_key, added->n_tokens);
    mx_status st = keys ? MX_OK : mx_fail_no_memory(err, added->n_tokens * sizeof *keys, "added tokens");
    size_t n = 0;
    for (size_t i = 0; st == MX_OK && i < added->n_tokens; i++) {
        const mx_str pattern = patterns[i];
        if (!is_chosen(&added->tokens[i]) || pattern.len == 0) {
            continue;
        }
        char *reversed = mx_arena_alloc(&scratch, pattern.len);
        if (!reversed) {
            st = mx_fail_no_memory(err, pattern.len, "an added token");
            break;
        }
        for (size_t k = 0; k < pattern.len; k++) {
            reversed[k] = pattern.ptr[pattern.len - 1 - k];
        }
        keys[n++] = (mx_trie_key){{reversed, pattern.len}, (int32_t)i};
    }
    set->patterns = patterns;
    if (st == MX_OK) {
        st = mx_trie_init(&set->trie, keys, n, err);
    }
    if (st == MX_OK) {
        st = mx_trie_link(&set->trie, err);
    }
    mx_arena_deinit(&scratch);
    return st;
}

mx_status mx_added_init(mx_added_tokens *added, yyjson_val *list, const mx_vocab *vocab, mx_added_normalize normalize,
                        void *ctx, mx_error *err)
{
    *added = (mx_added_tokens){.arena = {.max_bytes = ARENA_MAX}};
    if (!list) {
        return MX_OK;
    }
    mx_status st = read_list(added, list, vocab, err);
    MX_TRY_OR(done, st, st);
    MX_TRY_OR(done, st, make_patterns(added, normalize, ctx, err));
    MX_TRY_OR(done, st, init_set(added, &added->plain, added->patterns, is_searched_as_given, err));
    MX_TRY_OR(done, st, init_set(added, &added->normalized, added->patterns, is_searched_normalized, err));
    MX_TRY_OR(done, st, init_set(added, &added->spelled, added->contents, is_special_and_normalized, err));
done:
    if (st != MX_OK) {
        mx_added_deinit(added);
    }
    return st;
}

void mx_added_deinit(mx_added_tokens *added)
{
    mx_trie_deinit(&added->plain.trie);
    mx_trie_deinit(&added->normalized.trie);
    mx_trie_deinit(&added->spelled.trie);
    mx_strmap_deinit(&added->by_content);
    mx_arena_deinit(&added->arena);
    *added = (mx_added_tokens){0};
}

size_t mx_added_find(const mx_added_tokens *added, int32_t id)
{
    size_t lo = 0;
    size_t hi = added->n_tokens;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (added->tokens[mid].id < id) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo < added->n_tokens && added->tokens[lo].id == id ? lo : MX_STR_NPOS;
}

mx_status mx_added_begin(mx_added_walk *walk, mx_added_hit **hits, size_t *cap, mx_error *err)
{
    const mx_trie *trie = &walk->set->trie;
    const uint8_t *s = (const uint8_t *)walk->text.ptr;
    uint32_t node = MX_TRIE_ROOT;
    size_t n = 0;
    for (size_t at = trie->n_nodes ? walk->text.len : 0; at-- > 0;) {
        if (node == MX_TRIE_ROOT && trie->root[s[at]] == 0) {
            continue;
        }
        node = mx_trie_step(trie, node, s[at]);
        if (trie->value[node] < 0) {
            continue;
        }
        if (n == *cap) {
            mx_added_hit *grown = mx_array_grow(*hits, cap, n + 1, sizeof *grown, MX_TOKENIZER_MAX_TEXT * 4);
            if (!grown) {
                return mx_fail_no_memory(err, n * sizeof *grown, "added tokens in a text");
            }
            *hits = grown;
        }
        (*hits)[n++] = (mx_added_hit){(uint32_t)at, (uint32_t)trie->value[node]};
    }
    walk->hits = *hits;
    walk->n_hits = n;
    return MX_OK;
}

static bool is_word(const mx_added_walk *walk, const char *s)
{
    size_t size;
    return mx_unicode_at(walk->unicode, s, &size) & MX_UC_WORD;
}

static bool stands_alone(const mx_added_walk *walk, size_t start, size_t end)
{
    const mx_str t = walk->text;
    return !(start > 0 && is_word(walk, t.ptr + start - mx_utf8_last_size(t.ptr, start))) &&
           !(end < t.len && is_word(walk, t.ptr + end));
}

static size_t strip_left(const mx_added_walk *walk, size_t start)
{
    const char *s = walk->text.ptr;
    while (start > walk->done) {
        const size_t before = start - mx_utf8_last_size(s, start);
        size_t size;
        if (!(mx_unicode_at(walk->unicode, s + before, &size) & MX_UC_SPACE)) {
            break;
        }
        start = before;
    }
    return start;
}

/* Tokens that are themselves white space may ask for the same run again and again. */
static size_t strip_right(mx_added_walk *walk, size_t end)
{
    if (end < walk->space_from || end > walk->space_to) {
        walk->space_from = end;
        walk->space_to = mx_unicode_skip(walk->unicode, walk->text.ptr, end, walk->text.len, MX_UC_SPACE);
    }
    return walk->space_to;
}

/* Whether special tokens do not count at this place, the places that are asked for rising. */
static bool is_plain(mx_added_walk *walk, size_t start)
{
    const size_t at = walk->text_at + start;
    while (walk->n_plain > 0 && *walk->plain_at < at) {
        walk->plain_at++;
        walk->n_plain--;
    }
    return walk->n_plain > 0 && *walk->plain_at == at;
}

/* Whether this special token may end here, the places that are asked for rising. */
static bool may_end(mx_added_walk *walk, size_t end, uint32_t i_token)
{
    while (walk->n_spelled > 0 && walk->spelled->end < end) {
        walk->spelled++;
        walk->n_spelled--;
    }
    return !walk->must_be_spelled ||
           (walk->n_spelled > 0 && walk->spelled->end == end && walk->spelled->i_token == i_token);
}

/* Whether a special token does not count here. */
static bool is_no_token(mx_added_walk *walk, size_t start, size_t end, uint32_t i_token)
{
    return !walk->with_special || is_plain(walk, start) || !may_end(walk, end, i_token);
}

bool mx_added_next_spelled(mx_added_walk *walk, mx_added_end *out)
{
    while (walk->n_hits) {
        const mx_added_hit hit = walk->hits[--walk->n_hits];
        if (hit.start < walk->matched) {
            continue;
        }
        walk->matched = hit.start + walk->set->patterns[hit.i_token].len;
        if (!is_plain(walk, hit.start)) {
            *out = (mx_added_end){walk->matched, hit.i_token};
            return true;
        }
    }
    return false;
}

bool mx_added_next(mx_added_walk *walk, mx_added_part *part)
{
    if (walk->has_token) {
        walk->has_token = false;
        *part = walk->token;
        return true;
    }
    while (walk->n_hits) {
        const mx_added_hit hit = walk->hits[--walk->n_hits];
        const mx_added_token *token = &walk->added->tokens[hit.i_token];
        size_t start = hit.start;
        size_t end = start + walk->set->patterns[hit.i_token].len;
        if (start < walk->matched) {
            continue; /* inside the match before */
        }
        walk->matched = end;
        if ((token->is_special && is_no_token(walk, start, end, hit.i_token)) ||
            (token->is_single_word && !stands_alone(walk, start, end))) {
            continue;
        }
        const size_t done = walk->done;
        start = token->strips_left ? MX_MAX(strip_left(walk, start), done) : start;
        end = token->strips_right ? strip_right(walk, end) : end;
        walk->done = end;
        if (start >= end) {
            continue; /* white space that the token before has swallowed */
        }
        walk->token = (mx_added_part){start, end, token->id};
        walk->has_token = done < start;
        *part = walk->has_token ? (mx_added_part){done, start, -1} : walk->token;
        return true;
    }
    *part = (mx_added_part){walk->done, walk->text.len, -1};
    walk->done = walk->text.len;
    return part->start < part->end;
}
