/* token_model.c - choosing the kind, and reading the vocabulary that three of them share. */
#include "text/tokenizer/token_model.h"

#include "base/compiler.h"
#include "base/mem.h"

static const struct {
    const char *type;
    mx_model_kind kind;
} kinds[] = {
    {"BPE", MX_MODEL_BPE},
    {"Unigram", MX_MODEL_UNIGRAM},
    {"WordPiece", MX_MODEL_WORDPIECE},
    {"WordLevel", MX_MODEL_WORD_LEVEL},
};

mx_status mx_token_model_kind(yyjson_val *val, mx_model_kind *kind, mx_error *err)
{
    mx_str type = {0};
    if (!yyjson_is_obj(val)) {
        return mx_fail(err, MX_FORMAT, "must be an object, found %s", mx_json_kind(val));
    }
    MX_TRY(mx_json_get_str(val, "type", &type, err));
    if (!type.ptr) {
        *kind = yyjson_obj_get(val, "merges")                     ? MX_MODEL_BPE
                : yyjson_is_arr(yyjson_obj_get(val, "vocab"))     ? MX_MODEL_UNIGRAM
                : yyjson_obj_get(val, "max_input_chars_per_word") ? MX_MODEL_WORDPIECE
                                                                  : MX_MODEL_WORD_LEVEL;
        return MX_OK;
    }
    for (size_t i = 0; i < MX_COUNTOF(kinds); i++) {
        if (mx_str_eq_cstr(type, kinds[i].type)) {
            *kind = kinds[i].kind;
            return MX_OK;
        }
    }
    return mx_fail(err, MX_UNSUPPORTED, "the type \"%.*s\" is not known", MX_STR_ARG(type));
}

/* Some tokens on their way into the vocabulary: the slots of all are read before the first is used. */
#define BATCH 16

typedef struct token_batch {
    size_t n;
    mx_str token[BATCH];
    int64_t id[BATCH];
    uint64_t hash[BATCH];
} token_batch;

static mx_status add_batch(mx_vocab *vocab, token_batch *b, mx_error *err)
{
    for (size_t i = 0; i < b->n; i++) {
        MX_TRY(mx_vocab_add_hashed(vocab, b->token[i], b->id[i], b->hash[i], err));
    }
    b->n = 0;
    return MX_OK;
}

/* {"token": id, ...} */
static mx_status read_vocab(mx_vocab *vocab, yyjson_val *model, mx_error *err)
{
    yyjson_val *obj = NULL;
    MX_TRY(mx_json_get_obj(model, "vocab", &obj, err));
    if (!obj) {
        return mx_fail(err, MX_FORMAT, "\"vocab\" is missing");
    }
    MX_TRY(mx_vocab_init(vocab, yyjson_obj_size(obj), yyjson_obj_size(obj) * 8, err));
    token_batch batch = {0};
    yyjson_obj_iter items = yyjson_obj_iter_with(obj);
    for (yyjson_val *key; (key = yyjson_obj_iter_next(&items));) {
        yyjson_val *id = yyjson_obj_iter_get_val(key);
        const mx_str token = mx_json_view_str(key);
        if (!yyjson_is_uint(id) || yyjson_get_uint(id) > INT64_MAX) {
            return mx_fail(err, MX_FORMAT, "token \"%.*s\" must have a whole number as its id, found %s",
                           (int)MX_MIN(token.len, (size_t)60), token.ptr, mx_json_kind(id));
        }
        batch.token[batch.n] = token;
        batch.id[batch.n] = (int64_t)yyjson_get_uint(id);
        batch.hash[batch.n] = mx_vocab_hash(vocab, token);
        if (++batch.n == BATCH) {
            MX_TRY(add_batch(vocab, &batch, err));
        }
    }
    return add_batch(vocab, &batch, err);
}

mx_status mx_token_model_init(mx_token_model *model, yyjson_val *val, bool takes_bytes, mx_error *err)
{
    mx_status st = MX_OK;
    *model = (mx_token_model){0};
    MX_TRY(mx_token_model_kind(val, &model->kind, err));
    if (model->kind == MX_MODEL_UNIGRAM) {
        MX_TRY_OR(done, st, mx_unigram_init(&model->u.unigram, &model->vocab, val, err));
        return MX_OK;
    }
    MX_TRY_OR(done, st, read_vocab(&model->vocab, val, err));
    if (model->kind == MX_MODEL_BPE) {
        MX_TRY_OR(done, st, mx_bpe_init(&model->u.bpe, &model->vocab, val, takes_bytes, err));
    } else {
        const bool is_word_level = model->kind == MX_MODEL_WORD_LEVEL;
        MX_TRY_OR(done, st, mx_wordpiece_init(&model->u.wordpiece, &model->vocab, val, is_word_level, err));
    }
done:
    if (st != MX_OK) {
        mx_token_model_deinit(model);
    }
    return st;
}

void mx_token_model_deinit(mx_token_model *model)
{
    switch (model->kind) {
    case MX_MODEL_BPE: mx_bpe_deinit(&model->u.bpe); break;
    case MX_MODEL_UNIGRAM: mx_unigram_deinit(&model->u.unigram); break;
    case MX_MODEL_WORDPIECE:
    case MX_MODEL_WORD_LEVEL: mx_wordpiece_deinit(&model->u.wordpiece); break;
    }
    mx_vocab_deinit(&model->vocab);
}

mx_status mx_token_model_encode(const mx_token_model *model, mx_model_scratch *scratch, mx_str piece, mx_ids *out,
                                mx_error *err)
{
    switch (model->kind) {
    case MX_MODEL_BPE: return mx_bpe_encode(&model->u.bpe, &scratch->bpe, piece, out, err);
    case MX_MODEL_UNIGRAM: return mx_unigram_encode(&model->u.unigram, &scratch->unigram, piece, out, err);
    case MX_MODEL_WORDPIECE:
    case MX_MODEL_WORD_LEVEL: break;
    }
    return mx_wordpiece_encode(&model->u.wordpiece, piece, out, err);
}

void mx_model_scratch_deinit(mx_model_scratch *scratch)
{
    mx_bpe_scratch_deinit(&scratch->bpe);
    mx_free(scratch->unigram.nodes);
    *scratch = (mx_model_scratch){0};
}
