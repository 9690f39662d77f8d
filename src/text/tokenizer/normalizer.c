/* normalizer.c - reading the normalizer of a file into operations. normalize.c runs them. */
#include "text/tokenizer/normalizer.h"

#include "base/mem.h"
#include "text/tokenizer/parts.h"

static mx_status add_op(mx_normalizer *norm, mx_norm_kind kind, mx_norm_op **op, mx_error *err)
{
    if (norm->n_ops == MX_NORMALIZER_MAX_OPS) {
        return mx_fail(err, MX_FORMAT, "more than %d operations", MX_NORMALIZER_MAX_OPS);
    }
    *op = &norm->ops[norm->n_ops++];
    **op = (mx_norm_op){.kind = kind};
    return MX_OK;
}

static mx_status add_simple(mx_normalizer *norm, mx_norm_kind kind, mx_error *err)
{
    mx_norm_op *op = NULL;
    return add_op(norm, kind, &op, err);
}

static mx_status add_form(mx_normalizer *norm, mx_unicode_form form, mx_error *err)
{
    mx_norm_op *op = NULL;
    MX_TRY(add_op(norm, MX_NORM_FORM, &op, err));
    op->form = form;
    return MX_OK;
}

static mx_status add_drop(mx_normalizer *norm, unsigned classes, mx_error *err)
{
    mx_norm_op *op = NULL;
    MX_TRY(add_op(norm, MX_NORM_DROP, &op, err));
    op->classes = classes;
    return MX_OK;
}

static mx_status get_text(yyjson_val *val, const char *key, mx_norm_op *op, mx_error *err)
{
    mx_str text = {0};
    MX_TRY(mx_json_get_str(val, key, &text, err));
    if (!text.ptr) {
        return mx_fail(err, MX_FORMAT, "\"%s\" is missing", key);
    }
    op->text = mx_malloc(text.len);
    if (!op->text) {
        return mx_fail_no_memory(err, text.len, "a normalizer");
    }
    if (text.len) {
        memcpy(op->text, text.ptr, text.len);
    }
    op->text_len = text.len;
    return MX_OK;
}

static mx_status read_nfc(mx_normalizer *norm, yyjson_val *val, mx_error *err)
{
    (void)val;
    return add_form(norm, MX_FORM_NFC, err);
}

static mx_status read_nfd(mx_normalizer *norm, yyjson_val *val, mx_error *err)
{
    (void)val;
    return add_form(norm, MX_FORM_NFD, err);
}

static mx_status read_nfkc(mx_normalizer *norm, yyjson_val *val, mx_error *err)
{
    (void)val;
    return add_form(norm, MX_FORM_NFKC, err);
}

static mx_status read_nfkd(mx_normalizer *norm, yyjson_val *val, mx_error *err)
{
    (void)val;
    return add_form(norm, MX_FORM_NFKD, err);
}

static mx_status read_lowercase(mx_normalizer *norm, yyjson_val *val, mx_error *err)
{
    (void)val;
    return add_simple(norm, MX_NORM_LOWERCASE, err);
}

static mx_status read_strip_accents(mx_normalizer *norm, yyjson_val *val, mx_error *err)
{
    (void)val;
    return add_drop(norm, MX_UC_COMBINING, err);
}

static mx_status read_nmt(mx_normalizer *norm, yyjson_val *val, mx_error *err)
{
    (void)val;
    return add_simple(norm, MX_NORM_NMT, err);
}

static mx_status read_byte_level(mx_normalizer *norm, yyjson_val *val, mx_error *err)
{
    (void)val;
    return add_simple(norm, MX_NORM_BYTES, err);
}

static mx_status read_strip(mx_normalizer *norm, yyjson_val *val, mx_error *err)
{
    mx_norm_op *op = NULL;
    MX_TRY(add_op(norm, MX_NORM_STRIP, &op, err));
    op->strips_left = true;
    op->strips_right = true;
    MX_TRY(mx_json_get_bool(val, "strip_left", &op->strips_left, err));
    return mx_json_get_bool(val, "strip_right", &op->strips_right, err);
}

static mx_status read_bert(mx_normalizer *norm, yyjson_val *val, mx_error *err)
{
    bool cleans = true;
    bool handles_chinese = true;
    bool lowercases = true;
    MX_TRY(mx_json_get_bool(val, "clean_text", &cleans, err));
    MX_TRY(mx_json_get_bool(val, "handle_chinese_chars", &handles_chinese, err));
    MX_TRY(mx_json_get_bool(val, "lowercase", &lowercases, err));
    bool strips_accents = lowercases; /* unless the file says otherwise */
    MX_TRY(mx_json_get_bool(val, "strip_accents", &strips_accents, err));
    if (cleans) {
        MX_TRY(add_simple(norm, MX_NORM_BERT_CLEAN, err));
    }
    if (handles_chinese) {
        MX_TRY(add_simple(norm, MX_NORM_BERT_CJK, err));
    }
    if (strips_accents) {
        MX_TRY(add_form(norm, MX_FORM_NFD, err));
        MX_TRY(add_drop(norm, MX_UC_NONSPACING, err));
    }
    return lowercases ? add_simple(norm, MX_NORM_LOWERCASE, err) : MX_OK;
}

static mx_status read_precompiled(mx_normalizer *norm, yyjson_val *val, mx_error *err)
{
    mx_str base64 = {0};
    mx_norm_op *op = NULL;
    MX_TRY(mx_json_get_str(val, "precompiled_charsmap", &base64, err));
    if (base64.len == 0) {
        return mx_fail(err, MX_FORMAT, "\"precompiled_charsmap\" is missing or empty");
    }
    MX_TRY(add_op(norm, MX_NORM_PRECOMPILED, &op, err));
    return mx_charsmap_init(&op->charsmap, base64, err);
}

static mx_status read_replace(mx_normalizer *norm, yyjson_val *val, mx_error *err)
{
    mx_norm_op *op = NULL;
    MX_TRY(add_op(norm, MX_NORM_REPLACE, &op, err));
    MX_TRY(mx_pattern_init(&op->pattern, val, err));
    return get_text(val, "content", op, err);
}

static mx_status read_prepend(mx_normalizer *norm, yyjson_val *val, mx_error *err)
{
    mx_norm_op *op = NULL;
    MX_TRY(add_op(norm, MX_NORM_PREPEND, &op, err));
    return get_text(val, "prepend", op, err);
}

static const struct {
    const char *type;
    mx_status (*read)(mx_normalizer *norm, yyjson_val *val, mx_error *err);
} readers[] = {
    {"NFC", read_nfc},
    {"NFD", read_nfd},
    {"NFKC", read_nfkc},
    {"NFKD", read_nfkd},
    {"Lowercase", read_lowercase},
    {"StripAccents", read_strip_accents},
    {"Nmt", read_nmt},
    {"ByteLevel", read_byte_level},
    {"Strip", read_strip},
    {"BertNormalizer", read_bert},
    {"Precompiled", read_precompiled},
    {"Replace", read_replace},
    {"Prepend", read_prepend},
};

static mx_status read_part(void *ctx, mx_str type, yyjson_val *val, mx_error *err)
{
    mx_normalizer *norm = ctx;
    for (size_t i = 0; i < MX_COUNTOF(readers); i++) {
        if (mx_str_eq_cstr(type, readers[i].type)) {
            return readers[i].read(norm, val, err);
        }
    }
    return mx_parts_fail_unknown(type, err);
}

mx_status mx_normalizer_init(mx_normalizer *norm, yyjson_val *val, mx_error *err)
{
    norm->n_ops = 0;
    if (!val || yyjson_is_null(val)) {
        return MX_OK;
    }
    const mx_status st = mx_parts_read(val, "normalizers", read_part, norm, err);
    if (st != MX_OK) {
        mx_normalizer_deinit(norm);
    }
    return st;
}

void mx_normalizer_deinit(mx_normalizer *norm)
{
    for (size_t i = 0; i < norm->n_ops; i++) {
        mx_pattern_deinit(&norm->ops[i].pattern);
        mx_charsmap_deinit(&norm->ops[i].charsmap);
        mx_free(norm->ops[i].text);
    }
    norm->n_ops = 0;
}
