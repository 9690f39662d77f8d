/* postprocessor.c - all kinds come down to a list of ids with a place for the text. */
#include "text/tokenizer/postprocessor.h"

#include "base/compiler.h"
#include "text/tokenizer/parts.h"

#define MAX_ITEMS 4096

static mx_status add_item(mx_postprocessor *post, int64_t id, mx_error *err)
{
    const int32_t item = (int32_t)id;
    return mx_ids_append(&post->items, &item, 1, err);
}

static mx_status add_id(mx_postprocessor *post, yyjson_val *val, mx_error *err)
{
    if (!yyjson_is_uint(val) || yyjson_get_uint(val) >= MX_TOKENIZER_MAX_IDS) {
        return mx_fail(err, MX_FORMAT, "an id must be a whole number from 0 to %zu", MX_TOKENIZER_MAX_IDS - 1);
    }
    return add_item(post, (int64_t)yyjson_get_uint(val), err);
}

/* {"SpecialToken": {"id": "<s>"}}: the ids that special_tokens gives for it. */
static mx_status add_special(mx_postprocessor *post, yyjson_val *special_tokens, yyjson_val *piece, mx_error *err)
{
    mx_str name = {0};
    yyjson_val *ids = NULL;
    MX_TRY(mx_json_get_str(piece, "id", &name, err));
    yyjson_val *special = name.ptr ? yyjson_obj_getn(special_tokens, name.ptr, name.len) : NULL;
    if (!special) {
        return mx_fail(err, MX_FORMAT, "the template names \"%.*s\", which \"special_tokens\" lacks", MX_STR_ARG(name));
    }
    MX_TRY(mx_json_get_arr(special, "ids", &ids, err));
    yyjson_arr_iter items = yyjson_arr_iter_with(ids);
    for (yyjson_val *item; (item = yyjson_arr_iter_next(&items));) {
        MX_TRY(add_id(post, item, err));
    }
    return MX_OK;
}

static mx_status read_template(mx_postprocessor *post, yyjson_val *val, mx_error *err)
{
    yyjson_val *single = NULL;
    yyjson_val *special_tokens = NULL;
    MX_TRY(mx_json_get_arr(val, "single", &single, err));
    MX_TRY(mx_json_get_obj(val, "special_tokens", &special_tokens, err));
    if (!single) {
        return mx_fail(err, MX_FORMAT, "a template without \"single\"");
    }
    yyjson_arr_iter pieces = yyjson_arr_iter_with(single);
    for (yyjson_val *piece; (piece = yyjson_arr_iter_next(&pieces));) {
        yyjson_val *special = NULL;
        yyjson_val *sequence = NULL;
        MX_TRY(mx_json_get_obj(piece, "SpecialToken", &special, err));
        MX_TRY(mx_json_get_obj(piece, "Sequence", &sequence, err));
        if (special) {
            MX_TRY(add_special(post, special_tokens, special, err));
            continue;
        }
        mx_str id = {0};
        MX_TRY(mx_json_get_str(sequence, "id", &id, err));
        if (!mx_str_eq_cstr(id, "A")) {
            return mx_fail(err, MX_FORMAT, "the template for one text must be made of special tokens and sequence A");
        }
        MX_TRY(add_item(post, MX_POSTPROCESSOR_TEXT, err));
    }
    return MX_OK;
}

/* "cls" and "sep", each [token, id], around the text. */
static mx_status read_bert(mx_postprocessor *post, yyjson_val *val, mx_error *err)
{
    yyjson_val *cls = NULL;
    yyjson_val *sep = NULL;
    MX_TRY(mx_json_get_arr(val, "cls", &cls, err));
    MX_TRY(mx_json_get_arr(val, "sep", &sep, err));
    MX_TRY(add_id(post, yyjson_arr_get(cls, 1), err));
    MX_TRY(add_item(post, MX_POSTPROCESSOR_TEXT, err));
    return add_id(post, yyjson_arr_get(sep, 1), err);
}

static mx_status read_byte_level(mx_postprocessor *post, yyjson_val *val, mx_error *err)
{
    (void)post; /* it moves offsets only */
    (void)val;
    (void)err;
    return MX_OK;
}

static const struct {
    const char *type;
    mx_status (*read)(mx_postprocessor *post, yyjson_val *val, mx_error *err);
} readers[] = {
    {"TemplateProcessing", read_template},
    {"BertProcessing", read_bert},
    {"RobertaProcessing", read_bert},
    {"ByteLevel", read_byte_level},
};

static mx_status read_part(void *ctx, mx_str type, yyjson_val *val, mx_error *err)
{
    mx_postprocessor *post = ctx;
    for (size_t i = 0; i < MX_COUNTOF(readers); i++) {
        if (mx_str_eq_cstr(type, readers[i].type)) {
            const size_t n_before = post->items.len;
            MX_TRY(readers[i].read(post, val, err));
            if (n_before && post->items.len > n_before) {
                return mx_fail(err, MX_UNSUPPORTED, "more than one processor of the sequence adds tokens");
            }
            return MX_OK;
        }
    }
    return mx_parts_fail_unknown(type, err);
}

mx_status mx_postprocessor_init(mx_postprocessor *post, yyjson_val *val, mx_error *err)
{
    mx_ids_init(&post->items, MAX_ITEMS);
    if (!val || yyjson_is_null(val)) {
        return MX_OK;
    }
    const mx_status st = mx_parts_read(val, "processors", read_part, post, err);
    if (st != MX_OK) {
        mx_postprocessor_deinit(post);
    }
    return st;
}

void mx_postprocessor_deinit(mx_postprocessor *post)
{
    mx_ids_deinit(&post->items);
}
