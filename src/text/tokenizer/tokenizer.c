/* tokenizer.c - opening a tokenizer.json, and looking up tokens. */
#include "text/tokenizer/tokenizer.h"

#include "base/json.h"
#include "base/mem.h"
#include "text/tokenizer/open.h"

mx_status mx_ids_reserve(mx_ids *ids, size_t n_more, mx_error *err)
{
    if (n_more > ids->max || ids->len > ids->max - n_more) {
        return mx_fail(err, MX_INVALID, "a text has more than %zu tokens, the limit here", ids->max);
    }
    if (ids->len + n_more <= ids->cap) {
        return MX_OK;
    }
    int32_t *data = mx_array_grow(ids->data, &ids->cap, ids->len + n_more, sizeof *data, ids->max);
    if (!data) {
        return mx_fail_no_memory(err, (ids->len + n_more) * sizeof *data, "token ids");
    }
    ids->data = data;
    return MX_OK;
}

mx_status mx_ids_append(mx_ids *ids, const int32_t *more, size_t n_more, mx_error *err)
{
    MX_TRY(mx_ids_reserve(ids, n_more, err));
    for (size_t i = 0; i < n_more; i++) {
        ids->data[ids->len + i] = more[i];
    }
    ids->len += n_more;
    return MX_OK;
}

void mx_ids_deinit(mx_ids *ids)
{
    mx_free(ids->data);
    *ids = (mx_ids){.max = ids->max};
}

static mx_status normalize_content(void *ctx, mx_str content, mx_buf *out, mx_error *err)
{
    mx_piece normalized;
    mx_normalizer_run *run = ctx;
    MX_TRY(mx_normalize(run, (mx_piece){content.ptr, content.len, 0}, &normalized, err));
    return mx_buf_append(out, (mx_str){normalized.ptr, normalized.len}, err);
}

static mx_status load_added(mx_tokenizer *tok, yyjson_val *root, mx_error *err)
{
    yyjson_val *list = NULL;
    mx_regex_scratch regex = {0};
    mx_normalizer_run run;
    MX_TRY(mx_json_get_arr(root, "added_tokens", &list, err));
    mx_normalizer_run_init(&run, &tok->normalizer, &tok->unicode, &regex);
    const mx_status st = mx_added_init(&tok->added, list, &tok->model.vocab, normalize_content, &run, err);
    mx_normalizer_run_deinit(&run);
    mx_regex_scratch_deinit(&regex);
    return st;
}

static bool is_non_empty(yyjson_val *val)
{
    return yyjson_get_len(val) > 0;
}

/* Byte-level BPE takes raw bytes, unless the file's model puts marks on the parts of a word. */
static mx_status load_model(mx_tokenizer *tok, yyjson_val *root, mx_error *err)
{
    yyjson_val *val = yyjson_obj_get(root, "model");
    mx_model_kind kind;
    MX_TRY(mx_token_model_kind(val, &kind, err));
    const bool has_affixes = is_non_empty(yyjson_obj_get(val, "continuing_subword_prefix")) ||
                             is_non_empty(yyjson_obj_get(val, "end_of_word_suffix"));
    const bool takes_bytes = kind == MX_MODEL_BPE && !has_affixes && mx_pretokenizer_take_bytes(&tok->pretokenizer);
    return mx_token_model_init(&tok->model, val, takes_bytes, err);
}

static mx_status load_normalizer(mx_tokenizer *tok, yyjson_val *root, mx_error *err)
{
    return mx_normalizer_init(&tok->normalizer, yyjson_obj_get(root, "normalizer"), err);
}

static mx_status load_pretokenizer(mx_tokenizer *tok, yyjson_val *root, mx_error *err)
{
    return mx_pretokenizer_init(&tok->pretokenizer, yyjson_obj_get(root, "pre_tokenizer"), err);
}

static mx_status load_postprocessor(mx_tokenizer *tok, yyjson_val *root, mx_error *err)
{
    return mx_postprocessor_init(&tok->postprocessor, yyjson_obj_get(root, "post_processor"), err);
}

static mx_status load_decoder(mx_tokenizer *tok, yyjson_val *root, mx_error *err)
{
    return mx_decoder_init(&tok->decoder, yyjson_obj_get(root, "decoder"), err);
}

/* In this order: the model asks whether the pre-tokenizer makes bytes, added tokens ask the normalizer and the model.
 */
static const struct {
    const char *part;
    mx_status (*load)(mx_tokenizer *tok, yyjson_val *root, mx_error *err);
} parts[] = {
    {"normalizer", load_normalizer}, {"pre_tokenizer", load_pretokenizer},   {"model", load_model},
    {"added_tokens", load_added},    {"post_processor", load_postprocessor}, {"decoder", load_decoder},
};

static mx_status set_flags(mx_tokenizer *tok, mx_error *err)
{
    const mx_added_tokens *added = &tok->added;
    tok->n_ids = tok->model.vocab.n_ids;
    if (added->n_tokens) {
        tok->n_ids = MX_MAX(tok->n_ids, (size_t)added->tokens[added->n_tokens - 1].id + 1);
    }
    tok->id_flags = mx_calloc(tok->n_ids, 1);
    if (!tok->id_flags) {
        return mx_fail_no_memory(err, tok->n_ids, "the ids of a tokenizer");
    }
    for (size_t i = 0; i < added->n_tokens; i++) {
        /* Special is a token whose string, as the decoder gets it, is the content of a special token. */
        int32_t id;
        const size_t by_string =
            mx_strmap_get(&added->by_content, added->patterns[i], &id) ? mx_added_find(added, id) : i;
        const bool is_special = by_string != MX_STR_NPOS && added->tokens[by_string].is_special &&
                                mx_str_eq(added->tokens[by_string].content, added->patterns[i]);
        tok->id_flags[added->tokens[i].id] = (uint8_t)(MX_ID_IS_ADDED | (is_special ? MX_ID_IS_SPECIAL : 0));
    }
    return MX_OK;
}

static mx_status load(mx_tokenizer *tok, yyjson_val *root, const char *name, mx_error *err)
{
    mx_str version = MX_STR("1.0");
    if (!yyjson_is_obj(root)) {
        return mx_fail(err, MX_FORMAT, "%s: must be a JSON object, found %s", name, mx_json_kind(root));
    }
    mx_status st = mx_json_get_str(root, "version", &version, err);
    if (st != MX_OK) {
        return mx_error_prefix(err, st, "%s", name);
    }
    if (!mx_str_eq_cstr(version, "1.0")) {
        return mx_fail(err, MX_UNSUPPORTED, "%s: version \"%.*s\" is not known, only 1.0 is", name,
                       MX_STR_ARG(version));
    }
    for (size_t i = 0; i < MX_COUNTOF(parts); i++) {
        st = parts[i].load(tok, root, err);
        if (st != MX_OK) {
            return mx_error_prefix(err, st, "%s: %s", name, parts[i].part);
        }
    }
    return set_flags(tok, err);
}

mx_status mx_tokenizer_open(mx_str json, const char *name, mx_tokenizer **out, mx_error *err)
{
    mx_json doc = {0};
    mx_status st = MX_OK;
    *out = NULL;
    mx_tokenizer *tok = mx_calloc(1, sizeof *tok);
    if (!tok) {
        return mx_fail_no_memory(err, sizeof *tok, "a tokenizer");
    }
    mx_unicode_init(&tok->unicode);
    MX_TRY_OR(done, st, mx_json_parse(json, name, &doc, err));
    MX_TRY_OR(done, st, load(tok, doc.root, name, err));
    *out = tok;
    tok = NULL;
done:
    mx_json_close(&doc);
    mx_tokenizer_close(tok);
    return st;
}

void mx_tokenizer_close(mx_tokenizer *tok)
{
    if (!tok) {
        return;
    }
    mx_normalizer_deinit(&tok->normalizer);
    mx_pretokenizer_deinit(&tok->pretokenizer);
    mx_token_model_deinit(&tok->model);
    mx_added_deinit(&tok->added);
    mx_postprocessor_deinit(&tok->postprocessor);
    mx_decoder_deinit(&tok->decoder);
    mx_free(tok->id_flags);
    mx_free(tok);
}

size_t mx_tokenizer_n_tokens(const mx_tokenizer *tok)
{
    return tok->model.vocab.n_tokens + tok->added.n_new;
}

size_t mx_tokenizer_n_ids(const mx_tokenizer *tok)
{
    return tok->n_ids;
}

bool mx_tokenizer_find(const mx_tokenizer *tok, mx_str token, int32_t *id)
{
    if (mx_strmap_get(&tok->added.by_content, token, id)) {
        return true;
    }
    const int32_t found = mx_vocab_find(&tok->model.vocab, token);
    if (found >= 0) {
        *id = found;
    }
    return found >= 0;
}

static bool has_flag(const mx_tokenizer *tok, int32_t id, uint8_t flag)
{
    return id >= 0 && (size_t)id < tok->n_ids && (tok->id_flags[id] & flag);
}

bool mx_tokenizer_view_token(const mx_tokenizer *tok, int32_t id, mx_str *token)
{
    *token = has_flag(tok, id, MX_ID_IS_ADDED) ? tok->added.tokens[mx_added_find(&tok->added, id)].content
                                               : mx_vocab_view(&tok->model.vocab, id);
    return token->ptr != NULL;
}

mx_str mx_tokenizer_view_decoded(const mx_tokenizer *tok, int32_t id)
{
    return has_flag(tok, id, MX_ID_IS_ADDED) ? tok->added.patterns[mx_added_find(&tok->added, id)]
                                             : mx_vocab_view(&tok->model.vocab, id);
}

bool mx_tokenizer_is_special(const mx_tokenizer *tok, int32_t id)
{
    return has_flag(tok, id, MX_ID_IS_SPECIAL);
}

const mx_added_token *mx_tokenizer_view_added(const mx_tokenizer *tok, size_t *n_added)
{
    *n_added = tok->added.n_tokens;
    return tok->added.tokens;
}
