/* fields.c - one row of a table at a time. */
#include "model/fields.h"

static mx_status read_number(yyjson_val *obj, const mx_field *f, double *out, mx_error *err)
{
    MX_TRY(mx_json_get_f64(obj, f->key, out, err));
    yyjson_val *val = yyjson_obj_get(obj, f->key);
    const bool is_above = f->type == MX_FIELD_F64_ABOVE;
    const bool is_enough = is_above ? *out > (double)f->min : *out >= (double)f->min;
    if (!val || yyjson_is_null(val) || (is_enough && *out <= (double)f->max)) {
        return MX_OK;
    }
    if (is_above) {
        return mx_fail(err, MX_FORMAT, "\"%s\" is %g, must be above %lld and at most %lld", f->key, *out,
                       (long long)f->min, (long long)f->max);
    }
    return mx_fail(err, MX_FORMAT, "\"%s\" is %g, must be from %lld to %lld", f->key, *out, (long long)f->min,
                   (long long)f->max);
}

/* The number itself, or that of a list with one for each layer where all are the same. */
static mx_status read_whole(yyjson_val *obj, const mx_field *f, int64_t *out, mx_error *err)
{
    yyjson_val *list = yyjson_obj_get(obj, f->key);
    if (!yyjson_is_arr(list) || yyjson_arr_size(list) == 0) {
        return mx_json_get_i64(obj, f->key, f->min, f->max, out, err);
    }
    yyjson_arr_iter it = yyjson_arr_iter_with(list);
    yyjson_val *first = yyjson_arr_get_first(list);
    for (yyjson_val *val = yyjson_arr_iter_next(&it); val; val = yyjson_arr_iter_next(&it)) {
        if (!yyjson_is_int(val) || !yyjson_equals(val, first)) {
            return mx_fail(err, MX_UNSUPPORTED,
                           "\"%s\" is a list of different numbers: layers that differ in it are not "
                           "supported",
                           f->key);
        }
    }
    const int64_t value = yyjson_get_sint(first);
    if (value < f->min || value > f->max) {
        return mx_fail(err, MX_FORMAT, "\"%s\" is %lld, must be from %lld to %lld", f->key, (long long)value,
                       (long long)f->min, (long long)f->max);
    }
    *out = value;
    return MX_OK;
}

static mx_status read_field(yyjson_val *obj, const mx_field *f, void *member, mx_error *err)
{
    int64_t value = 0;
    switch (f->type) {
    case MX_FIELD_I32:
        value = *(int32_t *)member;
        MX_TRY(read_whole(obj, f, &value, err));
        *(int32_t *)member = (int32_t)value;
        return MX_OK;
    case MX_FIELD_I64: return read_whole(obj, f, (int64_t *)member, err);
    case MX_FIELD_F64:
    case MX_FIELD_F64_ABOVE: return read_number(obj, f, (double *)member, err);
    case MX_FIELD_F64_OR_NULL:
        if (yyjson_is_null(yyjson_obj_get(obj, f->key))) {
            *(double *)member = 0;
        }
        return read_number(obj, f, (double *)member, err);
    case MX_FIELD_BOOL: return mx_json_get_bool(obj, f->key, (bool *)member, err);
    }
    return MX_OK;
}

mx_status mx_fields_read(yyjson_val *obj, const mx_field *table, void *out, mx_error *err)
{
    for (const mx_field *f = table; f->key; f++) {
        MX_TRY(read_field(obj, f, (char *)out + f->offset, err));
    }
    return MX_OK;
}
