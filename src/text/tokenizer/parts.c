/* parts.c - the walk over Sequences. */
#include "text/tokenizer/parts.h"

static mx_status read_at(yyjson_val *val, const char *list_key, mx_part_read read, void *ctx, int depth, mx_error *err)
{
    mx_str type = {0};
    yyjson_val *list = NULL;
    if (!yyjson_is_obj(val)) {
        return mx_fail(err, MX_FORMAT, "must be an object, found %s", mx_json_kind(val));
    }
    if (depth > MX_PARTS_MAX_DEPTH) {
        return mx_fail(err, MX_FORMAT, "nested deeper than %d", MX_PARTS_MAX_DEPTH);
    }
    MX_TRY(mx_json_get_str(val, "type", &type, err));
    if (!mx_str_eq_cstr(type, "Sequence")) {
        return read(ctx, type, val, err);
    }
    MX_TRY(mx_json_get_arr(val, list_key, &list, err));
    if (!list) {
        return mx_fail(err, MX_FORMAT, "a Sequence without \"%s\"", list_key);
    }
    yyjson_arr_iter items = yyjson_arr_iter_with(list);
    for (yyjson_val *item; (item = yyjson_arr_iter_next(&items));) {
        MX_TRY(read_at(item, list_key, read, ctx, depth + 1, err));
    }
    return MX_OK;
}

mx_status mx_parts_read(yyjson_val *val, const char *list_key, mx_part_read read, void *ctx, mx_error *err)
{
    return read_at(val, list_key, read, ctx, 0, err);
}

mx_status mx_parts_fail_unknown(mx_str type, mx_error *err)
{
    return mx_fail(err, MX_UNSUPPORTED, "the type \"%.*s\" is not known", MX_STR_ARG(type));
}
